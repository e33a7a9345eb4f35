import FirnBytes

/// Functions of texts. NULL as an argument gives NULL, except in `concat`, `concat_ws`, `greatest` and `least`.
extension SQLFunctions {
    static let texts: [SQLFunction] = [
        row("split_part", 3...3, "split_part(s, ',', 1)", body: splitPart),
        row("starts_with", 2...2, "starts_with(s, 'a')") { call in compared(call) { $0.starts(with: $1) } },
        row("ends_with", 2...2, "ends_with(s, 'a')") { call in
            compared(call) { $0.count >= $1.count && $0.suffix($1.count).elementsEqual($1) }
        },
        row("contains", 2...2, "contains(s, 'a')") { call in compared(call) { !find($1, in: $0, limit: 1).isEmpty || $1.isEmpty } },
        row("lpad", 2...3, "lpad(s, 5, '0')") { call throws(FirnError) in try padded(call, isLeft: true) },
        row("rpad", 2...3, "rpad(s, 5, ' ')") { call throws(FirnError) in try padded(call, isLeft: false) },
        row("left", 2...2, "\"left\"(s, 3)") { call throws(FirnError) in try end(call, isLeft: true) },
        row("right", 2...2, "\"right\"(s, 3)") { call throws(FirnError) in try end(call, isLeft: false) },
        row("reverse", 1...1, "reverse(s)") { call throws(FirnError) in
            guard let text = call.text(0) else { return .null }
            let charge = try call.room(for: text.count)
            defer { withExtendedLifetime(charge) {} }
            return .text(Array(String(String(decoding: text, as: UTF8.self).reversed()).utf8))
        },
        row("repeat", 2...2, "repeat(s, 3)") { call throws(FirnError) in
            guard let text = call.text(0), let number = try call.int(1) else { return .null }
            let count = max(0, text.isEmpty ? 0 : number), (bytes, overflow) = text.count.multipliedReportingOverflow(by: count)
            let charge = try call.room(for: overflow ? .max : bytes)
            defer { withExtendedLifetime(charge) {} }
            return .text(repeated(text, count))
        },
        row("concat", 1...Int.max, "concat(a, b)", yields: true) { call throws(FirnError) in
            try joined((0..<call.count).compactMap(call.text), [], call)
        },
        row("concat_ws", 2...Int.max, "concat_ws(', ', a, b)", yields: true) { call throws(FirnError) in
            guard let separator = call.text(0) else { return .null }
            return try joined((1..<call.count).compactMap(call.text), separator, call)
        },
        row("greatest", 1...Int.max, "greatest(a, b)") { call in extreme(call) { $0 < $1 } },
        row("least", 1...Int.max, "least(a, b)") { call in extreme(call) { $1 < $0 } },
        row("initcap", 1...1, "initcap(s)") { call in call.text(0).map { .text(initials($0)) } ?? .null },
        row("levenshtein", 2...2, "levenshtein(a, b)", body: levenshtein),
        row("to_hex", 1...1, "to_hex(255)") { call throws(FirnError) in
            try call.int(0).map { .text(Array(String(UInt64(bitPattern: Int64($0)), radix: 16).utf8)) } ?? .null
        },
    ]

    private static func compared(_ call: SQLCall, _ body: ([UInt8], [UInt8]) -> Bool) -> SQLValue {
        guard let text = call.text(0), let part = call.text(1) else { return .null }
        return .int(body(text, part) ? 1 : 0)
    }

    /// Returns the first offsets of a part in a text, which do not overlap. An empty part is nowhere.
    private static func find(_ part: [UInt8], in text: [UInt8], limit: Int = .max) -> [Int] {
        guard let first = part.first else { return [] }
        // The failure function of Knuth, Morris and Pratt: linear for any text.
        var prefix = [Int](repeating: 0, count: part.count), length = 0
        for i in part.indices.dropFirst() {
            while length > 0, part[i] != part[length] { length = prefix[length - 1] }
            if part[i] == part[length] { length += 1 }
            prefix[i] = length
        }
        var found: [Int] = [], matched = 0
        for (i, byte) in text.enumerated() {
            if matched == 0, byte != first { continue }
            while matched > 0, byte != part[matched] { matched = prefix[matched - 1] }
            if byte == part[matched] { matched += 1 }
            guard matched == part.count else { continue }
            found.append(i + 1 - matched)
            if found.count == limit { return found }
            matched = 0
        }
        return found
    }

