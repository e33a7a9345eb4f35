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
    /// About so many differences are counted: of the second half of them, and of all rows.
    private static let few = 512, many = 4096
    private static let consecutive = 8
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

    /// Returns the positions in `numbers` of the columns whose numbers may be near the last number in the group that column `group` makes.
    func promising(group: Int) -> [Int] {
        let part = LastSearch.values(columns, group).gather(Array(window))
        guard let near = Groups(part, blockRows: window.count) else { return [] }
        // A window may not show what is far from it: the bytes are estimated from all rows.
        return numbers.indices.filter { k in
            guard numbers[k].index != group, numbers[k].bytes * 16 > rows else { return false }
            return few[k].bits(near, from: window.count / 2, rows: LastSearch.few) * Double(rows) / 8 < Double(numbers[k].bytes) * 1.2
        }
    }

    /// Returns the groups of all rows that a column makes.
    func groups(_ column: Int) -> Groups? { Groups(LastSearch.values(columns, column), blockRows: Prediction.blockRows(block)) }

    /// Returns the groups in which the numbers of the column at position `k` are near the last number.
    func candidates(_ k: Int, groups: [(column: Int, groups: Groups)]) -> [LinearSearch.Candidate] {
        let own = numbers[k]
        guard !groups.isEmpty else { return [] }
        let all = Numbers(own, of: LastSearch.values(columns, own.index))
        return groups.compactMap { column, groups in
            let bytes = all.bits(groups, from: 0, rows: LastSearch.many) * Double(rows) / 8
            guard bytes < Double(own.bytes) * 0.85 else { return nil }
            let rule = Prediction.Rule.last(column: column, keys: groups.keys, block: block, start: 0)
            return LinearSearch.Candidate(target: own.index, prediction: Prediction(rule: rule, form: own.form), bytes: bytes)
        }
    }

    /// For each row, the one whose number predicts it.
    struct Groups: Sendable {
        /// The last row of the same group, or the last one that was the first of its group; −1 for the first row of a block. Rows without a
        /// number count as others.
        let before: [Int32]
        let keys: Int

        init?(_ column: Column, blockRows: Int) {
            guard let classes = ColumnClasses(column, limit: max(column.count / 2, 2)), classes.count >= 2 else { return nil }
            let keys = classes.count + 1
            self.keys = keys
            var last = [Int32](repeating: -1, count: keys), first: Int32 = -1, before = [Int32](repeating: -1, count: column.count)
            for row in before.indices {
                if row % blockRows == 0, row > 0 { (last, first) = (Array(repeating: -1, count: keys), -1) }
                let group = classes.ids[row] < 0 ? keys - 1 : Int(classes.ids[row]), this = Int32(truncatingIfNeeded: row)
                before[row] = last[group]
                if last[group] < 0 { (before[row], first) = (first, this) }
                last[group] = this
            }
            self.before = before
        }
    }

    /// The numbers of some rows of a column.
    private struct Numbers {
        let values: [Int64]
        /// Rows without a value or a number; nil if there are none.
        let skipped: Bits?

        init(_ own: NumberColumn, of column: Column) {
            var exceptions: [Int] = []
            values = own.numbers(of: column, rows: 0..<column.count, exceptions: &exceptions)
            var skipped =
                column.present.map { Bits(words: $0.words.map { ~$0 }, count: $0.count) } ?? Bits(repeating: false, count: column.count)
            for row in exceptions { skipped[row] = true }
            self.skipped = skipped.noneSet ? nil : skipped
        }

        /// Estimates the bits of a difference of a row, from about `rows` of the rows from `first` on: blocks of consecutive ones, so that a
        /// period does not hide rows.
        func bits(_ groups: Groups, from first: Int, rows: Int) -> Double {
            let all = values.count - first, hop = max(1, all / rows), block = LastSearch.consecutive
            var differences: [Int64] = [], present = 0, seen = 0
            differences.reserveCapacity(all / hop + block)
            for start in stride(from: first, to: values.count, by: block * hop) {
                for row in start..<min(start + block, values.count) {
                    seen &+= 1
                    if let skipped, skipped[row] { continue }
                    present &+= 1
                    let before = Int(groups.before[row])
                    if before < 0 {
                        differences.append(values[row])
                    } else if !(skipped?[before] ?? false) {
                        differences.append(values[row] &- values[before])
                    }
                }
            }
            return differences.count > 16 ? CodeLength.bits(differences) * Double(present) / Double(seen) : .infinity
        }
    }
}
