import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

@Suite struct OrderingTests {
    @Test func `rows with a null date keep their order, whatever their slots contain`() {
        var column = Column(ColumnType(.date, optional: true))
        for row in 0..<6 { column.append(row % 2 == 0 ? .date(Timestamp(seconds: Int64(row / 4))) : .null) }
        // Decoders may leave any values in the slots of nulls.
        column.extra[1] = 9
        column.extra[3] = 5
        column.words[5] = -1
        for (ascending, expected) in [(true, [1, 3, 5, 0, 2, 4]), (false, [4, 0, 2, 1, 3, 5])] {
            var rows: [Int32] = [0, 1, 2, 3, 4, 5]
            Ordering.sort(&rows, by: column, ascending: ascending)
            #expect(rows.map { Int($0) } == expected)
        }
    }
}
