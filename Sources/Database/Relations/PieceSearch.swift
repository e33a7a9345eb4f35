import FirnBytes
import FirnCodecs
import FirnTable

/// Some rows of a column, for a quick look at whether another one contains pieces of it.
struct PieceSketch {
    /// The values as text, empty where there is none.
    let text: Text
    /// The values in lower case, with one byte for all that separates words.
    private let folded: Text

    static let rows = 96

    init(_ text: Text) {
        self.text = text
        var folded = text
        for i in folded.bytes.indices {
            switch folded.bytes[i] {
            case 0x41...0x5A: folded.bytes[i] |= 0x20
            case 0x20, 0x5F, 0x2E: folded.bytes[i] = 0x2D
            default: break
            }
        }
        self.folded = folded
    }

    /// So many rows with both values are compared, and must have the beginning or the end of the other value in this share of them.
    private static let compared = 32
    /// So many bytes from the beginning and the end of a value are looked for.
    private static let ends = 3

    /// Whether this column contains the beginning or the end of the other one, more often than it contains those of the wrong rows. Both ends
    /// count separately: if all values begin alike, only their ends say something.
    func mayContain(_ other: PieceSketch) -> Bool {
        // Rows with the beginning, with the end, and with one of them, less those of the wrong rows.
        var hits = SIMD4<Int>.zero, controls = SIMD4<Int>.zero, rows = 0, last: Int?
        for row in 0..<folded.count where folded.length(row) > 0 && other.folded.length(row) > 0 {
            rows += 1
            let ends = other.ends(row)
            hits &+= contains(ends, row)
            if let last { controls &+= contains(ends, last) }
            last = row
            if rows == PieceSketch.compared / 4, hits == .zero { return false }
            if rows == PieceSketch.compared { break }
        }
        return rows >= 16 && (hits &- controls).max() * 4 >= rows
    }

    /// Returns the first and the last bytes of a row.
    private func ends(_ row: Int) -> (first: [UInt8], last: [UInt8]) {
        let range = folded.range(row), size = min(PieceSketch.ends, range.count)
        return (
            Array(folded.bytes[range.lowerBound..<range.lowerBound + size]), Array(folded.bytes[range.upperBound - size..<range.upperBound])
        )
    }

    /// Returns 1 for each of: a row contains the first bytes, the last bytes, one of them.
    private func contains(_ ends: (first: [UInt8], last: [UInt8]), _ row: Int) -> SIMD4<Int> {
        folded.withBytes(row) { bytes in
            let first = bytes.position(of: ends.first) != nil, last = bytes.position(of: ends.last) != nil
            return SIMD4(first ? 1 : 0, last ? 1 : 0, first || last ? 1 : 0, 0)
        }
    }
}

/// Looks for the way in which a column contains pieces of another one, in a few rows. What it finds must be verified.
struct PieceSearch {
    private let target: Text
    private let source: Text
    private let rows: [Int]
    private let blank: Pieces.Term

    /// What may end a piece, and pairs of bytes of which one may replace the other.
    private static let separators: [UInt8] = [0x20, 0x2D, 0x5F, 0x2E, 0x40, 0x2F, 0x2C, 0x3A, 0x28]
    private static let replacements: [(UInt8, UInt8)] = [
        (0x20, 0x2D), (0x20, 0x5F), (0x2D, 0x5F), (0x5F, 0x2D), (0x5F, 0x20), (0x2D, 0x20),
    ]
    private static let compared = 48

    init(_ target: Text, _ source: PieceSketch, column: Int, form: Pieces.Form) {
        self.target = target
        self.source = source.text
        let text = source.text
        rows = Array((0..<target.count).filter { target.length($0) > 0 && text.length($0) > 0 }.prefix(PieceSearch.compared))
        blank = Pieces.Term(column: column, form: form)
    }

    /// Returns the term whose pieces have most bytes; nil if there is none in many rows.
    func best() -> Pieces.Term? {
        var best: (term: Pieces.Term, bytes: Int)?
        for changed in changes() {
            for part in parts(changed) {
                var term = changed
                term.part = part
                let found = bytes(term)
                // Later ones are less simple.
                if found.rows * 5 >= rows.count, found.bytes * 20 > (best?.bytes ?? 0) * 21 { best = (term, found.bytes) }
            }
        }
        return best?.term
    }

    /// The whole value with the changes of its letters and bytes that make a difference.
    private func changes() -> [Pieces.Term] {
        var occurs = [Bool](repeating: false, count: 256)
        for row in rows { for byte in source.bytes[source.range(row)] { occurs[Int(byte)] = true } }
        var all: [Pieces.Term] = []
        for letters in [Pieces.Letters.same, .lower, .upper] {
            if letters == .lower, !occurs[0x41...0x5A].contains(true) { continue }
            if letters == .upper, !occurs[0x61...0x7A].contains(true) { continue }
            var term = blank
            term.letters = letters
            all.append(term)
            guard blank.form == .text else { continue }
            for (replaced, replacement) in PieceSearch.replacements where occurs[Int(replaced)] {
                (term.replaced, term.replacement) = (replaced, replacement)
                all.append(term)
            }
        }
        return all
    }

    /// The parts of a value that may be pieces.
    private func parts(_ term: Pieces.Term) -> [Pieces.Part] {
        var parts: [Pieces.Part] = [.whole]
        if blank.form == .text {
            for byte in PieceSearch.separators {
                let count = rows.count { source.bytes[source.range($0)].contains(byte) }
                if count * 4 >= rows.count { parts += [.before(byte), .after(byte)] }
            }
        }
        if blank.form != .decimal {
            if let length = common({ .first($0) }, term) { parts.append(.first(length)) }
            if let length = common({ .last($0) }, term) { parts.append(.last(length)) }
        }
        return parts
    }

    /// Returns the greatest length of which half of the rows with a piece have one.
    private func common(_ part: (Int) -> Pieces.Part, _ term: Pieces.Term) -> Int? {
        var lengths: [Int] = []
        for row in rows {
            var length = 3, term = term, found = 0
            while length < min(source.length(row), 64) {
                term.part = part(length)
                guard piece(term, row) > 0 else { break }
                found = length
                length += 1
            }
            if found > 0 { lengths.append(found) }
        }
        guard lengths.count * 4 >= rows.count, !lengths.isEmpty else { return nil }
        return lengths.sorted()[lengths.count / 2]
    }

    private func bytes(_ term: Pieces.Term) -> (rows: Int, bytes: Int) {
        var found = 0, bytes = 0
        for row in rows {
            let length = piece(term, row)
            if length > 0 { (found, bytes) = (found + 1, bytes + length) }
        }
        return (found, bytes)
    }

    /// Returns the length of the piece in a row, or 0 if the row does not contain it.
    private func piece(_ term: Pieces.Term, _ row: Int) -> Int {
        var piece: [UInt8] = []
        guard source.withBytes(row, { term.append(pieceOf: $0, to: &piece) }), !piece.isEmpty else { return 0 }
        return target.withBytes(row) { $0.position(of: piece) } == nil ? 0 : piece.count
    }
}
