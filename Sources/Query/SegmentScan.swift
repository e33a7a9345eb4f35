import FirnBytes
import FirnModel

/// What a query reads: one slot for every distinct path, so that filter, keys and results share what is decoded.
struct SlotTable: Sendable {
    private(set) var paths: [[Int]] = []
    /// By path.
    private var slots: [[Int]: Int] = [:]
    var types: [ColumnType] = []
    /// Columns of other rows that paths reach through links.
    var hops: [Hop] = []
    var backlinks: [Backlinks] = []
    var subqueries: [Subquery] = []

    /// A column of the rows of a table; none for whether the rows are there.
    struct Hop: Sendable {
        let table: any Table
        let path: [Int]
    }

    /// An empty path stands for the rows themselves, as links.
    mutating func slot(_ path: [Int], _ type: ColumnType) -> Int {
        if let known = slots[path] { return known }
        slots[path] = paths.count
        paths.append(path)
        types.append(type)
        return paths.count - 1
    }

    mutating func hop(_ table: any Table, _ path: [Int]) -> Int {
        if let known = hops.firstIndex(where: { $0.table === table && $0.path == path }) { return known }
        hops.append(Hop(table: table, path: path))
        return hops.count - 1
    }

    mutating func backlinks(_ table: any Table, _ column: Int) -> Int {
        if let known = backlinks.firstIndex(where: { $0.table === table && $0.column == column }) { return known }
        backlinks.append(Backlinks(table, column: column))
        return backlinks.count - 1
    }
}

/// Where the rows come from, for errors about their bytes.
struct DamageSource: Sendable {
    let typeName: String
    /// Nil: not a file that is known by name here.
    let file: String?

    func error(_ damage: Damage) -> FirnError {
        if damage.isUnread { return FirnError(damage, in: file ?? "") }
        guard let file else { return FirnError(.damaged, "\(damage.what) (byte \(damage.offset), type \(typeName))") }
        return .damaged(file, what: damage.what, byte: damage.offset)
    }
}

/// Counts of what a run read and what it could leave unread.
package struct QueryStatistics: Sendable, Equatable {
    package var segments = 0
    /// Segments that zones alone decided to hold no match.
    package var segmentsSkipped = 0
    package var vectors = 0
    /// Vectors (of segments not skipped) that zones alone decided to hold no match.
    package var vectorsSkipped = 0
    package var rows = 0
    package var rowsMatched = 0
    /// Column vectors decoded, as values and as dictionary codes.
    package var vectorsDecoded = 0
    package var codeVectorsDecoded = 0
    /// Column vectors that were searched or added as they are stored, and single values decoded of vectors that were not.
    package var vectorsSearched = 0
    package var valuesGathered = 0
    /// Columns of segments that were opened, and the bytes they take in the file (of which not all need be read).
    package var columnsOpened = 0
    package var bytesOpened = 0
    /// Of the ANDs of the plan.
    package var conjuncts: [Int: ConjunctTally] = [:]

    static func + (a: QueryStatistics, b: QueryStatistics) -> QueryStatistics {
        QueryStatistics(segments: a.segments + b.segments, segmentsSkipped: a.segmentsSkipped + b.segmentsSkipped, vectors: a.vectors + b.vectors,
                        vectorsSkipped: a.vectorsSkipped + b.vectorsSkipped, rows: a.rows + b.rows, rowsMatched: a.rowsMatched + b.rowsMatched,
                        vectorsDecoded: a.vectorsDecoded + b.vectorsDecoded, codeVectorsDecoded: a.codeVectorsDecoded + b.codeVectorsDecoded,
                        vectorsSearched: a.vectorsSearched + b.vectorsSearched, valuesGathered: a.valuesGathered + b.valuesGathered,
                        columnsOpened: a.columnsOpened + b.columnsOpened, bytesOpened: a.bytesOpened + b.bytesOpened,
                        conjuncts: a.conjuncts.merging(b.conjuncts) { $0 + $1 })
    }
}

/// Reads the slots of one segment, each vector at most once, and what links of their values lead to. For one thread at a time.
final class SegmentScan: @unchecked Sendable {
    let slots: SlotTable
    let source: DamageSource
    private(set) var segment: any Segment
    private var readers: [(any ColumnReader)?]
    private var columns: [Column]
    private var loaded: [Int]
    private var codeColumns: [Column]
    private var codesLoaded: [Int]
    private var dictionaries: [Text??]
    /// Codes that pass the text test with this number; built once a segment.
    private var codeSets: [CodeSet?]
    /// What the plan's hops fetched; kept from segment to segment.
    var linked: [LinkedColumn?]
    /// Of subqueries over embedded objects, whose elements are a segment of their own.
    var inner: [Int: SegmentScan] = [:]
    var statistics = QueryStatistics()
    /// Of each AND: in which order its parts are asked.
    var conjuncts: [ObjectIdentifier: Conjuncts] = [:]
    /// Spare masks of 16 words, as deep as predicates nest.
    private var spareMasks: [UnsafeMutablePointer<UInt64>] = []

