import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// Counters of the work done for keys, never reset. Tests check the promised complexity with them.
package final class KeyWork: Sendable {
    private let counts = Mutex((vectors: 0, records: 0, builds: 0))

    /// The number of decoded vectors of key columns.
    package var vectors: Int { counts.withLock { $0.vectors } }
    /// The number of decoded delta records.
    package var records: Int { counts.withLock { $0.records } }
    /// The number of indexes built from scratch.
    package var builds: Int { counts.withLock { $0.builds } }

    func add(vectors: Int = 0, records: Int = 0, builds: Int = 0) {
        counts.withLock { counts in
            counts.vectors += vectors
            counts.records += records
            counts.builds += builds
        }
    }
}

/// The estimated costs of searching a table, in units of about one check of a vector's zone.
enum KeyCost {
    /// Decoding, hashing and comparing one vector of one column.
    static let vector = 64
    /// Checking the zones of one segment.
    static let segment = 4
    /// Decoding one delta record.
    static let record = 16

    /// Returns the cost of entering every row of a type into an index.
    static func building(_ state: Catalogue.TypeState, columns: Int) -> Int {
        // The catalogue is untrusted: limit its numbers.
        (min(state.liveRows, 1 << 40) / vectorSize + state.segmentCount + 1) * min(columns, 1 << 16) * vector * 2
            + (state.deltaRows + state.deltaChanges) * record
    }
}

/// Searches the rows of a version for a key: with the index of the key's column if there is one, otherwise segment by segment, skipping by
/// zones.
struct KeyScan {
    let shape: KeyShape
    let wanted: WantedKey
    let work: KeyWork?
    private(set) var cost = 0

    init(_ shape: KeyShape, _ wanted: WantedKey, work: KeyWork?) {
        self.shape = shape
        self.wanted = wanted
        self.work = work
    }

    /// Returns the rows with the key among the segments from index `from` on and, if `tail`, among the rows of the delta store, ascending.
    /// If `one`, the first row is enough.
    mutating func rows(_ core: SnapshotCore, type: Int, from: Int = 0, tail: Bool = true, one: Bool) throws(Damage) -> [Int64] {
        var found: [Int64] = []
        if from == 0, shape.columns.count == 1, let index = core.columnIndex(type, shape.columns[0], .values) {
            try search(index, core, type, &found)
            if one, !found.isEmpty { return found }
        } else {
            let zones = try core.zones(type: type, column: shape.columns[0])
            for index in from..<max(from, core.catalogue.types[type].segmentCount) {
                if let zone = zones?[index], !zone.mayHold(wanted.values[0]), !core.catalogue.types[type].touches(index) {
                    cost += 1
                    continue
                }
                try search(try core.rows(type: type, index: index), one: one, &found)
                if one, !found.isEmpty { return found }
            }
        }
        guard tail, core.catalogue.types[type].deltaRows > 0 else { return found }
        if !core.isTailOpen(type: type) {
            cost += core.catalogue.types[type].deltaRows * KeyCost.record
            work?.add(records: core.catalogue.types[type].deltaRows)
        }
        if let segment = try core.tail(type: type) { try search(segment, one: one, &found) }
        return found
    }

    /// Checks the rows of sealed segments that an index returns.
    private mutating func search(_ index: ColumnIndex, _ core: SnapshotCore, _ type: Int, _ found: inout [Int64]) throws(Damage) {
        let candidates = try index.sealedRows(IndexProbe(equal: wanted.values[0], shape.types[0].kind))
        cost += KeyCost.segment * (1 + candidates.count)
        for candidate in candidates {
            let rows = try core.rows(type: type, index: candidate.segment), position = candidate.position
            guard rows.isLive(position), shape.same(try rows.storedColumn(shape.columns[0]).value(at: position), wanted.values[0]) else {
                continue
            }
            found.append(try rows.rowID(at: position))
        }
    }

