import FirnBytes
import FirnTable

/// The position of a row in its table: the segment, and the row within it.
package struct RowPlace: Sendable, Hashable {
    package var segment: Int
    package var row: Int

    init(segment: Int, row: Int) {
        self.segment = segment
        self.row = row
    }

    init(_ position: UInt32) {
        segment = Int(position >> 16)
        row = Int(position & 0xFFFF)
    }
}

/// Reads single values of rows, mostly in ascending order. Only one thread at a time may use it.
///
/// The first value that is read of a vector is read by itself; the next one decodes the vector. So both single rows and dense runs are
/// cheap.
package final class RowReader {
    package let table: any Table
    let name: String
    /// By column: its window; -1 before the first read. Readers are made often, and for few of many columns.
    private var slots: [Int32]
    private var windows: [Window] = []
    private var segment: (any Segment)?
    private var segmentIndex = -1

    private struct Window {
        var segment = -1
        var vector = -1
        var isDecoded = false
        var reader: (any ColumnReader)?
        var column: Column
    }

    init(_ table: any Table, name: String) {
        self.table = table
        self.name = name
        slots = Array(repeating: -1, count: table.type.columns.count)
    }

    /// Returns the value of a column, with the fields of embedded objects named.
    package func value(_ place: RowPlace, _ index: Int) throws(FirnError) -> Value {
        let schema = table.type.columns[index]
        do throws(Damage) {
            return try read(place, index, schema).named(schema.type, in: table.schema)
        } catch { throw FirnError(error, in: name) }
    }

    /// Returns the number of a row, counted from 1 over live rows, for messages.
    package func number(_ place: RowPlace) throws(FirnError) -> Int {
        do throws(Damage) {
            var number = 1
            for i in 0..<place.segment { number += try table.segment(i).liveCount }
            return number + (try table.segment(place.segment).live?.rank(place.row) ?? place.row)
        } catch { throw FirnError(error, in: name) }
    }

    private func read(_ place: RowPlace, _ index: Int, _ schema: ColumnSchema) throws(Damage) -> Value {
        if slots[index] < 0 {
            slots[index] = Int32(windows.count)
            windows.append(Window(column: Column(schema, in: table.schema)))
        }
        let slot = Int(slots[index])
        if windows[slot].segment != place.segment {
            if segmentIndex != place.segment {
                segment = try table.segment(place.segment)
                segmentIndex = place.segment
            }
            windows[slot].reader = try segment!.column(index)
            windows[slot].segment = place.segment
            windows[slot].vector = -1
        }
        let vector = place.row / vectorSize, reader = windows[slot].reader!
        guard windows[slot].vector == vector else {
            windows[slot].vector = vector
            windows[slot].isDecoded = false
            return try reader.value(at: place.row)
        }
        if !windows[slot].isDecoded {
            try reader.read(vector: vector, into: &windows[slot].column)
            windows[slot].isDecoded = true
        }
        return windows[slot].column.value(at: place.row % vectorSize)
    }
}
