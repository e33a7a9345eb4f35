import FirnBytes
import FirnExchange
import FirnTable

/// The original texts of a column, as they are written in place of its values. Texts that do not read as the value of their row are
/// ignored.
struct OriginalTexts {
    private let texts: Column
    /// Whether the texts have the form of `OriginalToken`; otherwise they are texts of another format.
    private let isTokens: Bool
    private let column: Column
    private let notation: Notation

    init(_ texts: Column, isTokens: Bool, of column: Column, _ notation: Notation) {
        self.texts = texts
        self.isTokens = isTokens
        self.column = column
        self.notation = notation
    }

    /// What is written for a row.
    private enum Form { case none, number, string(UnsafeRawBufferPointer), bool, plainNumber, zone }

    private func form(_ text: UnsafeRawBufferPointer, _ row: Int) -> Form {
        let string = isTokens ? OriginalToken.string(text) : nil
        guard OriginalText.isCurrent(string ?? text, column, row: row, notation: notation) else { return .none }
        if let string { return .string(string) }
        // A text with groups of digits or a decimal comma, such as 1.234, can be another number in JSON.
        if OriginalToken.isNumber(text), [.int, .double, .float, .decimal].contains(column.type.kind),
            isTokens || OriginalText.isCurrent(text, column, row: row, notation: .plain)
        {
            return .number
        }
        if isTokens { return OriginalToken.isBool(text) ? .bool : .none }
        if column.type.kind == .date, column.isPresent(row), OriginalText.isZone(text, in: notation) { return .zone }
        return column.isPresent(row) ? .plainNumber : .string(text)
    }

    func isPresent(_ row: Int) -> Bool { texts.isPresent(row) }

    /// Whether a row that has no value has a text that is written.
    func has(_ row: Int) -> Bool {
        guard texts.isPresent(row) else { return false }
        return texts.text.withBytes(row) { text in
            switch form(text, row) {
            case .none, .plainNumber: false
            case .number, .string, .bool, .zone: true
            }
        }
    }

    /// Writes the text of a row. Returns false if the value must be written.
    func write(_ row: Int, to out: inout JSONBytes, _ loss: inout JSONLoss) -> Bool {
        guard texts.isPresent(row) else { return false }
        return texts.text.withBytes(row) { text in
            switch form(text, row) {
            case .none: return false
            case .plainNumber:
                loss.plainNumbers += 1
                return false
            case .number, .bool: out.append(Array(text))
            case .zone: out.append(date: column.words[row], column.extra[row], notation, zone: text)
            case .string(let text):
                if !isTokens { loss.textStrings += 1 }
                out.append(quoted: text)
            }
            return true
        }
    }
}
