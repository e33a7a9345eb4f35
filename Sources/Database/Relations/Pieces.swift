import FirnBytes
import FirnCodecs
import FirnTable

/// The pieces of other columns in the text of a chunk (`docs/format/model.md`, "Text with pieces of other columns"): the head of the stream
/// of kind 11. A byte 0xF8 + k in the stored text stands for the piece that term k gives in that row.
struct Pieces: Equatable, Sendable {
    /// How the values of the other column are written as text. The raw values are written to files and never change.
    enum Form: UInt8 { case text = 0, decimal = 1, uuid = 2, objectID = 3 }

    /// The part of a value that is the piece.
    enum Part: Equatable, Sendable {
        case whole
        /// At most so many bytes from the beginning or from the end.
        case first(Int)
        case last(Int)
        /// What is before the first such byte, or after the last one; the whole value if there is none.
        case before(UInt8)
        case after(UInt8)
    }

    /// What happens to ASCII letters. The raw values are written to files and never change.
    enum Letters: UInt8 { case same = 0, lower = 1, upper = 2 }

    struct Term: Equatable, Sendable {
        /// The position in the segment header.
        var column: Int
        var form: Form
        var part = Part.whole
        var letters = Letters.same
        /// The byte that another one replaces in the piece; both are 0 if there is none.
        var replaced: UInt8 = 0
        var replacement: UInt8 = 0
    }

    var terms: [Term]

    static let maximumTerms = 4
    /// The byte that stands for the piece of the first term. It does not occur in UTF-8.
    static let firstMarker: UInt8 = 0xF8
    private static let lastMarker = firstMarker + UInt8(maximumTerms - 1)
    private static let id: UInt8 = 5
    /// The largest length of a part.
    fileprivate static let maximumPart = 1 << 20

    /// Returns which term a byte stands for, or nil if it is a byte of the value.
    @inline(__always)
    static func term(_ byte: UInt8) -> Int? { byte >= firstMarker && byte <= lastMarker ? Int(byte &- firstMarker) : nil }

    /// Whether a stream of kind 11 is the head of pieces, and not of another relation.
    static func arePieces(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.first == id }

    /// The positions in the segment header of the columns that it refers to, each once.
    var sources: [Int] { Set(terms.map(\.column)).sorted() }

    var encoded: [UInt8] {
        var out = ByteWriter()
        out.append(Pieces.id)
        out.append(UInt8(terms.count))
        for term in terms {
            out.appendVarint(term.column)
            out.append(term.form.rawValue)
            switch term.part {
            case .whole: out.append(0 as UInt8)
            case .first(let count):
                out.append(1 as UInt8)
                out.appendVarint(count)
            case .last(let count):
                out.append(2 as UInt8)
                out.appendVarint(count)
            case .before(let byte): out.append(contentsOf: [3, byte])
            case .after(let byte): out.append(contentsOf: [4, byte])
            }
            out.append(contentsOf: [term.letters.rawValue, term.replaced, term.replacement])
        }
        return out.bytes
    }

    init(terms: [Term]) { self.terms = terms }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let id = try reader.read(UInt8.self)
        guard id == Pieces.id else { throw Damage(unknown: "relation \(id)") }
        let count = Int(try reader.read(UInt8.self))
        guard count >= 1, count <= Pieces.maximumTerms else { throw Damage("a relation with a wrong number of pieces") }
        terms = []
        for _ in 0..<count { terms.append(try Term(&reader)) }
        guard reader.isAtEnd else { throw Damage("bytes after the pieces of a relation") }
    }
}

extension Pieces.Term {
    fileprivate init(_ reader: inout ByteReader) throws(Damage) {
        column = try reader.readCount(limit: Int(UInt32.max))
        let form = try reader.read(UInt8.self)
        guard let known = Pieces.Form(rawValue: form) else { throw Damage(unknown: "form of pieces \(form)") }
        self.form = known
        part = try Pieces.Part(&reader)
        let letters = try reader.read(UInt8.self)
        guard let change = Pieces.Letters(rawValue: letters) else { throw Damage(unknown: "case of pieces \(letters)") }
        self.letters = change
        replaced = try reader.read(UInt8.self)
        replacement = try reader.read(UInt8.self)
        guard replaced < 0x80, replacement < 0x80, (replaced == 0) == (replacement == 0) else {
            throw Damage("a piece with replaced bytes that are not ASCII")
        }
    }

