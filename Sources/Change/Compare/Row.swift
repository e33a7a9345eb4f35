import FirnBytes
import FirnTable

extension RowLocation {
    /// Unpacks a location from the segment in the upper and the position in the lower 16 bits.
    init(packed: UInt32) { self.init(segment: Int(packed >> 16), position: Int(packed & 0xFFFF)) }
}

/// Reads single values of rows, mostly in ascending order. Only one thread at a time may use it.
///
/// The first value that is read of a vector is read by itself; the next one decodes the vector. So both single rows and dense runs are
/// cheap.
package final class RowReader {
    package let table: any Table
    let name: String
    /// The columns and the schema of the table, which would be copied for each value.
    private let columns: [ColumnSchema]
    private let schema: Schema
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

    package init(_ table: any Table, name: String) {
        self.table = table
        self.name = name
        columns = table.type.columns
        schema = table.schema
        slots = Array(repeating: -1, count: columns.count)
    }

    /// Returns the value of a column, with the fields of embedded objects named.
    package func value(_ location: RowLocation, _ index: Int) throws(FirnError) -> Value { try value(location, index, unwraps: false) }

    /// Returns the value of a column as outside formats show it: collections within collections without the objects around them.
    package func shownValue(_ location: RowLocation, _ index: Int) throws(FirnError) -> Value { try value(location, index, unwraps: true) }

    private func value(_ location: RowLocation, _ index: Int, unwraps: Bool) throws(FirnError) -> Value {
        do throws(Damage) {
            return try read(location, index).named(columns[index].type, in: schema, unwraps: unwraps)
        } catch { throw FirnError(error, in: name) }
    }

    /// Returns the number of a row, counted from 1 over live rows, for messages.
    package func number(_ location: RowLocation) throws(FirnError) -> Int {
        do throws(Damage) {
            var number = 1
            for i in 0..<location.segment { number += try table.segment(i).liveCount }
            return number + (try table.segment(location.segment).live?.rank(location.position) ?? location.position)
        } catch { throw FirnError(error, in: name) }
    }

    private func read(_ location: RowLocation, _ index: Int) throws(Damage) -> Value {
        if slots[index] < 0 {
            slots[index] = Int32(windows.count)
            windows.append(Window(column: Column(columns[index], in: schema)))
        }
        let slot = Int(slots[index])
        if windows[slot].segment != location.segment {
            if segmentIndex != location.segment {
                segment = try table.segment(location.segment)
                segmentIndex = location.segment
            }
            windows[slot].reader = try segment!.column(index)
            windows[slot].segment = location.segment
            windows[slot].vector = -1
        }
        let vector = location.position / vectorSize, reader = windows[slot].reader!
        guard windows[slot].vector == vector else {
            windows[slot].vector = vector
            windows[slot].isDecoded = false
            return try reader.value(at: location.position)
        }
        if !windows[slot].isDecoded {
            try reader.read(vector: vector, into: &windows[slot].column)
            windows[slot].isDecoded = true
        }
        return windows[slot].column.value(at: location.position % vectorSize)
    }
}
