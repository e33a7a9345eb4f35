import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

@Suite struct CSVPairTests {
    private func open(
        _ old: String, _ new: String, key: [String] = ["id"], limit: Int = 1 << 20, blockSize: Int = 1 << 20, nulls: [String] = [""]
    ) throws(FirnError) -> CSVPair? {
        var options = CSVOptions()
        options.blockSize = blockSize
        options.nullWords = nulls
        func source(_ text: String) -> CSVPair.Source { .init(Input(bytes: Array(text.utf8), name: "test.csv"), options) }
        return try CSVPair(old: source(old), new: source(new), key: key, limit: limit)
    }

    private func rows(_ reader: CSVReader) throws -> [[Value]] {
        var rows: [[Value]] = []
        while let (_, batch) = try reader.next() {
            for row in 0..<batch.count { rows.append(batch.columns.map { $0.value(at: row) }) }
        }
        return rows
    }

    /// Rows with a name that can be quoted, a number, a day and a text that can be missing.
    private func row(_ id: Int, _ random: inout Random) -> String {
        let name = ["plain", "\"a,b\"", "\"two\nlines\"", "\"x\"\"y\"", "é", "in\"side"].randomElement(using: &random)!
        let day = "2024-0\(Int.random(in: 1...9, using: &random))-1\(Int.random(in: 0...9, using: &random))"
        return "\(id),\(name),\(Int.random(in: 0...99, using: &random)).5,\(day),\(Bool.random(using: &random) ? "" : "note")"
    }

    private func text(_ rows: [String], newline: String, endsOpen: Bool) -> String {
        let text = (["id,name,score,day,note"] + rows).joined(separator: newline)
        return endsOpen ? text : text + newline
    }

    @Test func `equal records and the other rows are the rows of both texts`() throws {
        let seed = Seed.one(1)
        var random = Random(seed), pairs = 0
        for round in 0..<150 {
            var old: [String] = [], new: [String] = [], next = 1
            for _ in 0..<Int.random(in: 1...400, using: &random) {
                let line = row(next, &random)
                switch Int.random(in: 0..<40, using: &random) {
                case 0: old.append(line)
                case 1: new.append(line)
                case 2:
                    old.append(line)
                    new.append(row(next, &random))
                case 3:
                    // A block of rows that only one text has.
                    for _ in 0..<Int.random(in: 1...60, using: &random) {
                        next += 1
                        let line = row(next, &random)
                        if round & 1 == 0 { old.append(line) } else { new.append(line) }
                    }
                default:
                    old.append(line)
                    new.append(line)
                }
                next += 1
            }
            let newline = ["\n", "\r\n", "\r"][round % 3]
            let oldText = text(old, newline: newline, endsOpen: Bool.random(using: &random))
            let newText = text(new, newline: newline, endsOpen: Bool.random(using: &random))
            let size = [7, 64, 1000, 1 << 20].randomElement(using: &random)!
            guard let pair = try open(oldText, newText, blockSize: size) else { continue }
            pairs += 1
            let wholeOld = try Table(oldText), wholeNew = try Table(newText)
            func columns(_ schema: Schema) -> [ColumnSchema] { schema.types[0].columns }
            #expect(columns(pair.old.schema) == columns(wholeOld.schema), "seed \(seed) round \(round)")
            #expect(columns(pair.new.schema) == columns(wholeNew.schema), "seed \(seed) round \(round)")
            let otherOld = try rows(pair.old), otherNew = try rows(pair.new)
            let sameOld = without(otherOld, wholeOld.rows), sameNew = without(otherNew, wholeNew.rows)
            #expect(sameOld == sameNew && sameOld?.count == pair.equalRows, "seed \(seed) round \(round)")
        }
        #expect(pairs > 100, "seed \(seed): most of the texts are alike, and \(pairs) were compared")
    }

    /// Returns the rows that are not among `others`, which must be rows in the same order; nil if they are not.
    private func without(_ others: [[Value]], _ rows: [[Value]]) -> [[Value]]? {
        var left: [[Value]] = [], next = 0
        for row in rows {
            if next < others.count, others[next] == row { next += 1 } else { left.append(row) }
        }
        return next == others.count ? left : nil
    }

    private func lines(_ count: Int, _ body: (Int) -> String) -> String { "id,v\n" + (0..<count).map { body($0) + "\n" }.joined() }

