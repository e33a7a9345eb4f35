import CSQLiteLibrary
import FirnBytes
import FirnExchange
import FirnTable

/// A column of a table that is written: how it is declared, and what becomes of its values.
struct SQLiteOutputColumn {
    let source: ColumnSchema
    /// Its position in batches.
    let position: Int
    let name: String
    let declared: SQLiteDeclaredType
    private let schema: Schema

    /// The number of NaN, which SQLite cannot store as numbers.
    private(set) var notNumbers = 0
    /// What was changed, with the number of values.
    private(set) var changed: [String: Int] = [:]
    /// The number of values of an `any` column that are written as `SQLiteTagged`.
    private(set) var tagged = 0
    /// Whether a date has a time or digits that its notation does not show.
    private var hasOddDates = false
    /// The tags of the values of an `any` column.
    private var tags: Set<UInt8> = []

    /// `isNullKey`: the column is the primary key and can be null. As INTEGER it would be the row id, and SQLite would replace null by a number.
    init(_ source: ColumnSchema, position: Int, name: String, in schema: Schema, isNullKey: Bool) {
        self.source = source
        self.position = position
        self.name = name
        self.schema = schema
        let chosen = SQLiteDeclaredType.chosen(for: source)
        declared = isNullKey && chosen.isRowID ? SQLiteDeclaredType("INT") : chosen
    }

    /// The notation in which dates are written: one that SQLite's functions know.
    private var dateNotation: Notation { source.notation.standardDate.simpleDate }

    /// Whether the reader finds the same type, logical type and notation without a record.
    private var isTypeNative: Bool {
        guard !source.type.isCollection, notNumbers == 0, tagged == 0, !hasOddDates else { return false }
        switch source.type.kind {
        case .bool, .int, .double, .string, .data, .date: return true
        case .any:
            let groups: Set<UInt8> = tags.subtracting([AnyTag.null])
            return groups.count > 1 || groups.isEmpty
        default: return false
        }
    }

    private var isLogicalNative: Bool {
        guard case .decimal(let precision, let scale)? = source.logical, let decimal = declared.decimal else {
            return source.logical == nil
        }
        return decimal == (precision, scale) && scale > 0
    }

    private var isNotationNative: Bool {
        if source.type.kind == .date { return dateNotation == source.notation }
        return source.notation == (isLogicalNative ? source.logical?.notation(for: source.type) : nil) ?? .plain
    }

    /// Adds what the declaration does not say.
    func add(to records: inout SQLiteRecords, table: String) {
        if !isTypeNative { records.add(table, name, SQLiteRecords.type, SQLiteRecords.words(source.type)) }
        if !isTypeNative ? source.notation != .plain : !isNotationNative { records.add(table, name, notation: source.notation) }
        let others = source.otherAttributes.filter { attribute in
            attribute.name != SQLiteDeclaredType.attribute && !(isTypeNative && isLogicalNative && attribute.name == "logical-type")
        }
        records.add(table, name, attributes: others)
    }

    /// What was changed: one sentence each.
    func remarks(_ table: String) -> [String] {
        var lines: [String] = []
        let column = "column \"\(table).\(source.name)\""
        if notNumbers > 0 {
            lines.append("\(column): \(notNumbers) NaN \(notNumbers == 1 ? "is" : "are") written as text, because SQLite has none")
        }
        if tagged > 0 {
            lines.append(
                "\(column): \(tagged) value\(tagged == 1 ? "" : "s") that SQLite does not have \(tagged == 1 ? "is" : "are") written as JSON"
            )
        }
        for (what, count) in changed.sorted(by: { $0.key < $1.key }) { lines.append("\(column): \(count) \(what)") }
        return lines
    }

    // MARK: Values

