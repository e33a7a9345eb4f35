import FirnBytes
import FirnTable

extension StoredTable: RowTable {
    package func location(of rowID: Int64) throws(Damage) -> RowLocation? {
        guard let index = try segmentIndex(of: rowID) else { return nil }
        let rows = try rows(index)
        guard let position = try rows.position(of: rowID), rows.isLive(position) else { return nil }
        return RowLocation(segment: index, position: position)
    }

    package func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value {
        do throws(Damage) {
            if let location = try location(of: rowID) {
                return try rows(location.segment).storedColumn(column).value(at: location.position)
            }
        } catch { throw FirnError(error, in: path) }
        throw FirnError(.notFound, "no row \(rowID)")
    }

    package func word(at location: RowLocation, _ column: Int) throws(Damage) -> Int64? {
        try rows(location.segment).word(at: location.position, column)
    }
    package func real(at location: RowLocation, _ column: Int) throws(Damage) -> Double? {
        try rows(location.segment).real(at: location.position, column)
    }
}
