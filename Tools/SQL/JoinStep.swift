import FirnBytes
import FirnTable

/// A table in memory that a run joins to those before it.
struct JoinStep {
    let source: Int
    let isOuter: Bool
    /// The equalities; the left side is of a table before.
    let matches: [SQLMatch]
    /// The numbers of the values of each equality, and of combinations of values.
    private(set) var values: [JoinValues]
    private var combined: [JoinPairs]
    /// For each number the rows with it: `rows[starts[number]..<starts[number + 1]]`, or, if each has at most one row, `rows[number]`.
    private(set) var starts: [UInt32] = []
    private(set) var rows: [UInt32] = []
    private(set) var isUnique = false
    /// The tables of the left sides, and the numbers of their rows. If all equalities have the same table, they are combined.
    private var left: [(source: Int, numbers: [UInt32])] = []

    init(_ step: SQLJoin.Step, _ values: [JoinValues]) {
        source = step.source
        isOuter = step.isOuter
        matches = step.matches
        self.values = values
        combined = .init(repeating: JoinPairs(), count: values.count - 1)
    }

    /// The memory in use in bytes.
    var bytes: Int {
        (starts.count + rows.count) * 4 + values.reduce(0) { $0 + $1.bytes } + combined.reduce(0) { $0 + $1.bytes }
            + left.reduce(0) { $0 + $1.numbers.count * 4 }
    }

    /// Numbers the rows of the table.
    mutating func index(_ columns: [Column]) {
        var numbers: [UInt32] = [], count = 0
        for (i, match) in matches.enumerated() {
            let more = values[i].index(columns[match.right])
            if i == 0 {
                (numbers, count) = (more, values[0].count)
            } else {
                numbers = combined[i - 1].add(numbers, more, counts: (count, values[i].count))
                count = combined[i - 1].count
            }
        }
        starts = [UInt32](repeating: 0, count: count + 1)
        for number in numbers where number != JoinNumbers.none { starts[Int(number) + 1] += 1 }
        isUnique = !starts.contains { $0 > 1 }
        if isUnique {
            rows = [UInt32](repeating: JoinNumbers.none, count: count)
            for (row, number) in numbers.enumerated() where number != JoinNumbers.none {
                rows[Int(number)] = UInt32(truncatingIfNeeded: row)
            }
            return
        }
        for i in 0..<count { starts[i + 1] += starts[i] }
        rows = [UInt32](repeating: 0, count: Int(starts[count]))
        var next = starts
        for (row, number) in numbers.enumerated() where number != JoinNumbers.none {
            rows[Int(next[Int(number)])] = UInt32(truncatingIfNeeded: row)
            next[Int(number)] += 1
        }
    }

    /// Finds the numbers of the rows of a table before, if equalities have columns of it.
    mutating func number(left table: Int, _ scope: SQLScope, _ columns: [Column]) {
        let sources = matches.map { scope.source(of: $0.left) }
        guard sources.contains(table) else { return }
        if left.isEmpty { left = Set(sources).count == 1 ? [(sources[0], [])] : sources.map { ($0, []) } }
        for (i, match) in matches.enumerated() where sources[i] == table {
            let numbers = values[i].numbers(columns[match.left], offset: match.offset ?? 0, adds: false)
            if left.count == 1 {
                left[0].numbers = i == 0 ? numbers : combined[i - 1].find(left[0].numbers, numbers)
            } else {
                left[i].numbers = numbers
            }
        }
    }

    /// Returns the numbers of the rows of a chunk, for which `rows` are the rows of each table before.
    mutating func numbers(_ rows: [[UInt32]], _ count: Int) -> [UInt32] {
        var out = JoinStep.gather(left[0].numbers, rows[left[0].source], count)
        for i in left.indices.dropFirst() {
            out = combined[i - 1].find(out, JoinStep.gather(left[i].numbers, rows[left[i].source], count))
        }
        return out
    }

    /// Returns `values` at some rows; a row that is `none` has none.
    static func gather(_ values: [UInt32], _ rows: [UInt32], _ count: Int) -> [UInt32] {
        var out = [UInt32](repeating: JoinNumbers.none, count: count)
        for i in 0..<count where rows[i] != JoinNumbers.none { out[i] = values[Int(rows[i])] }
        return out
    }
}

/// The groups of a run: the numbers of the values of each table's keys, and of their combinations.
struct JoinKeys {
    /// The keys of one table.
    private struct Part {
        let source: Int
        /// The indices of the keys, and their columns.
        let keys: [Int]
        let columns: [Int]
        var values: [JoinValues]
        /// Of the first two columns, of those and the third one, and so on.
        var combined: [JoinNumbers]
        /// For each row of the table its number. 0: all keys are null.
        var numbers: [UInt32] = []

