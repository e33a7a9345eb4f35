/// Objects with a stable identity for user interfaces: the same stored object has the same `id` at every version and in every realm of its
/// file.
public protocol ObjectKeyIdentifiable: Identifiable, AnyObject {
    /// The identity of the object.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    /// For a managed object, derived from its type and row id; for an unmanaged object, from its address.
    public var id: UInt64 { _identity }
}

extension ObjectBase {
    final var _identity: UInt64 {
        guard let access = _access else { return UInt64(UInt(bitPattern: ObjectIdentifier(self))) }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in access.name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (hash << 40) ^ UInt64(bitPattern: _rowID)
    }
}