    /// Returns the values as SQLite stores them: a column of int, double, string, data or any.
    mutating func prepared(_ column: Column) -> Column {
        if source.type.isCollection || source.type.kind == .embedded { return json(column) }
        switch source.type.kind {
        case .bool, .int, .link, .string, .data: return column
        case .float, .double: return reals(column)
        case .any: return anything(column)
        case .date:
            let notation = dateNotation
            hasOddDates = hasOddDates || !SQLiteOutputColumn.fits(column, notation)
            return texts(column) { row, out in
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.room) { buffer in
                    guard let base = buffer.baseAddress else { return }
                    let count = DateText.write(seconds: column.words[row], nanoseconds: column.extra[row], notation: notation, to: base)
                    out.append(contentsOf: buffer[..<count])
                }
            }
        case .decimal, .objectID, .uuid, .embedded:
            return texts(column) { row, out in out.append(contentsOf: canonicalText(column.value(at: row)).utf8) }
        }
    }

    /// Whether all dates are written in the form of the notation, with years of four digits.
    private static func fits(_ column: Column, _ notation: Notation) -> Bool {
        let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        guard (0..<column.count).allSatisfy({ !column.isPresent($0) || years.contains(column.words[$0]) }) else { return false }
        if notation == .plain || notation == .localDateTime { return true }
        var unit: Int64 = 1
        for _ in 0..<max(0, 9 - Int(notation.parameter)) { unit *= 10 }
        let isDay = notation == .dateOnly
        return (0..<column.count).allSatisfy { row in
            !column.isPresent(row) || (isDay ? column.words[row] % 86400 == 0 && column.extra[row] == 0 : column.extra[row] % unit == 0)
        }
    }

    private func texts(_ column: Column, _ append: (Int, inout [UInt8]) -> Void) -> Column {
        var out = Column(ColumnType(.string, optional: true)), bytes: [UInt8] = []
        bytes.reserveCapacity(column.count * 20)
        for row in 0..<column.count {
            if column.isPresent(row) { append(row, &bytes) }
            out.text.offsets.append(bytes.count)
        }
        out.text.bytes = bytes
        out.count = column.count
        out.present = column.present
        return out
    }

    private mutating func json(_ column: Column) -> Column {
        let lost = source.type.kind == .any ? 0 : column.notFinite, links = source.type.kind == .link
        if lost > 0 { changed["NaN or infinite numbers in JSON are written as null", default: 0] += lost }
        if links { changed["links in collections are written as the numbers of rows", default: 0] += column.children.last?.count ?? 0 }
        let source = source, schema = schema
        if source.type.containsAny(in: schema) {
            return texts(column) { row, out in SQLiteTagged.append(column.value(at: row), of: source.type, in: schema, to: &out) }
        }
        return texts(column) { row, out in JSONText.append(column, row: row, of: source, in: schema, to: &out) }
    }

    private mutating func reals(_ column: Column) -> Column {
        let present = column.present
        guard column.reals.contains(where: \.isNaN) else { return column }
        var out = Column(ColumnType(.any))
        for row in 0..<column.count {
            guard present?[row] ?? true else {
                out.appendNull()
                continue
            }
            let isNumber = !column.reals[row].isNaN
            if !isNumber { notNumbers += 1 }
            out.append(isNumber ? .double(column.reals[row]) : .string("NaN"))
        }
        return out
    }

    private static let nativeTags: Set<UInt8> = [
        AnyTag.null, ScalarKind.int.rawValue, ScalarKind.double.rawValue, ScalarKind.string.rawValue, ScalarKind.data.rawValue,
    ]

    private mutating func anything(_ column: Column) -> Column {
        var out = Column(ColumnType(.any))
        for row in 0..<column.count {
            let value = column.value(at: row)
            if let text = SQLiteTagged.text(of: value) {
                tagged += 1
                out.append(.string(text))
            } else {
                out.append(value)
            }
            tags.insert(out.tags[row])
        }
        return out
    }
}

extension ColumnType {
    /// Whether values of type `any` are in the values of the type.
    fileprivate func containsAny(in schema: Schema, depth: Int = 0) -> Bool {
        if kind == .any { return true }
        guard kind == .embedded, depth < Column.maximumNesting, let target = target.flatMap({ schema[$0] }) else { return false }
        return target.columns.contains { $0.type.containsAny(in: schema, depth: depth + 1) }
    }
}

extension Column {
    /// The number of NaN and infinite numbers, which JSON cannot contain, in the column and in the columns within it.
    fileprivate var notFinite: Int {
        var count = children.reduce(0) { $0 + $1.notFinite }
        for row in reals.indices where !reals[row].isFinite && isPresent(row) { count += 1 }
        return count
    }
}

extension SQLiteDeclaredType {
    /// Returns the type that a column is declared with: that of its source if the values keep their types in it, otherwise the standard one.
    static func chosen(for column: ColumnSchema) -> SQLiteDeclaredType {
        guard let kept = kept(by: column), kept.isSafe, kept.holds(column) else { return standard(for: column) }
        return kept
    }

    /// Whether a column with this declared type is read as one of the same kind, and SQLite converts no value.
    private func holds(_ column: ColumnSchema) -> Bool {
        guard !column.type.isCollection else { return false }
        switch column.type.kind {
        case .bool: return isBool
        case .int: return !isBool && (affinity == .integer || affinity == .numeric && !isFraction)
        case .double:
            if let decimal, decimal.scale > 0 { return column.logical == .decimal(precision: decimal.precision, scale: decimal.scale) }
            return column.logical == nil && (affinity == .real || isFraction)
        case .string: return affinity == .text || isDate || affinity == .none && !text.isEmpty
        case .data: return affinity == .none && !text.isEmpty
        case .date: return isDate
        case .any: return affinity == .none
        default: return false
        }
    }

    /// Words that begin a constraint of a column.
    private static let reserved: Set<String> = [
        "ALWAYS", "AS", "CHECK", "COLLATE", "CONSTRAINT", "DEFAULT", "GENERATED", "KEY", "NOT", "NULL", "ON", "PRIMARY", "REFERENCES",
        "UNIQUE",
    ]

    /// Whether the text is words, with numbers in parentheses at the end at most. It is from a file, and becomes a part of a statement.
    private var isSafe: Bool {
        let upper = text.uppercased(), open = upper.firstIndex(of: "(") ?? upper.endIndex, words = upper[..<open]
        guard words.utf8.allSatisfy({ 65...90 ~= $0 || 48...57 ~= $0 || $0 == 95 || $0 == 32 }), words.utf8.first.map({ $0 > 57 }) ?? true,
            !words.split(separator: " ").contains(where: {
                SQLiteDeclaredType.reserved.contains(String($0)) || $0.utf8.first.map { $0 < 58 } ?? true
            })
        else { return false }
        guard open < upper.endIndex else { return true }
        let rest = upper[upper.index(after: open)...].utf8
        guard rest.last == UInt8(ascii: ")") else { return false }
        let numbers = rest.dropLast().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return numbers.count <= 2 && numbers.allSatisfy { $0.contains { 48...57 ~= $0 } && $0.allSatisfy { 48...57 ~= $0 || $0 == 32 } }
    }
}