        var count: Int { combined.last?.count ?? values[0].count + 1 }

        /// Returns the number of each column's value; none for null.
        func split(_ number: UInt32) -> [UInt32] {
            var out: [UInt32] = [], number = number
            for numbers in combined.reversed() {
                let pair = numbers.keys[Int(number)]
                out.append(UInt32(truncatingIfNeeded: pair))
                number = UInt32(truncatingIfNeeded: pair >> 32)
            }
            out.append(number)
            return out.reversed().map { $0 == 0 ? JoinNumbers.none : $0 - 1 }
        }
    }
    private var parts: [Part] = []
    private var combined: [JoinNumbers] = []
    /// The number of rows of each group.
    private(set) var hits: [Int] = []
    /// The groups that have rows, in the order of their first rows. Without keys there is one group.
    private(set) var seen: [Int] = []
    /// The number of rows of all groups.
    private(set) var count = 0

    init(_ keys: [Int], _ scope: SQLScope) {
        for source in scope.sources.indices {
            let own = keys.indices.filter { scope.source(of: keys[$0]) == source }
            guard !own.isEmpty else { continue }
            var part = Part(
                source: source, keys: own, columns: own.map { keys[$0] },
                values: own.map { JoinValues(JoinKeys.kind(scope.columns[keys[$0]].form)) },
                combined: .init(repeating: JoinNumbers(), count: own.count - 1))
            for i in part.combined.indices { _ = part.combined[i].add(0) }
            parts.append(part)
        }
        combined = .init(repeating: JoinNumbers(), count: max(0, parts.count - 1))
        if parts.isEmpty { (hits, seen) = ([0], [0]) }
    }

    static func kind(_ form: SQLForm) -> JoinValues.Kind {
        switch form {
        case .text, .blob: .bytes
        case .date, .uuid, .objectID: .pairs
        case .real, .float: .reals
        default: .words
        }
    }

    var sources: [Int] { parts.map(\.source) }
    /// The number of groups; some may have no rows.
    var groupCount: Int { combined.last?.count ?? parts.first?.count ?? 1 }
    /// The memory in use in bytes.
    var bytes: Int {
        parts.reduce(0) { sum, part in
            sum + part.numbers.count * 4 + part.values.reduce(0) { $0 + $1.bytes } + part.combined.reduce(0) { $0 + $1.bytes }
        } + combined.reduce(hits.count * 16) { $0 + $1.bytes }
    }

    /// Numbers the rows of a table.
    mutating func number(_ source: Int, _ columns: [Column]) {
        guard let at = parts.firstIndex(where: { $0.source == source }) else { return }
        var numbers: [UInt32] = []
        for (i, column) in parts[at].columns.enumerated() {
            // Null is 0.
            let more = parts[at].values[i].numbers(columns[column], adds: true).map { $0 &+ 1 }
            numbers = i == 0 ? more : parts[at].combined[i - 1].pairs(numbers, more, adds: true)
        }
        parts[at].numbers = numbers
    }

    /// Counts the rows of a chunk, and returns their groups; nil if there are no keys.
    mutating func groups(_ rows: [[UInt32]], _ count: Int) -> [UInt32]? {
        self.count += count
        guard !parts.isEmpty else {
            hits[0] += count
            return nil
        }
        var groups: [UInt32] = []
        for (i, part) in parts.enumerated() {
            // The row of a LEFT JOIN without a match has nulls.
            let numbers = JoinStep.gather(part.numbers, rows[part.source], count).map { $0 == JoinNumbers.none ? 0 : $0 }
            groups = i == 0 ? numbers : combined[i - 1].pairs(groups, numbers, adds: true)
        }
        if hits.count < groupCount { hits += [Int](repeating: 0, count: max(groupCount, hits.count * 2) - hits.count) }
        for group in groups {
            if hits[Int(group)] == 0 { seen.append(Int(group)) }
            hits[Int(group)] &+= 1
        }
        return groups
    }

    /// Appends the values of a key in some groups.
    func append(_ key: Int, _ groups: [Int], to column: inout Column) {
        guard let at = parts.firstIndex(where: { $0.keys.contains(key) }), let own = parts[at].keys.firstIndex(of: key) else { return }
        for group in groups {
            // The combination of the first parts is in the upper half.
            var number = UInt32(truncatingIfNeeded: group)
            for i in stride(from: parts.count - 1, to: 0, by: -1) {
                let pair = combined[i - 1].keys[Int(number)]
                number = UInt32(truncatingIfNeeded: i == at ? pair : pair >> 32)
                if i == at { break }
            }
            parts[at].values[own].append(parts[at].split(number)[own], to: &column)
        }
    }
}