    enum CodeSet {
        case none, all
        case range(Int64, Int64)
        case bits([UInt64])
    }

    init(_ slots: SlotTable, textTests: Int, source: DamageSource, segment: any Segment) {
        self.slots = slots
        self.segment = segment
        self.source = source
        let count = slots.paths.count
        readers = Array(repeating: nil, count: count)
        columns = slots.types.map { Column($0) }
        loaded = Array(repeating: -1, count: count)
        codeColumns = slots.types.map { Column(ColumnType(.int, optional: $0.isOptional)) }
        codesLoaded = loaded
        dictionaries = Array(repeating: nil, count: count)
        codeSets = Array(repeating: nil, count: textTests)
        linked = Array(repeating: nil, count: slots.hops.count)
    }

    deinit { for mask in spareMasks { mask.deallocate() } }

    /// Goes on to another segment of the table.
    func move(to segment: any Segment) {
        self.segment = segment
        for i in readers.indices {
            readers[i] = nil
            loaded[i] = -1
            codesLoaded[i] = -1
            dictionaries[i] = nil
        }
        for i in codeSets.indices { codeSets[i] = nil }
    }

    func damaged(_ damage: Damage) -> FirnError { source.error(damage) }

    func reader(_ slot: Int) throws(FirnError) -> any ColumnReader {
        if let reader = readers[slot] { return reader }
        if slots.paths[slot].isEmpty {
            let reader = RowIDColumn(segment, slots.types[slot])
            readers[slot] = reader
            return reader
        }
        do throws(Damage) {
            let reader = try segment.column(path: slots.paths[slot])
            let wanted = slots.types[slot]
            guard reader.type.kind == wanted.kind, reader.type.isCollection == wanted.isCollection, reader.rowCount >= segment.rowCount else {
                throw Damage("column of type \(reader.type.name) where the schema has \(wanted.name)")
            }
            if !reader.type.isCollection && reader.type.kind != .embedded { columns[slot].type = wanted }
            readers[slot] = reader
            statistics.columnsOpened += 1
            statistics.bytesOpened += reader.storedBytes
            return reader
        } catch { throw damaged(error) }
    }

    /// The values of a slot for a vector.
    func column(_ slot: Int, _ vector: Int) throws(FirnError) -> Column {
        try load(slot, vector)
        return columns[slot]
    }

    /// The same in place: a copy of a column counts references to a dozen arrays.
    func withColumn<R>(_ slot: Int, _ vector: Int, _ body: (Column) throws(FirnError) -> R) throws(FirnError) -> R {
        try load(slot, vector)
        return try body(columns[slot])
    }

    private func load(_ slot: Int, _ vector: Int) throws(FirnError) {
        if loaded[slot] == vector { return }
        let reader = try reader(slot)
        loaded[slot] = -1
        do { try reader.read(vector: vector, into: &columns[slot]) } catch { throw damaged(error) }
        guard columns[slot].count == segment.rows(ofVector: vector).count else { throw damaged(Damage("vector of another length than its segment says")) }
        statistics.vectorsDecoded += 1
        loaded[slot] = vector
    }

    /// The values of some rows of a vector, ascending; where they are few, the others are not decoded.
    func column(_ slot: Int, _ vector: Int, only rows: UnsafeBufferPointer<Int32>) throws(FirnError) -> Column {
        if loaded[slot] != vector, rows.count * 16 < vectorSize {
            let reader = try reader(slot)
            do throws(Damage) {
                // What the slot's column held is lost.
                loaded[slot] = -1
                if try reader.gather(rows, vector: vector, into: &columns[slot]) {
                    statistics.valuesGathered += rows.count
                    return columns[slot]
                }
            } catch { throw damaged(error) }
        }
        return try withColumn(slot, vector) { (column) throws(FirnError) in column.gather(rows.lazy.map { Int($0) }) }
    }

