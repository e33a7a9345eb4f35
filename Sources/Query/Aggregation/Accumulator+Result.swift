import FirnBytes
import FirnTable

extension Accumulator {
    /// Returns the values of all groups, as by `value`, if they are numbers that fit the type; `rows` has the number of rows of each group.
    func column(_ type: ColumnType, _ rows: [Int], as function: Aggregate.Function) -> Column? {
        var column = Column(type)
        column.count = rows.count
        switch form {
        case .rows: column.words = rows.map { Int64($0) }
        case .counts: column.words = counts.map { Int64($0) }
        case .distinct: column.words = (distinct?.counts ?? []).map { Int64($0) }
        case .wholeSums where function == .sum:
            let totals = rows.indices.map { wholes.total($0) }
            guard type.kind == .int, totals.allSatisfy({ Int64(exactly: $0) != nil }) else { return nil }
            column.words = totals.map { Int64($0) }
        case .realSums, .orderedSums, .decimalSums, .wholeSums:
            column.reals = rows.indices.map { real(sum: $0) }
            guard function != .sum else { break }
            for group in rows.indices { column.reals[group] /= Double(rows[group] - absent[group]) }
            column.setPresent { rows[$0] > absent[$0] }
        case .words:
            column.words = words
            column.setPresent { known[$0] }
        case .reals:
            column.reals = reals
            column.setPresent { known[$0] }
        case .sums, .texts, .values, .first, .samples: return nil
        }
        return column
    }

    private func real(sum group: Int) -> Double {
        switch form {
        case .orderedSums: ordered.total(group)
        case .decimalSums: decimalSum(group)
        case .wholeSums: Double(wholes.total(group))
        default: reals[group]
        }
    }

    /// Returns the value of a group. `function` selects sum or average, which share one accumulator; otherwise it is the measure's own
    /// function.
    mutating func value(_ group: Int, _ rows: Int, as function: Aggregate.Function) -> Value {
        let isSum = function == .sum
        switch form {
        case .rows: return .int(Int64(rows))
        case .counts: return .int(Int64(counts[group]))
        case .distinct: return .int(Int64(distinct?.counts[group] ?? 0))
        case .sums: return isSum ? sums[group].total(measure.operand?.kind ?? .any) : sums[group].average
        case .wholeSums:
            let total = wholes.total(group), count = rows - absent[group]
            if isSum { return Int64(exactly: total).map(Value.int) ?? .double(Double(total)) }
            return count == 0 ? .null : .double(Double(total) / Double(count))
        case .realSums:
            let count = rows - absent[group]
            return isSum ? .double(reals[group]) : count == 0 ? .null : .double(reals[group] / Double(count))
        case .orderedSums:
            let count = rows - absent[group], sum = ordered.total(group)
            return isSum ? .double(sum) : count == 0 ? .null : .double(sum / Double(count))
        case .decimalSums:
            let count = rows - absent[group], sum = decimalSum(group)
            return isSum ? .double(sum) : count == 0 ? .null : .double(sum / Double(count))
        case .words:
            guard known[group] else { return .null }
            return measure.type.kind == .bool
                ? .bool(words[group] != 0) : measure.type.kind == .link ? .link(words[group]) : .int(words[group])
        case .reals: return !known[group] ? .null : measure.type.kind == .float ? .float(Float(reals[group])) : .double(reals[group])
        case .texts:
            guard let bytes = texts.value(group) else { return .null }
            return measure.type.kind == .data ? .data(bytes) : .string(String(decoding: bytes, as: UTF8.self))
        case .values, .first: return values[group]
        case .samples: return quantiles[group].map(Value.double) ?? .null
        }
    }
}

extension Column {
    /// Makes the rows null for which `isPresent` returns false.
    fileprivate mutating func setPresent(_ isPresent: (Int) -> Bool) {
        var bits = Bits(repeating: true, count: count)
        for row in 0..<count where !isPresent(row) { bits[row] = false }
        present = bits.ones == count ? nil : bits
    }
}
