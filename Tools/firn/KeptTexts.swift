import FirnBytes
import FirnExchange
import FirnTable

/// The original texts of a table that say more than its values: of cells that are null, such as "1999 (est.)" in a column of ints, and of
/// strings among numbers of JSON. Neither comparisons nor content hashes include them.
struct KeptTexts {
    private struct Texts: Equatable {
        var count = 0
        /// Equal for the same texts in rows with the same keys, whatever their order.
        var digest = 0
    }
    private var columns: [String: Texts] = [:]

    /// Reads the original texts of a table, whose path is for errors. Rows are identified by `key`, or else by the key of the table or the
    /// row id.
    /// - Complexity: O(segments), if they have no such texts.
    init(_ table: any Table, key: [String], in path: String) throws(FirnError) {
        let type = table.type, companions = type.scalarCompanions
        guard !companions.isEmpty else { return }
        let named = key.compactMap { type.index(of: $0) }, keys = named.isEmpty ? type.key : named
        do throws(Damage) {
            for index in 0..<table.segmentCount {
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
            for i in 0..<parts[0].count where parts[0].present?[i] ?? true {
                let row = first + i, isNull = !(parts[1].present?[i] ?? true)
                guard segment.live?[row] ?? true else { continue }
                var hasher = Hasher(), isString = false
                parts[0].text.withBytes(i) {
                    isString = $0.first == UInt8(ascii: "\"")
                    hasher.combine(bytes: $0)
                }
                guard isNull || isString else { continue }
                for key in parts.dropFirst(2) { combine(key, i, into: &hasher) }
                if keys.isEmpty { hasher.combine(try segment.rowID(at: row)) }
                texts.count += 1
                texts.digest &+= hasher.finalize()
            }
        }
    }

    private static func combine(_ key: Column, _ row: Int, into hasher: inout Hasher) {
        guard !key.type.isCollection, key.type.kind != .any, key.type.kind != .embedded else { return hasher.combine(key.value(at: row)) }
        guard key.present?[row] ?? true else { return hasher.combine(false) }
        if !key.words.isEmpty { hasher.combine(key.words[row]) }
        if !key.extra.isEmpty { hasher.combine(key.extra[row]) }
        if !key.reals.isEmpty { hasher.combine(key.reals[row].bitPattern) }
        if key.text.count > 0 { key.text.withBytes(row) { hasher.combine(bytes: $0) } }
    }

    func count(_ column: String) -> Int { columns[column]?.count ?? 0 }

    /// Returns the names of the columns whose texts differ from those of another table.
    func differing(_ other: KeptTexts) -> [String] {
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
