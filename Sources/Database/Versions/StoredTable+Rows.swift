import FirnBytes
import FirnTable

extension StoredTable: RowTable {
    package func place(of rowID: Int64) throws(Damage) -> (segment: Int, position: Int)? {
        guard let index = try segmentIndex(of: rowID) else { return nil }
        let rows = try rows(index)
        guard let position = try rows.position(of: rowID), rows.isLive(position) else { return nil }
        return (index, position)
    }

    package func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value {
        do throws(Damage) {
            if let place = try place(of: rowID) { return try rows(place.segment).storedColumn(column).value(at: place.position) }
        } catch { throw FirnError(error, in: path) }
        throw FirnError(.notFound, "no row \(rowID)")
    }

    package func word(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Int64? {
        try rows(segment).word(at: position, column)
    }
    package func real(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Double? {
        try rows(segment).real(at: position, column)
    }
}
