import FirnBytes

/// Makes columns without any value, for a number of rows. Their arrays are shared, so a batch with many such columns takes the memory of a
/// few.
package struct VacantColumns {
    private var rows = -1
    private var present = Bits(count: 0)
    private var words: [Int64] = []
    private var reals: [Double] = []
    private var tags: [UInt8] = []
    private var offsets: [Int] = []

    package init() {}

    /// Fills an empty column with `rows` rows without a value.
    package mutating func fill(_ column: inout Column, rows: Int) {
        if rows != self.rows {
            self.rows = rows
            present = Bits(repeating: false, count: rows)
            words = Array(repeating: 0, count: rows)
            reals = Array(repeating: 0, count: rows)
            tags = Array(repeating: AnyTag.null, count: rows)
            offsets = Array(repeating: 0, count: rows + 1)
        }
        fill(&column)
    }

    private func fill(_ column: inout Column) {
        column.count = rows
        column.present = present
        if column.type.isCollection {
            column.offsets = offsets
            return
        }
        switch column.type.kind {
        case .bool, .int, .link: column.words = words
        case .date, .decimal, .uuid, .objectID: (column.words, column.extra) = (words, words)
        case .double, .float: column.reals = reals
        case .string, .data: column.text = Text(offsets: offsets, bytes: [])
        case .any:
            (column.tags, column.words, column.extra, column.reals) = (tags, words, words, reals)
            column.text = Text(offsets: offsets, bytes: [])
        case .embedded: for i in column.children.indices { fill(&column.children[i]) }
        }
    }
}
