import FirnBytes
import FirnExchange
import FirnTable

extension CSVHeader {
    /// Whether the first record is a row: each of its cells has the type of the cells below it, and not all columns are text.
    func isDataRow(_ found: CSVGuesses, _ chosen: [Int], _ options: CSVOptions) -> Bool {
        guard dialect.hasHeader, options.types == nil, options.columns == nil, !options.allText, found.rows > 0, chosen.count == width
        else {
            return false
        }
        var typed = 0, numbers: [Int] = []
        for (i, guess) in found.columns.enumerated() {
            let cell = cells[i], bytes = Array(cell.text.utf8)
            if bytes.isEmpty {
                // An empty cell fits a column with empty cells; names that are missing are more frequent at the ends.
                if guess.nulls == 0 || cell.isQuoted { return false }
                continue
            }
            let kind = guess.choice().kind
            guard kind != .string else { continue }
            // A word for a missing number, such as nan, is no name if other cells are values. A mark such as - can be the corner of a table.
            let isWord = bytes.contains { ($0 | 32) &- 97 < 26 }
            if kind.isNumber, isWord, !cell.isQuoted, bytes.withBytes({ OriginalText.isNull($0) }) { continue }
            // A copy with bytes after it, which the comparison may read.
            let padded = bytes + [UInt8](repeating: 0, count: scanSlack)
            let fits = padded.withUnsafeBufferPointer { buffer in
                buffer.baseAddress.map { CSVHeader.fits($0, bytes.count, kind, hasComma: guess.marks?.hasComma) } ?? false
            }
            if !fits { return false }
            typed += 1
            if let number = Int(cell.text) { numbers.append(number) }
        }
        return typed > 0 && !CSVHeader.areNames(numbers, width)
    }

    /// Whether a name is a number.
    var hasNumber: Bool {
        cells.contains { cell in
            let bytes = Array(cell.text.utf8), padded = bytes + [UInt8](repeating: 0, count: scanSlack)
            guard !bytes.isEmpty else { return false }
            return padded.withUnsafeBufferPointer { buffer in buffer.baseAddress.map { CSVHeader.fits($0, bytes.count, .double) } ?? false }
        }
    }

    /// Whether a text is a value of a kind, in any notation.
    private static func fits(_ text: UnsafePointer<UInt8>, _ count: Int, _ kind: ScalarKind, hasComma: Bool? = nil) -> Bool {
        if let hasComma, kind.isNumber {
            return NumberText.isNumber(UnsafeRawBufferPointer(start: text, count: count), hasComma: hasComma)
        }
        return switch kind {
        case .int, .double, .decimal:
            // With a space, a number is more often a name: `country, 2019, 2020`.
            !numberShape(text, count).shape.isEmpty
                || text[0] != 32 && text[count - 1] != 32
                    && OriginalText.form(UnsafeRawBufferPointer(start: text, count: count)) == .number
        case .date: CSVDateForm(UnsafeRawBufferPointer(start: text, count: count)) != nil
        default: !otherShape(text, count).isEmpty
        }
    }

    /// Whether numbers in the first record are rather names: ascending years, or the positions of columns from 0.
    private static func areNames(_ numbers: [Int], _ width: Int) -> Bool {
        guard numbers.count > 1 else { return false }
        let isAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        if isAscending, numbers.allSatisfy({ $0 >= 1800 && $0 <= 2200 }) { return true }
        return width > 2 && numbers == Array(0..<width)
    }
}
