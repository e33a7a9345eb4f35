import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Products that no writer makes: they are damage or have their meaning, and never trap.
@Suite struct HostileProductTests {
    private static let count = 3000
    private let count = count
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("n", ColumnType(.int, optional: true), id: 1), ColumnSchema("a", ColumnType(.int, optional: true), id: 2),
            ColumnSchema("x", ColumnType(.double, optional: true), id: 3), ColumnSchema("y", ColumnType(.double, optional: true), id: 4),
        ])

    private func read(_ chunks: [[UInt8]]) throws -> [Column?] { try HostileSegment(type: type, rows: count).readNumbers(chunks) }

    private func chunk(_ streams: (kind: StreamKind, bytes: [UInt8])...) -> [UInt8] { HostileSegment.chunk(streams) }

    private typealias Term = (column: Int, power: Int64, form: [UInt8])

    /// The head of a product. `form` and the forms of terms are bytes: 255 for integers.
    private func product(
        _ form: [UInt8], _ terms: [Term], scale: Double = 1, offset: Double = 0, exceptions: [Int64] = [], claimed: Int? = nil
    ) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(6))
        out.append(contentsOf: form)
        out.append(UInt8(terms.count))
        for term in terms {
            out.appendVarint(term.column)
            out.appendSignedVarint(term.power)
            out.append(contentsOf: term.form)
        }
        out.append(scale)
        out.append(offset)
        out.appendVarint(claimed ?? exceptions.count)
        if !exceptions.isEmpty { out.append(contentsOf: HostileSegment.integers(exceptions)) }
        return out.bytes
    }

    private let whole: [UInt8] = [255], bits: [UInt8] = [0], cents: [UInt8] = [2, 2]
    private let numbers = (0..<count).map { Int64($0 * 37 % 1001) - 500 }
    private let reals = (0..<count).map { Double($0 * 53 % 997) / 8 - 20 }
    private var n: [UInt8] { chunk((.words, HostileSegment.integers(numbers))) }
    private func x(_ values: [Double]? = nil) -> [UInt8] { chunk((.reals, doubles(values ?? reals))) }
    private func doubles(_ values: [Double]) -> [UInt8] {
        values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: false, profile: .standard) }
    }
    private var ones: [UInt8] { HostileSegment.integers((0..<count).map { Int64($0 % 3) }) }
    private func predicted(_ head: [UInt8]) -> [UInt8] { chunk((.words, ones), (.relation, head)) }

    @Test func `products and quotients of integers and doubles are followed, with exceptions`() throws {
        let a = predicted(product(whole, [(0, 1, whole), (2, -1, bits), (0, 1, whole)], scale: 3, offset: 7))
        let y = chunk(
            (.words, ones), (.reals, doubles([-0.0, 1e300])),
            (.relation, product(cents, [(2, 1, bits), (0, 1, whole)], scale: 0.01, exceptions: [3, 2500])))
        let columns = try read([n, a, x(), y])
        for i in 0..<count {
            let number = Double(numbers[i]), real = reals[i]
            let quotient = (number / real * number) * 3 + 7
            let whole = quotient.isFinite && quotient.magnitude < 0x1p51 ? Int64(quotient.rounded(.toNearestOrEven)) : 0
            #expect(columns[1]?.words[i] == Int64(i % 3) + whole, "row \(i)")
            let cent = Int64(((real * number * 0.01) * 100).rounded(.toNearestOrEven)) + Int64(i % 3)
            let wanted = i == 3 ? -0.0 : i == 2500 ? 1e300 : Double(cent) / 100
            #expect(columns[3]?.reals[i].bitPattern == wanted.bitPattern, "row \(i)")
        }
    }

    @Test func `the bits of doubles and Floats are predicted, and what is not finite counts as 0`() throws {
        var values = reals
        for (i, value) in [Double.nan, .infinity, -.infinity, 0, -0.0, 1e-320, 1.7e308].enumerated() { values[i * 7] = value }
        let nearest: [([UInt8], (Double) -> Int64)] = [
            ([0], { $0.isFinite ? ordered($0) : 0 }), ([1], { Float($0).isFinite ? Int64(ordered(Float($0))) : 0 }),
            ([3, 1], { rounded($0 * 10) }), ([8, 9], { Float($0).isFinite ? Int64(ordered(Float($0))) : 0 }),
            ([9, 2, 9], { rounded($0 * 100) }), ([4] + bytes(0.1), { rounded($0 / 0.1) }), ([5] + bytes(365.25), { rounded($0 * 365.25) }),
            ([6] + bytes(0.1) + [15], { rounded($0 / 0.1) }), ([7] + bytes(365.25) + [15], { rounded($0 * 365.25) }),
        ]
        for (form, number) in nearest {
            let zeros = HostileSegment.integers(Array(repeating: 0, count: count))
            let head = product(form, [(0, 1, whole), (2, -1, bits)], scale: 1e3)
            let stored = try form.withUnsafeBytes {
                var reader = ByteReader($0)
                return try NumberForm(parsing: &reader)
            }
            let y = try #require(try read([n, n, x(values), chunk((.words, zeros), (.relation, head))])[3])
            for i in 0..<count {
                let result = Double(numbers[i]) / values[i] * 1e3 + 0
                #expect(y.reals[i].bitPattern == stored.double(number(result)).bitPattern, "form \(form), row \(i)")
            }
        }
        func rounded(_ x: Double) -> Int64 { x.magnitude < 0x1p51 ? Int64(x.rounded(.toNearestOrEven)) : 0 }
        func bytes(_ base: Double) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: base.bitPattern >> UInt64(8 * $0)) } }
        func ordered(_ x: Double) -> Int64 { x.sign == .minus ? ~Int64(x.magnitude.bitPattern) : Int64(x.bitPattern) }
        func ordered(_ x: Float) -> Int32 { x.sign == .minus ? ~Int32(x.magnitude.bitPattern) : Int32(x.bitPattern) }
    }

    @Test func `a map can be a factor, and a prediction cannot`() throws {
        var head = ByteWriter()
        head.append(contentsOf: [1, 0, 7, 0])
        let coded = chunk((.words, HostileSegment.integers((0..<count).map { Int64($0 % 7) }, isCoded: true)))
        let map = chunk((.words, HostileSegment.integers((0..<7).map { Int64($0 * $0) })), (.relation, head.bytes))
        let columns = try read([coded, map, predicted(product(cents, [(1, 1, whole)])), x()])
        let wanted = (0..<count).map { (i: Int) -> Double in
            let group = i % 7
            return Double(i % 3 + 100 * group * group) / 100
        }
        #expect(columns[2]?.reals == wanted)
        let chain = try read([coded, predicted(product(whole, [(0, 1, whole)])), predicted(product(cents, [(1, 1, whole)])), x()])
        #expect(chain[1] != nil && chain[2] == nil)
        let cycle = try read([coded, predicted(product(whole, [(2, 1, bits)])), predicted(product(cents, [(1, 1, whole)])), x()])
        #expect(cycle[1] == nil && cycle[2] == nil)
    }

    @Test func `products that lie are damage`() throws {
        let good: Term = (0, 1, whole), unscaled: Term = (2, 1, [9, 2, 15])
        var heads: [(what: String, head: [UInt8])] = []
        func add(_ what: String, _ head: [UInt8]) { heads.append((what, head)) }
        add("itself", product(whole, [(1, 1, whole)]))
        add("a column that does not exist", product(whole, [(4, 1, whole)]))
        add("no terms", product(whole, []))
        add("too many terms", product(whole, [good, good, good, good, good]))
        add("a power of 0", product(whole, [(0, 0, whole)]))
        add("a power of 2", product(whole, [(0, 2, whole)]))
        add("the largest power", product(whole, [(0, .min, whole)]))
        add("integers of doubles", product(whole, [(2, 1, whole)]))
        add("bits of integers", product(whole, [(0, 1, bits)]))
        add("cents", product(whole, [(2, 1, cents)]))
        add("printed Floats", product(whole, [unscaled]))
        add("the form of doubles for integers", product(cents, [good]))
        add("a scale that is no number", product(whole, [good], scale: .nan))
        add("an infinite scale", product(whole, [good], scale: .infinity))
        add("an infinite offset", product(whole, [good], offset: -.infinity))
        add("exceptions of integers", product(whole, [good], exceptions: [1]))
        add("exceptions that are not listed", product(whole, [good], claimed: 2))
        add("nothing after the id", [6])
        add("nothing after the terms", [6, 255, 1, 0, 2, 255])
        for (what, head) in heads {
            let columns = try read([n, predicted(head), x(), x()])
            #expect(columns[1] == nil && columns[0] != nil && columns[2] != nil, "\(what)")
        }
    }

    @Test func `damaged bytes of products never trap`() throws {
        var random = Random(seed: 3)
        let a = predicted(product(whole, [(0, 1, whole), (2, -1, bits)], scale: 12.5, offset: -1))
        let head = product(cents, [(2, 1, bits), (0, 1, whole)], scale: 0.3, exceptions: [9])
        let y = chunk((.words, ones), (.reals, doubles([0.5])), (.relation, head))
        for _ in 0..<(Tier.isLong ? 30_000 : 300) {
            var chunks = [n, a, x(), y]
            HostileSegment.damage(&chunks, &random)
            _ = try? read(chunks)
        }
    }
}
