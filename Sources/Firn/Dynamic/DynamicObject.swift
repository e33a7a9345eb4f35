import FirnBytes
import FirnTable

/// An object of a type without a known class. Its properties are accessed by name. Collections of managed objects are live, and have the
/// types that a class would declare: `List<Int>`, `MutableSet<String?>`, `Map<String, DynamicObject?>`.
///
///     for row in realm.dynamicObjects("babies") { print(row.name ?? "", row["count"] ?? 0) }
@dynamicMemberLookup
public final class DynamicObject: Object {
    /// The values of an unmanaged object; nil if it is managed.
    var contents: DynamicContents?

    /// Creates an object that has no type and no properties. Used by the library for the objects that it returns; not for direct use.
    public override init() { super.init() }

    /// The value of the property with this name. Traps if there is no such property.
    public subscript(dynamicMember name: String) -> Any? {
        get { self[name] }
        set { self[name] = newValue }
    }
}

/// The content of one property of an object without a class.
package enum DynamicContent {
    case value(DynamicElement)
    case list(List<DynamicElement>, DynamicType)
    case set(MutableSet<DynamicElement>, DynamicType)
    case map(Map<String, DynamicElement>, DynamicType)

    /// The content in the form in which `DynamicObject` returns it: collections as arrays and dictionaries.
    var untyped: Any? {
        switch self {
        case .value(let value): value._firnUntyped
        case .list(let list, _): list._untypedElements
        case .set(let set, _): set._untypedElements
        case .map(let map, _): map._untypedEntries
        }
    }
}

/// The values of an unmanaged object without a class.
final class DynamicContents {
    let type: TypeSchema
    private(set) var values: [DynamicContent]

    init(_ type: TypeSchema) {
        self.type = type
        values = type.columns.map { column in
            let element = DynamicType(column.type.element)
            return switch column.type.collection {
            case .list: .list(List(), element)
            case .set: .set(MutableSet(), element)
            case .map: .map(Map(), element)
            case .none: .value(DynamicElement(Column.absentValue(column.type), column.type, nil))
            }
        }
    }

    func index(of name: String) -> Int {
        guard let index = type.index(of: name) else { trap("type \"\(type.name)\" has no property \"\(name)\"") }
        return index
    }

    /// Sets a value. Returns false if it does not fit.
    func set(_ index: Int, _ given: Any?) -> Bool {
        func elements(_ type: DynamicType) -> [DynamicElement]? {
            guard let given = unwrapped(given) else { return [] }
            guard let all = given as? [Any?] else { return nil }
            let fitting = all.compactMap { DynamicElement($0, as: type) }
            return fitting.count == all.count ? fitting : nil
        }
        switch values[index] {
        case .value:
            guard let value = DynamicElement(given, as: DynamicType(type.columns[index].type)) else { return false }
            values[index] = .value(value)
        case .list(let list, let type):
            guard let new = elements(type) else { return false }
            list.replaceSubrange(0..<list.count, with: new)
        case .set(let set, let type):
            guard let new = elements(type) else { return false }
            set.removeAll()
            set.insert(objectsIn: new)
        case .map(let map, let type):
            guard let entries = unwrapped(given ?? [String: Any?]()) as? [String: Any?] else { return false }
            let fitting = entries.compactMapValues { DynamicElement($0, as: type) }
            guard fitting.count == entries.count else { return false }
            map.removeAll()
            for (key, value) in fitting { map[key] = value }
        }
        return true
    }
}