    /// Returns the bytes of a value that are the piece; nil if it would cut a character.
    @inline(__always)
    func range(in value: UnsafeRawBufferPointer) -> Range<Int>? {
        let count = value.count
        switch part {
        case .whole: return 0..<count
        case .first(let length):
            guard length < count else { return 0..<count }
            return value[length] & 0xC0 == 0x80 ? nil : 0..<length
        case .last(let length):
            guard length < count else { return 0..<count }
            return value[count &- length] & 0xC0 == 0x80 ? nil : count &- length..<count
        case .before(let byte): return 0..<(value.firstIndex(of: byte) ?? count)
        case .after(let byte): return (value.lastIndex(of: byte).map { $0 &+ 1 } ?? 0)..<count
        }
    }

    /// Returns a byte of a piece as it is in the value.
    @inline(__always)
    func changed(_ byte: UInt8) -> UInt8 {
        if replaced != 0, byte == replaced { return replacement }
        switch letters {
        case .same: return byte
        case .lower: return byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
        case .upper: return byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte
        }
    }

    /// Appends the piece of a value. Returns false, and appends nothing, if it would cut a character.
    @inline(__always)
    func append(pieceOf value: UnsafeRawBufferPointer, to out: inout [UInt8]) -> Bool {
        guard let range = range(in: value) else { return false }
        if letters == .same, replaced == 0 {
            out.append(contentsOf: value[range])
        } else {
            for i in range { out.append(changed(value[i])) }
        }
        return true
    }
}

extension Pieces.Part {
    fileprivate init(_ reader: inout ByteReader) throws(Damage) {
        let id = try reader.read(UInt8.self)
        switch id {
        case 0: self = .whole
        case 1, 2:
            let count = try reader.readCount(limit: Pieces.maximumPart)
            guard count > 0 else { throw Damage("a piece without bytes") }
            self = id == 1 ? .first(count) : .last(count)
        case 3, 4:
            let byte = try reader.read(UInt8.self)
            guard byte < 0x80 else { throw Damage("a piece that ends at a byte that is not ASCII") }
            self = id == 3 ? .before(byte) : .after(byte)
        default: throw Damage(unknown: "part of a piece \(id)")
        }
    }
}

extension Pieces.Form {
    /// The form of the values of a column; nil if there are no pieces of it.
    init?(_ type: ColumnType) {
        guard !type.isCollection else { return nil }
        switch type.kind {
        case .string: self = .text
        case .int: self = .decimal
        case .uuid: self = .uuid
        case .objectID: self = .objectID
        default: return nil
        }
    }

    /// The type of a column with such values.
    var type: ColumnType {
        switch self {
        case .text: ColumnType(.string, optional: true)
        case .decimal: ColumnType(.int, optional: true)
        case .uuid: ColumnType(.uuid, optional: true)
        case .objectID: ColumnType(.objectID, optional: true)
        }
    }

    /// Returns the values of a column as text: empty where there is none.
    func text(of column: Column) -> Text {
        guard self != .text else { return column.text }
        var text = Text()
        text.offsets.reserveCapacity(column.count + 1)
        for row in 0..<column.count {
            if column.isPresent(row) { append(column.words[row], self == .decimal ? 0 : column.extra[row], to: &text.bytes) }
            text.offsets.append(text.bytes.count)
        }
        return text
    }

    /// Appends a value that is not text.
    private func append(_ word: Int64, _ extra: Int64, to out: inout [UInt8]) {
        switch self {
        case .text: break
        case .decimal: out.appendDecimal(word)
        case .uuid:
            let id = Column.uuid(word, extra)
            out.appendHex(id.high, digits: 16, hyphens: [8, 4])
            out.append(0x2D)
            out.appendHex(id.low, digits: 16, hyphens: [12])
        case .objectID:
            let id = Column.objectID(word, extra)
            out.appendHex(id.high, digits: 16)
            out.appendHex(id.low, digits: 8)
        }
    }
}

extension [UInt8] {
    /// Appends the decimal digits of an integer.
    fileprivate mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(0x2D) }
        var rest = value.magnitude, start = count
        repeat {
            append(0x30 + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        var end = count - 1
        while start < end {
            swapAt(start, end)
            start += 1
            end -= 1
        }
    }

    /// Appends the last `digits` hexadecimal digits of a number, with a hyphen before the last so many.
    fileprivate mutating func appendHex(_ value: UInt64, digits: Int, hyphens: [Int] = []) {
        for left in stride(from: digits, to: 0, by: -1) {
            if hyphens.contains(left) { append(0x2D) }
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(left * 4 - 4)) & 15
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }
}
