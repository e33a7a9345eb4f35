import FirnBytes
import FirnCodecs
import FirnTable

/// Puts the pieces of other columns into the text of a chunk. Untrusted bytes lead to `Damage`.
final class PiecesReader: Sendable {
    let pieces: Pieces
    /// The column of each term.
    private let sources: [ChunkReader]

    init(_ bytes: UnsafeRawBufferPointer, open: (Pieces) throws(Damage) -> [ChunkReader]) throws(Damage) {
        pieces = try Pieces(bytes)
        sources = try open(pieces)
    }

    /// The terms whose pieces some bytes need, as bits.
    private func terms(in bytes: some Sequence<UInt8>) throws(Damage) -> UInt8 {
        var used: UInt8 = 0
        for byte in bytes where byte >= Pieces.firstMarker { if let term = Pieces.term(byte) { used |= 1 << UInt8(term) } }
        guard used >> UInt8(pieces.terms.count) == 0 else { throw Damage("a text needs a piece that is not described") }
        return used
    }

    /// Replaces the stored text of the rows of a vector by their values. `stored` is the number of bytes of the chunk.
    func resolve(_ text: inout Text, vector: Int, stored: Int, memory: MemoryScope) throws(Damage) {
        let used = try terms(in: text.bytes)
        guard used != 0 else { return }
        // A piece is at most once in a row, so all values are not longer than the stored text and the other columns.
        var values: [Text] = [], present: [Bits?] = [], most = text.bytes.count, stored = stored
        for (k, source) in sources.enumerated() {
            guard used >> UInt8(k) & 1 != 0 else {
                values.append(Text())
                present.append(nil)
                continue
            }
            var column = Column(source.type)
            try source.read(vector: vector, into: &column)
            guard column.count == text.count else { throw Damage("a vector of pieces of the wrong length") }
            values.append(pieces.terms[k].form.text(of: column))
            present.append(column.present)
            most += values[k].bytes.count
            stored += source.storedBytes
        }
        guard Text.isBelievable(most, stored: stored) else { throw Damage("a vector of text is too long") }
        var out = Text()
        try out.reserve(most + text.count * 8, memory)
        out.bytes.reserveCapacity(most)
        out.offsets.reserveCapacity(text.count + 1)
        for row in 0..<text.count {
            let range = text.range(row)
            var next = range.lowerBound, done: UInt8 = 0
            for i in range where text.bytes[i] >= Pieces.firstMarker {
                guard let term = Pieces.term(text.bytes[i]) else { continue }
                try PiecesReader.take(term, of: &done, isPresent: present[term]?[row] ?? true)
                out.bytes.append(contentsOf: text.bytes[next..<i])
                let isWhole = values[term].withBytes(row) { pieces.terms[term].append(pieceOf: $0, to: &out.bytes) }
                guard isWhole else { throw Damage("a piece that cuts a character") }
                next = i + 1
            }
            out.bytes.append(contentsOf: text.bytes[next..<range.upperBound])
            out.offsets.append(out.bytes.count)
        }
        text = out
    }

    /// Throws if a row has the piece of a term already, or has none.
    private static func take(_ term: Int, of done: inout UInt8, isPresent: Bool) throws(Damage) {
        guard done >> UInt8(term) & 1 == 0 else { throw Damage("a text with the same piece twice") }
        guard isPresent else { throw Damage("a text needs a piece of a column without a value") }
        done |= 1 << UInt8(term)
    }

    /// Returns the value of a row. `bytes` is its stored text.
    func value(_ bytes: [UInt8], at row: Int) throws(Damage) -> [UInt8] {
        guard try terms(in: bytes) != 0 else { return bytes }
        var out: [UInt8] = [], done: UInt8 = 0
        for byte in bytes {
            guard let term = Pieces.term(byte) else {
                out.append(byte)
                continue
            }
            let value = try sources[term].textOfPieces(at: row, pieces.terms[term].form)
            try PiecesReader.take(term, of: &done, isPresent: value != nil)
            guard let value else { continue }
            let isWhole = value.withUnsafeBytes { pieces.terms[term].append(pieceOf: $0, to: &out) }
            guard isWhole else { throw Damage("a piece that cuts a character") }
        }
        return out
    }
}

extension ChunkReader {
    /// Returns the value of a row as text, of which pieces are taken; nil if the row has none. The chunk has no relation, or a map.
    fileprivate func textOfPieces(at row: Int, _ form: Pieces.Form) throws(Damage) -> [UInt8]? {
        guard form == .text, let text else {
            let value = try value(at: row)
            var one = Column(form.type)
            guard !value.isNull, one.append(value) else { return nil }
            return form.text(of: one).bytes
        }
        if let present, !(try present.value(at: row)) { return nil }
        guard let relation else { return try text.withValue(at: row) { Array($0) } }
        guard let entry = try relation.entry(at: row) else { throw Damage("a piece of a column that is a copy") }
        if let elementPresent, !(try elementPresent.value(at: entry)) { return nil }
        return try text.withValue(at: entry) { Array($0) }
    }

    /// Opens the pieces of a chunk with this head.
    static func openPieces(_ head: UnsafeRawBufferPointer, type: ColumnType, open: ((Pieces) throws(Damage) -> [ChunkReader])?)
        throws(Damage) -> PiecesReader
    {
        guard let open else { throw Damage("a relation where none is allowed") }
        guard type.kind == .string else { throw Damage("pieces of text in a column of type \(type)") }
        return try PiecesReader(head, open: open)
    }
}
