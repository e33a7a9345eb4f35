import FirnBytes
import Firn
import Foundation

/// An open file of objects whose types are known from the file, or from `RLMRealmConfiguration.customSchema`.
///
/// A realm, and everything that is read from it, belongs to the thread or queue that it was opened for. Pass `freeze()`d copies to others.
public final class RLMRealm {
    let base: Realm

    init(_ base: Realm) { self.base = base }

    /// Opens the realm of a configuration for this thread, or for a serial queue.
    /// - Throws: `RLMError`.
    public init(configuration: RLMRealmConfiguration, queue: DispatchQueue? = nil) throws {
        base = try Realm(configuration: configuration.base, queue: queue)
        if let schema = configuration.customSchema { try base.adopt(schema.objectSchema) }
    }

    /// Opens the realm of a file with the other options of the default configuration.
    /// - Throws: `RLMError`.
    public convenience init(url: URL) throws {
        let configuration = RLMRealmConfiguration.default()
        configuration.fileURL = url
        try self.init(configuration: configuration)
    }

    /// Returns the realm of the default configuration, for this thread. Traps if it cannot be opened; `init(configuration:)` throws
    /// instead.
    public static func `default`() -> RLMRealm {
        do { return try RLMRealm(configuration: .default()) } catch { trap("The default realm cannot be opened: \(error)") }
    }

    /// A copy of the configuration that the realm was opened with, without its custom schema, which `schema` contains.
    public var configuration: RLMRealmConfiguration { RLMRealmConfiguration(base.configuration) }
    /// The types of the file at this version.
    public var schema: RLMSchema { RLMSchema(base.schema.storedTypes) }
    /// True if the realm is frozen.
    public var isFrozen: Bool { base.isFrozen }
    /// True if the realm has no objects.
    public var isEmpty: Bool { base.isEmpty }
    /// True if a write transaction of this realm is under way.
    public var inWriteTransaction: Bool { base.isInWriteTransaction }

    // MARK: Transactions

    /// Runs `block` in a transaction. Its changes become the next version atomically and durably, or, if the block throws, are cancelled.
    /// - Throws: `RLMError`, and what the block throws.
    public func transaction(_ block: () throws -> Void) throws { try base.write(block) }
    /// As above, without notifying the observers with these tokens.
    public func transaction(withoutNotifying tokens: [RLMNotificationToken], _ block: () throws -> Void) throws {
        try base.write(withoutNotifying: tokens, block)
    }

    /// Begins a transaction after waiting for those of all other realms and processes. The realm moves to the newest version. Traps on an
    /// error.
    public func beginWriteTransaction() { base.beginWrite() }
    /// Makes the changes of the transaction the next version, atomically and durably.
    /// - Throws: `RLMError`. Then none of the changes is stored.
    public func commitWriteTransaction() throws { try base.commitWrite() }
    /// As `commitWriteTransaction`, without notifying the observers with these tokens.
    public func commitWriteTransactionWithoutNotifying(_ tokens: [RLMNotificationToken]) throws {
        try base.commitWrite(withoutNotifying: tokens)
    }
    /// Cancels the transaction and its changes.
    public func cancelWriteTransaction() { base.cancelWrite() }

    // MARK: Versions

    /// If true, the realm moves to new versions automatically where notifications can be delivered. `refresh()` always does.
    public var autorefresh: Bool {
        get { base.autorefresh }
        set { base.autorefresh = newValue }
    }

    /// Moves the realm to the newest version. Returns false if it is already there, is frozen or is in a transaction.
    @discardableResult
    public func refresh() -> Bool { base.refresh() }

    /// Returns a frozen realm of this version: immutable, and usable on any thread.
    public func freeze() -> RLMRealm { isFrozen ? self : RLMRealm(base.freeze()) }
    /// Returns the live realm of this thread with the same file; a live realm returns itself.
    public func thaw() -> RLMRealm { isFrozen ? RLMRealm(base.thaw()) : self }
    /// Releases the version: everything that was read from the realm becomes invalid, and a transaction under way is cancelled.
    public func invalidate() { base.invalidate() }

    /// Calls `block` whenever the realm has moved to another version or, if `autorefresh` is off, could.
    public func addNotificationBlock(_ block: @escaping RLMNotificationBlock) -> RLMNotificationToken {
        base.observe { block($0, RLMRealm($1)) }
    }

    // MARK: Files

    /// Writes the realm's version, compacted, to a new file.
    /// - Throws: `RLMError`; with the code `fileExists` if the file exists.
    public func writeCopy(to fileURL: URL, encryptionKey: Data? = nil) throws {
        try base.writeCopy(toFile: fileURL, encryptionKey: encryptionKey)
    }
    /// As `writeCopy(to:encryptionKey:)`, to the file and with the key of a configuration.
    public func writeCopy(for configuration: RLMRealmConfiguration) throws { try base.writeCopy(configuration: configuration.base) }
    /// Returns whether the file of a configuration exists.
    public static func fileExists(for configuration: RLMRealmConfiguration) -> Bool { Realm.fileExists(for: configuration.base) }
    /// Deletes the file of a configuration. Returns false if it does not exist.
    /// - Throws: `RLMError` with the code `alreadyOpen` while this process has the file open.
    @discardableResult
    public static func deleteFiles(for configuration: RLMRealmConfiguration) throws -> Bool {
        try Realm.deleteFiles(for: configuration.base)
    }
}

extension RLMRealm: Equatable {
    /// Returns whether both are the same realm of the same thread or queue, with the same transactions and version.
    public static func == (a: RLMRealm, b: RLMRealm) -> Bool { a.base == b.base }
}
