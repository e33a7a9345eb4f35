import FirnBytes
import FirnTable

/// Some segments of a table, in their order.
final class ChosenSegments: WrappedTable {
    let base: any Table
    /// Their positions in the base, ascending.
    private let positions: [Int]
    private let numbers: [Int: Int]
    let rowCount: Int

    init(_ base: any Table, _ positions: [Int]) throws(Damage) {
        self.base = base
        self.positions = positions
        numbers = Dictionary(uniqueKeysWithValues: positions.enumerated().map { ($1, $0) })
        var count = 0
        for position in positions { count += try base.segment(position).liveCount }
        rowCount = count
    }

    var type: TypeSchema { base.type }
    var schema: Schema { base.schema }
    var segmentCount: Int { positions.count }
    func segment(_ index: Int) throws(Damage) -> any Segment { try base.segment(positions[index]) }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID).flatMap { numbers[$0] } }
}
