import FirnBytes

/// Functions of regular expressions.
extension SQLFunctions {
    static let patterns: [SQLFunction] = [
        // The operator `s REGEXP pattern` calls it with the pattern first.
        row("regexp", 2...2, "s REGEXP '^a'") { call throws(FirnError) in
            guard let pattern = call.text(0), let text = call.text(1) else { return .null }
            return try matches(call, text, .init(pattern: pattern))
        },
        row("regexp_matches", 2...3, "regexp_matches(s, '^a', 'i')") { call throws(FirnError) in
            guard let text = call.text(0), let options = try options(call, 2) else { return .null }
            return try matches(call, text, options.wanted)
        },
        row("regexp_full_match", 2...3, "regexp_full_match(s, 'a+', 'i')") { call throws(FirnError) in
            guard let text = call.text(0), var wanted = try options(call, 2)?.wanted else { return .null }
            wanted.wholeText = true
            return try matches(call, text, wanted)
        },
        row("regexp_extract", 2...4, "regexp_extract(s, '(a+)b', 1)", body: extract),
        row("regexp_replace", 3...4, "regexp_replace(s, 'a(b)', 'x\\1', 'g')", body: replace),
        row("regexp_count", 2...3, "regexp_count(s, 'a+')") { call throws(FirnError) in
            guard let text = call.text(0), let options = try options(call, 2) else { return .null }
            var count: Int64 = 0
            try forEachMatch(call, text, options.wanted, isAll: true) { _ in count += 1 }
            return .int(count)
        },
    ]

    private static func matches(_ call: SQLCall, _ text: [UInt8], _ wanted: SQLPatterns.Wanted) throws(FirnError) -> SQLValue {
        let search = try call.context.patterns.search(wanted, isTest: true, call)
        return .int(try search.match(text, call) != nil ? 1 : 0)
    }

    /// Returns the pattern, the second argument, with the options in an argument; nil for NULL.
    private static func options(_ call: SQLCall, _ index: Int) throws(FirnError) -> (wanted: SQLPatterns.Wanted, isAll: Bool)? {
        guard let pattern = call.text(1) else { return nil }
        var wanted = SQLPatterns.Wanted(pattern: pattern), isAll = false
        guard call.count > index else { return (wanted, false) }
        guard let letters = call.text(index) else { return nil }
        for letter in letters {
            switch letter {
            case UInt8(ascii: "i"): wanted.ignoresCase = true
            case UInt8(ascii: "c"): wanted.ignoresCase = false
            case UInt8(ascii: "s"): wanted.dotMatchesNewline = true
            case UInt8(ascii: "m"), UInt8(ascii: "n"), UInt8(ascii: "p"): wanted.dotMatchesNewline = false
            case UInt8(ascii: "l"): wanted.isLiteral = true
            case UInt8(ascii: "g"): isAll = true
            default: throw call.error("has no option \(SQLCall.quoted([letter]))", advice: "the options are c, g, i, l, m and s")
            }
        }
        return (wanted, isAll)
    }

    @Sendable private static func extract(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let text = call.text(0), let options = try options(call, 3), call.count < 3 || !call.isNull(2) else { return .null }
        let group = call.count > 2 ? try call.int(2) ?? 0 : 0
        let search = try call.context.patterns.search(options.wanted, isTest: false, call)
        guard (0...search.groups).contains(group) else { throw call.error("has no group \(group): the pattern has \(search.groups)") }
        guard let notes = try search.match(text, call), notes[2 * group] >= 0 else { return .text([]) }
        return .text(Array(text[notes[2 * group]..<notes[2 * group + 1]]))
    }

    /// Calls `body` with the notes of the first match, or of all matches, which do not overlap.
    private static func forEachMatch(
        _ call: SQLCall, _ text: [UInt8], _ wanted: SQLPatterns.Wanted, isAll: Bool, body: ([Int]) throws(FirnError) -> Void
    ) throws(FirnError) {
        let search = try call.context.patterns.search(wanted, isTest: false, call)
        var at = 0, lastEnd = -1
        while at <= text.count, let notes = try search.match(text, from: at, call) {
            // An empty match directly after another one is left out.
            if notes[0] != notes[1] || notes[0] != lastEnd { try body(notes) }
            guard isAll else { return }
            lastEnd = notes[1]
            at = notes[1]
            if notes[0] == notes[1] { at += at < text.count ? ExpressionSearch.character(text, at).length : 1 }
        }
    }

