import FirnBytes
import FirnCodecs
import FirnTable

/// Looks for columns whose numbers are near the last number in the same group of rows, in consecutive rows of a segment. What it finds must
/// be verified.
struct LastSearch {
    private let columns: [Column?]
    private let numbers: [NumberColumn]
    private let rows: Int
    private let block: Int
    /// The rows that are compared first: the first half of them begins the groups.
    private let window: Range<Int>
    /// The numbers of each column in the window.
    private let few: [Numbers]

    /// The number of rows that are compared first.
    private static let maximumWindow = 4096
    /// At most so many columns are tried as the one that makes the groups.
    private static let maximumGroups = 16

    init(_ columns: [Column?], _ numbers: [NumberColumn], rows: Int, block: Int) {
        (self.columns, self.numbers, self.rows, self.block) = (columns, numbers, rows, block)
        let size = min(rows, LastSearch.maximumWindow), first = (rows - size) / 2
        let window = first..<first + size
        self.window = window
        few = numbers.map { Numbers($0, of: LastSearch.values(columns, $0.index).gather(Array(window))) }
    }

    /// Returns a column that takes part.
    private static func values(_ columns: [Column?], _ index: Int) -> Column {
        guard let column = columns[index] else { trap("a column that takes part in a prediction has values") }
        return column
    }

    /// Returns the columns that may make groups: each of their values is in several rows.
    static func groups(_ columns: [Column?], _ sketches: [ColumnSketch?], roles: [ColumnRole], canBeCoded: [Bool], rows: Int) -> [Int] {
        let all = columns.indices.filter { index in
            guard canBeCoded[index], RelationWork.hasCodes(columns[index]), let sketch = sketches[index], sketch.classes.count >= 2,
                sketch.expectedDistinct * 4 < Double(rows)
            else { return false }
            switch roles[index] {
            case .alone, .source: return true
            case .related, .predicted, .pieced: return false
            }
        }
        guard all.count > maximumGroups else { return all }
        // Finer groups are nearer to one thing that changes with time.
        func distinct(_ index: Int) -> Double { sketches[index]?.expectedDistinct ?? 0 }
        return all.sorted { (distinct($0), $1) > (distinct($1), $0) }.prefix(maximumGroups).sorted()
    }

    /// Returns the columns whose numbers are near the last number in the group that column `group` makes.
    func candidates(group: Int) -> [LinearSearch.Candidate] {
        guard let near = Groups(LastSearch.values(columns, group).gather(Array(window))) else { return [] }
        // A window may not show what is far from it: the bytes are estimated from all rows.
        let half = window.count / 2, share = Double(rows) / Double(max(half, 1))
        let promising = numbers.indices.filter { k in
            guard numbers[k].index != group, numbers[k].bytes * 16 > rows else { return false }
            return bytes(few[k], near, from: half) * share < Double(numbers[k].bytes) * 1.2
        }
        guard !promising.isEmpty, let all = Groups(LastSearch.values(columns, group)) else { return [] }
        return promising.compactMap { k in
            let own = numbers[k], bytes = bytes(Numbers(own, of: LastSearch.values(columns, own.index)), all, from: 0)
            guard bytes < Double(own.bytes) * 0.85 else { return nil }
            let rule = Prediction.Rule.last(column: group, keys: all.keys, block: block, start: 0)
            return LinearSearch.Candidate(target: own.index, prediction: Prediction(rule: rule, form: own.form), bytes: bytes)
        }
    }

    /// The numbers of some rows of a column.
    private struct Numbers {
        let values: [Int64]
        /// Rows without a value or a number.
        let skipped: Bits

        init(_ own: NumberColumn, of column: Column) {
            var exceptions: [Int] = []
            values = own.numbers(of: column, rows: 0..<column.count, exceptions: &exceptions)
            var skipped =
                column.present.map { Bits(words: $0.words.map { ~$0 }, count: $0.count) } ?? Bits(repeating: false, count: column.count)
            for row in exceptions { skipped[row] = true }
            self.skipped = skipped
        }
    }

    /// The group of each row.
    private struct Groups {
        let ids: [Int64]
        let keys: Int

        init?(_ column: Column) {
            guard let classes = ColumnClasses(column, limit: max(column.count / 2, 2)), classes.count >= 2 else { return nil }
            let keys = classes.count + 1
            (ids, self.keys) = (classes.ids.map { $0 < 0 ? Int64(keys - 1) : Int64($0) }, keys)
        }
    }

    /// Estimates the bytes of the differences from a row on.
    private func bytes(_ numbers: Numbers, _ groups: Groups, from first: Int) -> Double {
        var values = numbers.values
        for start in stride(from: 0, to: values.count, by: Prediction.blockRows(block)) {
            var chains = GroupChains(keys: groups.keys, start: 0)
            let end = min(start + Prediction.blockRows(block), values.count)
            chains.differ(&values, groups: groups.ids, skipped: numbers.skipped, rows: start..<end)
        }
        if !numbers.skipped.noneSet {
            let used = (first..<values.count).compactMap { numbers.skipped[$0] ? nil : values[$0] }
            return used.count > 16 ? CodeLength.bits(used) * Double(used.count) / 8 : .infinity
        }
        let used = Array(values[first...])
        return used.count > 16 ? CodeLength.bits(used) * Double(used.count) / 8 : .infinity
    }
}
