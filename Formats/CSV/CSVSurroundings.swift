import FirnBytes

/// The text around and between the rows of a CSV file that are no rows, for export: lines before the header, after the last row, blank
/// lines and comments. Bounded, because the schema contains it.
package struct CSVSurroundings: Hashable, Sendable {
    /// The text before the header, with its line ends.
    package var preamble = ""
    /// The text after the last row.
    package var footer = ""
    /// Lines before a row, by its position.
    package var inserted: [Int: String] = [:]
    /// The number of cells of a row that has fewer cells than columns, or more, by its position.
    package var cells: [Int: Int] = [:]
    /// Whether text was omitted because it is too long.
    package private(set) var isCut = false

    private var size = 0

    /// The maximum size of the text of all lines, in bytes.
    static let maximumBytes = 1 << 16

    package init() {}

    var isEmpty: Bool { preamble.isEmpty && footer.isEmpty && inserted.isEmpty && cells.isEmpty }

    mutating func keep(preamble text: String) { if has(room: text) { preamble = text } }
    mutating func keep(footer text: String) { if has(room: text) { footer = text } }
    mutating func keep(inserted text: String, before row: Int) { if has(room: text) { inserted[row, default: ""] += text } }

    mutating func keep(cells count: Int, of row: Int) {
        guard !isCut, cells.count < 4096 else { return isCut = true }
        cells[row] = count
    }

    /// Moves the lines before rows to the positions that these have without the rows that are left out, which ascend; without these positions
    /// (nil), the lines are not kept.
    mutating func moveLines(_ leftOut: [Int]?) {
        guard let leftOut else {
            if !inserted.isEmpty { (inserted, isCut) = ([:], true) }
            return
        }
        if leftOut.isEmpty { return }
        var moved: [Int: String] = [:], next = 0
        for (row, text) in inserted.sorted(by: { $0.key < $1.key }) {
            while next < leftOut.count, leftOut[next] < row { next += 1 }
            moved[row - next, default: ""] += text
        }
        inserted = moved
    }

    private mutating func has(room text: String) -> Bool {
        size += text.utf8.count + 8
        if size > CSVSurroundings.maximumBytes { isCut = true }
        return !isCut
    }

    /// The lines of the envelope.
    var lines: [String] {
        var lines: [String] = []
        if !preamble.isEmpty { lines.append("preamble \(CSVDialect.escaped(preamble))") }
        for (row, text) in inserted.sorted(by: { $0.key < $1.key }) { lines.append("insert \(row) \(CSVDialect.escaped(text))") }
        for (row, count) in cells.sorted(by: { $0.key < $1.key }) { lines.append("cells \(row) \(count)") }
        if !footer.isEmpty { lines.append("footer \(CSVDialect.escaped(footer))") }
        return lines
    }

    /// Takes a line of the envelope; ignores lines that it does not know.
    mutating func take(_ word: String, _ rest: String) {
        switch word {
        case "preamble": preamble = CSVDialect.unescaped(rest)
        case "footer": footer = CSVDialect.unescaped(rest)
        case "insert", "cells":
            guard let (position, rest) = rest.halves(at: UInt8(ascii: " ")), let row = Int(position), row >= 0 else { return }
            if word == "insert" {
                inserted[row] = CSVDialect.unescaped(rest)
            } else if let count = Int(rest), count > 0 {
                cells[row] = count
            }
        default: break
        }
    }
}

extension [UInt8] {
    /// Whether these bytes contain all of `other` in a row.
    func containsBytes(_ other: [UInt8]) -> Bool {
        guard let first = other.first, other.count <= count else { return false }
        for at in 0...(count - other.count) where self[at] == first {
            var i = 1
            while i < other.count, self[at + i] == other[i] { i += 1 }
            if i == other.count { return true }
        }
        return false
    }
}
