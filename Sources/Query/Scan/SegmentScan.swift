import FirnBytes
import FirnTable

/// The columns that a query reads: one slot for every distinct path, so that filter, keys and results share decoded vectors.
struct SlotTable: Sendable {
    private(set) var paths: [[Int]] = []
    /// The slot of each path.
    private var slots: [[Int]: Int] = [:]
    var types: [ColumnType] = []
    /// The columns of other rows that paths reach through links.
    var hops: [Hop] = []
    var backlinks: [Backlinks] = []
    var subqueries: [Subquery] = []
    private(set) var members: [MixedMember] = []
    let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// A column of a linked table. An empty path only tests whether the rows exist.
    struct Hop: Sendable {
        let table: any Table
        let path: [Int]
    }

    /// Returns the slot of a path. An empty path means the rows themselves, as links.
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

    mutating func member(_ member: MixedMember) -> Int {
        if let known = members.firstIndex(where: { $0.name == member.name }) { return known }
        members.append(member)
        return members.count - 1
    }

    mutating func backlinks(_ table: any Table, _ column: Int) -> Int {
        if let known = backlinks.firstIndex(where: { $0.table === table && $0.column == column }) { return known }
        backlinks.append(Backlinks(table, column: column))
        return backlinks.count - 1
    }
}

/// The source of the rows, for errors about their bytes.
struct DamageSource: Sendable {
    let typeName: String
    /// nil if the rows are not from a file with a known name.
    let file: String?

    func error(_ damage: Damage) -> FirnError {
        if damage.isUnread || damage.isUnknownID { return FirnError(damage, in: file ?? "") }
        guard let file else { return FirnError(.damaged, "\(damage.what) (byte \(damage.offset), type \(typeName))") }
        return .damaged(file, what: damage.what, byte: damage.offset)
    }
}

/// Counts of what a run read and skipped.
package struct QueryStatistics: Sendable, Equatable {
    package var segments = 0
    /// The segments that were skipped because their zones exclude a match.
    package var segmentsSkipped = 0
    package var vectors = 0
    /// The vectors (of segments that were not skipped) that were skipped because their zones exclude a match.
    package var vectorsSkipped = 0
    package var rows = 0
    package var rowsMatched = 0
    /// The column vectors that were decoded, as values and as dictionary codes.
    package var vectorsDecoded = 0
    package var codeVectorsDecoded = 0
    /// The column vectors that were searched or summed on the stored form, and the single values decoded from vectors that were not
    /// decoded.
    package var vectorsSearched = 0
    package var valuesGathered = 0
    /// The columns of segments that were opened, and their stored size in bytes, not all of which need be read.
    package var columnsOpened = 0
    package var bytesOpened = 0
    /// The counts for the ANDs of the plan, by their numbers.
    package var conjuncts: [Int: ConjunctTally] = [:]

    static func + (a: QueryStatistics, b: QueryStatistics) -> QueryStatistics {
        QueryStatistics(
            segments: a.segments + b.segments, segmentsSkipped: a.segmentsSkipped + b.segmentsSkipped, vectors: a.vectors + b.vectors,
            vectorsSkipped: a.vectorsSkipped + b.vectorsSkipped, rows: a.rows + b.rows, rowsMatched: a.rowsMatched + b.rowsMatched,
            vectorsDecoded: a.vectorsDecoded + b.vectorsDecoded, codeVectorsDecoded: a.codeVectorsDecoded + b.codeVectorsDecoded,
            vectorsSearched: a.vectorsSearched + b.vectorsSearched, valuesGathered: a.valuesGathered + b.valuesGathered,
            columnsOpened: a.columnsOpened + b.columnsOpened, bytesOpened: a.bytesOpened + b.bytesOpened,
            conjuncts: a.conjuncts.merging(b.conjuncts) { $0 + $1 })
    }
}

