import FirnBytes
import FirnTable

/// The entry of one value of one row.
struct IndexEntry: Hashable, Comparable {
    var word: Int64
    var row: Int64
    var extra: UInt32

    init(_ key: IndexKey, _ row: Int64) {
        word = key.word
        extra = key.extra
        self.row = row
    }

    var key: IndexKey { IndexKey(word, extra) }

    @inline(__always)
    static func < (a: IndexEntry, b: IndexEntry) -> Bool {
        if a.word != b.word { return a.word < b.word }
        return a.extra != b.extra ? a.extra < b.extra : a.row < b.row
    }
}

/// Entries that will be written to a run of an index.
struct IndexEntries {
    let kind: IndexKind
    /// Whether text of up to eight bytes is entered as it is, with its length. All other text is entered with a hash.
    let keepsShort: Bool
    private(set) var entries: [IndexEntry] = []
    /// Rows without a value.
    private(set) var nulls: [Int64] = []

    init(_ kind: IndexKind, keepsShort: Bool = false) {
        self.kind = kind
        self.keepsShort = keepsShort
    }

    /// Creates an empty list for an index.
    init(_ index: IndexState) { self.init(index.kind, keepsShort: index.keepsShort) }

    init(_ index: IndexState, _ entries: [IndexEntry], nulls: [Int64]) {
        self.init(index)
        self.entries = entries
        self.nulls = nulls
    }

    var count: Int { entries.count + nulls.count }

    /// Enters the rows of a column, all or those whose bit in `live` is set. `rowID` returns their row ids.
    mutating func add(_ column: Column, live: Bits? = nil, rowID: (Int) -> Int64) {
        if kind == .words { return addWords(column, live, rowID) }
        reserve(column.count)
        switch column.type.kind {
        case .int, .bool, .link: column.words.withUnsafeBufferPointer { words in add(column, live, rowID) { IndexKey(words[$0], 0) } }
        case .float, .double: column.reals.withUnsafeBufferPointer { reals in add(column, live, rowID) { IndexKey(reals[$0]) } }
        case .date, .uuid, .objectID:
            column.words.withUnsafeBufferPointer { words in
                column.extra.withUnsafeBufferPointer { extra in add(column, live, rowID) { IndexKey(pair: (words[$0], extra[$0])) } }
            }
        case .string, .data:
            column.text.bytes.withUnsafeBytes { bytes in
                column.text.offsets.withUnsafeBufferPointer { offsets in
                    if keepsShort {
                        add(column, live, rowID) {
                            IndexKey(bytes: UnsafeRawBufferPointer(rebasing: bytes[offsets[$0]..<offsets[$0 &+ 1]]))
                        }
                    } else {
                        add(column, live, rowID) {
                            IndexKey(hashing: UnsafeRawBufferPointer(rebasing: bytes[offsets[$0]..<offsets[$0 &+ 1]]))
                        }
                    }
                }
            }
        case .decimal, .any: add(column, live, rowID) { IndexKey(column.value(at: $0), column.type.kind, hashesAll: true) }
        case .embedded: trap("embedded objects cannot have an index: call ColumnType.refusal first")
        }
    }

    @inline(__always)
    private mutating func add(_ column: Column, _ live: Bits?, _ rowID: (Int) -> Int64, _ key: (Int) -> IndexKey?) {
        for i in 0..<column.count where live?[i] ?? true {
            if column.isPresent(i), let key = key(i) { entries.append(IndexEntry(key, rowID(i))) } else { nulls.append(rowID(i)) }
        }
    }

    private mutating func addWords(_ column: Column, _ live: Bits?, _ rowID: (Int) -> Int64) {
        var cutter = WordCutter(), found: [IndexEntry] = []
        let keepsShort = keepsShort
        for i in 0..<column.count where (live?[i] ?? true) && column.isPresent(i) {
            let row = rowID(i)
            found.removeAll(keepingCapacity: true)
            column.text.withBytes(i) { text in
                cutter.forEachWord(of: text) { word in
                    found.append(IndexEntry(keepsShort ? IndexKey(bytes: word) : IndexKey(hashing: word), row))
                    return true
                }
            }
            // A text repeats its words: enter each once.
            found.sort()
            for (i, entry) in found.enumerated() where i == 0 || found[i - 1] != entry { entries.append(entry) }
        }
    }

    /// Doubles the capacity: exact capacity for each addition would move all entries each time.
    private mutating func reserve(_ more: Int) {
        if entries.count + more > entries.capacity { entries.reserveCapacity(max(entries.count + more, 2 * entries.capacity)) }
    }

    mutating func append(_ entry: IndexEntry) { entries.append(entry) }
    mutating func append(null row: Int64) { nulls.append(row) }

    /// Sorts the entries, and removes duplicates.
    mutating func sort() {
        IndexEntries.sort(&entries)
        IndexEntries.removeRepeated(&entries)
        if zip(nulls, nulls.dropFirst()).contains(where: { $0 >= $1 }) {
            nulls.sort()
            IndexEntries.removeRepeated(&nulls)
        }
    }

    private static func removeRepeated<T: Equatable>(_ all: inout [T]) {
        guard all.count > 1 else { return }
        var kept = 1
        for i in 1..<all.count where all[i] != all[kept - 1] {
            all[kept] = all[i]
            kept += 1
        }
        all.removeLast(all.count - kept)
    }

    /// Radix sort from the lowest byte. A byte that all entries share costs only the counting.
    private static func sort(_ entries: inout [IndexEntry]) {
        guard entries.count > 1024 else { return entries.sort() }
        var isSorted = true, rowsAscend = true
        for i in 1..<entries.count {
            if entries[i - 1].row >= entries[i].row { rowsAscend = false }
            if !(entries[i - 1] < entries[i]) { isSorted = false }
            if !isSorted, !rowsAscend { break }
        }
        if isSorted { return }
        var other = entries
        entries.withUnsafeMutableBufferPointer { first in
            other.withUnsafeMutableBufferPointer { second in
                var from = first, to = second
                func pass(_ byte: (IndexEntry) -> Int) {
                    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
                        starts.initialize(repeating: 0)
                        for i in 0..<from.count { starts[byte(from[i])] &+= 1 }
                        if starts[byte(from[0])] == from.count { return }
                        var sum = 0
                        for b in 0..<256 {
                            let size = starts[b]
                            starts[b] = sum
                            sum &+= size
                        }
                        for i in 0..<from.count {
                            let entry = from[i], bucket = byte(entry)
                            to[starts[bucket]] = entry
                            starts[bucket] &+= 1
                        }
                        swap(&from, &to)
                    }
                }
                if !rowsAscend {
                    for shift in stride(from: UInt64(0), to: 64, by: 8) {
                        pass { Int(truncatingIfNeeded: UInt64(bitPattern: $0.row) &>> shift & 255) }
                    }
                }
                for shift in stride(from: UInt32(0), to: 32, by: 8) { pass { Int(truncatingIfNeeded: $0.extra &>> shift & 255) } }
                for shift in stride(from: UInt64(0), to: 64, by: 8) {
                    pass { Int(truncatingIfNeeded: (UInt64(bitPattern: $0.word) ^ 1 << 63) &>> shift & 255) }
                }
                if from.baseAddress != first.baseAddress { first.update(fromContentsOf: from) }
            }
        }
    }
}
