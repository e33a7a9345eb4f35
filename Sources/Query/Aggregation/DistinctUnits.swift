import FirnBytes
import FirnTable

/// How values of a column are words of which a set of bits can be made: integers are their own, decimals that are stored as doubles have the
/// number of units of their last digit.
enum DistinctUnits: Equatable {
    case words
    /// The power of ten by which a value is multiplied.
    case decimals(Double)

    /// Returns the units of all values of a column from row 1 on; nil if they have none, or none finer than `before`.
    init?(_ column: Column, after before: DistinctUnits?) {
        switch column.type.kind {
        case .int, .link: self = .words
        case .double:
            let units = powersOfTen.prefix(10).map { DistinctUnits.decimals($0) }
            let known = units.firstIndex { $0 == before }.map { $0 + 1 } ?? 0
            guard let found = units[known...].first(where: { $0.words(of: column, from: 1) != nil }) else { return nil }
            self = found
        default: return nil
        }
    }

    /// Returns the words of the rows from `first` on that have a value; nil if a value has none.
    func words(of column: Column, from first: Int) -> [Int64]? { words(column, column.count - first) { first &+ $0 } }

    /// Returns the words of the chosen rows that have a value; nil if a value has none.
    func words(of column: Column, _ chosen: RowChoice) -> [Int64]? { words(column, chosen.hits) { Int(chosen.rows[$0]) } }

    @inline(__always)
    private func words(_ column: Column, _ count: Int, _ row: (Int) -> Int) -> [Int64]? {
        var areExact = true
        let words = [Int64](unsafeUninitializedCapacity: count) { out, filled in
            @inline(__always)
            func put(_ word: (Int) -> Int64) {
                for j in 0..<count where column.isPresent(row(j)) {
                    out[filled] = word(row(j))
                    filled &+= 1
                }
            }
            switch self {
            case .words: put { column.words[$0] }
            case .decimals(let power):
                put { row in
                    let units = (column.reals[row] * power).rounded()
                    // Beyond 2^53, different doubles can have the same number of units. NaN is not below it.
                    let isExact = units.magnitude < 0x1p53 && units / power == column.reals[row]
                    areExact = areExact && isExact
                    return isExact ? Int64(units) : 0
                }
            }
        }
        return areExact ? words : nil
    }

    /// Returns a column of the values with the given words.
    func column(_ words: [Int64], _ type: ColumnType) -> Column {
        var out = Column(type)
        switch self {
        case .words: out.words = words
        case .decimals(let power): out.reals = words.map { Double($0) / power }
        }
        out.count = words.count
        if type.isOptional { out.present = Bits(repeating: true, count: words.count) }
        return out
    }
}
