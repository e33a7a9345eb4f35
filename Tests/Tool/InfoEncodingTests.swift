import Foundation
import Testing

@Suite struct InfoEncodingTests {
    /// Seven segments of three columns: `n` has four encodings, `b` two, and `c` one.
    private static let table: String = {
        func rows(_ n: (Int) -> UInt64, _ b: (Int) -> Int) -> String { (0..<65_536).map { "\(n($0)),\(b($0)),5\n" }.joined() }
        func mixed(_ i: Int) -> UInt64 { (UInt64(i) &* 0x9E37_79B9_7F4A_7C15) >> 20 }
        let constant = String(repeating: "7,7,5\n", count: 65_536), ascending = rows({ UInt64(3 * $0) }, { _ in 7 })
        var text = "n,b,c\n" + constant + constant + constant + ascending
        text += rows({ UInt64(3 * $0) }, { 3 * $0 }) + rows({ mixed($0) % 1000 }, { 3 * $0 }) + rows(mixed, { 3 * $0 })
        return text
    }()

    @Test func `info shows the two encodings of most segments of a column, and how many more there are`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", Self.table)
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        let info = try scratch.firn("info", "a.firn")
        func line(_ column: String) -> String {
            info.out.split(separator: "\n").first { $0.hasPrefix(column + " ") }.map(String.init) ?? ""
        }
        #expect(info.code == 0 && line("n").hasSuffix("%  constant ×3, sequence ×2, 2 more"), "\(info.out)")
        #expect(line("b").hasSuffix("%  constant ×4, sequence ×3"), "\(info.out)")
        #expect(line("c").hasSuffix("%  constant"), "\(info.out)")
        // JSON has all of them, in the same order.
        let json = try scratch.firn("info", "--json", "a.firn").out
        let all = #""encodings":[{"name":"constant","segments":3},{"name":"sequence","segments":2},{"name":"delta+"#
        #expect(json.contains(all) && json.contains(#""encodings":[{"name":"constant","segments":7}]"#), "\(json)")
    }
}
