import FirnModel

/// An object of a type that no class is known for: its properties go by name.
///
///     for row in realm.dynamicObjects("babies") { print(row.name ?? "", row["count"] ?? 0) }
@dynamicMemberLookup
public final class DynamicObject: Object {
    public required init() { super.init() }

    public subscript(dynamicMember name: String) -> Any? {
        get { self[name] }
        set { self[name] = newValue }
    }
}
