/// The records of some rows of a text that `CSVNormaliser` made, in order.
struct CSVOriginalRecords {
    private var rows: [(range: Range<UInt64>, record: [UInt8])] = []

    /// Adds the record of a row after those that were added before. `range` is the row in the text.
    mutating func add(_ range: Range<UInt64>, _ record: [UInt8]) { rows.append((range, record)) }

    /// Removes the records of the rows that end before an offset.
    mutating func forget(before offset: UInt64) { rows.removeFirst(index { $0.upperBound <= offset }) }

    /// Returns the record of the row at an offset.
    /// - Complexity: O(log n) in the number of records.
    func record(at offset: UInt64) -> [UInt8]? {
        let index = index { $0.upperBound <= offset }
        return index < rows.count && rows[index].range.contains(offset) ? rows[index].record : nil
    }

    /// Returns the index of the first row that is not before.
    private func index(_ isBefore: (Range<UInt64>) -> Bool) -> Int {
        var low = 0, high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(rows[middle].range) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
