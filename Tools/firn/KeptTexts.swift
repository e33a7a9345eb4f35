import FirnBytes
import FirnExchange
import FirnTable

/// The original texts of a table that say more than its values: of cells that are null, such as "1999 (est.)" in a column of ints, and of
/// strings among numbers of JSON. Neither comparisons nor content hashes include them.
struct KeptTexts {
    private struct Texts: Equatable {
        var count = 0
        /// Equal for the same texts in rows with the same keys, whatever their order.
        var digest: UInt64 = 0
    }
    private var columns: [String: Texts] = [:]

    /// Reads the original texts of a table, whose path is for errors. Rows are identified by `key`, or else by the key of the table or the
    /// row id.
    /// - Parameter skipped: Segments that are not read.
    /// - Complexity: O(segments), if they have no such texts.
    init(_ table: any Table, key: [String], in path: String, except skipped: Set<Int> = []) throws(FirnError) {
        let type = table.type, companions = type.scalarCompanions
        guard !companions.isEmpty else { return }
        let named = key.compactMap { type.index(of: $0) }, keys = named.isEmpty ? type.key : named
        do throws(Damage) {
            for index in 0..<table.segmentCount where !skipped.contains(index) {
                let segment = try table.segment(index)
                for (column, companion) in companions where try segment.zone(of: companion)?.allNull != true {
                    var texts = columns[type.columns[column].name] ?? Texts()
                    try KeptTexts.add(segment, column: column, companion: companion, keys: keys, to: &texts)
                    columns[type.columns[column].name] = texts
                }
            }
        } catch { throw FirnError(error, in: path) }
    }

    private static func add(_ segment: any Segment, column: Int, companion: Int, keys: [Int], to texts: inout Texts) throws(Damage) {
        let readers = try ([companion, column] + keys).map { (position) throws(Damage) in try segment.column(position) }
        var parts = readers.map { Column($0.type) }
        for first in stride(from: 0, to: segment.rowCount, by: vectorSize) {
            try readers[0].read(vector: first / vectorSize, into: &parts[0])
            guard parts[0].present?.noneSet != true else { continue }
            for k in 1..<readers.count { try readers[k].read(vector: first / vectorSize, into: &parts[k]) }
            // Copies of the columns are made for each vector, not for each row.
            let companion = parts[0], value = parts[1],
                hashes = try keyHashes(Array(parts.dropFirst(2)), of: companion, in: segment, from: first)
            for i in 0..<companion.count where companion.present?[i] ?? true {
                guard segment.live?[first + i] ?? true else { continue }
                var hash: UInt64 = 0, isString = false
                companion.text.withBytes(i) {
                    isString = $0.first == UInt8(ascii: "\"")
                    hash = KeptTexts.hash($0)
                }
                guard isString || !(value.present?[i] ?? true) else { continue }
                texts.count += 1
                texts.digest &+= mix(hash, hashes[i])
            }
        }
    }

    /// Returns a number that is the same for equal numbers of different types.
    private static func hash(_ value: Value) -> UInt64 {
        if let number = value.number { return Int64(exactly: number).map { UInt64(bitPattern: $0) } ?? number.bitPattern }
        var hasher = Hasher()
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns a number for the keys, or else the row id, of each row of a vector that has an original text. `first` is the first row.
    private static func keyHashes(_ keys: [Column], of companion: Column, in segment: any Segment, from first: Int) throws(Damage)
        -> [UInt64]
    {
        var hashes = [UInt64](repeating: 1, count: companion.count)
        let present = companion.present
        if keys.isEmpty {
            for i in hashes.indices where present?[i] ?? true { hashes[i] = UInt64(bitPattern: try segment.rowID(at: first + i)) }
        }
        for key in keys {
            let isInt = key.type.kind == .int && !key.type.isCollection, words = key.words, keyPresent = key.present
            for i in hashes.indices where present?[i] ?? true {
                if isInt, keyPresent?[i] ?? true {
                    hashes[i] = mix(hashes[i], UInt64(bitPattern: words[i]))
                } else {
                    hashes[i] = mix(hashes[i], KeptTexts.hash(key.value(at: i)))
                }
            }
        }
        return hashes
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 1, word: UInt64 = 0, count: UInt64 = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            count &+= 1
            if count % 8 == 0 { hash = mix(hash, word) }
        }
        return mix(mix(hash, word), count)
    }