    @Sendable private static func replace(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let text = call.text(0), let new = call.text(2), let options = try options(call, 3) else { return .null }
        let charge = MemoryCharge(.process)
        var out: [UInt8] = [], copied = 0
        try forEachMatch(call, text, options.wanted, isAll: options.isAll) { notes throws(FirnError) in
            out += text[copied..<notes[0]]
            copied = notes[1]
            var at = 0
            while at < new.count {
                if out.count > max(1 << 16, charge.bytes) {
                    _ = try call.room(for: out.count)
                    try call.hold(out.count * 2, in: charge)
                }
                if new[at] == UInt8(ascii: "\\"), at + 1 < new.count, !options.wanted.isLiteral {
                    let digit = Int(new[at + 1]) - 48
                    if (0...9).contains(digit) {
                        guard 2 * digit < notes.count else { throw call.error("has no group \(digit) in the pattern") }
                        if notes[2 * digit] >= 0 { out += text[notes[2 * digit]..<notes[2 * digit + 1]] }
                    } else {
                        out.append(new[at + 1])
                    }
                    at += 2
                } else {
                    out.append(new[at])
                    at += 1
                }
            }
            _ = try call.room(for: out.count)
            if out.count > max(1 << 16, charge.bytes) { try call.hold(out.count * 2, in: charge) }
        }
        out += text[copied...]
        _ = try call.room(for: out.count)
        return .text(out)
    }
}

/// The compiled regular expressions of a connection, so that a pattern is compiled once for many rows.
final class SQLPatterns {
    /// A pattern, and how it is applied.
    struct Wanted: Hashable {
        var pattern: [UInt8]
        var ignoresCase = false, dotMatchesNewline = false, isLiteral = false, wholeText = false
    }

    /// A search that is used for many rows.
    final class Search {
        private var search: ExpressionSearch
        private var test: ExpressionTest?
        let groups: Int

        fileprivate init(_ expression: RegularExpression, isTest: Bool) {
            search = ExpressionSearch(expression, isTest: isTest)
            groups = expression.groups
            if isTest { test = ExpressionTest(expression) }
        }

        func match(_ text: [UInt8], from start: Int = 0, _ call: SQLCall) throws(FirnError) -> [Int]? {
            let check = { () throws(FirnError) in try call.context.checkStopped() }
            guard test != nil, !text.isEmpty else { return try search.match(text, from: start, check) }
            return try test?.matches(text, check) ?? false ? [] : nil
        }
    }

    private struct Key: Hashable {
        let wanted: Wanted
        let isTest: Bool
    }
    private var known: [Key: Search] = [:]
    private var last: (key: Key, search: Search)?
    private static let maximum = 32

    func search(_ wanted: Wanted, isTest: Bool, _ call: SQLCall) throws(FirnError) -> Search {
        let key = Key(wanted: wanted, isTest: isTest)
        if let last, last.key == key { return last.search }
        let search = if let search = known[key] { search } else { try compiled(wanted, isTest: isTest, call) }
        if known.count >= SQLPatterns.maximum { known = [:] }
        known[key] = search
        last = (key, search)
        return search
    }

    private func compiled(_ wanted: Wanted, isTest: Bool, _ call: SQLCall) throws(FirnError) -> Search {
        var pattern = String(decoding: wanted.pattern, as: UTF8.self)
        if wanted.isLiteral {
            var escaped = ""
            for scalar in pattern.unicodeScalars {
                if scalar.isASCII, !scalar.properties.isAlphabetic, scalar.properties.numericType == nil, scalar.value >= 32 {
                    escaped += "\\"
                }
                escaped.unicodeScalars.append(scalar)
            }
            pattern = escaped
        }
        do throws(ExpressionFault) {
            return Search(
                try RegularExpression(
                    pattern, ignoresCase: wanted.ignoresCase, dotMatchesNewline: wanted.dotMatchesNewline, wholeText: wanted.wholeText),
                isTest: isTest)
        } catch {
            throw call.error("cannot use the pattern \(SQLCall.quoted(wanted.pattern)): \(error.message)")
        }
    }
}
