import FirnBytes
import FirnQuery
import FirnTable

/// Unmanaged objects, and all objects that they refer to, as tables: so that the queries of realms search them too.
///
/// - Complexity: The tables are made in time proportional to the number of these objects and their properties.
final class UnmanagedTables {
    /// The rows of one type: the objects in the order in which they were found, and the values of those that were read.
    private struct Rows {
        let schema: ClassSchema
        var objects: [ObjectBase] = []
        var values: [[Value]] = []
    }
    /// The tables by the names of their types, for links between them.
    private final class Related: @unchecked Sendable {
        // Set once, before any query runs.
        var tables: [String: any Table] = [:]
    }

    private let elements: [ObjectBase]
    private let root: ClassSchema
    private var rows: [String: Rows] = [:]
    private var rowIDs: [ObjectIdentity: Int64] = [:]
    private let related = Related()

    init(_ elements: [ObjectBase], of objectClass: ObjectBase.Type) {
        trap(
            unless: objectClass != DynamicObject.self, "queries do not search unmanaged objects without a class: use firstIndex(where:)")
        self.elements = elements
        root = ClassSchema.of(objectClass)
        let schemas = root.reachable()
        for schema in schemas { rows[schema.name] = Rows(schema: schema) }
        for element in elements { _ = add(element, as: root.name) }
        while let name = rows.first(where: { $0.value.values.count < $0.value.objects.count })?.key { read(name) }
        let schema = FirnTable.Schema(schemas.map(\.linkedType)), related = related
        for (name, rows) in rows {
            let type = rows.schema.linkedType
            let columns = type.columns.indices.map { index in
                var column = Column(type.columns[index].type)
                for values in rows.values where !column.append(values[index]) { column.appendNull() }
                return column
            }
            related.tables[name] = MemoryTable(
                type, schema: schema, batches: [Batch(count: rows.values.count, columns: columns)], related: { related.tables[$0] })
        }
    }

    deinit {
        // The tables refer to each other.
        related.tables = [:]
    }

    /// Returns the row that represents an object; nil if no element refers to it.
    func rowID(of object: ObjectBase) -> Int64? { rowIDs[ObjectIdentity(object)] }

    /// Returns the index of the first element that matches a query.
    func firstIndex(_ syntax: QuerySyntax, _ arguments: [Value]) throws(QueryError) -> Int? {
        let run = try QueryRun(
            QueryRequest(parsed: syntax, arguments: arguments, names: root.names, acceptsNumbersAsBooleans: true),
            over: related.tables[root.name]!)
        let found: [RowLocation]
        do { found = try run.rowLocations() } catch { trap("\(error)") }
        let matches = Set(found.map { Int64($0.position) })
        return elements.firstIndex { rowID(of: $0).map(matches.contains) ?? false }
    }

    // MARK: Reading objects

    /// Returns the row of an object, which is added if it has none; nil if the tables have no such type.
    private func add(_ object: ObjectBase, as name: String) -> Int64? {
        let identity = ObjectIdentity(object)
        if let known = rowIDs[identity] { return known }
        guard let count = rows[name]?.objects.count else { return nil }
        rows[name]?.objects.append(object)
        rowIDs[identity] = Int64(count)
        return Int64(count)
    }

    private func read(_ name: String) {
        guard let (object, schema) = rows[name].map({ ($0.objects[$0.values.count], $0.schema) }) else { return }
        let values = schema.stored.map { property in
            value(property.access.get(object), property.shape.target?.className(), property.shape.type)
        }
        rows[name]?.values.append(values)
    }

    private func value(_ content: Any?, _ target: String?, _ type: ColumnType) -> Value {
        switch unwrapped(content) {
        case nil: return .null
        case let object as ObjectBase: return add(object, as: target ?? object._typeName).map { .link($0) } ?? .null
        case let map as any _AnyMap:
            return .map(
                map._untypedEntries.sorted { $0.key.precedes($1.key) }.map { Value.Entry($0.key, value($0.value, target, type.element)) })
        case let collection as any _AnyCollection:
            let values = collection._untypedElements.map { value($0, target, type.element) }
            return type.collection == .set ? .set(Value.distinct(values)) : .list(values)
        case let custom as any _CustomPersistable: return value(custom.persistableValue, target, type)
        case .object(let object)? as AnyRealmValue?:
            return add(object, as: object._typeName).map { Value(linkTo: object._typeName, $0) } ?? .null
        case let some?: return Value(key: some)?.fitted(to: type.kind) ?? .null
        }
    }
}

extension ClassSchema {
    /// The type with links to embedded objects, which are rows of a table of their own here.
    fileprivate var linkedType: TypeSchema {
        let columns = typeSchema.columns.map { column in
            var column = column
            if column.type.kind == .embedded { column.type.kind = .link }
            return column
        }
        return TypeSchema(name, columns: columns, key: [], isEmbedded: false)
    }
}

/// Identifies an object: a managed one by its row, of which there can be several instances.
struct ObjectIdentity: Hashable {
    private let owner: ObjectIdentifier
    private let rowID: Int64

    init(_ object: ObjectBase) {
        owner = object._access.map { ObjectIdentifier($0) } ?? ObjectIdentifier(object)
        rowID = object._rowID
    }
}
