import FirnBytes
import FirnTable

/// Collections of objects whose class the program does not have, or does not name here.
extension ObjectBase {
    /// Returns a list of objects by the name of the property. Traps if the object is unmanaged or the property is of another kind.
    public final func dynamicList(_ propertyName: String) -> List<DynamicObject> { List(dynamicCell(propertyName, .list, "dynamicList")) }

    /// Returns a set of objects by the name of the property. Traps if the object is unmanaged or the property is of another kind.
    public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
        MutableSet(dynamicCell(propertyName, .set, "dynamicMutableSet"))
    }

    /// Returns a map of objects by the name of the property; the value of a deleted object is nil. Traps if the object is unmanaged or the
    /// property is of another kind.
    public final func dynamicMap(_ propertyName: String) -> Map<String, DynamicObject?> {
        Map(dynamicCell(propertyName, .map, "dynamicMap"))
    }

    private final func dynamicCell(_ name: String, _ kind: CollectionKind, _ action: String) -> CollectionCell {
        guard let access = _access, let object = withoutClass as? DynamicObject else {
            trap("\(action) requires a managed object: read the property of an unmanaged one through its class.")
        }
        let stored = access.schema?.schemaName(of: name) ?? name
        guard let own = object._access, let column = own.column(stored) else {
            trap("type \"\(access.name)\" has no property \"\(name)\"")
        }
        let type = own.type.columns[column].type
        guard type.collection == kind, type.target != nil else {
            trap("\(action) does not apply to \"\(access.name).\(name)\", which is of type \(type.name)")
        }
        return CollectionCell.of(object, column)
    }
}
