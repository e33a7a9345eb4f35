import FirnBytes
import FirnTable
import Synchronization

/// A column of whole numbers that is computed from one column of a table.
struct ComputedColumn: Sendable {
    let name: String
    /// The position of the column that it is computed from.
    let source: Int
    let rule: Rule

    enum Rule: Sendable {
        /// Dates: the number of the time unit of this many seconds in which the date is; null for null.
        case units(Int64)
        case codes(ValueCodes)
    }
}

/// A number for each value of a column, or for each time unit of its dates.
final class ValueCodes: Sendable {
    private let values: JoinValues
    /// The code of each number of `values`.
    private let codes: [Int64]
    /// The code of null.
    let none: Int64
    private let unit: Int64?
    let count: Int

    /// - Parameters:
    ///   - values: The values that occur, each once.
    ///   - codes: Their codes: 0 ..< `count`.
    ///   - unit: The values are the numbers of time units of this many seconds.
    init(_ values: Column, _ kind: JoinValues.Kind, codes: [Int64], count: Int, unit: Int64?) {
        var numbered = JoinValues(kind)
        let numbers = numbered.index(values)
        var coded = [Int64](repeating: 0, count: numbered.count), none: Int64 = 0
        for (row, number) in numbers.enumerated() {
            if number == JoinNumbers.none { none = codes[row] } else { coded[Int(number)] = codes[row] }
        }
        (self.values, self.codes, self.none, self.unit, self.count) = (numbered, coded, none, unit, count)
    }

    /// Returns the code of each row; 0 for values that are not known.
    func codes(of column: Column) -> [Int64] {
        var column = column
        if let unit { column = ComputedColumn.units(of: column, unit) }
        // A copy, which shares its arrays: looking up changes none of them.
        var values = values
        return values.numbers(column, adds: false).enumerated().map { row, number in
            number == JoinNumbers.none ? (column.isPresent(row) ? 0 : none) : codes[Int(number)]
        }
    }
}

extension ComputedColumn {
    /// Returns the numbers of the time units of dates.
    static func units(of dates: Column, _ unit: Int64) -> Column {
        var out = Column(ColumnType(.int, optional: true))
        out.count = dates.count
        out.present = dates.present
        out.words = dates.words.map { seconds in
            let (quotient, rest) = seconds.quotientAndRemainder(dividingBy: unit)
            return rest < 0 ? quotient - 1 : quotient
        }
        return out
    }
}

/// The rows of a table with computed columns after its own.
final class ComputedTable: WrappedTable {
    let base: any Table
    private let columns: [ComputedColumn]
    let type: TypeSchema

    init(_ base: any Table, _ columns: [ComputedColumn]) {
        (self.base, self.columns) = (base, columns)
        var type = base.type
        for column in columns { type.columns.append(ColumnSchema(column.name, ColumnType(.int, optional: true))) }
        self.type = type
    }

    /// Returns a name that no column of a table has.
    static func name(_ number: Int, for table: any Table) -> String {
        String(repeating: "=", count: (table.type.columns.map { $0.name.utf8.count }.max() ?? 0) + 1) + "\(number)"
    }

    var schema: Schema { base.schema }
    func segment(_ index: Int) throws(Damage) -> any Segment {
        ComputedSegment(try base.segment(index), columns, own: base.type.columns.count)
    }
}

private final class ComputedSegment: WrappedSegment {
    let base: any Segment
    private let columns: [ComputedColumn]
    private let own: Int
    private let readers: Mutex<[(any ColumnReader)?]>

    init(_ base: any Segment, _ columns: [ComputedColumn], own: Int) {
        (self.base, self.columns, self.own) = (base, columns, own)
        readers = Mutex(columns.map { _ in nil })
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        index < own ? try base.column(index) : try computed(index - own)
    }
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader {
        index < own ? try base.storedColumn(index) : try computed(index - own)
    }
    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        path.count == 1 && path[0] >= own ? try computed(path[0] - own) : try base.column(path: path)
    }
    func zone(of column: Int) throws(Damage) -> Zone? {
        column < own ? try base.zone(of: column) : try computed(column - own).zone()
    }
    func mayHold(_ values: [Value], column: Int) throws(Damage) -> Bool {
        column < own ? try base.mayHold(values, column: column) : true
    }

    private func computed(_ number: Int) throws(Damage) -> any ColumnReader {
        let column = columns[number], base = base
        return try readers.withLock { (readers) throws(Damage) -> any ColumnReader in
            if let known = readers[number] { return known }
            let reader = try ComputedReader(try base.column(column.source), column.rule)
            readers[number] = reader
            return reader
        }
    }
}

private final class ComputedReader: ColumnReader {
    private let base: any ColumnReader
    private let rule: ComputedColumn.Rule
    /// The codes of the texts of the segment's dictionary, if it has one.
    private let dictionary: [Int64]?
    let type = ColumnType(.int, optional: true)

    init(_ base: any ColumnReader, _ rule: ComputedColumn.Rule) throws(Damage) {
        (self.base, self.rule) = (base, rule)
        if case .codes(let codes) = rule, base.type.kind == .string, let texts = try base.dictionary() {
            var column = Column(ColumnType(.string))
            column.count = texts.count
            column.text = texts
            dictionary = codes.codes(of: column)
        } else {
            dictionary = nil
        }
    }

    var rowCount: Int { base.rowCount }

    func zone() -> Zone? {
        switch rule {
        case .codes(let codes): return Zone(mayHaveNulls: false, allNull: false, bounds: .words(0, Int64(max(codes.count - 1, 0))))
        case .units: return nil
        }
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        var values = Column(base.type)
        if let dictionary, case .codes(let codes) = rule {
            try base.readCodes(vector: vector, into: &values)
            for (row, code) in values.words.enumerated() where values.isPresent(row) && !dictionary.indices.contains(Int(code)) {
                throw Damage("a code outside its dictionary in row \(row)")
            }
            let none = values.present == nil ? 0 : codes.none
            set(&column, values.words.enumerated().map { row, code in values.isPresent(row) ? dictionary[Int(code)] : none })
            return
        }
        try base.read(vector: vector, into: &values)
        compute(values, into: &column)
    }

    func value(at row: Int) throws(Damage) -> Value {
        var values = Column(base.type), out = Column(type)
        guard values.append(try base.value(at: row)) else { throw Damage("a value of another type than its column") }
        compute(values, into: &out)
        return out.value(at: 0)
    }

    private func compute(_ values: Column, into column: inout Column) {
        switch rule {
        case .units(let unit): column = ComputedColumn.units(of: values, unit)
        case .codes(let codes): set(&column, codes.codes(of: values))
        }
    }

    private func set(_ column: inout Column, _ words: [Int64]) {
        column = Column(type)
        column.count = words.count
        column.words = words
    }
}
