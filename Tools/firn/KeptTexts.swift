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
        let reader = try segment.column(companion), values = try segment.column(column)
        let keyReaders = try keys.map { (key) throws(Damage) in try segment.column(key) }
        var part = Column(reader.type)
        for first in stride(from: 0, to: segment.rowCount, by: vectorSize) {
            try reader.read(vector: first / vectorSize, into: &part)
            for i in 0..<part.count where part.present?[i] ?? true {
                let row = first + i
                guard segment.live?[row] ?? true else { continue }
                let text = part.text.withBytes(i) { Array($0) }
                let isNull = try values.value(at: row).isNull
                guard isNull || text.first == UInt8(ascii: "\"") else { continue }
                var hasher = Hasher()
                hasher.combine(text)
                for key in keyReaders { hasher.combine(try key.value(at: row)) }
                if keys.isEmpty { hasher.combine(try segment.rowID(at: row)) }
                texts.count += 1
                texts.digest &+= hasher.finalize()
            }
        }
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
