import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// Reads single elements of one large list, set or map in a segment: it decodes only the vectors of elements that are asked for. The
/// changes of a delta record are pieces beside those of the segment. Usable from any thread.
package final class StoredElements: Sendable {
    /// Consecutive elements of the segment, or of those that the delta record inserts.
    private struct Piece {
        var isAdded: Bool
        var start: Int
        var count: Int
    }

    private struct State {
        /// The vector that was decoded last; -1 if none was.
        var vector = -1
        var values: Column
        var decoded = 0
        var searches = 0
    }

    /// Smaller collections are decoded whole.
    package static let minimumCount = 4 * vectorSize

    /// The number of elements.
    package let count: Int
    private let raw: RawColumn
    private let chunk: ChunkReader
    private let location: ColumnLocation
    /// A column of one row with the inserted elements; nil if there are no changes.
    private let added: Column?
    private let pieces: [Piece]
    /// The index of the first element of each piece.
    private let starts: [Int]
    private let state: Mutex<State>

    /// `range` are the elements in the chunk, to which the splices are relative.
    init(_ raw: RawColumn, _ chunk: ChunkReader, _ range: Range<Int>, splices: CollectionSplices?, location: ColumnLocation)
        throws(Damage)
    {
        self.raw = raw
        self.chunk = chunk
        self.location = location
        var pieces: [Piece] = [], from = range.lowerBound, next = 0
        if let splices {
            added = try splices.inserted(into: chunk.rawType, elements: range.count)
            for cut in splices.cuts {
                pieces.append(Piece(isAdded: false, start: from, count: cut.kept))
                pieces.append(Piece(isAdded: true, start: next, count: cut.inserted))
                from += cut.kept + cut.removed
                next += cut.inserted
            }
        } else {
            added = nil
        }
        pieces.append(Piece(isAdded: false, start: from, count: range.upperBound - from))
        self.pieces = pieces.filter { $0.count > 0 }
        var starts: [Int] = [], count = 0
        for piece in self.pieces {
            starts.append(count)
            count += piece.count
        }
        self.starts = starts
        self.count = count
        let children = Column(chunk.rawType).children
        state = Mutex(State(values: children[children.count - 1]))
    }

    /// Whether so much was read that decoding the whole collection costs no more than reading it in this way further.
    package var isCostly: Bool { state.withLock { $0.decoded + 4 * $0.searches > max(8, count / vectorSize / 4) } }

    /// The number of vectors of elements that were decoded.
    package var decodedVectors: Int { state.withLock { $0.decoded } }

    // MARK: Reading

    /// Returns the element at an index, in a map the value.
    package func value(at index: Int) throws(Damage) -> Value {
        let (isAdded, position) = position(index)
        if isAdded, let added { return added.children[added.children.count - 1].value(at: position) }
        return try located { () throws(Damage) -> Value in
            try state.withLock { (state) throws(Damage) -> Value in
                let vector = position / vectorSize
                if vector != state.vector {
                    state.vector = -1
                    let count = min(vectorSize, chunk.elementCount - vector * vectorSize)
                    try chunk.readPayload(vector: vector, count: count, presence: chunk.elementPresent, into: &state.values)
                    state.vector = vector
                    state.decoded += 1
                }
                return state.values.value(at: position % vectorSize)
            }
        }
    }

    /// Returns the key of an entry of a map.
    package func key(at index: Int) throws(Damage) -> String {
        let (isAdded, position) = position(index)
        if isAdded, let added { return added.children[0].text.string(position) }
        return try located { () throws(Damage) in try keys().withValue(at: position) { String(decoding: $0, as: UTF8.self) } }
    }

    private func keys() throws(Damage) -> TextReader {
        guard let keys = chunk.keys else { throw Damage("a map without keys") }
        return keys
    }

    // MARK: Searching

    /// Returns where an element of a set is, or where it would be. Reads about log2(count) elements.
    package func search(_ wanted: Value) throws(Damage) -> (index: Int, isThere: Bool) {
        try search { (isAdded, position) throws(Damage) in
            let value = isAdded ? added?.children[0].value(at: position) : try chunk.element(at: position)
            return Value.order(value ?? .null, wanted)
        }
    }

    /// Returns where a key of a map is, or where it would be. Reads about log2(count) keys.
    package func search(key: String) throws(Damage) -> (index: Int, isThere: Bool) {
        let keys = try keys()
        func order(_ bytes: UnsafeRawBufferPointer) -> Int {
            bytes.elementsEqual(key.utf8) ? 0 : bytes.lexicographicallyPrecedes(key.utf8) ? -1 : 1
        }
        return try search { (isAdded, position) throws(Damage) in
            if isAdded, let added { return added.children[0].text.withBytes(position, order) }
            return try keys.withValue(at: position, order)
        }
    }

    private func search(_ order: (_ isAdded: Bool, _ position: Int) throws(Damage) -> Int) throws(Damage) -> (index: Int, isThere: Bool) {
        state.withLock { $0.searches += 1 }
        return try located { () throws(Damage) -> (index: Int, isThere: Bool) in
            var low = 0, high = count
            while low < high {
                let middle = (low + high) / 2, (isAdded, position) = position(middle)
                let found = try order(isAdded, position)
                if found == 0 { return (middle, true) }
                if found < 0 { low = middle + 1 } else { high = middle }
            }
            return (low, false)
        }
    }

    /// Returns where an element is: in `added`, or in the chunk.
    private func position(_ index: Int) -> (isAdded: Bool, position: Int) {
        trap(unless: index >= 0 && index < count, "an element outside the collection")
        var low = 0, high = starts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return (pieces[low].isAdded, pieces[low].start + index - starts[low])
    }

    /// Runs `body`, and throws if the file was truncated meanwhile. A `Damage` gets the location of the column.
    private func located<R>(_ body: () throws(Damage) -> R) throws(Damage) -> R {
        do throws(Damage) {
            let result = try body()
            try raw.checkIntact()
            return result
        } catch { throw location.named(error) }
    }
}

