import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Predictions that no writer makes: they are damage or have their meaning, and never trap.
@Suite struct HostilePredictionTests {
    private static let count = 3000
    private let count = count
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("group", ColumnType(.int, optional: true), id: 1), ColumnSchema("a", ColumnType(.int, optional: true), id: 2),
            ColumnSchema("x", ColumnType(.double, optional: true), id: 3), ColumnSchema("y", ColumnType(.double, optional: true), id: 4),
        ])

    private func integers(_ values: [Int64], isCoded: Bool = false) -> [UInt8] { HostileSegment.integers(values, isCoded: isCoded) }

    private func doubles(_ values: [Double]) -> [UInt8] {
        values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: false, profile: .standard) }
    }

    private func read(_ chunks: [[UInt8]]) throws -> [Column?] { try HostileSegment(type: type, rows: count).readNumbers(chunks) }

    private func chunk(_ streams: (kind: StreamKind, bytes: [UInt8])...) -> [UInt8] {
        HostileSegment.chunk(streams)
    }

    private typealias Term = (column: Int, factor: Int64, form: [UInt8])

    /// The head of a linear prediction. `form` and the forms of terms are bytes: 255 for integers.
    private func linear(
        _ form: [UInt8], _ terms: [Term], shift: UInt8 = 0, constant: Int64 = 0,
        exceptions: [Int64] = [],
        claimed: Int? = nil
    ) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(3))
        out.append(contentsOf: form)
        out.append(UInt8(terms.count))
        for term in terms {
            out.appendVarint(term.column)
            out.appendSignedVarint(term.factor)
            out.append(contentsOf: term.form)
        }
        out.append(shift)
        out.appendSignedVarint(constant)
        out.appendVarint(claimed ?? exceptions.count)
        if !exceptions.isEmpty { out.append(contentsOf: integers(exceptions)) }
        return out.bytes
    }

    private func last(_ form: [UInt8], _ column: Int, keys: Int, block: UInt8, start: Int64 = 0, exceptions: [Int64] = []) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(4))
        out.append(contentsOf: form)
        out.appendVarint(column)
        out.appendVarint(keys)
        out.append(block)
        out.appendSignedVarint(start)
        out.appendVarint(exceptions.count)
        if !exceptions.isEmpty { out.append(contentsOf: integers(exceptions)) }
        return out.bytes
    }

    private let whole: [UInt8] = [255]
    private let cents: [UInt8] = [2, 2]
    private let groups = (0..<count).map { Int64($0 % 7) * 3 }
    private var group: [UInt8] { chunk((.words, integers(groups, isCoded: true))) }
    private let reals = (0..<count).map { Double($0 * 37 % 1000) / 100 }
    private var x: [UInt8] { chunk((.reals, doubles(reals))) }
    private var ones: [UInt8] { integers((0..<count).map { Int64($0 % 3) }) }
    private func predicted(_ head: [UInt8]) -> [UInt8] { chunk((.words, ones), (.relation, head)) }

    @Test func `sums of integers and doubles, slopes and exceptions are followed`() throws {
        let a = predicted(linear(whole, [(0, 2, whole), (2, -1, cents)], constant: 5))
        let y = chunk(
            (.words, ones), (.reals, doubles([-0.0, 1e300])), (.relation, linear(cents, [(2, 3, cents)], shift: 1, exceptions: [3, 2500])))
        let columns = try read([group, a, x, y])
        for i in 0..<count {
            let cent = Int64(i * 37 % 1000)
            #expect(columns[1]?.words[i] == Int64(i % 3) + 5 + 2 * groups[i] - cent)
            let wanted = i == 3 ? -0.0 : i == 2500 ? 1e300 : Double(Int64(i % 3) + (3 * cent) >> 1) / 100
            #expect(columns[3]?.reals[i].bitPattern == wanted.bitPattern, "row \(i)")
        }
    }

    @Test(arguments: [0, 1, 2, 7]) func `the last number of a group is followed, and begins again with each block`(block: Int) throws {
        var present = Bits(repeating: true, count: count)
        for i in stride(from: 0, to: count, by: 11) { present[i] = false }
        let validity = BooleansEncoder.encode(present, profile: .standard)
        let a = chunk((.present, validity), (.words, ones), (.relation, last(whole, 0, keys: 7, block: UInt8(block), start: 100)))
        let column = try #require(try read([group, a, x, x])[1])
        var known: [Int64: Int64] = [:], first: Int64 = 100
        for i in 0..<count {
            if i % Prediction.blockRows(block) == 0 { (known, first) = ([:], 100) }
            guard i % 11 != 0 else {
                #expect(column.value(at: i) == .null)
                continue
            }
            let number = Int64(i % 3) + (known[groups[i]] ?? first)
            if known[groups[i]] == nil { first = number }
            known[groups[i]] = number
            #expect(column.words[i] == number, "row \(i)")
        }
    }

    @Test func `a map can predict, and a prediction cannot`() throws {
        var head = ByteWriter()
        head.append(contentsOf: [1, 0, 7, 0])
        let map = chunk((.words, integers((0..<7).map { Int64($0 * $0) })), (.relation, head.bytes))
        let columns = try read([group, map, predicted(linear(cents, [(1, 100, whole)])), x])
        let wanted = (0..<count).map { (i: Int) -> Double in
            let group = i % 7
            return Double(i % 3 + 100 * group * group) / 100
        }
        #expect(columns[2]?.reals == wanted)
        let chain = try read([group, predicted(linear(whole, [(0, 1, whole)])), predicted(linear(cents, [(1, 1, whole)])), x])
        #expect(chain[1] != nil && chain[2] == nil)
        let cycle = try read([group, predicted(linear(whole, [(2, 1, cents)])), predicted(linear(cents, [(1, 1, whole)])), x])
        #expect(cycle[1] == nil && cycle[2] == nil)
        let grouped = try read([group, map, predicted(last(cents, 1, keys: 7, block: 0)), x])
        #expect(grouped[2] == nil, "a map has no codes")
    }

    @Test func `predictions that lie are damage`() throws {
        let huge = [UInt8](repeating: 0xFF, count: 12)
        let own: Term = (1, 1, whole), none: Term = (4, 1, whole), far: Term = (1 << 31, 1, whole), good: Term = (0, 1, whole)
        let unscaled: Term = (2, 1, [9, 2, 15]), unknown: Term = (2, 1, [77]), mistaken: Term = (2, 1, whole), other: Term = (0, 1, cents)
        var heads: [(what: String, head: [UInt8])] = []
        func add(_ what: String, _ head: [UInt8]) { heads.append((what, head)) }
        add("itself", linear(whole, [own]))
        add("a column that does not exist", linear(whole, [none]))
        add("a far column", linear(whole, [far]))
        add("no terms", linear(whole, []))
        add("too many terms", linear(whole, [good, good, good, good, good]))
        add("a shift beyond 62", linear(whole, [good], shift: 63))
        add("integers of doubles", linear(whole, [mistaken]))
        add("doubles of integers", linear(whole, [other]))
        add("the form of doubles for integers", linear(cents, [good]))
        add("printed Floats in a sum", linear(whole, [unscaled]))
        add("an unknown form", linear(whole, [unknown]))
        add("exceptions of integers", linear(whole, [good], exceptions: [1]))
        add("exceptions that are not listed", linear(whole, [good], claimed: 2))
        add("more exceptions than rows", linear(whole, [good], claimed: count + 1))
        add("too few keys", last(whole, 0, keys: 6, block: 0))
        add("no keys", last(whole, 0, keys: 0, block: 0))
        add("too many keys", last(whole, 0, keys: 65_538, block: 0))
        add("a block beyond 7", last(whole, 0, keys: 7, block: 8))
        add("groups without codes", last(whole, 2, keys: 7, block: 0))
        add("a group of itself", last(whole, 1, keys: 7, block: 0))
        add("nothing after the id", [3])
        add("nothing after the form", [4, 255])
        add("huge numbers", [3, 255, 1] + huge)
        add("huge keys", [4, 255, 0] + huge)
        for (what, head) in heads {
            let columns = try read([group, predicted(head), x, x])
            #expect(columns[1] == nil, "\(what)")
            #expect(columns[0] != nil && columns[2] != nil && columns[3] != nil, "\(what)")
        }
        let fits = linear(cents, [(2, 1, cents)], exceptions: [4])
        let faults: [(what: String, chunk: [UInt8])] = [
            ("no exceptions", chunk((.words, ones), (.relation, fits))),
            ("no differences", chunk((.reals, doubles([1])), (.relation, fits))),
            ("exceptions that are not claimed", chunk((.words, ones), (.reals, doubles([1])), (.relation, linear(cents, [(2, 1, cents)])))),
            ("differences that are cut", chunk((.words, Array(ones.dropLast(9))), (.relation, linear(cents, [(2, 1, cents)])))),
        ]
        for (what, chunk) in faults { #expect(try read([group, group, x, chunk])[3] == nil, "\(what)") }
    }

    @Test func `sums that overflow wrap, and the largest factors and shifts do not trap`() throws {
        for factor in [Int64.max, .min, -1, 0] {
            for shift in [0, 1, 62] as [UInt8] {
                let head = linear(whole, [(0, factor, whole), (2, factor, cents)], shift: shift, constant: .min)
                let columns = try read([
                    group, predicted(head), x, predicted(linear([4] + [UInt8](repeating: 0x3F, count: 8), [(2, factor, cents)])),
                ])
                let cent = Int64(37 * 5 % 1000)
                let sum = Int64.min &+ factor &* groups[5] &+ factor &* cent
                #expect(columns[1]?.words[5] == 2 &+ (sum >> Int64(shift)))
            }
        }
    }

    @Test func `damaged bytes of predicted chunks never trap`() throws {
        var random = Random(seed: 3)
        let a = predicted(last(whole, 0, keys: 7, block: 1)),
            y = chunk(
                (.words, ones), (.reals, doubles([0.5])),
                (.relation, linear(cents, [(2, 3, cents), (0, 1, whole)], shift: 2, exceptions: [9])))
        for _ in 0..<(Tier.isLong ? 30_000 : 300) {
            var chunks = [group, a, x, y]
            HostileSegment.damage(&chunks, &random)
            _ = try? read(chunks)
        }
    }
}