    private mutating func search(_ segment: any StoredRows, one: Bool, _ found: inout [Int64]) throws(Damage) {
        cost += KeyCost.segment
        for (i, column) in shape.columns.enumerated() {
            if let zone = try segment.zone(of: column), !zone.mayHold(wanted.values[i]) { return }
        }
        let readers = try shape.columns.mapTyped { (column) throws(Damage) in try segment.storedColumn(column) }
        var scratch = shape.types.map { Column($0) }
        var hashes: [UInt64] = []
        for vector in 0..<segment.vectorCount {
            cost += 1
            guard try mayHold(readers, vector) else { continue }
            cost += KeyCost.vector * readers.count
            work?.add(vectors: readers.count)
            let rows = segment.rows(ofVector: vector)
            try KeyShape.hash(readers, vector: vector, count: rows.count, dictionaries: nil, &scratch, &hashes)
            for i in 0..<rows.count where hashes[i] & shape.mask == wanted.hash && segment.live?[rows.lowerBound + i] ?? true {
                guard scratch.indices.allSatisfy({ shape.same(scratch[$0].value(at: i), wanted.values[$0]) }) else { continue }
                found.append(try segment.rowID(at: rows.lowerBound + i))
                if one { return }
            }
        }
    }

    private func mayHold(_ readers: [any ColumnReader], _ vector: Int) throws(Damage) -> Bool {
        for (i, reader) in readers.enumerated() {
            if let zone = reader.zone(ofVector: vector), !zone.mayHold(wanted.values[i]) { return false }
        }
        return true
    }
}

extension KeyShape {
    /// Hashes the rows of one vector, without the mask. `scratch` has one column for each column of the key; it receives codes for columns
    /// that have an entry in `dictionaries`.
    static func hash(
        _ readers: [any ColumnReader], vector: Int, count: Int, dictionaries: [[UInt64]?]?, _ scratch: inout [Column],
        _ hashes: inout [UInt64]
    ) throws(Damage) {
        if hashes.count < count { hashes = Array(repeating: 0, count: vectorSize) }
        for i in 0..<count { hashes[i] = 0 }
        for i in readers.indices {
            let dictionary = dictionaries?[i]
            if dictionary != nil {
                try readers[i].readCodes(vector: vector, into: &scratch[i])
            } else {
                try readers[i].read(vector: vector, into: &scratch[i])
            }
            guard scratch[i].count == count else { throw Damage("a vector of another length than its segment has") }
            try hashes.withUnsafeMutableBufferPointer { (out) throws(Damage) in
                try fold(scratch[i], dictionary: dictionary, into: out.baseAddress!)
            }
        }
    }

    /// Returns the hashes of all rows of a sealed segment, without the changes in the delta store, and the number of vectors that were
    /// decoded.
    func hashes(of segment: StoredSegment) throws(Damage) -> (hashes: [UInt64], vectors: Int) {
        var readers: [any ColumnReader] = [], dictionaries: [[UInt64]?] = [], scratch: [Column] = []
        for (column, type) in zip(columns, types) {
            let reader = StoredColumn(try segment.sealedColumn(column))
            readers.append(reader)
            // A dictionary that several segments share can be longer than the segment.
            if type.kind == .string || type.kind == .data, let dictionary = try reader.dictionary(), dictionary.count <= segment.rowCount {
                dictionaries.append((0..<dictionary.count).map { dictionary.withBytes($0, hashBytes) })
                scratch.append(Column(ColumnType(.int, optional: type.isOptional)))
            } else {
                dictionaries.append(nil)
                scratch.append(Column(type))
            }
        }
        var all: [UInt64] = [], hashes: [UInt64] = []
        all.reserveCapacity(segment.rowCount)
        for vector in 0..<segment.vectorCount {
            let count = segment.rows(ofVector: vector).count
            try KeyShape.hash(readers, vector: vector, count: count, dictionaries: dictionaries, &scratch, &hashes)
            all.append(contentsOf: hashes[..<count])
        }
        if mask != .max { for i in all.indices { all[i] &= mask } }
        return (all, segment.vectorCount * readers.count)
    }
}
