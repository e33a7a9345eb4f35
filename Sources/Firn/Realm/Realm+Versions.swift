import FirnBytes
import FirnDatabase
import FirnTable
import Foundation
import Synchronization

extension Realm {
    /// A version of the file that is being read, so that the file keeps what it refers to.
    public struct ActiveVersion: Sendable, CustomStringConvertible {
        /// The number of the version.
        public let version: UInt64
        /// The time of the commit; nil if the file no longer records it.
        public let date: Date?
        /// The readers, as far as this process knows them: `a frozen realm`, `a realm of queue "x"`, `process 4711 (backup)`.
        public let holders: [String]

        /// The number of seconds since the commit; nil if `date` is.
        public var age: TimeInterval? { date.map { -$0.timeIntervalSinceNow } }
        /// The number, the age in seconds and the readers as text: `version 7 (12 s old), read by a frozen realm`. An unknown age and
        /// unknown readers are omitted.
        public var description: String {
            "version \(version)" + (age.map { " (\(Int($0)) s old)" } ?? "")
                + (holders.isEmpty ? "" : ", read by " + holders.joined(separator: ", "))
        }
    }

    /// The versions that any process is reading now, oldest first. The newest version is always included.
    public var activeVersions: [ActiveVersion] {
        get throws {
            core.check()
            do { return try core.activeVersions() } catch { throw Error(error) }
        }
    }

    /// The number of bytes of the file that only older versions refer to, which are kept, tagged or being read.
    public var bytesOfOlderVersions: Int {
        get throws {
            do { return try core.file.database.space().dead } catch { throw Error(error) }
        }
    }
}

extension RealmCore {
    func activeVersions() throws(FirnError) -> [Realm.ActiveVersion] {
        let database = file.database
        let newest = try database.snapshot().version
        let holds = file.holds.withLock { Array($0.values) }
        let pins = Set(try database.pinnedVersions()).union([newest]).union(holds.map(\.version))
        var dates: [UInt64: Date] = [:]
        for info in try database.versions() { dates[info.version] = Date(timeIntervalSince1970: Double(info.time) / 1e9) }
        let others = try database.pinHolders()
        return pins.sorted().map { version in
            var holders = holds.filter { $0.version == version }.map(\.description).sorted() + (others[version] ?? []).map(\.description)
            if holders.isEmpty, version != newest { holders = ["another process, or objects that were read from a realm"] }
            return Realm.ActiveVersion(version: version, date: dates[version], holders: holders)
        }
    }

    /// Throws if a transaction of this realm, which reads only the newest version, would exceed the maximum number of active versions.
    func checkVersionCount(holding own: UInt64?) throws {
        guard let limit = configuration.maximumNumberOfActiveVersions, limit > 0 else { return }
        let others: [Realm.ActiveVersion]
        do {
            let held = pin.heldByOthers
            let newest = try file.database.snapshot().version
            others = try activeVersions().filter { held.contains($0.version) || ($0.version != own && $0.version != newest) }
        } catch { throw Realm.Error(error) }
        guard others.count + 1 > limit else { return }
        throw Realm.Error(
            .tooManyVersions,
            "Number of active versions (\(others.count + 1)) in the Realm would exceed the limit of \(limit). The oldest: "
                + others.prefix(3).map(\.description).joined(separator: "; ") + ". Release frozen realms and everything read from them.")
    }
}
