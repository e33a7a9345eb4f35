import FirnBytes
import FirnTable

/// A bound test of one string or binary value, by bytes.
struct TextTest: Sendable {
    enum Form: Sendable {
        case equal([UInt8])
        /// Between two bounds; nil means unbounded.
        case range(low: [UInt8]?, lowIncluded: Bool, high: [UInt8]?, highIncluded: Bool)
        case prefix([UInt8]), suffix([UInt8]), contains([UInt8]), like([UInt8])
        /// One of these, which ascend.
        case oneOf([[UInt8]])
        /// A search for words (`TEXT`), which folds by itself.
        case words(WordSearch)
    }
    let form: Form
    let folding: Folding
    /// Whether the form is a pattern without other wildcards than `*`, and without escapes.
    private let hasOnlyStars: Bool

    init(_ form: Form, folding: Folding) {
        self.folding = folding
        let form = TextTest.simpler(form)
        hasOnlyStars = if case .like(let pattern) = form { TextTest.hasOnlyStars(pattern) } else { false }
        guard folding.isNeeded else {
            self.form = form
            return
        }
        self.form =
            switch form {
            case .equal(let bytes): .equal(folding.folded(bytes))
            case .range, .words: form
            case .prefix(let bytes): .prefix(folding.folded(bytes))
            case .suffix(let bytes): .suffix(folding.folded(bytes))
            case .contains(let bytes): .contains(folding.folded(bytes))
            case .like(let bytes): .like(folding.folded(bytes))
            case .oneOf(let values): .oneOf(values.map(folding.folded).sorted { $0.lexicographicallyPrecedes($1) })
            }
    }

    /// Whether a pattern has no other wildcards than `*` and no escapes, and each piece begins at the start of a character.
    private static func hasOnlyStars(_ pattern: [UInt8]) -> Bool {
        !pattern.contains(UInt8(ascii: "?")) && !pattern.contains(UInt8(ascii: "\\"))
            && !pattern.split(separator: UInt8(ascii: "*")).contains { $0[$0.startIndex] & 0xC0 == 0x80 }
    }

    /// Replaces a pattern whose only wildcards are `*` at its ends with a cheaper test.
    private static func simpler(_ form: Form) -> Form {
        guard case .like(let pattern) = form, !pattern.contains(UInt8(ascii: "?")), !pattern.contains(UInt8(ascii: "\\")) else {
            return form
        }
        let inner = pattern.drop { $0 == UInt8(ascii: "*") }
        guard let last = inner.lastIndex(where: { $0 != UInt8(ascii: "*") }) else { return pattern.isEmpty ? .equal([]) : .contains([]) }
        let wanted = Array(inner[...last]), isOpen = (before: inner.startIndex > 0, after: last < pattern.count - 1)
        if wanted.contains(UInt8(ascii: "*")) { return form }
        switch isOpen {
        case (false, false): return .equal(wanted)
        case (false, true): return .prefix(wanted)
        case (true, false): return .suffix(wanted)
        case (true, true): return .contains(wanted)
        }
    }

