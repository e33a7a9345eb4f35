import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// The sealed segments of a version with the columns of their key, each opened on first use. Confirming candidates uses them repeatedly, so
/// they bypass the directory, the caches and the general readers.
final class KeySegments: Sendable {
    /// Candidates of versions with more segments are found through the directory instead.
    static let maximumSegments = 256

    private let shape: KeyShape
    private let type: Int
    /// The first and last row id of each segment, ascending.
    private let firsts: [Int64], lasts: [Int64]
    private let opened: Mutex<[Entry?]>
    /// Opens segments. It owns this object, so the reference is valid as long as the version is in use.
    private unowned let core: SnapshotCore

    private final class Entry: Sendable {
        let segment: StoredSegment
        let columns: [RawColumn]
        let hasGone: Bool

        init(_ segment: StoredSegment, columns: [RawColumn]) {
            self.segment = segment
            self.columns = columns
            hasGone = segment.live != nil
        }
    }

    init(_ core: SnapshotCore, type: Int, _ shape: KeyShape) throws(Damage) {
        self.core = core
        self.type = type
        self.shape = shape
        var firsts: [Int64] = [], lasts: [Int64] = []
        for index in 0..<core.catalogue.types[type].segmentCount {
            let entry = try core.directoryEntry(type: type, index: index)
            firsts.append(entry.firstRowID)
            lasts.append(entry.lastRowID)
        }
        self.firsts = firsts
        self.lasts = lasts
        opened = Mutex(Array(repeating: nil, count: firsts.count))
    }

    /// Returns whether the row exists and has the key, or nil if no sealed segment spans the row id.
    func holds(_ rowID: Int64, _ wanted: WantedKey) throws(Damage) -> Bool? {
        let index = lasts.withUnsafeBufferPointer { lasts in
            var low = 0, high = lasts.count
            while low < high {
                let middle = (low &+ high) >> 1
                if lasts[middle] < rowID { low = middle &+ 1 } else { high = middle }
            }
            return low
        }
        guard index < firsts.count, firsts[index] <= rowID else { return nil }
        let known = opened.withLock { $0[index] }, entry: Entry
        if let known { entry = known } else { entry = try open(index) }
        guard let row = try entry.segment.position(of: rowID) else { return false }
        if entry.hasGone, !entry.segment.isLive(row) { return false }
        for i in entry.columns.indices {
            guard try entry.columns[i].holds(wanted.values[i], at: row, shape) else { return false }
        }
        return true
    }

    private func open(_ index: Int) throws(Damage) -> Entry {
        let segment = try core.segment(type: type, index: index)
        var columns: [RawColumn] = []
        for column in shape.columns { columns.append(try segment.rawColumn(column)) }
        let entry = Entry(segment, columns: columns)
        opened.withLock { $0[index] = entry }
        return entry
    }
}

extension RawColumn {
    /// Returns whether a row has the value, compared as by `KeyShape.same`. Ints, text and pairs of integers are compared in their stored
    /// form.
    func holds(_ wanted: Value, at row: Int, _ shape: KeyShape) throws(Damage) -> Bool {
        guard overlay == nil, let chunk, let found = try chunk.holds(wanted, at: row) else { return shape.same(try value(at: row), wanted) }
        try checkIntact()
        return found
    }
}

extension ChunkReader {
    /// Returns nil if the value must be read and compared instead.
    fileprivate func holds(_ wanted: Value, at row: Int) throws(Damage) -> Bool? {
        trap(unless: row >= 0 && row < rowCount, "row outside the segment")
        guard lengths == nil, tags == nil else { return nil }
        switch (type.kind, wanted) {
        case (.int, .int(let x)): return try word(at: row) == x
        case (.uuid, .uuid(let x)): return try holds(Column.pair(uuid: x), at: row)
        case (.objectID, .objectID(let x)): return try holds(Column.pair(objectID: x), at: row)
        case (.date, .date(let x)): return try holds((x.seconds, Int64(x.nanoseconds)), at: row)
        case (.string, .string(let x)):
            if let present, !(try present.value(at: row)) { return false }
            return try text!.withValue(at: row) { stored in
                var x = x
                return x.withUTF8 { stored.elementsEqual(UnsafeRawBufferPointer($0)) }
            }
        default: return nil
        }
    }

    private func holds(_ pair: (Int64, Int64), at row: Int) throws(Damage) -> Bool {
        if let present, !(try present.value(at: row)) { return false }
        guard try words!.value(at: row) == pair.0 else { return false }
        return try extra!.value(at: row) == pair.1
    }
}
