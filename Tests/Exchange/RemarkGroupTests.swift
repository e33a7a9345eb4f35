import FirnExchange
import Testing

/// Remarks about many columns.
@Suite struct RemarkGroupTests {
    private func remarks(_ count: Int) -> [String] {
        (0..<count).map {
            let what =
                $0 == 0 ? "is not an int: stored as null, together with its text" : "are not ints: stored as null, together with their text"
            return "column \"q\($0)\": \($0 + 1) of 150 cells \(what) (first: row \($0) \"NA\")"
        }
    }

    @Test func `of more than ten remarks of one kind, five are kept, and the others are counted`() {
        #expect(RemarkGroups.condensed(remarks(10)) == remarks(10))
        let other = "column \"x\" is text", note = "2 rows are short"
        let out = RemarkGroups.condensed([note] + remarks(1200) + [other])
        #expect(out == [note] + remarks(5) + ["the same of 1195 other columns: \"q5\", \"q6\", \"q7\", …", other])
        #expect(RemarkGroups.condensed([note, note, note, note, note, note, note, note, note, note, note]).count == 11)
    }
}
