import FirnBytes
import FirnExchange
import FirnTable

/// Columns whose values are the names of folders, such as `year=2024/month=5/a.parquet` (as Hive, Spark, DuckDB and pyarrow write them).
struct HivePartitions {
    /// The columns, in the order of the folders.
    let columns: [ColumnSchema]
    /// The values of each input.
    private let values: [[Value]]
    /// Two paths whose folders name different columns, or the same column twice, so that there are no columns.
    let differing: [String]

    /// The name of a folder of rows that have no value in the column.
    private static let null = "__HIVE_DEFAULT_PARTITION__"

    /// Finds the columns that the folders of all paths have in common, in the same order. There are none if the names differ.
    init(_ paths: [String]) {
        let pairs = paths.map(HivePartitions.pairs)
        guard let names = pairs.first?.map(\.name), !names.isEmpty, Set(names).count == names.count,
            pairs.allSatisfy({ $0.map(\.name) == names })
        else {
            columns = []
            values = []
            let first = pairs.firstIndex { !$0.isEmpty }
            let other = pairs.firstIndex { $0.map(\.name) != first.map { pairs[$0].map(\.name) } }
            differing = first.map { first in [paths[first], paths[other ?? first]] } ?? []
            return
        }
        differing = []
        var columns: [ColumnSchema] = [], parsed = [[Value]](repeating: [], count: paths.count)
        for (i, name) in names.enumerated() {
            let texts = pairs.map { $0[i].value }
            let isInt = texts.allSatisfy { text in text.map { Int64($0).map(String.init) == $0 } ?? true }
            let dates = texts.map { text in text.flatMap(HivePartitions.day) }
            let isDate = !isInt && zip(texts, dates).allSatisfy { $0 == nil || $1 != nil }
            let kind: ScalarKind = isInt ? .int : isDate ? .date : .string
            for input in paths.indices {
                guard let text = texts[input] else {
                    parsed[input].append(.null)
                    continue
                }
                parsed[input].append(isInt ? .int(Int64(text) ?? 0) : dates[input].flatMap { isDate ? .date($0) : nil } ?? .string(text))
            }
            columns.append(
                ColumnSchema(name, ColumnType(kind, optional: texts.contains(nil)), notation: isDate ? .dateOnly : .plain))
        }
        self.columns = columns
        values = parsed
    }

    /// The values of an input, in the order of the columns.
    func values(ofInput input: Int) -> [Value] { columns.isEmpty ? [] : values[input] }

    /// Returns a column with the same value in each row.
    func column(_ position: Int, of value: Value, rows: Int) -> Column {
        var one = Column(columns[position].type)
        if !one.append(value) { one.appendNull() }
        return one.gather(repeatElement(0, count: rows))
    }

    private static func pairs(_ path: String) -> [(name: String, value: String?)] {
        path.fields(at: UInt8(ascii: "/")).dropLast().compactMap { folder in
            guard let (name, text) = folder.halves(at: UInt8(ascii: "=")), !name.isEmpty else { return nil }
            let value = decoded(text)
            return (decoded(name), value == null ? nil : value)
        }
    }

    /// Returns a name with the bytes that are written as %XX.
    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            guard byte == UInt8(ascii: "%"), digits.count == 2,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the day that a text such as `2024-05-01` is.
    private static func day(_ text: String) -> Timestamp? {
        guard text.utf8.count == 10 else { return nil }
        return Array(text.utf8).withBytes { bytes in
            DateText.parse(bytes, like: .dateOnly).map { Timestamp(seconds: $0.seconds, nanoseconds: Int32($0.nanoseconds)) }
        }
    }
}
