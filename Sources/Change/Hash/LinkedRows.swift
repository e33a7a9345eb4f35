import FirnBytes
import FirnTable
import Synchronization

/// The tables that a table's links refer to, with what identifies their rows in any file: their key, or their position. It can be used from
/// any thread.
final class LinkedRows: Sendable {
    private let origin: any Table
    private let known: Mutex<[String: RowIdentities?]> = Mutex([:])

    init(of origin: any Table) { self.origin = origin }

    /// Returns nil if the rows of the type are not available.
    func table(_ name: String) throws(Damage) -> RowIdentities? {
        if let found = known.withLock({ $0[name] }) { return found }
        let made = try origin.related(name).map { (table) throws(Damage) in try RowIdentities(of: table) }
        known.withLock { $0[name] = .some(made) }
        return made
    }
}

/// What identifies the rows of one table in a content hash.
final class RowIdentities: Sendable {
    private let table: any Table
    /// The number of live rows before each segment.
    private let starts: [Int]
    /// For types with a key: the hashes of the keys, by segment and position.
    private let keys: [[UInt128]]

    init(of table: any Table) throws(Damage) {
        self.table = table
        starts = try table.liveStarts()
        var keys: [[UInt128]] = []
        if !table.type.key.isEmpty {
            // Links within a key are hashed by row id, because a key can refer to its own type.
            for index in 0..<table.segmentCount {
                keys.append(try RowSums(table, index, columns: table.type.key, CellHasher(linkedRows: nil)).array)
            }
        }
        self.keys = keys
    }

    /// Returns nil if the row does not exist.
    func identity(_ row: Int64) throws(Damage) -> UInt128? {
        guard let location = try table.liveLocation(of: row) else { return nil }
        if !keys.isEmpty { return CellHasher.hash(keys[location.segment][location.position], 0) }
        return CellHasher.hash(try table.ordinal(of: location, starts), 0)
    }
}

extension Table {
    /// Returns the location of a row; nil if there is no live row with this id.
    func liveLocation(of rowID: Int64) throws(Damage) -> RowLocation? {
        guard let index = try segmentIndex(of: rowID) else { return nil }
        let segment = try segment(index)
        guard let position = try segment.position(of: rowID), segment.live?[position] ?? true else { return nil }
        return RowLocation(segment: index, position: position)
    }

    /// Returns the number of live rows before a row. `starts` is the result of `liveStarts()`.
    func ordinal(of location: RowLocation, _ starts: [Int]) throws(Damage) -> Int64 {
        Int64(starts[location.segment] + (try segment(location.segment).live?.rank(location.position) ?? location.position))
    }

    /// Returns the number of live rows before each segment.
    func liveStarts() throws(Damage) -> [Int] {
        var starts: [Int] = [], count = 0
        for index in 0..<segmentCount {
            starts.append(count)
            count += try segment(index).liveCount
        }
        return starts
    }
}