/// Reads the slots of one segment, each vector at most once, and the rows that their links lead to. Not thread-safe.
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
    /// For each text test, by number, the codes that pass; computed once for each segment.
    private var codeSets: [CodeSet?]
    /// The columns fetched for the plan's hops; kept from segment to segment.
    var linked: [LinkedColumn?]
    /// The scans of subqueries over embedded objects, whose elements form a segment of their own.
    var inner: [Int: SegmentScan] = [:]
    var statistics = QueryStatistics()
    /// The order of the parts of each AND.
    var conjuncts: [ObjectIdentifier: Conjuncts] = [:]
    /// Unused masks of 16 words; at most as many as predicates nest.
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

    /// Moves to another segment of the table.
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
            guard reader.type.kind == wanted.kind, reader.type.isCollection == wanted.isCollection, reader.rowCount >= segment.rowCount
            else {
                throw Damage("column has type \(reader.type.name), but the schema has \(wanted.name)")
            }
            if !reader.type.isCollection && reader.type.kind != .embedded { columns[slot].type = wanted }
            readers[slot] = reader
            statistics.columnsOpened += 1
            statistics.bytesOpened += reader.storedBytes
            return reader
        } catch { throw damaged(error) }
    }

    /// Returns the values of a slot for a vector.
    func column(_ slot: Int, _ vector: Int) throws(FirnError) -> Column {
        try load(slot, vector)
        return columns[slot]
    }

    /// The same without a copy, which would retain a dozen arrays.
    func withColumn<R>(_ slot: Int, _ vector: Int, _ body: (Column) throws(FirnError) -> R) throws(FirnError) -> R {
        try load(slot, vector)
        return try body(columns[slot])
    }

    private func load(_ slot: Int, _ vector: Int) throws(FirnError) {
        if loaded[slot] == vector { return }
        let reader = try reader(slot)
        loaded[slot] = -1
        do { try reader.read(vector: vector, into: &columns[slot]) } catch { throw damaged(error) }
        guard columns[slot].count == segment.rows(ofVector: vector).count else {
            throw damaged(Damage("vector length does not match its segment"))
        }
        statistics.vectorsDecoded += 1
        loaded[slot] = vector
    }

    /// Returns the values of some rows of a vector, which ascend; does not decode the others if there are few rows.
    func column(_ slot: Int, _ vector: Int, only rows: UnsafeBufferPointer<Int32>) throws(FirnError) -> Column {
        if loaded[slot] != vector, rows.count * 16 < vectorSize {
            let reader = try reader(slot)
            do throws(Damage) {
                // Gathering overwrites the slot's decoded column.
                loaded[slot] = -1
                if try reader.gather(rows, vector: vector, into: &columns[slot]) {
                    statistics.valuesGathered += rows.count
                    return columns[slot]
                }
            } catch { throw damaged(error) }
        }
        return try withColumn(slot, vector) { (column) throws(FirnError) in column.gather(rows.lazy.map { Int($0) }) }
    }

    /// Writes the numbers of a slot for a vector, or for some of its rows (ascending), into `room`; returns false if a row has no value.
    func numbers(_ slot: Int, _ vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(FirnError) -> Bool {
        if loaded[slot] == vector {
            guard columns[slot].present == nil else { return false }
            switch room {
            case .words(let out):
                return columns[slot].words.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress!, $0.count, rows, to: out) }
            case .reals(let out):
                return columns[slot].reals.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress!, $0.count, rows, to: out) }
            }
        }
        let reader = try reader(slot)
        do throws(Damage) { guard try reader.numbers(vector: vector, only: rows, into: room) else { return false } } catch {
            throw damaged(error)
        }
        if let rows { statistics.valuesGathered += rows.count } else { statistics.vectorsDecoded += 1 }
        return true
    }

    /// Returns the sum of all rows of a vector if it can be computed without decoding them.
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

    /// Returns one value, from the decoded vector if it is loaded.
    func value(_ slot: Int, _ row: Int) throws(FirnError) -> Value {
        if loaded[slot] == row / vectorSize { return columns[slot].value(at: row % vectorSize) }
        let reader = try reader(slot)
        do { return try reader.value(at: row) } catch { throw damaged(error) }
    }

    func isLoaded(_ slot: Int, _ vector: Int) -> Bool { loaded[slot] == vector }

    /// Returns the dictionary of a text slot in this segment, or nil.
    func dictionary(_ slot: Int) throws(FirnError) -> Text? {
        if let known = dictionaries[slot] { return known }
        let reader = try reader(slot)
        do throws(Damage) {
            let found = try reader.dictionary()
            dictionaries[slot] = .some(found)
            return found
        } catch { throw damaged(error) }
    }

    /// Returns the codes of a slot whose `dictionary` is not nil; each code is within the dictionary.
    func codes(_ slot: Int, _ vector: Int) throws(FirnError) -> Column {
        try withCodes(slot, vector) { (codes) throws(FirnError) in codes }
    }

    func withCodes<R>(_ slot: Int, _ vector: Int, _ body: (Column) throws(FirnError) -> R) throws(FirnError) -> R {
        try loadCodes(slot, vector)
        return try body(codeColumns[slot])
    }

    private func loadCodes(_ slot: Int, _ vector: Int) throws(FirnError) {
        if codesLoaded[slot] == vector { return }
        let reader = try reader(slot)
        codesLoaded[slot] = -1
        do { try reader.readCodes(vector: vector, into: &codeColumns[slot]) } catch { throw damaged(error) }
        guard codeColumns[slot].count == segment.rows(ofVector: vector).count, codeColumns[slot].words.count == codeColumns[slot].count
        else {
            throw damaged(Damage("vector length does not match its segment"))
        }
        statistics.codeVectorsDecoded += 1
        codesLoaded[slot] = vector
    }

    /// Searches a vector of a slot for a range on the stored form, if the encoding allows it: one bit for each row in 16 words.
    func search(_ slot: Int, _ range: SoughtRange, _ vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(FirnError) -> SearchOutcome
    {
        if loaded[slot] == vector { return .notDone }
        let reader = try reader(slot)
        do throws(Damage) {
            let outcome = try reader.search(range, vector: vector, into: out)
            if case .done = outcome { statistics.vectorsSearched += 1 }
            return outcome
        } catch { throw damaged(error) }
    }

    /// Returns the codes that pass a test.
    func codeSet(_ number: Int, _ test: ElementTest, _ dictionary: Text) -> CodeSet {
        if let known = codeSets[number] { return known }
        var column = Column(ColumnType(.string))
        column.count = dictionary.count
        column.text = dictionary
        var bits = [UInt64](repeating: 0, count: (dictionary.count + 63) / 64)
        bits.withUnsafeMutableBufferPointer {
            if let base = $0.baseAddress { test.apply(column, count: dictionary.count, candidates: nil, out: base) }
        }
        let set = Bits(words: bits, count: dictionary.count), ones = set.ones
        var result = CodeSet.bits(set.words)
        if ones == 0 {
            result = .none
        } else if ones == dictionary.count {
            result = .all
        } else {
            var first = 0
            while !set[first] { first += 1 }
            if set.slice(first..<(first + ones)).allSet { result = .range(Int64(first), Int64(first + ones - 1)) }
        }
        codeSets[number] = result
        return result
    }

    func takeMask() -> UnsafeMutablePointer<UInt64> { spareMasks.popLast() ?? .allocate(capacity: 16) }
    func giveBack(_ mask: UnsafeMutablePointer<UInt64>) { spareMasks.append(mask) }

    /// Returns the zone of a slot. For a column that is not open yet, it is read from the segment header.
    func zone(_ slot: Int) throws(FirnError) -> Zone? {
        guard readers[slot] == nil, slots.paths[slot].count == 1 else { return try reader(slot).zone() }
        do throws(Damage) { return try segment.zone(of: slots.paths[slot][0]) } catch { throw damaged(error) }
    }

    /// Returns false only if no row of the segment has one of the values.
    func mayHold(_ values: [Value], _ slot: Int) throws(FirnError) -> Bool {
        guard slots.paths[slot].count == 1 else { return true }
        do throws(Damage) { return try segment.mayHold(values, column: slots.paths[slot][0]) } catch { throw damaged(error) }
    }

    func zone(_ slot: Int, _ vector: Int) throws(FirnError) -> Zone? { try reader(slot).zone(ofVector: vector) }
}