extension StoredSegment {
    /// Returns a reader of the elements of a large collection. Returns nil if the row must be decoded whole, because it is small, or because
    /// its value is in a chunk overlay or whole in the delta store.
    func elements(_ index: Int, at position: Int) throws(Damage) -> StoredElements? {
        guard type.columns[index].type.isCollection, changes.overlays[index]?.index(of: position) == nil else { return nil }
        do throws(Damage) {
            let sealed = try keptSealedColumn(index)
            guard let chunk = sealed.chunk, sealed.overlay?.index(of: position) == nil,
                let range = try chunk.elementRange(at: position), range.count >= StoredElements.minimumCount
            else { return nil }
            let splices = changes.splices[index]?.first { $0.position == position }?.splices
            return try StoredElements(sealed, chunk, range, splices: splices, location: location(of: index))
        } catch { throw location(of: index).named(error) }
    }

    /// As `sealedColumn`, but opened once.
    private func keptSealedColumn(_ index: Int) throws(Damage) -> RawColumn {
        if !hasDelta(index) { return try rawColumn(index) }
        if let known = sealed.withLock({ $0[index] }) { return known }
        let column = try sealedColumn(index)
        sealed.withLock { $0[index] = column }
        return column
    }
}

extension ChunkReader {
    /// Returns the elements of a row of a collection column; nil if it is null.
    func elementRange(at row: Int) throws(Damage) -> Range<Int>? {
        trap(unless: row >= 0 && row < rowCount, "row outside the segment")
        guard let lengths else { return nil }
        if let present, !(try present.value(at: row)) { return nil }
        let range = try lengths.range(at: row)
        guard range.lowerBound >= 0, range.upperBound <= elementCount else { throw Damage("list bounds outside the elements") }
        try checkCount(range)
        return range
    }
}

extension Segment {
    /// Returns a reader of the elements of a large collection, or nil if its row must be decoded whole (`StoredSegment.elements`). No
    /// transaction may write to the segment while the reader is in use.
    package func storedElements(_ column: Int, at position: Int) throws(Damage) -> StoredElements? {
        guard let rows = (self as? TableSegment)?.rows else { return nil }
        if let working = rows as? WorkingRows {
            guard position < working.baseCount, working.heldRowIsAbsent(position, column) else { return nil }
            return try (working.base as? StoredSegment)?.elements(column, at: position)
        }
        return try (rows as? StoredSegment)?.elements(column, at: position)
    }
}

extension WorkingRows {
    /// Whether a row has its value from the base.
    fileprivate func heldRowIsAbsent(_ position: Int, _ column: Int) -> Bool {
        !(editedBlock(column, position / vectorSize)?.holds(position % vectorSize) ?? false)
    }
}