    /// Sets the bit of every candidate that passes. `out` holds a word for every 64 values and must be zero before.
    func apply(_ text: Text, count: Int, candidates: UnsafePointer<UInt64>?, out: UnsafeMutablePointer<UInt64>) {
        if case .words(let search) = form { return TextTest.apply(search, text, count, candidates, out) }
        var scratch: [UInt8] = []
        if case .contains(let wanted) = form, !folding.isNeeded, wanted.count > 0, TextTest.isDense(candidates, count) {
            return ByteSearch(wanted).apply(text, count: count, out: out)
        }
        if case .like(let pattern) = form, !folding.isNeeded, TextTest.isDense(candidates, count),
            let piece = TextTest.longestPiece(pattern)
        {
            // Only strings that contain the longest piece can match.
            return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: (count &+ 63) >> 6) { words in
                words.initialize(repeating: 0)
                ByteSearch(piece).apply(text, count: count, out: words.baseAddress!)
                if let candidates { for w in words.indices { words[w] &= candidates[w] } }
                text.bytes.withUnsafeBytes { bytes in
                    Kernel.each(count, words.baseAddress!, out) { row in plain(UnsafeRawBufferPointer(rebasing: bytes[text.range(row)])) }
                }
            }
        }
        text.bytes.withUnsafeBytes { bytes in
            text.offsets.withUnsafeBufferPointer { offsets in
                for w in 0..<((count &+ 63) >> 6) {
                    var rest = candidates?[w] ?? .max
                    if w == count >> 6 { rest &= (1 &<< UInt64(truncatingIfNeeded: count & 63)) &- 1 }
                    var hits: UInt64 = 0
                    while rest != 0 {
                        let bit = rest.trailingZeroBitCount, i = w &* 64 &+ bit
                        rest &= rest &- 1
                        let value = UnsafeRawBufferPointer(rebasing: bytes[offsets[i]..<offsets[i &+ 1]])
                        if matches(value, &scratch) { hits |= 1 &<< UInt64(truncatingIfNeeded: bit) }
                    }
                    out[w] = hits
                }
            }
        }
    }

    private static func apply(
        _ search: WordSearch, _ text: Text, _ count: Int, _ candidates: UnsafePointer<UInt64>?, _ out: UnsafeMutablePointer<UInt64>
    ) {
        var cutter = WordCutter()
        text.bytes.withUnsafeBytes { bytes in
            Kernel.each(count, candidates, out) { search.matches(UnsafeRawBufferPointer(rebasing: bytes[text.range($0)]), &cutter) }
        }
    }

    /// Returns the longest literal part of a pattern; nil if the pattern has escapes, which would need unescaping, or no literal part.
    private static func longestPiece(_ pattern: [UInt8]) -> [UInt8]? {
        guard !pattern.contains(UInt8(ascii: "\\")) else { return nil }
        let pieces = pattern.split { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        return pieces.max { $0.count < $1.count }.map { Array($0) }
    }

    /// Returns whether so many values are candidates that searching the bytes of all values together is less work.
    private static func isDense(_ candidates: UnsafePointer<UInt64>?, _ count: Int) -> Bool {
        guard let candidates else { return true }
        var ones = 0
        for w in 0..<((count &+ 63) >> 6) { ones &+= candidates[w].nonzeroBitCount }
        return ones * 8 >= count
    }

    func matches(_ value: UnsafeRawBufferPointer, _ scratch: inout [UInt8]) -> Bool {
        guard folding.isNeeded else { return plain(value) }
        scratch.removeAll(keepingCapacity: true)
        folding.append(value, to: &scratch)
        return scratch.withUnsafeBytes { plain($0) }
    }

    private func plain(_ value: UnsafeRawBufferPointer) -> Bool {
        switch form {
        case .equal(let wanted): return value.count == wanted.count && wanted.withUnsafeBytes { same(value, $0) }
        case .range(let low, let lowIncluded, let high, let highIncluded):
            if let low {
                let order = low.withUnsafeBytes { TextTest.order(value, $0) }
                if order < 0 || order == 0 && !lowIncluded { return false }
            }
            if let high {
                let order = high.withUnsafeBytes { TextTest.order(value, $0) }
                if order > 0 || order == 0 && !highIncluded { return false }
            }
            return true
        case .prefix(let wanted):
            return value.count >= wanted.count
                && wanted.withUnsafeBytes { same(UnsafeRawBufferPointer(rebasing: value[..<wanted.count]), $0) }
        case .suffix(let wanted):
            return value.count >= wanted.count
                && wanted.withUnsafeBytes { same(UnsafeRawBufferPointer(rebasing: value[(value.count &- wanted.count)...]), $0) }
        case .contains(let wanted): return wanted.withUnsafeBytes { TextTest.contains(value, $0) }
        case .like(let pattern):
            return pattern.withUnsafeBytes { hasOnlyStars ? stars(value, $0) : TextTest.like(value, $0) }
        case .oneOf(let values):
            var low = 0, high = values.count
            while low < high {
                let middle = (low &+ high) >> 1
                let order = values[middle].withUnsafeBytes { TextTest.order(value, $0) }
                if order == 0 { return true }
                if order < 0 { high = middle } else { low = middle &+ 1 }
            }
            return false
        case .words(let search):
            var cutter = WordCutter()
            return search.matches(value, &cutter)
        }
    }

    private func same(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        var i = 0
        while i &+ 8 <= a.count {
            if a.loadUnaligned(fromByteOffset: i, as: UInt64.self) != b.loadUnaligned(fromByteOffset: i, as: UInt64.self) { return false }
            i &+= 8
        }
        while i < a.count {
            if a[i] != b[i] { return false }
            i &+= 1
        }
        return true
    }

    /// Compares by bytes: returns -1, 0 or 1.
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let shared = min(a.count, b.count)
        for i in 0..<shared where a[i] != b[i] { return a[i] < b[i] ? -1 : 1 }
        return a.count == b.count ? 0 : (a.count < b.count ? -1 : 1)
    }

    private static func contains(_ value: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
        guard let first = wanted.first else { return true }
        guard value.count >= wanted.count else { return false }
        let last = wanted[wanted.count &- 1], span = wanted.count &- 1
        for start in 0...(value.count &- wanted.count) where value[start] == first && value[start &+ span] == last {
            var i = 1
            while i < span, value[start &+ i] == wanted[i] { i &+= 1 }
            if i >= span { return true }
        }
        return false
    }

    /// Matches a pattern without other wildcards than `*`: its pieces must follow each other, each found as early as possible.
    private func stars(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        let star = UInt8(ascii: "*")
        var piece = 0, at = 0
        while true {
            var end = piece
            while end < pattern.count, pattern[end] != star { end &+= 1 }
            let wanted = UnsafeRawBufferPointer(rebasing: pattern[piece..<end])
            if end == pattern.count {
                // The last piece ends the value. Without a star, it is the value.
                let start = value.count &- wanted.count
                return (piece == 0 ? start == 0 : start >= at) && same(UnsafeRawBufferPointer(rebasing: value[start...]), wanted)
            }
            if piece == 0 {
                guard value.count >= wanted.count, same(UnsafeRawBufferPointer(rebasing: value[..<wanted.count]), wanted) else {
                    return false
                }
                at = wanted.count
            } else if wanted.count > 0 {
                guard let base = value.baseAddress, let found = ByteSearch.next(base, from: at, to: value.count, wanted) else {
                    return false
                }
                at = found &+ wanted.count
            }
            piece = end &+ 1
        }
    }

    /// Matches a pattern: `*` matches any run, `?` one UTF-8 character.
    /// - Complexity: O(value · pattern), because it backtracks to the last `*` only.
    private static func like(_ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        var v = 0, p = 0, starPattern = -1, starValue = 0
        while v < value.count {
            if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                starPattern = p &+ 1
                starValue = v
                p &+= 1
            } else if p < pattern.count, pattern[p] == UInt8(ascii: "?") {
                v = after(value, v)
                p &+= 1
            } else if p < pattern.count, pattern[p] == value[v] {
                v &+= 1
                p &+= 1
            } else if starPattern >= 0 {
                starValue = after(value, starValue)
                v = starValue
                p = starPattern
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == UInt8(ascii: "*") { p &+= 1 }
        return p == pattern.count
    }

    /// Returns the start of the character after the one at `at`.
    private static func after(_ value: UnsafeRawBufferPointer, _ at: Int) -> Int {
        var next = at &+ 1
        while next < value.count, value[next] & 0xC0 == 0x80 { next &+= 1 }
        return next
    }
}
