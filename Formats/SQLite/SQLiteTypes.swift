import CSQLiteLibrary
import FirnTable

/// What a column becomes, and how its values are read.
struct SQLitePlan {
    var column: ColumnSchema
    /// FIRN_SQLITE_INT … FIRN_SQLITE_DATE
    var form: Int
    /// What is reported about the column.
    var remark: String?
}

extension SQLiteTable.Column {
    /// The facts to collect, with the test that the declared type calls for.
    var emptyFacts: firn_sqlite_facts {
        var facts = firn_sqlite_facts()
        if declared.isDate {
            facts.test = Int32(FIRN_SQLITE_TEST_DATE)
        } else if let decimal = declared.decimal, decimal.scale > 0 {
            facts.test = Int32(FIRN_SQLITE_TEST_DECIMAL)
            (facts.precision, facts.scale) = (Int32(decimal.precision), Int32(decimal.scale))
        }
        return facts
    }

    /// Decides what the column becomes: what it is declared as if every value fits, otherwise what all values are, otherwise `any`.
    func plan(_ facts: firn_sqlite_facts, in table: SQLiteTable) -> SQLitePlan {
        let isOptional = facts.nulls > 0 || !(isNotNull || keyPosition > 0)
        func made(_ kind: ScalarKind, _ form: Int, logical: LogicalType? = nil, notation: Notation = .plain) -> SQLitePlan {
            var column = ColumnSchema(name, ColumnType(kind, optional: isOptional && kind != .any), notation: notation)
            if let logical { column.logical = logical }
            return SQLitePlan(column: column, form: form)
        }
        let numbers = facts.integers + facts.reals, isNumeric = [.integer, .real, .numeric].contains(declared.affinity)
        let hasOne = [numbers, facts.texts, facts.blobs].count { $0 > 0 } <= 1
        guard hasOne, facts.malformed == 0 else { return mixed(facts, made(.any, FIRN_SQLITE_ANY), table) }
        if facts.texts > 0 {
            if declared.isDate, facts.misfits == 0, let notation = facts.dateNotation {
                return made(.date, FIRN_SQLITE_DATE, notation: notation)
            }
            return made(.string, FIRN_SQLITE_TEXT)
        }
        if facts.blobs > 0 { return made(.data, FIRN_SQLITE_BLOB) }
        guard numbers > 0 else { return unused(made) }
        if let decimal = declared.decimal, decimal.scale > 0, facts.misfits == 0, facts.inexact == 0 {
            return made(.double, FIRN_SQLITE_REAL, logical: .decimal(precision: decimal.precision, scale: decimal.scale))
        }
        if facts.reals > 0 {
            // The affinity makes integers of whole numbers again.
            return facts.integers == 0 || (isNumeric && facts.inexact == 0)
                ? made(.double, FIRN_SQLITE_REAL) : mixed(facts, made(.any, FIRN_SQLITE_ANY), table)
        }
        if declared.isBool, facts.minimum >= 0, facts.maximum <= 1 { return made(.bool, FIRN_SQLITE_INT) }
        return declared.isFraction && facts.inexact == 0 ? made(.double, FIRN_SQLITE_REAL) : made(.int, FIRN_SQLITE_INT)
    }

    /// The plan for a column without any value, by its declared type alone.
    private func unused(_ made: (ScalarKind, Int, LogicalType?, Notation) -> SQLitePlan) -> SQLitePlan {
        if declared.isBool { return made(.bool, FIRN_SQLITE_INT, nil, .plain) }
        if declared.isDate {
            let isDay = SQLiteFormat.folded(declared.text) == "date"
            return made(.date, FIRN_SQLITE_DATE, nil, isDay ? .dateOnly : .plain)
        }
        if let decimal = declared.decimal, decimal.scale > 0 {
            return made(.double, FIRN_SQLITE_REAL, .decimal(precision: decimal.precision, scale: decimal.scale), .plain)
        }
        switch declared.affinity {
        case .integer: return made(.int, FIRN_SQLITE_INT, nil, .plain)
        case .real: return made(.double, FIRN_SQLITE_REAL, nil, .plain)
        case .numeric: return declared.isFraction ? made(.double, FIRN_SQLITE_REAL, nil, .plain) : made(.int, FIRN_SQLITE_INT, nil, .plain)
        case .text: return made(.string, FIRN_SQLITE_TEXT, nil, .plain)
        case .none: return declared.text.isEmpty ? made(.any, FIRN_SQLITE_ANY, nil, .plain) : made(.data, FIRN_SQLITE_BLOB, nil, .plain)
        }
    }

    /// The plan for a column of values of several types, with the number of each.
    private func mixed(_ facts: firn_sqlite_facts, _ plan: SQLitePlan, _ table: SQLiteTable) -> SQLitePlan {
        func counted(_ count: Int64, _ one: String) -> String? { count > 0 ? "\(count) \(one)\(count == 1 ? "" : "s")" : nil }
        var plan = plan,
            parts = [
                counted(facts.integers, "integer"), counted(facts.reals, "float"), counted(facts.texts - facts.malformed, "text"),
                counted(facts.blobs, "blob"),
            ].compactMap(\.self)
        if let malformed = counted(facts.malformed, "text") { parts.append("\(malformed) not in UTF-8, read as data") }
        plan.remark = "column \"\(table.name).\(name)\" has values of several types, and is any: \(parts.joined(separator: ", "))"
        if parts.count == 1 { plan.remark = "column \"\(table.name).\(name)\" is any: \(parts[0])" }
        return plan
    }
}

extension firn_sqlite_facts {
    /// The notation in which all dates are written; nil if there are several.
    fileprivate var dateNotation: Notation? {
        guard forms.nonzeroBitCount == 1 else { return nil }
        let form = forms.trailingZeroBitCount, one = digits.nonzeroBitCount == 1 ? UInt8(digits.trailingZeroBitCount) : nil
        // Without a number of digits, a fraction has as many digits as it needs.
        let isFree = !has_zero_fraction
        switch form {
        case FIRN_SQLITE_DATE_ZONED:
            guard one != nil || isFree, let kind = DateTimeLayout.Zone(rawValue: UInt8(clamping: zone.kind)) else { return nil }
            let layout = DateTimeLayout(
                followsT: zone.follows_t, zone: kind, fraction: one.map { .fixed($0) } ?? .needed, quarters: Int(zone.quarters))
            return layout.notation
        case FIRN_SQLITE_DATE_DAY: return .dateOnly
        case FIRN_SQLITE_DATE_SPACE: return one.map { .dateTimeSpace($0) }
        case FIRN_SQLITE_DATE_T: return one.map { .dateTimeT($0) } ?? (isFree ? .localDateTime : nil)
        default: return one.map { .dateTimeZ($0) } ?? (isFree ? .plain : nil)
        }
    }
}
