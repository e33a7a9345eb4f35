import Firn
import Foundation

/// An open store of objects whose types are known from the file, or from `RLMRealmConfiguration.customSchema`.
///
/// A realm belongs to the thread or queue that it was opened for, and so does all that is read from it. Hand `freeze()`d copies to others.
public final class RLMRealm {
    let base: Realm

    init(_ base: Realm) { self.base = base }

    /// Opens the realm of a configuration for this thread, or for a serial queue. Throws `RLMError`.
    public init(configuration: RLMRealmConfiguration, queue: DispatchQueue? = nil) throws {
        base = try Realm(configuration: configuration.base, queue: queue)
        if let schema = configuration.customSchema { try base.adopt(schema.objectSchema) }
    }

    public convenience init(url: URL) throws {
        let configuration = RLMRealmConfiguration.default()
        configuration.fileURL = url
        try self.init(configuration: configuration)
    }

    /// The realm of the default configuration, for this thread. Traps if it cannot be opened: `init(configuration:)` throws instead.
    public static func `default`() -> RLMRealm {
        do { return try RLMRealm(configuration: .default()) } catch { preconditionFailure("The default realm cannot be opened: \(error)") }
    }

    /// How the realm was opened: a copy, without its custom schema, which is in `schema`.
    public var configuration: RLMRealmConfiguration { RLMRealmConfiguration(base.configuration) }
    /// The types that the file has at this version.
    public var schema: RLMSchema { base.schema }
    public var isFrozen: Bool { base.isFrozen }
    /// There are no objects.
    public var isEmpty: Bool { base.isEmpty }
    public var inWriteTransaction: Bool { base.isInWriteTransaction }

    // MARK: Transactions

    /// Runs `block` in a transaction: all its changes become the next version, durably, or (if it throws) none does.
    public func transaction(_ block: () throws -> Void) throws { try base.write(block) }
    /// As above, without telling the observers of these tokens.
    public func transaction(withoutNotifying tokens: [RLMNotificationToken], _ block: () throws -> Void) throws { try base.write(withoutNotifying: tokens, block) }

    /// Begins a transaction; waits until no other is under way, in any process. The realm moves to the newest version.
    public func beginWriteTransaction() { base.beginWrite() }
    public func commitWriteTransaction() throws { try base.commitWrite() }
    public func commitWriteTransactionWithoutNotifying(_ tokens: [RLMNotificationToken]) throws { try base.commitWrite(withoutNotifying: tokens) }
    public func cancelWriteTransaction() { base.cancelWrite() }

    // MARK: Versions

    /// Follows commits of others by itself where it can; `refresh()` always does.
    public var autorefresh: Bool {
        get { base.autorefresh }
        set { base.autorefresh = newValue }
    }

    /// Goes to the newest version. False if the realm is there already, frozen, or in a transaction.
    @discardableResult
    public func refresh() -> Bool { base.refresh() }

    /// The realm as it is at this version, for good: immutable, usable from any thread.
    public func freeze() -> RLMRealm { isFrozen ? self : RLMRealm(base.freeze()) }
    /// The live realm of this thread with the same file.
    public func thaw() -> RLMRealm { isFrozen ? RLMRealm(base.thaw()) : self }
    /// Lets go of the version: all that was read from the realm is invalid, and a transaction under way is cancelled.
    public func invalidate() { base.invalidate() }

    /// Calls `block` whenever the realm has come to another version, or could, where `autorefresh` is off.
    public func addNotificationBlock(_ block: @escaping RLMNotificationBlock) -> RLMNotificationToken { base.observe { block($0, RLMRealm($1)) } }

    // MARK: Files

    /// Writes what is read now, compacted, into a new file. Throws if there is one.
    public func writeCopy(to fileURL: URL, encryptionKey: Data? = nil) throws { try base.writeCopy(toFile: fileURL, encryptionKey: encryptionKey) }
    public func writeCopy(for configuration: RLMRealmConfiguration) throws { try base.writeCopy(configuration: configuration.base) }
    /// There is a file of this configuration.
    public static func fileExists(for configuration: RLMRealmConfiguration) -> Bool { Realm.fileExists(for: configuration.base) }
    /// Deletes the file of a configuration. False if there is none; throws while somebody in this process has it open.
    @discardableResult
    public static func deleteFiles(for configuration: RLMRealmConfiguration) throws -> Bool { try Realm.deleteFiles(for: configuration.base) }
}

extension RLMRealm: Equatable {
    /// The same realm, open at the same place: the same transactions, the same version.
    public static func == (a: RLMRealm, b: RLMRealm) -> Bool { a.base == b.base }
}
