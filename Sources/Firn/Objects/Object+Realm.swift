import FirnBytes
import FirnDatabase
import FirnTable
import Foundation

/// The realm of an object, and its frozen and live versions.
extension ObjectBase {
    /// The realm that manages the object; nil if it is unmanaged.
    public final var realm: Realm? { _core.map(Realm.init) }

    /// True if the object was deleted or its realm was invalidated. Always false for unmanaged objects.
    public final var isInvalidated: Bool {
        guard let access = _access else { return false }
        return access.isRetired || access.rowIsGone(_rowID)
    }

    /// True if the object belongs to a frozen realm.
    public final var isFrozen: Bool { _core?.isFrozen ?? false }

    /// Returns whether both are the same object of the same file, possibly at different versions.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other, let mine = _access, let theirs = other._access else { return self === other }
        return mine.core.file === theirs.core.file && mine.name == theirs.name && _rowID == other._rowID
    }
}

extension RealmCollectionValue where Self: ObjectBase {
    /// Returns the frozen object at the version of its realm (in a transaction, at the version that it began from), for any thread. Traps
    /// if it is unmanaged, deleted, or was added in the transaction under way.
    public func freeze() -> Self {
        do { return try tryFreeze() } catch { trap(error.message) }
    }

    /// As `freeze`, but throws instead of trapping.
    /// - Throws: `Realm.Error` with the code `invalidInput`.
    public func tryFreeze() throws(Realm.Error) -> Self {
        guard let access = _access else {
            throw Realm.Error(
                .invalidInput, "Unmanaged objects cannot be frozen: add the object to a realm first, or detach copies with detached().")
        }
        if access.core.isFrozen { return self }
        access.core.check()
        guard !isInvalidated else { throw Realm.Error(.invalidInput, "Object has been deleted or invalidated.") }
        guard let object = access.core.frozen().object(_rowID, like: access) else {
            throw Realm.Error(.invalidInput, "Cannot freeze an object in the same write transaction as it was created in.")
        }
        return object._typed(Self.self)
    }

    /// Returns the live object in this thread's realm, or nil if it no longer exists. Traps if the object is unmanaged.
    public func thaw() -> Self? {
        guard let access = _access else { trap("Unmanaged objects cannot be thawed: only frozen ones can.") }
        if !access.core.isFrozen { return self }
        return access.core.thawed().object(_rowID, like: access).map { $0._typed(Self.self) }
    }
}

extension RealmCore {
    /// Returns this realm's object for a row of another realm's access. (An object keeps its realm alive; an access does not.)
    func object(_ rowID: Int64, like access: TypeAccess) -> ObjectBase? {
        withExtendedLifetime(self) { sameAccess(access)?.object(rowID) }
    }
}

extension TypeAccess {
    /// Does not check the thread, because any thread may read `isInvalidated`.
    func rowIsGone(_ rowID: Int64) -> Bool { !holds(rowID) }
}

extension ObjectBase: CustomStringConvertible {
    final func text(depth: Int) -> String {
        let name = _typeName
        if isInvalidated { return "\(name) (invalidated object)" }
        guard depth > 0 else { return "\(name) <maximum depth exceeded>" }
        var lines: [String] = []
        for (label, value) in untypedProperties {
            let shown =
                switch unwrapped(value) {
                case nil: "(null)"
                case let object as ObjectBase: object.text(depth: depth - 1)
                case AnyRealmValue.object(let object)? as AnyRealmValue?: object.text(depth: depth - 1)
                case let value as AnyRealmValue: value.textWithin
                case let collection as any _AnyCollection: collection._text(within: true)
                // Objects without a class may contain cycles, so only their number is shown.
                case let elements as [Any?] where elements.contains { unwrapped($0) is ObjectBase }: "<\(elements.count) objects>"
                case let entries as [String: Any?] where entries.values.contains { unwrapped($0) is ObjectBase }:
                    "<\(entries.count) objects>"
                case let some?: "\(some)"
                }
            lines.append("\t\(label) = \(shown.replacingOccurrences(of: "\n", with: "\n\t"));\n")
        }
        return "\(name) {\n\(lines.joined())}"
    }

    /// The names and values of the properties, as `text(depth:)` shows them.
    private final var untypedProperties: [(String, Any?)] {
        if let access = _access, access.schema == nil {
            return access.type.visibleColumns.map { (access.type.columns[$0].name, plainValue($0, access)) }
        }
        if let contents = unmanagedContents { return contents.type.visible.columns.map { ($0.name, self[$0.name]) } }
        return ClassSchema.of(Swift.type(of: self)).stored.map { ($0.name, $0.access.get(self)) }
    }
}
