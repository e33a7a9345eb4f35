import FirnBytes
import FirnTable

/// The least or the greatest text or byte string of every group, by bytes.
struct TextExtremes {
    private let isMinimum: Bool
    private var best: [[UInt8]] = []
    private var known: [Bool] = []
    /// The first bytes of `best`, most significant first: they decide most comparisons.
    private var starts: [UInt64] = []
    private var textBytes = 0
    /// For the current segment, the starts of the entries of its dictionary.
    private var entryStarts: [UInt64] = []
    private var segment = -1

    init(isMinimum: Bool) { self.isMinimum = isMinimum }

    /// The memory in use in bytes.
    var bytes: Int { best.count &* (8 + 1 + 8 + 32) &+ textBytes &+ entryStarts.count &* 8 }

    mutating func resize(_ count: Int) {
        guard best.count < count else { return }
        let more = count - best.count
        best.append(contentsOf: repeatElement([], count: more))
        known.append(contentsOf: repeatElement(false, count: more))
        starts.append(contentsOf: repeatElement(0, count: more))
    }

    /// Adds the chosen rows of a column of texts or byte strings.
    mutating func add(_ column: Column, _ chosen: RowChoice) {
        chosen.forEach { group, row in
            guard column.isPresent(row) else { return }
            column.text.withBytes(row) { keep($0, TextExtremes.start($0), group) }
        }
    }

    /// Adds the chosen rows of a column of codes.
    mutating func add(codes: Column, of dictionary: Text, _ segment: Int, _ chosen: RowChoice) {
        if self.segment != segment || entryStarts.count != dictionary.count {
            self.segment = segment
            entryStarts = (0..<dictionary.count).map { dictionary.withBytes($0, TextExtremes.start) }
        }
        chosen.forEach { group, row in
            guard codes.isPresent(row) else { return }
            let code = Int(truncatingIfNeeded: codes.words[row]), start = entryStarts[code]
            if known[group], isMinimum ? start > starts[group] : start < starts[group] { return }
            dictionary.withBytes(code) { keep($0, start, group) }
        }
    }

    /// Returns the first eight bytes as a number that has their order. A shorter value ends with zeros.
    private static func start(_ value: UnsafeRawBufferPointer) -> UInt64 {
        if value.count >= 8 { return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)) }
        var out: UInt64 = 0
        for byte in value { out = out << 8 | UInt64(byte) }
        return value.isEmpty ? 0 : out << UInt64(8 &* (8 &- value.count))
    }

    @inline(__always)
    private mutating func keep(_ value: UnsafeRawBufferPointer, _ start: UInt64, _ group: Int) {
        if known[group] {
            if isMinimum ? start > starts[group] : start < starts[group] { return }
            if start == starts[group] {
                let order = best[group].withBytes { TextTest.order(value, $0) }
                if isMinimum ? order >= 0 : order <= 0 { return }
            }
        }
        replace(value, start, group)
    }

    private mutating func replace(_ value: UnsafeRawBufferPointer, _ start: UInt64, _ group: Int) {
        textBytes &+= value.count &- best[group].count
        best[group] = Array(value)
        starts[group] = start
        known[group] = true
    }

    /// Adds the groups of other rows, whose group g is this one's `groupOf[g]`.
    mutating func merge(_ other: TextExtremes, _ groupOf: [Int]) {
        for group in other.best.indices where other.known[group] {
            other.best[group].withBytes { keep($0, other.starts[group], groupOf[group]) }
        }
    }

    /// Returns the value of a group; nil if no row has one.
    func value(_ group: Int) -> [UInt8]? { known[group] ? best[group] : nil }
}
