import FirnBytes
import FirnModel
import Foundation

/// Versions of the file: which can be read, names for them, and the way back.
extension Realm {
    /// A version of the file that can be read.
    public struct Version: Sendable, Hashable, CustomStringConvertible {
        public let number: UInt64
        /// When it was committed.
        public let date: Date
        /// Its names; a version that has one stays until it is taken away.
        public let tags: [String]

        public var description: String { "version \(number) of \(date)" + (tags.isEmpty ? "" : ", tagged \(tags.joined(separator: ", "))") }
    }

    /// Which versions of a file stay readable when later ones are committed; those that are tagged, or read by somebody, stay besides.
    public struct History: Sendable, Hashable {
        /// So many of the newest; two at least.
        public var versions: Int
        /// And those that were the newest at some time within the last so many seconds.
        public var age: TimeInterval?

        public init(versions: Int = 8, age: TimeInterval? = nil) {
            self.versions = versions
            self.age = age
        }
    }

    /// The versions that can be read, newest first: recent ones, and older ones that are tagged.
    public var versions: [Version] {
        get throws {
            core.confinement.check()
            return try Realm.failing { () throws(FirnError) in
                let database = core.file.database, tags = try database.tags()
                var times: [UInt64: Int64] = [:]
                for version in try database.versions() { times[version.version] = version.time }
                for tag in tags { times[tag.version] = tag.time }
                return times.sorted { $0.key > $1.key }.map { number, time in
                    Version(number: number, date: Date(timeIntervalSince1970: Double(time) / 1e9), tags: tags.filter { $0.version == number }.map(\.name))
                }
            }
        }
    }

    /// The realm as it was at a version, for good: immutable, usable from any thread. Throws `.fileNotFound` if the version is not kept any more.
    public func freeze(at version: UInt64) throws -> Realm { try freeze { () throws(FirnError) in try core.file.database.snapshot(version: version) } }

    /// The realm as it was at the version with this tag.
    public func freeze(at tag: String) throws -> Realm { try freeze { () throws(FirnError) in try core.file.database.snapshot(tag: tag) } }

    /// Gives the version that is read a name: it stays readable until the name is taken away, at the cost of what has changed since. A version that had the name
    /// loses it. Not within a write transaction.
    public func tag(_ name: String) throws {
        try checkHistory("tag a version")
        let snapshot = core.snapshot
        try Realm.failing { () throws(FirnError) in try core.file.database.tag(name, snapshot) }
    }

    /// Takes a name away; false if no version has it. Not within a write transaction.
    @discardableResult
    public func removeTag(_ name: String) throws -> Bool {
        try checkHistory("remove a tag")
        return try Realm.failing { () throws(FirnError) in try core.file.database.untag(name) }
    }

    /// Makes the data those of an older version, in a new one; the versions between stay as they are. Objects keep their identity: those that are there again are
    /// the ones they were. Types and properties that came since stay, without objects and values. Not within a write transaction.
    public func revert(to version: UInt64) throws { try revert { () throws(FirnError) in try core.file.database.snapshot(version: version) } }

    /// As `revert(to:)`, to the version with this tag.
    public func revert(to tag: String) throws { try revert { () throws(FirnError) in try core.file.database.snapshot(tag: tag) } }

    // MARK: Inside

    private func freeze(_ find: () throws(FirnError) -> DatabaseSnapshot) throws -> Realm {
        core.confinement.check()
        return Realm(try core.frozen(at: try Realm.failing(find)))
    }

    private func revert(_ find: () throws(FirnError) -> DatabaseSnapshot) throws {
        try checkHistory("go back to a version")
        let file = core.file
        let version = try Realm.failing { () throws(FirnError) in
            let wanted = try find()
            let transaction = try file.database.begin()
            do throws(FirnError) {
                try transaction.revert(to: wanted)
                return try transaction.commit()
            } catch {
                transaction.cancel()
                throw error
            }
        }
        file.announce(version, from: core)
        refresh()
    }

    private func checkHistory(_ action: String) throws {
        core.confinement.check()
        precondition(!core.isFrozen, RealmMessage.frozen)
        precondition(!core.isInTransaction, "Cannot \(action) within a write transaction: do it before or after.")
        guard !core.configuration.readOnly else { throw Error(.filePermissionDenied, "Can't change the history of read-only Realms.") }
        if let damage { throw Error(damage) }
        try core.file.checkWaiting()
    }

    private static func failing<R>(_ body: () throws(FirnError) -> R) throws -> R {
        do throws(FirnError) { return try body() } catch { throw Error(error) }
    }
}

extension Realm.History {
    var retention: VersionRetention { VersionRetention(versions: versions, seconds: age.map { Int(min(max($0, 0).rounded(.up), 1e15)) }) }
}
