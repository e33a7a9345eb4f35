import FirnBytes
import FirnDatabase
import FirnTable

/// The elements of a large list, set or map as they were read, and beside them the changes: nothing is made of an element that is neither
/// read nor changed, and reading and writing copy arrays of numbers and bytes.
struct SplicedElements {
    /// Consecutive elements that were read, or that were added.
    private struct Piece {
        var isAdded: Bool
        var start: Int
        var count: Int
    }

    /// Smaller collections are kept as values.
    static let minimumCount = 1024

    /// The elements, of a map the values, that were read, and the keys of a map.
    private let baseValues: Column
    private let baseKeys: Column?
    private var addedValues: Column
    private var addedKeys: Column?
    private var pieces: [Piece]
    /// The index of the first element of each piece.
    private var starts: [Int]
    private(set) var count: Int

    /// Creates the elements of a column of one row; nil if they are few.
    init?(_ row: Column) {
        guard row.type.isCollection, row.count == 1, row.isPresent(0), case let range = row.offsets[0]..<row.offsets[1],
            range.count >= SplicedElements.minimumCount
        else { return nil }
        baseKeys = row.type.collection == .map ? row.children[0] : nil
        baseValues = row.children[row.children.count - 1]
        addedKeys = baseKeys?.emptyCopy
        addedValues = baseValues.emptyCopy
        pieces = [Piece(isAdded: false, start: range.lowerBound, count: range.count)]
        starts = [0]
        count = range.count
    }

    /// Whether there are so many changes that values are better.
    var isFull: Bool { pieces.count > 64 + count / 128 || addedValues.count > 1024 + count / 2 }

    // MARK: Reading

    private func position(_ index: Int) -> (isAdded: Bool, row: Int) {
        trap(unless: index >= 0 && index < count, "an element outside the collection")
        var low = 0, high = starts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return (pieces[low].isAdded, pieces[low].start + index - starts[low])
    }

    subscript(index: Int) -> Value {
        let (isAdded, row) = position(index)
        return value(isAdded, row)
    }

    private func value(_ isAdded: Bool, _ row: Int) -> Value { isAdded ? addedValues.value(at: row) : baseValues.value(at: row) }

    /// Returns the key of an entry of a map.
    func key(at index: Int) -> String {
        let (isAdded, row) = position(index)
        return (isAdded ? addedKeys?.text.string(row) : baseKeys?.text.string(row)) ?? ""
    }

    /// All elements, in order.
    var all: [Value] {
        var found: [Value] = []
        found.reserveCapacity(count)
        for piece in pieces {
            let column = piece.isAdded ? addedValues : baseValues
            for row in piece.start..<piece.start + piece.count { found.append(column.value(at: row)) }
        }
        return found
    }

    /// All keys of a map, in order.
    var allKeys: [String] {
        var found: [String] = []
        guard let baseKeys, let addedKeys else { return found }
        found.reserveCapacity(count)
        for piece in pieces {
            let text = piece.isAdded ? addedKeys.text : baseKeys.text
            for row in piece.start..<piece.start + piece.count { found.append(text.string(row)) }
        }
        return found
    }

    /// Returns the elements as the only row of a column of this type.
    func row(of type: ColumnType) -> Column {
        var row = Column(type)
        let last = row.children.count - 1
        row.children[last].reserve(count, bytes: bytes(baseValues, addedValues), like: baseValues)
        if let baseKeys, let addedKeys { row.children[0].reserve(count, bytes: bytes(baseKeys, addedKeys), like: baseKeys) }
        for piece in pieces {
            let range = piece.start..<piece.start + piece.count
            row.children[last].append(contentsOf: piece.isAdded ? addedValues : baseValues, range: range)
            if let keys = piece.isAdded ? addedKeys : baseKeys { row.children[0].append(contentsOf: keys, range: range) }
        }
        row.count = 1
        row.offsets = [0, count]
        return row
    }

    /// The bytes of the text of all elements.
    private func bytes(_ base: Column, _ added: Column) -> Int {
        guard base.text.count > 0 || added.text.count > 0 else { return 0 }
        return pieces.reduce(0) { sum, piece in
            let text = piece.isAdded ? added.text : base.text
            return text.count == 0 ? sum : sum + text.offsets[piece.start + piece.count] - text.offsets[piece.start]
        }
    }

    // MARK: Searching

    /// Returns where an element of a set is, or where it is inserted.
    func search(_ wanted: Value) -> (index: Int, isThere: Bool) {
        switch (wanted, baseValues.type.kind) {
        case (.string(let x), .string):
            search { isAdded, row in isAdded ? order(addedValues, row, x.utf8) : order(baseValues, row, x.utf8) }
        case (.data(let x), .data): search { isAdded, row in isAdded ? order(addedValues, row, x) : order(baseValues, row, x) }
        default: search { isAdded, row in Value.order(value(isAdded, row), wanted) }
        }
    }

    /// Returns where a key of a map is, or where it is inserted.
    func search(key: String) -> (index: Int, isThere: Bool) {
        guard let baseKeys, let addedKeys else { return (0, false) }
        return search { isAdded, row in isAdded ? order(addedKeys, row, key.utf8) : order(baseKeys, row, key.utf8) }
    }

    private func search(_ order: (_ isAdded: Bool, _ row: Int) -> Int) -> (index: Int, isThere: Bool) {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2, (isAdded, row) = position(middle)
            let found = order(isAdded, row)
            if found == 0 { return (middle, true) }
            if found < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Compares a text of a column with bytes: -1, 0 or 1. Null is before all.
    private func order(_ column: Column, _ row: Int, _ wanted: some Collection<UInt8>) -> Int {
        guard column.isPresent(row) else { return -1 }
        return column.text.withBytes(row) { bytes in
            bytes.elementsEqual(wanted) ? 0 : bytes.lexicographicallyPrecedes(wanted) ? -1 : 1
        }
    }

    // MARK: Changing

    /// Replaces a range of elements, in a map of entries. Returns the elements, of a map the values, that were there. Returns nil, and changes nothing,
    /// if a new one does not fit the column.
    mutating func replaceSubrange(_ range: Range<Int>, with new: [Value], keys: [String] = []) -> [Value]? {
        guard new.allSatisfy(addedValues.fits) else { return nil }
        let old = range.map { self[$0] }
        let start = addedValues.count
        for value in new { addedValues.append(value) }
        for key in keys { addedKeys?.append(.string(key)) }
        splice(range, with: Piece(isAdded: true, start: start, count: new.count))
        return old
    }

    private mutating func splice(_ range: Range<Int>, with new: Piece) {
        var next: [Piece] = [], index = 0, isDone = false
        next.reserveCapacity(pieces.count + 2)
        func add(_ piece: Piece) {
            guard piece.count > 0 else { return }
            if let last = next.last, last.isAdded == piece.isAdded, last.start + last.count == piece.start {
                next[next.count - 1].count += piece.count
            } else {
                next.append(piece)
            }
        }
        for piece in pieces {
            let kept = min(max(range.lowerBound - index, 0), piece.count), gone = min(max(range.upperBound - index, 0), piece.count)
            add(Piece(isAdded: piece.isAdded, start: piece.start, count: kept))
            if !isDone, index + piece.count >= range.lowerBound {
                add(new)
                isDone = true
            }
            add(Piece(isAdded: piece.isAdded, start: piece.start + gone, count: piece.count - gone))
            index += piece.count
        }
        if !isDone { add(new) }
        pieces = next
        starts.removeAll(keepingCapacity: true)
        count = 0
        for piece in pieces {
            starts.append(count)
            count += piece.count
        }
    }
}
