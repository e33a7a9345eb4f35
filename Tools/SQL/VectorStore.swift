import CSQLite
import FirnBytes
import FirnModel

/// Vectors of columns that stay decoded while rows are looked up, up to a number of bytes. Then it begins anew.
final class VectorStore {
    private static let most = 256 << 20
    private let vectors: Int
    private var columns: [UnsafeMutablePointer<firn_sql_column>?]
    private var buffers: [ColumnBuffer] = []
    private var bytes = 0

    init(_ table: any Table, width: Int) {
        vectors = table.segmentCount * (segmentSize / vectorSize)
        columns = Array(repeating: nil, count: width)
    }

    deinit { for column in columns { column?.deallocate() } }

    func column(_ index: Int, segment: Int, vector: Int, _ fill: (ColumnBuffer) throws(Damage) -> firn_sql_column) throws(Damage) -> firn_sql_column {
        let place = segment * (segmentSize / vectorSize) + vector
        if let column = columns[index], column[place].form != 0 { return column[place] }
        let buffer = ColumnBuffer(), filled = try fill(buffer)
        buffers.append(buffer)
        bytes += buffer.footprint
        if columns[index] == nil {
            columns[index] = .allocate(capacity: vectors)
            columns[index]!.initialize(repeating: firn_sql_column(), count: vectors)
        }
        columns[index]![place] = filled
        return filled
    }

    /// Only when no column of the rows at hand is in use.
    func trim() {
        guard bytes > VectorStore.most else { return }
        for i in columns.indices {
            columns[i]?.deallocate()
            columns[i] = nil
        }
        buffers = []
        bytes = 0
    }
}
