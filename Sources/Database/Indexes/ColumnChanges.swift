import FirnBytes
import FirnStore
import FirnTable

/// The column of a type with this id, in every version.
struct ColumnOfType: Hashable {
    var type: UInt32
    var column: UInt32
}

/// The rows of sealed segments that have a value of one column in the delta store of a version. Segments are not opened for it, and leaves
/// of the delta store that an earlier version has too are not read again.
final class ColumnChanges: Sendable {
    private struct Leaf {
        var last: UInt64
        var rowIDs: [Int64]
    }

    /// Ascending.
    let rowIDs: [Int64]
    private let leaves: [ExtentRef: Leaf]
    /// The last row id of the sealed segments: later records are about rows that only the delta store has.
    private let lastRowID: Int64

    init(_ core: SnapshotCore, type: Int, column: UInt32, after earlier: ColumnChanges?) throws(Damage) {
        let state = core.catalogue.types[type]
        var rowIDs: [Int64] = [], leaves: [ExtentRef: Leaf] = [:], current: (ref: ExtentRef, leaf: Leaf)?
        let lastRowID = state.segmentCount == 0 ? -1 : try core.directoryEntry(type: type, index: state.segmentCount - 1).lastRowID
        let known = earlier.flatMap { $0.lastRowID == lastRowID ? $0.leaves : nil } ?? [:]
        var cursor = try TreeReader(root: state.delta, source: core.store).cursor(), decoded = 0
        defer { core.source.counts.addDeltaRecords(decoded) }
        while try cursor.next() {
            let key = try cursor.keyNumber()
            guard key <= UInt64(clamping: lastRowID), lastRowID >= 0 else {
                // The rest of the leaf is not read.
                if current?.ref == cursor.leaf { current = nil }
                break
            }
            if let leaf = known[cursor.leaf] {
                rowIDs.append(contentsOf: leaf.rowIDs)
                leaves[cursor.leaf] = leaf
                cursor.skipLeaf(endingAt: leaf.last)
                continue
            }
            if let done = current, done.ref != cursor.leaf { leaves[done.ref] = done.leaf }
            if current?.ref != cursor.leaf { current = (cursor.leaf, Leaf(last: key, rowIDs: [])) }
            current?.leaf.last = key
            decoded += 1
            guard try DeltaRecord.updates(column, ByteReader(try cursor.value())) else { continue }
            rowIDs.append(Int64(key))
            current?.leaf.rowIDs.append(Int64(key))
        }
        if let current { leaves[current.ref] = current.leaf }
        self.rowIDs = rowIDs
        self.leaves = leaves
        self.lastRowID = lastRowID
    }
}
