import FirnBytes
import FirnExchange

/// Finds the layout of a text by its first bytes.
enum LayoutFinder {
    /// What the first bytes of a text show.
    struct Finding {
        var layout: JSONOptions.Layout
        /// Whether values are indented, and whether each begins with a record separator.
        var isPretty = false
        var hasSeparators = false
        /// Whether a document or a sequence of values is recorded as such, because the name of the input does not show it.
        var isSequence = false
        /// Whether the first value does not end within these bytes, so that others can follow it.
        var isOpen = false
    }

    /// The number of bytes to look at.
    static let length = 1 << 16

    /// Returns the layout. `named` is the one that the name of the input stands for; it decides if the content permits it.
    /// - Parameters:
    ///   - first: The first bytes in UTF-8; `isWhole` if they are the whole text.
    ///   - setsAside: Whether rows that cannot be read are rejected one by one. Then lines are not read as anything else.
    static func find(_ first: [UInt8], isWhole: Bool, named: JSONOptions.Layout, setsAside: Bool) -> Finding {
        let start = first.firstIndex { $0 > 32 || $0 == ValueCutter.separator } ?? first.count
        if start < first.count, first[start] == ValueCutter.separator { return Finding(layout: .values, hasSeparators: true) }
        var values: [Value] = [], at = start, last: Skim?
        while values.count < 1000, let next = first[at...].firstIndex(where: { $0 > 32 }) {
            // After a bracket, a word that is no value is an error in the text rather than another value.
            let isBracketed = "{[".utf8.contains(first[start]), skim = Skim(first, from: next)
            let isString = skim.outcome == .complete && first[next] == UInt8(ascii: "\"") && first[at..<next].contains(10)
            guard beginsValue(first[next]), values.isEmpty || !isBracketed || isString || isValue(first[next...]) else { break }
            last = skim
            guard skim.outcome == .complete else { break }
            values.append(Value(first, next..<skim.end, after: at == start ? nil : at))
            at = skim.end
        }
        let isBroken = last?.outcome == .invalid || (isWhole && last?.outcome == .incomplete)
        if values.isEmpty {
            if isBroken || last == nil { return Finding(layout: named) }
            // The first value does not end within these bytes.
            let isLong = named == .lines && !(last?.hasBreaks ?? false)
            return Finding(layout: isLong ? .lines : .document, isPretty: last?.hasBreaks ?? false, isOpen: true)
        }
        let isPretty = values.contains(where: \.hasBreaks)
        let hasMore = values.count > 1 || (last?.outcome == .incomplete && last.map { $0.start > at } == true)
        let isLines =
            !isPretty && values.dropFirst().allSatisfy(\.isOnNewLine)
            && !(last.map { $0.outcome == .incomplete && $0.hasBreaks } == true && !isWhole)
        switch named {
        case .lines:
            if isLines || setsAside || isBroken { return Finding(layout: .lines) }
            return Finding(layout: hasMore ? .values : .document, isPretty: isPretty)
        default:
            guard hasMore || (last?.outcome == .invalid && last?.start != start) else { return Finding(layout: .document) }
            return Finding(layout: isLines ? .lines : .values, isPretty: isPretty)
        }
    }

    private static func beginsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "tfn".utf8.contains(byte)
        }
    }

    /// Whether a text begins with a bracket, or with a whole value other than a string: a string in the same line as an object before it is
    /// rather an error.
    private static func isValue(_ text: ArraySlice<UInt8>) -> Bool {
        if let first = text.first, "{[".utf8.contains(first) { return true }
        let word = Array(text.prefix { $0 > 32 && !"{}[],:\"".utf8.contains($0) })
        if ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) { return true }
        return word.withBytes { OriginalToken.isNumber($0) }
    }

    private struct Value {
        /// Whether it is written in several lines, and whether a newline separates it from the value before it.
        var hasBreaks: Bool
        var isOnNewLine: Bool

        init(_ text: [UInt8], _ range: Range<Int>, after: Int?) {
            hasBreaks = text[range].contains(10)
            isOnNewLine = after.map { text[$0..<range.lowerBound].contains(10) } ?? true
        }
    }
}

/// Checks the syntax of the first value in a text, as far as brackets, commas, colons and quotes show it.
struct Skim {
    enum Outcome { case complete, incomplete, invalid }

    private(set) var outcome = Outcome.incomplete
    let start: Int
    /// The end of the value, if it is complete.
    private(set) var end: Int
    /// Whether there is a newline within the value.
    private(set) var hasBreaks = false

    private enum Expected { case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd }

    init(_ text: [UInt8], from start: Int) {
        self.start = start
        end = start
        outcome = scan(text)
    }

    /// Moves `end` to the end of the value.
    private mutating func scan(_ text: [UInt8]) -> Outcome {
        var open: [UInt8] = [], expected = Expected.value, at = start
        /// Whether a value may begin here. A value that is not in brackets ends the text.
        func mayBegin() -> Bool { expected == .value || expected == .valueOrEnd }
        while at < text.count {
            let byte = text[at]
            at += 1
            switch byte {
            case 10:
                hasBreaks = true
                continue
            case 9, 13, 32: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard mayBegin() else { return .invalid }
                open.append(byte)
                expected = byte == UInt8(ascii: "{") ? .keyOrEnd : .valueOrEnd
                continue
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard let last = open.popLast(), last == byte - 2,
                    expected == .commaOrEnd || expected == (byte == UInt8(ascii: "}") ? .keyOrEnd : .valueOrEnd)
                else { return .invalid }
            case UInt8(ascii: ","):
                guard expected == .commaOrEnd, let last = open.last else { return .invalid }
                expected = last == UInt8(ascii: "{") ? .key : .value
                continue
            case UInt8(ascii: ":"):
                guard expected == .colon else { return .invalid }
                expected = .value
                continue
            case UInt8(ascii: "\""):
                while at < text.count, text[at] != UInt8(ascii: "\"") {
                    if text[at] < 32 { return .invalid }
                    at += text[at] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard at < text.count else { return .incomplete }
                at += 1
                if expected == .key || expected == .keyOrEnd {
                    expected = .colon
                    continue
                }
                guard mayBegin() else { return .invalid }
            default:
                guard mayBegin() else { return .invalid }
                while at < text.count, text[at] > 32, !"{}[],:\"".utf8.contains(text[at]) { at += 1 }
                if at == text.count, !open.isEmpty { return .incomplete }
            }
            expected = .commaOrEnd
            if open.isEmpty {
                end = at
                return .complete
            }
        }
        return .incomplete
    }
}