    @Sendable private static func splitPart(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let text = call.text(0), let separator = call.text(1), let number = try call.int(2) else { return .null }
        guard number != 0 else { throw call.error("counts parts from 1, or from -1 at the end") }
        let marks = find(separator, in: text), count = marks.count + 1, index = number > 0 ? number - 1 : count + number
        guard index >= 0, index < count else { return .text([]) }
        let start = index == 0 ? 0 : marks[index - 1] + separator.count
        return .text(Array(text[start..<(index < marks.count ? marks[index] : text.count)]))
    }

    /// Returns the ends of the characters of a text, counted as SQLite counts them: code points.
    private static func ends(_ text: [UInt8]) -> [Int] {
        text.indices.dropFirst().filter { text[$0] & 0xC0 != 0x80 } + (text.isEmpty ? [] : [text.count])
    }

    private static func padded(_ call: SQLCall, isLeft: Bool) throws(FirnError) -> SQLValue {
        guard let text = call.text(0), let wanted = try call.int(1).map({ min($0, 1 << 40) }),
            let fill = call.count > 2 ? call.text(2) : [32]
        else { return .null }
        let own = ends(text), length = max(0, wanted)
        guard own.count < length else { return .text(length == 0 ? [] : Array(text[..<own[length - 1]])) }
        guard !fill.isEmpty else { return .text(text) }
        let marks = ends(fill), more = length - own.count, (rounds, rest) = more.quotientAndRemainder(dividingBy: marks.count)
        let (bytes, overflow) = fill.count.multipliedReportingOverflow(by: rounds + 1)
        let charge = try call.room(for: overflow || bytes > 1 << 40 ? .max : bytes + text.count)
        defer { withExtendedLifetime(charge) {} }
        let padding = repeated(fill, rounds) + fill[..<(rest == 0 ? 0 : marks[rest - 1])]
        return .text(isLeft ? padding + text : text + padding)
    }

    private static func repeated(_ text: [UInt8], _ count: Int) -> [UInt8] {
        let total = text.count * count
        var out: [UInt8] = []
        out.reserveCapacity(total)
        if total > 0 { out += text }
        while out.count < total { out += out[..<min(out.count, total - out.count)] }
        return out
    }

    /// `left` and `right`: a negative number leaves out as many characters at the other end.
    private static func end(_ call: SQLCall, isLeft: Bool) throws(FirnError) -> SQLValue {
        guard let text = call.text(0), let number = try call.int(1) else { return .null }
        let marks = [0] + ends(text), length = marks.count - 1
        let count = max(0, min(length, number < 0 ? length + max(number, -length) : number))
        return .text(Array(isLeft ? text[..<marks[count]] : text[marks[length - count]...]))
    }

    private static func joined(_ parts: [[UInt8]], _ separator: [UInt8], _ call: SQLCall) throws(FirnError) -> SQLValue {
        let charge = try call.room(for: parts.reduce(0) { $0 + $1.count + separator.count })
        defer { withExtendedLifetime(charge) {} }
        return .text(Array(parts.joined(separator: separator)))
    }

    private static func extreme(_ call: SQLCall, _ isWorse: (SQLKey, SQLKey) -> Bool) -> SQLValue {
        var best: SQLKey?
        for index in 0..<call.count where !call.isNull(index) {
            let key = SQLKey(call.value(index))
            if best.map({ isWorse($0, key) }) ?? true { best = key }
        }
        return best?.value ?? .null
    }

    private static func initials(_ text: [UInt8]) -> [UInt8] {
        var out = "", isInside = false
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            out += isInside ? scalar.properties.lowercaseMapping : scalar.properties.titlecaseMapping
            isInside = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        }
        return Array(out.utf8)
    }

    /// The longest texts whose distance is computed, in characters.
    private static let maximumCompared = 10_000

    @Sendable private static func levenshtein(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let a = call.text(0), let b = call.text(1) else { return .null }
        let first = Array(String(decoding: a, as: UTF8.self).unicodeScalars),
            second = Array(String(decoding: b, as: UTF8.self).unicodeScalars)
        guard max(first.count, second.count) <= maximumCompared else {
            throw call.error("compares texts of up to \(maximumCompared) characters")
        }
        var last = Array(0...second.count)
        for i in first.indices {
            if i % 256 == 255 { try call.context.checkStopped() }
            var diagonal = last[0]
            last[0] = i + 1
            for j in second.indices {
                let cost = min(diagonal + (first[i] == second[j] ? 0 : 1), last[j] + 1, last[j + 1] + 1)
                diagonal = last[j + 1]
                last[j + 1] = cost
            }
        }
        return .int(Int64(last[second.count]))
    }
}
