import FirnBytes
import FirnTable

/// Cells of a column with a requested type whose text differs from what is written for their values.
struct CSVRespelling: Sendable {
    var count: Int
    /// The offset in the text of the row with the first such cell.
    var offset: UInt64
    var text: String
    var written: String

    /// Adds the cells of a later part of the text.
    func merged(_ later: CSVRespelling) -> CSVRespelling {
        var both = self
        both.count += later.count
        return both
    }

    func remark(_ column: ColumnSchema, at line: Int?) -> String {
        let cells = count == 1 ? "1 cell is written" : "\(count) cells are written"
        let first = count == 1 ? "" : "the first "
        return "column \"\(column.name)\" (\(column.type.name)): \(cells) back differently: \(first)\"\(text)\" as \"\(written)\""
            + (line.map { " in line \($0)" } ?? "")
    }
}

/// Keeps the texts of the cells while a block is read, to compare them with what would be written.
struct CSVSpellings {
    private let texts: [(column: Int, spelling: ColumnSchema, cells: CSVColumn)]
    /// The offset in the text of each row.
    private var offsets: [UInt64] = []

    init(_ plans: [CSVPlan]) {
        texts = plans.enumerated().compactMap { i, plan in
            plan.spelling.map {
                (i, $0, CSVColumn(CSVPlan(cell: plan.cell, type: ColumnType(.string, optional: true), isForced: false, nulls: plan.nulls)))
            }
        }
    }

    mutating func append(_ index: CSVIndex, _ block: CSVBlock) {
        guard !texts.isEmpty else { return }
        for (_, _, cells) in texts { _ = cells.append(index, memory: block.memory) }
        for row in 0..<index.rows { offsets.append(block.offset + UInt64(index.extents[row * 2])) }
    }

    func compare(_ columns: [Column]) -> [Int: CSVRespelling] {
        var found: [Int: CSVRespelling] = [:]
        for (i, spelling, cells) in texts { found[i] = compare(columns[i], cells.finish(), spelling) }
        return found
    }

    private func compare(_ column: Column, _ cells: Column, _ spelling: ColumnSchema) -> CSVRespelling? {
        // Without marks, nothing is quoted: the quotes of the cells were removed too.
        let none = CSVMarks(delimiter: CSVMarks.noQuote, quote: CSVMarks.noQuote, newline: 10)
        let style = CSVLane.Style(marks: none, nullText: [], isAlwaysQuoted: false, description: spelling, schema: Schema())
        var lane = CSVLane(rows: 512), found: CSVRespelling?, start = 0
        defer { lane.free() }
        while start < column.count {
            let rows = start..<min(start + 512, column.count)
            lane.fill(column, rows, style)
            var from = 0
            for row in rows {
                let written = UnsafeBufferPointer(start: lane.bytes + from, count: lane.ends[row - start] - from)
                from = lane.ends[row - start]
                let text = cells.text.bytes[cells.text.offsets[row]..<cells.text.offsets[row + 1]]
                if text.elementsEqual(written) { continue }
                found =
                    found?.merged(CSVRespelling(count: 1, offset: 0, text: "", written: ""))
                    ?? CSVRespelling(
                        count: 1, offset: offsets[row], text: String(decoding: text.prefix(60), as: UTF8.self),
                        written: String(decoding: written, as: UTF8.self))
            }
            start = rows.upperBound
        }
        return found
    }
}
