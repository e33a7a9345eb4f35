import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable

struct ObservedObject<T: ObjectBase>: Observed {
    enum Difference {
        case changed([PropertyChange])
        case deleted
    }

    let object: T
    let access: TypeAccess
    let core: RealmCore
    /// The key paths, grouped by their first property; nil for every property of the object itself.
    let keyPaths: [(property: String, paths: [String])]?

    init(_ object: T, _ keyPaths: [String]?) {
        self.object = object
        access = object._managedAccess
        core = access.core
        if let keyPaths, !keyPaths.isEmpty, keyPaths != .shallow {
            var grouped: [(property: String, paths: [String])] = []
            for path in keyPaths {
                let first = String(path.prefix { $0 != "." })
                if let known = grouped.firstIndex(where: { $0.property == first }) {
                    grouped[known].paths.append(path)
                } else {
                    grouped.append((first, [path]))
                }
            }
            self.keyPaths = grouped
        } else {
            self.keyPaths = nil
        }
    }

    var rootType: String? { access.name }
    var defaultKeyPaths: [String]? { .shallow }
    var names: PropertyNames { access.names }
    var hasInitial: Bool { false }
    func state() {}

    func difference(from old: Void, to new: Void, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage) -> Difference? {
        let row = object._rowID
        if try versions.new.table(named: access.name)?.location(of: row) == nil { return .deleted }
        let own = try versions.changes(access.name).modified.columns(ofRow: row)
        var columns: [Int] = [], derived: [PropertyChange] = []
        if let keyPaths {
            for (property, paths) in keyPaths {
                guard property != "*" || paths != .shallow else {
                    own?.forEachSet { columns.append($0) }
                    continue
                }
                guard let filter = try? KeyPathFilter(root: access.name, in: versions.new.schema, keyPaths: paths, names: names),
                    try versions.modifiedRows(filter, among: .rows([row])).contains(row)
                else { continue }
                if let column = access.column(property) {
                    columns.append(column)
                } else if let inverse = inverse(property) {
                    derived.append(inverse)
                }
            }
        } else {
            own?.forEachSet { columns.append($0) }
        }
        guard !columns.isEmpty || !derived.isEmpty else { return nil }
        let before = try? RealmCore(core.file, core.configuration, .none, snapshot: versions.old)
        let was = before?.object(row, like: access)
        return .changed(
            columns.sorted().compactMap { column in
                guard access.type.columns.indices.contains(column) else { return nil }
                return change(of: column, was)
            } + derived)
    }

    /// The change of an inverse link: like collections, without values.
    private func inverse(_ name: String) -> PropertyChange? {
        guard let schema = access.schema, let index = schema.index(of: name), schema.properties[index].shape.isLinking else { return nil }
        return PropertyChange(name: schema.properties[index].codeName, oldValue: nil, newValue: nil)
    }

    private func change(of column: Int, _ was: ObjectBase?) -> PropertyChange {
        let name = access.type.columns[column].name
        // The name in the class, which can differ from the name in the file.
        let code = access.schema.flatMap { schema in schema.index(of: name).map { schema.properties[$0].codeName } } ?? name
        if access.type.columns[column].type.isCollection { return PropertyChange(name: code, oldValue: nil, newValue: nil) }
        return PropertyChange(name: code, oldValue: was.flatMap { unwrapped($0[name]) }, newValue: unwrapped(object[name]))
    }

    var end: Difference? { .deleted }
    func isLast(_ difference: Difference) -> Bool { if case .deleted = difference { true } else { false } }

    func moved(to core: RealmCore) -> ObservedObject? {
        core.object(object._rowID, like: access).map { ObservedObject($0._typed(T.self), keyPaths?.flatMap(\.paths)) }
    }

    func change(_ difference: Difference?) -> ObjectChange<T> {
        switch difference {
        case .changed(let properties)?: .change(object, properties)
        default: .deleted
        }
    }
}
