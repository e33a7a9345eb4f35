import FirnBytes
import FirnDatabase
import Foundation

/// The versions of the file: reading them, tagging them, and reverting to them.
extension Realm {
    /// A version of the file that can be read.
    public struct Version: Sendable, Hashable, CustomStringConvertible {
        /// The number of the version; commits are numbered from 1.
        public let number: UInt64
        /// The time of the commit.
        public let date: Date
        /// The tags of the version. A tagged version is kept until its tags are deleted.
        public let tags: [String]

        /// The number, the time of the commit and the tags as text: `version 12 of 2024-05-01 09:30:00 +0000, tagged a, b`.
        public var description: String { "version \(number) of \(date)" + (tags.isEmpty ? "" : ", tagged \(tags.joined(separator: ", "))") }
    }

    /// Which versions of a file stay readable after later commits. Tagged versions and versions that are being read are always kept.
    public struct History: Sendable, Hashable {
        /// The number of newest versions to keep, at least 2.
        public var versions: Int
        /// The age in seconds up to which versions are kept: all that were the newest within that time. Nil for none.
        public var age: TimeInterval?

        /// Keeps the `versions` newest versions, and those that were the newest within the last `age` seconds.
        public init(versions: Int = 8, age: TimeInterval? = nil) {
            self.versions = versions
            self.age = age
        }
    }

    /// The versions that can be read, newest first: recent ones, and older ones that are tagged.
    public var versions: [Version] {
        get throws {
            core.check()
            do {
                let database = core.file.database, tags = try database.tags()
                var times: [UInt64: Int64] = [:]
                for version in try database.versions() { times[version.version] = version.time }
                for tag in tags { times[tag.version] = tag.time }
                return times.sorted { $0.key > $1.key }.map { number, time in
                    Version(
                        number: number, date: Date(timeIntervalSince1970: Double(time) / 1e9),
                        tags: tags.filter { $0.version == number }.map(\.name))
                }
            } catch { throw Error(error) }
        }
    }

    /// Returns the realm at a version: immutable, and usable on any thread.
    /// - Throws: `Realm.Error` with the code `fileNotFound` if the version is no longer kept.
    public func freeze(at version: UInt64) throws -> Realm {
        try freeze(at: .number(version))
    }

    /// Returns the realm at the version with this tag: immutable, and usable on any thread.
    public func freeze(at tag: String) throws -> Realm { try freeze(at: .tag(tag)) }

    /// Tags the realm's version, which stays readable until the tag is deleted. The cost in space is what has changed since. If another
    /// version has the tag, the tag moves. Traps within a write transaction.
    public func tag(_ name: String) throws {
        try checkHistory("tag a version")
        let snapshot = core.snapshot
        do { try core.file.database.tag(name, snapshot) } catch { throw Error(error) }
    }

    /// Deletes a tag. Returns false if no version has it. Traps within a write transaction.
    @discardableResult
    public func removeTag(_ name: String) throws -> Bool {
        try checkHistory("remove a tag")
        do { return try core.file.database.untag(name) } catch { throw Error(error) }
    }

    /// Restores all objects of an older version, in a new version; the versions between are unchanged. Restored objects keep their
    /// identity. Types and properties that were added since remain, without objects and values. Traps within a write transaction.
    public func revert(to version: UInt64) throws {
        try revert(to: .number(version))
    }

    /// As `revert(to:)`, to the version with this tag.
    public func revert(to tag: String) throws { try revert(to: .tag(tag)) }

    // MARK: Inside

    /// A version by its number or by a tag.
    private enum VersionName {
        case number(UInt64)
        case tag(String)

        func find(_ database: Database) throws(FirnError) -> DatabaseSnapshot {
            switch self {
            case .number(let version): try database.snapshot(version: version)
            case .tag(let tag): try database.snapshot(tag: tag)
            }
        }
    }

    private func freeze(at version: VersionName) throws -> Realm {
        core.check()
        let snapshot: DatabaseSnapshot
        do { snapshot = try version.find(core.file.database) } catch { throw Error(error) }
        return Realm(try core.frozen(at: snapshot))
    }

    private func revert(to name: VersionName) throws {
        try checkHistory("revert to a version")
        let file = core.file
        let version: UInt64
        do throws(FirnError) {
            let wanted = try name.find(file.database)
            let transaction = try file.database.begin()
            do {
                try transaction.revert(to: wanted)
                version = try transaction.commit()
            } catch {
                transaction.cancel()
                throw error
            }
        } catch { throw Error(error) }
        file.announce(version, from: core)
        refresh()
    }

    private func checkHistory(_ action: String) throws {
        core.check()
        trap(unless: !core.isFrozen, RealmMessage.frozen)
        trap(unless: !core.isInTransaction, "Cannot \(action) within a write transaction: do it before or after.")
        guard !core.configuration.readOnly else { throw Error(.filePermissionDenied, "Can't change the history of read-only Realms.") }
        if let damage { throw Error(damage) }
        try core.file.checkWaiting()
    }
}

extension Realm.History {
    var retention: VersionRetention { VersionRetention(versions: versions, seconds: age.map { Int(min(max($0, 0).rounded(.up), 1e15)) }) }
}