    /// The numbers of a slot for a vector, or for some of its rows, ascending, into room for them; false if a row has none.
    func numbers(_ slot: Int, _ vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(FirnError) -> Bool {
        if loaded[slot] == vector {
            guard columns[slot].present == nil else { return false }
            switch room {
            case .words(let out): return columns[slot].words.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress!, $0.count, rows, to: out) }
            case .reals(let out): return columns[slot].reals.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress!, $0.count, rows, to: out) }
            }
        }
        let reader = try reader(slot)
        do throws(Damage) { guard try reader.numbers(vector: vector, only: rows, into: room) else { return false } } catch { throw damaged(error) }
        if let rows { statistics.valuesGathered += rows.count } else { statistics.vectorsDecoded += 1 }
        return true
    }

    /// The sum of all rows of a vector, where that can be told without decoding them.
    func sum(_ slot: Int, _ vector: Int) throws(FirnError) -> VectorSum {
        if loaded[slot] == vector { return .notDone }
        let reader = try reader(slot)
        do throws(Damage) {
            let sum = try reader.sum(vector: vector)
            if case .notDone = sum { return sum }
            statistics.vectorsSearched += 1
            return sum
        } catch { throw damaged(error) }
    }

    /// One value; from the vector if that is decoded already.
    func value(_ slot: Int, _ row: Int) throws(FirnError) -> Value {
        if loaded[slot] == row / vectorSize { return columns[slot].value(at: row % vectorSize) }
        let reader = try reader(slot)
        do { return try reader.value(at: row) } catch { throw damaged(error) }
    }

    func isLoaded(_ slot: Int, _ vector: Int) -> Bool { loaded[slot] == vector }

    /// The dictionary of a slot of text in this segment.
    func dictionary(_ slot: Int) throws(FirnError) -> Text? {
        if let known = dictionaries[slot] { return known }
        let reader = try reader(slot)
        do throws(Damage) {
            let found = try reader.dictionary()
            dictionaries[slot] = .some(found)
            return found
        } catch { throw damaged(error) }
    }

    /// The codes of a slot whose `dictionary` is not nil; each lies within it.
    func codes(_ slot: Int, _ vector: Int) throws(FirnError) -> Column { try withCodes(slot, vector) { (codes) throws(FirnError) in codes } }

    func withCodes<R>(_ slot: Int, _ vector: Int, _ body: (Column) throws(FirnError) -> R) throws(FirnError) -> R {
        try loadCodes(slot, vector)
        return try body(codeColumns[slot])
    }

    private func loadCodes(_ slot: Int, _ vector: Int) throws(FirnError) {
        if codesLoaded[slot] == vector { return }
        let reader = try reader(slot)
        codesLoaded[slot] = -1
        do { try reader.readCodes(vector: vector, into: &codeColumns[slot]) } catch { throw damaged(error) }
        guard codeColumns[slot].count == segment.rows(ofVector: vector).count, codeColumns[slot].words.count == codeColumns[slot].count else {
            throw damaged(Damage("vector of another length than its segment says"))
        }
        statistics.codeVectorsDecoded += 1
        codesLoaded[slot] = vector
    }

    /// Finds a range in a vector of a slot without decoding it, where its encoding allows: a bit a row in 16 words.
    func search(_ slot: Int, _ range: SoughtRange, _ vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(FirnError) -> SearchOutcome {
        if loaded[slot] == vector { return .notDone }
        let reader = try reader(slot)
        do throws(Damage) {
            let outcome = try reader.search(range, vector: vector, into: out)
            if case .done = outcome { statistics.vectorsSearched += 1 }
            return outcome
        } catch { throw damaged(error) }
    }

    /// Which codes pass a test.
    func codeSet(_ number: Int, _ test: ElementTest, _ dictionary: Text) -> CodeSet {
        if let known = codeSets[number] { return known }
        var column = Column(ColumnType(.string))
        column.count = dictionary.count
        column.text = dictionary
        var bits = [UInt64](repeating: 0, count: (dictionary.count + 63) / 64)
        bits.withUnsafeMutableBufferPointer { if let base = $0.baseAddress { test.apply(column, count: dictionary.count, candidates: nil, out: base) } }
        let set = Bits(words: bits, count: dictionary.count), ones = set.ones
        var result = CodeSet.bits(set.words)
        if ones == 0 { result = .none } else if ones == dictionary.count { result = .all } else {
            var first = 0
            while !set[first] { first += 1 }
            if set.slice(first..<(first + ones)).allSet { result = .range(Int64(first), Int64(first + ones - 1)) }
        }
        codeSets[number] = result
        return result
    }

    func takeMask() -> UnsafeMutablePointer<UInt64> { spareMasks.popLast() ?? .allocate(capacity: 16) }
    func giveBack(_ mask: UnsafeMutablePointer<UInt64>) { spareMasks.append(mask) }

    /// Of a column that is not open yet the header of the segment knows it.
    func zone(_ slot: Int) throws(FirnError) -> Zone? {
        guard readers[slot] == nil, slots.paths[slot].count == 1 else { return try reader(slot).zone() }
        do throws(Damage) { return try segment.zone(of: slots.paths[slot][0]) } catch { throw damaged(error) }
    }

    func zone(_ slot: Int, _ vector: Int) throws(FirnError) -> Zone? { try reader(slot).zone(ofVector: vector) }
}