    /// Returns the names of the columns of dates of a table some of whose dates have another zone than most.
    static func columnsOfZones(_ table: any Table, in path: String) throws(FirnError) -> [String] {
        let type = table.type
        var names: [String] = []
        for (column, companion) in type.scalarCompanions.sorted(by: { $0.key < $1.key }) where type.columns[column].type.kind == .date {
            do throws(Damage) {
                for index in 0..<table.segmentCount {
                    let segment = try table.segment(index)
                    guard try segment.zone(of: companion)?.allNull != true, try hasZone(segment, companion) else { continue }
                    names.append(type.columns[column].name)
                    break
                }
            } catch { throw FirnError(error, in: path) }
        }
        return names
    }

    private static func hasZone(_ segment: any Segment, _ companion: Int) throws(Damage) -> Bool {
        let reader = try segment.column(companion)
        var texts = Column(reader.type)
        for vector in 0..<(segment.rowCount + vectorSize - 1) / vectorSize {
            try reader.read(vector: vector, into: &texts)
            for row in 0..<texts.count where texts.isPresent(row) && DateTimeLayout.zone(texts.text.array(row)[...]) != nil { return true }
        }
        return false
    }

    /// Returns the columns of two tables whose texts differ, with the number of texts in each.
    /// - Parameter areVersions: Whether they are versions of one table, of which only the segments that changed are read.
    static func differing(
        _ old: any Table, _ new: any Table, key: [String], in names: (old: String, new: String), areVersions: Bool
    ) throws(FirnError) -> [(column: String, old: Int, new: Int)] {
        guard old.type.hasCompanions || new.type.hasCompanions else { return [] }
        let equal: (old: Set<Int>, new: Set<Int>) = areVersions ? try equalSegments(old, new, in: names.new) : ([], [])
        var texts = (
            try KeptTexts(old, key: key, in: names.old, except: equal.old), try KeptTexts(new, key: key, in: names.new, except: equal.new)
        )
        let columns = texts.0.differing(texts.1)
        // The numbers are those of all rows.
        if !columns.isEmpty, areVersions {
            texts = (try KeptTexts(old, key: key, in: names.old), try KeptTexts(new, key: key, in: names.new))
        }
        return columns.map { ($0, texts.0.count($0), texts.1.count($0)) }
    }

    /// Returns the segments of two versions of a table that are known to have equal rows.
    private static func equalSegments(_ old: any Table, _ new: any Table, in path: String) throws(FirnError) -> (
        old: Set<Int>, new: Set<Int>
    ) {
        var positions: [Int64: Int] = [:], equal: (old: Set<Int>, new: Set<Int>) = ([], [])
        do throws(Damage) {
            for index in 0..<old.segmentCount {
                let segment = try old.segment(index)
                if segment.rowCount > 0 { positions[try segment.rowID(at: 0)] = index }
            }
            for index in 0..<new.segmentCount {
                let segment = try new.segment(index)
                guard segment.rowCount > 0, let other = positions[try segment.rowID(at: 0)],
                    try segment.rowsThatMayDiffer(from: try old.segment(other))?.noneSet == true
                else { continue }
                equal.old.insert(other)
                equal.new.insert(index)
            }
        } catch { throw FirnError(error, in: path) }
        return equal
    }

    private func count(_ column: String) -> Int { columns[column]?.count ?? 0 }

    /// Returns the names of the columns whose texts differ from those of another table.
    private func differing(_ other: KeptTexts) -> [String] {
        Set(columns.keys).union(other.columns.keys).filter { (columns[$0] ?? Texts()) != (other.columns[$0] ?? Texts()) }.sorted()
    }

    /// Returns a remark if columns of a type have original texts, which rows of a query do not have.
    static func leftOut(_ columns: [ColumnSchema], of type: TypeSchema?) -> String? {
        guard let type, type.hasCompanions else { return nil }
        let targets = Set(type.companions.keys.map { type.columns[$0].name })
        let names = columns.filter { targets.contains($0.name) }.map { "\"\($0.name)\"" }
        guard !names.isEmpty else { return nil }
        return
            "\(names.count == 1 ? "column" : "columns") \(names.prefix(4).joined(separator: ", "))\(names.count > 4 ? " and \(names.count - 4) more" : ""): "
            + "values are written, not original texts; 'firn convert --where' keeps them"
    }
}
