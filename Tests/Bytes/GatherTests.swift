import FirnBytes
import Testing

@Suite struct GatherTests {
    @Test func `gathered strings and bits are appended in the order of the given positions`() {
        let text = Text(["a", "", "ccc", "dé"])
        for rows in [[], [0], [3, 0, 0, 1, 2], [1, 1]] {
            var out = Text(["x"])
            out.append(gathered: text, rows: rows)
            #expect((0..<out.count).map(out.string) == ["x"] + rows.map(text.string))
        }
        var bits = Bits(count: 200)
        for i in stride(from: 0, to: 200, by: 3) { bits[i] = true }
        for count in [0, 1, 63, 64, 65, 300] {
            let rows = (0..<count).map { ($0 * 37) % 200 }
            var out = Bits(repeating: true, count: 5)
            out.append(gathered: bits, rows: rows)
            #expect(out.count == 5 + count)
            for (i, row) in rows.enumerated() { #expect(out[5 + i] == bits[row]) }
        }
    }
}
