import FirnBytes
import FirnExchange
import FirnTable

/// The text of consecutive rows as lines. Only one thread may use it at a time.
final class CSVLines: @unchecked Sendable {
    /// The columns that are written, by their positions in the rows, and those with their original texts.
    typealias Source = (column: Int, originals: Int?)

    private(set) var lanes: [CSVLane]
    private let sources: [Source]
    private let styles: [CSVLane.Style]
    /// How many rows are formatted at a time: the text of their cells stays in the cache.
    let rowsAtATime: Int
    private var line: UnsafeMutablePointer<UInt8>
    private var capacity = 1 << 16
    private var count = 0

    /// The lines.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: line, count: count) }

    init(_ sources: [Source], _ styles: [CSVLane.Style], rowsAtATime: Int) {
        self.sources = sources
        self.styles = styles
        self.rowsAtATime = rowsAtATime
        lanes = sources.map { _ in CSVLane(rows: rowsAtATime) }
        line = .allocate(capacity: capacity + CSVLane.slack)
    }

    deinit {
        line.deallocate()
        for lane in lanes { lane.free() }
    }

    /// Formats the cells of at most `rowsAtATime` rows, one lane for each column.
    func fill(_ batch: Batch, _ rows: Range<Int>) {
        for (i, source) in sources.enumerated() {
            lanes[i].fill(batch.columns[source.column], originals: source.originals.map { batch.columns[$0] }, rows, styles[i])
        }
    }

    /// Makes lines of rows, each with a line end before it; the first one only if `beginsWithNewline` is set.
    func format(_ batch: Batch, _ rows: Range<Int>, _ ends: CSVLineForm) {
        count = 0
        var start = rows.lowerBound, beginsWithNewline = ends.beginsWithNewline
        while start < rows.upperBound {
            let end = min(start + rowsAtATime, rows.upperBound)
            fill(batch, start..<end)
            join(end - start, ends, beginsWithNewline: beginsWithNewline)
            beginsWithNewline = true
            start = end
        }
    }

    /// Joins the cells of the lanes to lines, and appends these.
    private func join(_ rows: Int, _ ends: CSVLineForm, beginsWithNewline: Bool) {
        let width = lanes.count, newline = ends.newline, delimiter = ends.delimiter
        reserve(lanes.reduce(rows * (width + 2) + 2) { $0 + $1.count })
        lanes.withUnsafeBufferPointer { lanes in
            let line = line
            var at = count
            for row in 0..<rows {
                if row > 0 || beginsWithNewline {
                    for byte in newline {
                        line[at] = byte
                        at &+= 1
                    }
                }
                for i in 0..<width {
                    let ends = lanes[i].ends
                    let start = row == 0 ? 0 : ends[row &- 1], length = ends[row] &- start
                    let from = UnsafeRawPointer(lanes[i].bytes + start), to = UnsafeMutableRawPointer(line + at)
                    if length <= 16 {
                        to.storeBytes(of: from.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
                    } else {
                        to.copyMemory(from: from, byteCount: length)
                    }
                    at &+= length
                    line[at] = delimiter
                    at &+= 1
                }
                // The next line end overwrites the last delimiter.
                if width > 0 { at &-= 1 }
            }
            count = at
        }
    }

    private func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(count + more, capacity * 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + CSVLane.slack)
        larger.update(from: line, count: count)
        line.deallocate()
        line = larger
    }
}

/// What separates cells and lines.
struct CSVLineForm: Sendable {
    var delimiter: UInt8
    var newline: [UInt8]
    /// Whether a line end is written before the first line.
    var beginsWithNewline: Bool
}