    @Test func `texts with repeated keys are not compared by records`() throws {
        let plain = lines(500) { "\($0),a" }
        #expect(try open(plain, plain) != nil)
        for repeated in [lines(500) { "\($0 == 400 ? 3 : $0),a" }, plain + "7,b\n", plain + "7,a\n"] {
            #expect(try open(plain, repeated) == nil && open(repeated, plain) == nil && open(repeated, repeated) == nil)
        }
        #expect(try open(plain, plain, key: ["id", "v"]) != nil)
        #expect(try open(plain, plain, key: ["v"]) == nil)
        #expect(try open(plain, plain, key: ["w"]) == nil)
    }

    @Test func `texts are not compared by records if a column has another type in one of them`() throws {
        let plain = lines(500) { "\($0),\($0 * 2)" }
        #expect(try open(plain, plain.replacing("\n300,600\n", with: "\n300,\n")) != nil)
        for other in [plain + "500,x\n", plain + "500,1.5\n", plain + "x,1\n", plain + "500,1_000\n"] {
            #expect(try open(plain, other) == nil && open(other, plain) == nil, "\(other.suffix(10))")
        }
    }

    @Test func `keys whose texts do not identify values are left to the reader of whole texts`() throws {
        // 1 and 1.0 are equal numbers.
        let reals = lines(500) { "\($0).5,a" }
        #expect(try open(reals, reals) == nil)
        // +9 is the number 9, with its text.
        let signed = lines(5000) { $0 == 9 ? "+9,a" : "\($0),a" }
        #expect(try open(signed, signed) == nil)
        // One key can be null, but not with two texts.
        let gaps = lines(500) { $0 == 7 ? ",a" : $0 == 9 ? "NA,a" : "\($0),a" }
        #expect(try open(gaps, gaps, nulls: ["", "NA"]) == nil)
        let gap = gaps.replacing("NA", with: "9")
        #expect(try open(gap, gap) != nil && open(gap, gap, nulls: ["", "NA"]) == nil)
    }

    @Test func `texts in another order, with another header or with irregular records are not compared by records`() throws {
        let seed = Seed.one(2)
        var random = Random(seed)
        let plain = lines(20_000) { "\($0),value \($0 * 7919)" }
        let shuffled = "id,v\n" + plain.split(separator: "\n").dropFirst().shuffled(using: &random).map { $0 + "\n" }.joined()
        #expect(try open(plain, shuffled, limit: 1 << 16) == nil)
        let pair = try #require(try open(plain, shuffled))
        #expect(try pair.equalRows + rows(pair.old).count == 20_000 && pair.equalRows + rows(pair.new).count == 20_000)
        #expect(try open(plain, plain.replacing("id,v", with: "id,w")) == nil)
        #expect(try open(plain, plain.replacing(",", with: ";")) == nil)
        #expect(try open(plain, plain + "1,2,3\n") == nil)
        #expect(try open(plain, plain + "20000,\"open\n") == nil)
        #expect(try open(plain, plain + "# no row\n") == nil)
        #expect(try open(plain, "") == nil && open("id,v\n", "id,v\n") == nil && open("id,v", "id,v") == nil)
    }

    @Test func `a record of any length is equal or not`() throws {
        let long = String(repeating: "0123456789,\n", count: 60_000)
        let old = lines(500) { "\($0),a" } + "500,\"\(long)\"\n" + "501,b\n"
        let new = old.replacing("501,b", with: "501,c")
        let pair = try #require(try open(old, new, limit: 8 << 20))
        #expect(pair.equalRows == 501)
        #expect(try rows(pair.new) == [[.int(501), .string("c")]])
        let changed = try #require(try open(old, old.replacing("500,\"0", with: "500,\"1"), limit: 8 << 20))
        #expect(changed.equalRows == 501)
        #expect(try rows(changed.old).count == 1)
        // A record that is longer than the limit is left to the reader of whole texts.
        #expect(try open(old, old.replacing("500,\"0", with: "500,\"1"), limit: 1 << 18) == nil)
    }

    @Test func `bytes that are not UTF-8 are left to the reader of whole texts`() throws {
        let plain = Array(lines(500) { "\($0),a" }.utf8)
        func pair(_ old: [UInt8], _ new: [UInt8]) throws -> CSVPair? {
            try CSVPair(
                old: .init(Input(bytes: old, name: "old.csv"), CSVOptions()), new: .init(Input(bytes: new, name: "new.csv"), CSVOptions()),
                key: ["id"], limit: 1 << 20)
        }
        #expect(try pair(plain, plain) != nil)
        for bad in [plain + Array("500,".utf8) + [0xE9, 10], plain + Array("500,".utf8) + [0xFF, 10]] {
            #expect(try pair(plain, bad) == nil && pair(bad, plain) == nil && pair(bad, bad) == nil)
        }
    }
}
