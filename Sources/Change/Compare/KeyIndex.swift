import FirnBytes
import Synchronization

/// Finds the chosen rows of the old table by the hash of their key. The table of hashes is made when it is first needed: if most rows of both
/// tables are in the same order, few rows have to be searched for, and if the keys ascend, their landmarks lead to them.
final class KeyIndex: Sendable {
    private let hashes: KeyHashes
    private let threads: Int
    /// Nil if the keys do not ascend.
    let landmarks: KeyLandmarks?
    private let made = Mutex<KeyHashTable?>(nil)

    init(_ hashes: KeyHashes, _ landmarks: KeyLandmarks?, _ options: DifferenceOptions) {
        self.hashes = hashes
        self.landmarks = landmarks
        threads = options.execution.threads
    }

    /// Returns the first of some rows that has a hash; `KeyHashTable.none` if none has.
    func first(_ hash: UInt64, in rows: Range<Int>) -> UInt32 {
        rows.first { hashes.hashes[$0] == hash }.map { UInt32(truncatingIfNeeded: $0) } ?? KeyHashTable.none
    }

    /// Returns the table. Other threads wait while it is made.
    func table() -> KeyHashTable {
        made.withLock { made in
            if let made { return made }
            let table = hashes.table(threads: threads)
            // Keys that ascend are unique. Else `DuplicateKeys` decides on the rows with equal hashes.
            if landmarks != nil { for suspect in table.suspects { table.enter(suspect.later) } }
            made = table
            return table
        }
    }
}
