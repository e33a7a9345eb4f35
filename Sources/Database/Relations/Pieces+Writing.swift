import FirnBytes
import FirnCodecs
import FirnTable

/// Text in which terms are looked for, with the terms that were found so far.
struct PiecedText {
    private(set) var terms: [Pieces.Term] = []
    /// The text of each row, with a byte for each piece.
    private(set) var text: Text
    /// The number of rows with a piece of the last term.
    private(set) var matches = 0

    init(_ text: Text) { self.text = text }

    /// Replaces in each row a piece that term `term` gives. `values` are the values of its column as text, empty where there is none.
    mutating func replace(_ term: Pieces.Term, values: Text) {
        var out = Text(), piece: [UInt8] = []
        out.bytes.reserveCapacity(text.bytes.count)
        out.offsets.reserveCapacity(text.count + 1)
        matches = 0
        let marker = Pieces.firstMarker + UInt8(terms.count)
        for row in 0..<text.count {
            let range = text.range(row)
            piece.removeAll(keepingCapacity: true)
            let isWhole = range.isEmpty || values.length(row) == 0 || values.withBytes(row) { term.append(pieceOf: $0, to: &piece) }
            if isWhole, !piece.isEmpty, let start = text.withBytes(row, { $0.position(of: piece) }) {
                matches += 1
                out.bytes.append(contentsOf: text.bytes[range.lowerBound..<range.lowerBound + start])
                out.bytes.append(marker)
                out.bytes.append(contentsOf: text.bytes[range.lowerBound + start + piece.count..<range.upperBound])
            } else {
                out.bytes.append(contentsOf: text.bytes[range])
            }
            out.offsets.append(out.bytes.count)
        }
        text = out
        terms.append(term)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns where `piece` is: at the end if it is there, otherwise its first position. Text in which the piece begins nearly everywhere
    /// would take time with the square of its length: the search gives up then, and the text is stored without the piece.
    func position(of piece: [UInt8]) -> Int? {
        let length = piece.count
        guard length > 0, length <= count else { return nil }
        return piece.withUnsafeBytes { piece in
            /// Returns how many bytes of the piece are here.
            func agreeing(_ start: Int) -> Int {
                var i = 0
                while i < length, self[start &+ i] == piece[i] { i &+= 1 }
                return i
            }
            if agreeing(count - length) == length { return count - length }
            var start = 0, left = count * 8 + 4096
            while start < count - length {
                if self[start] == piece[0] {
                    let same = agreeing(start)
                    if same == length { return start }
                    left &-= same
                    if left < 0 { return nil }
                }
                start &+= 1
            }
            return nil
        }
    }
}
