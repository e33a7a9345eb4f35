import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Numbers whose exponents have two digits, as Python, C and R write them.
@Suite struct CSVExponentTests {
    /// Checks the notation of a column of these cells, how many original texts it has, and that it is written with the same bytes.
    private func check(
        _ cells: [String], _ notation: Notation, _ kind: ScalarKind = .double, originals: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = "x,n\n" + cells.map { "\($0),1\n" }.joined()
        for blockSize in [50, 1 << 20] {
            var options = CSVOptions()
            options.blockSize = blockSize
            let table = try Table(text, options), column = table.schema.types[0].columns[0]
            #expect(column.type.kind == kind && column.notation == notation, sourceLocation: sourceLocation)
            let companion = table.schema.types[0].companions[0]
            let kept = companion.map { at in table.rows.count { $0[at] != .null } } ?? 0
            #expect(kept == originals, "\(cells)", sourceLocation: sourceLocation)
            #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
            for (row, cell) in cells.enumerated() where kind == .double {
                #expect(table.rows[row][0] == .double(Double(cell)!), sourceLocation: sourceLocation)
            }
        }
    }

    @Test func `columns of numbers with two-digit exponents have no original texts`() throws {
        try check(["0.5", "1e-05", "-2.5e-07", "3"], .twoDigitExponent(pointZero: false))
        try check(["0.5", "1e-05", "3.0", "0.0"], .twoDigitExponent(pointZero: true))
        try check(["1e+16", "6.02214076e+23", "1.5"], .twoDigitExponent(pointZero: false))
        try check(["1.7976931348623157e+308", "5e-324", "-0.0"], .twoDigitExponent(pointZero: true))
        try check(["0.0001", "9.999999999999999e-05", "9007199254740992.0", "9999999999999998.0"], .twoDigitExponent(pointZero: true))
    }

    @Test func `numbers that the notation writes with an exponent keep their text if they have none`() throws {
        try check(["1e-05", "2e-05", "0.00003", "0.5"], .twoDigitExponent(pointZero: false), originals: 1)
        try check(["1e-05", "0.00002", "0.00003", "0.5"], .plain, originals: 1)
        try check(["1e-05", "1E-05", "1e-5", "0.5"], .twoDigitExponent(pointZero: false), originals: 2)
        try check(["1e-7", "2.5e-7", "0.5"], .plain)
        try check(["1e-100", "2.5", "1"], .plain)
        try check(["1e-100", "2.5", "1e+100"], .twoDigitExponent(pointZero: false))
    }

    @Test func `whole numbers of many digits are values where the notation writes them otherwise`() throws {
        try check(["1e+16", "1e+17", "10000000000000000"], .twoDigitExponent(pointZero: false), originals: 1)
        try check(
            (0..<300).map { "\($0).0" } + ["1e-05", "2e-06", "-1000000000000000"], .twoDigitExponent(pointZero: true), originals: 1)
        try check((0..<300).map { "\($0).0" } + ["1000000000000000", "-100000000000000000000"], .pointZero, originals: 2)
        try check(["1e-05", "0.5", "10000000000000000"], .plain, originals: 1)
    }

    @Test func `other types are found as before`() throws {
        try check(["1e3", "1"], .plain, .int, originals: 1)
        try check(["0.10", "0.25", "1e-05"], .fixed(2), originals: 1)
        try check(["100000000000000000001", "2"], .plain, .decimal)
    }

    @Test(arguments: Seed.first(20))
    func `random numbers in the notation are written back without original texts`(seed: Seed) throws {
        var random = Random(seed)
        let hasPointZero = random.below(2) == 0
        let cells = (0..<300).map { _ -> String in
            var x = Double(random.below(1_000_000)) / [1, 10, 1e5, 1e9, 1e12][random.below(5)]
            if random.below(4) == 0 { x = Double(bitPattern: random.next()) }
            if !x.isFinite { x = 0.5 }
            // The standard library writes exponents in this form, but already from 2^53 on.
            var text = x.magnitude >= 0x1p53 && x.magnitude < 1e16 ? "0.5" : x.description
            if !hasPointZero, text.hasSuffix(".0") { text.removeLast(2) }
            return text
        }
        let endsInPointZero = cells.contains { $0.hasSuffix(".0") }
        try check(cells + ["1e-05", "7.5e-06", "3e-08"], .twoDigitExponent(pointZero: endsInPointZero))
    }
}
