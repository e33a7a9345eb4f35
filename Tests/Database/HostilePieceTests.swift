import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Pieces of other columns that no writer makes: they are damage or have their meaning, and never trap.
@Suite struct HostilePieceTests {
    private let count = 3000
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("name", ColumnType(.string, optional: true), id: 1), ColumnSchema("a", ColumnType(.string, optional: true), id: 2),
            ColumnSchema("id", ColumnType(.int, optional: true), id: 3), ColumnSchema("uuid", ColumnType(.uuid, optional: true), id: 4),
            ColumnSchema("b", ColumnType(.string, optional: true), id: 5),
        ])
    private let nameColumn = 0, own = 1, idColumn = 2, uuidColumn = 3, other = 4

    /// Reads such a segment in every way. A damaged column is nil.
    private func read(_ chunks: [[UInt8]]) throws -> [Column?] {
        try HostileSegment(type: type, rows: count).read(chunks) { segment, position, raw in
            let whole = try? segment.allRows(position)
            for row in [0, 1, 5, 1024, 2047, count - 1] {
                let one = try? raw.value(at: row)
                if let whole { #expect(one == whole.value(at: row), "column \(position), row \(row)") }
                if raw.type.kind == .int { _ = try? raw.word(at: row) }
            }
            let column = StoredColumn(raw)
            _ = column.zone(ofVector: 0)
            if raw.chunk?.pieces != nil { #expect((try? column.dictionary()) == .some(nil)) }
            return whole
        }
    }

    private func chunk(_ streams: (kind: StreamKind, bytes: [UInt8])...) -> [UInt8] { HostileSegment.chunk(streams) }

    private func stream(_ values: [[UInt8]], present: Bits? = nil) -> [UInt8] {
        var text = Text()
        for value in values { text.append(value) }
        let encoder = TextGroupEncoder(profile: .standard)
        encoder.add(text, present: present)
        return encoder.finish().rest[0].1
    }

    private func text(_ value: (Int) -> String) -> [[UInt8]] { (0..<count).map { Array(value($0).utf8) } }
    private func name(_ i: Int) -> String { "Anna-\(i * 7919 % 1000) Öz\(i % 10)" }
    private var names: [UInt8] { chunk((.text, stream(text(name)))) }
    private var ids: [UInt8] { chunk((.words, HostileSegment.integers((0..<count).map { Int64($0 * $0) - 50 }))) }
    private var uuids: [UInt8] {
        let numbers = (0..<count).map { Int64($0) &* 0x1E37_79B9_7F4A_7C15 }
        return chunk((.words, HostileSegment.integers(numbers)), (.extra, HostileSegment.integers(numbers.map { ~$0 })))
    }

    private func term(_ column: Int, _ form: UInt8 = 0, part: [UInt8] = [0], letters: UInt8 = 0, replaced: [UInt8] = [0, 0]) -> [UInt8] {
        var out = ByteWriter()
        out.appendVarint(column)
        out.append(contentsOf: [form] + part + [letters] + replaced)
        return out.bytes
    }

    private func head(_ terms: [UInt8]..., count: UInt8? = nil) -> [UInt8] { [5, count ?? UInt8(terms.count)] + terms.joined() }

    /// A chunk with this text in every row.
    private func pieced(_ value: [UInt8], _ head: [UInt8]) -> [UInt8] {
        chunk((.text, stream(Array(repeating: value, count: count))), (.relation, head))
    }

    @Test func `pieces of text, integers and UUIDs are put where their bytes are`() throws {
        let parts = head(
            term(nameColumn, part: [3, 0x2D], letters: 2), term(idColumn, 1), term(uuidColumn, 2, part: [1, 8]),
            term(nameColumn, part: [4, 0x20], letters: 1, replaced: [0x7A, 0x2B]))
        let stored = Array("x".utf8) + [0xF9, 0x2F, 0xF8, 0xFB] + Array("ü".utf8) + [0xFA]
        let whole = pieced([0xF8], head(term(nameColumn, part: [2, 100], letters: 1, replaced: [0x20, 0x2D])))
        let columns = try read([names, pieced(stored, parts), ids, uuids, whole])
        let a = try #require(columns[own]), b = try #require(columns[other]), keys = try #require(columns[uuidColumn])
        for i in [0, 1, 9, 1023, 1024, 2999] {
            guard case .uuid(let key) = keys.value(at: i) else { continue }
            let wanted: String = "x\(i * i - 50)/ANNA" + "Ö+\(i % 10)ü" + String(key.uuidText.prefix(8))
            #expect(a.value(at: i) == .string(wanted), "row \(i)")
            #expect(b.value(at: i) == .string("anna-\(i * 7919 % 1000)-Öz\(i % 10)"))
        }
    }

    @Test func `a map is a source, rows without a value use no piece, and absent rows are empty`() throws {
        var present = Bits(repeating: true, count: count)
        for i in stride(from: 0, to: count, by: 7) { present[i] = false }
        let presence = BooleansEncoder.encode(present, profile: .standard)
        let codes = chunk((.words, HostileSegment.integers((0..<count).map { Int64($0 % 10) }, isCoded: true)))
        var map = ByteWriter()
        map.append(contentsOf: [1, 2, 10, 0])
        let mapped = chunk((.present, presence), (.text, stream((0..<10).map { Array("entry \($0)".utf8) })), (.relation, map.bytes))
        let values = (0..<count).map { $0 % 7 == 0 ? Array("none".utf8) : [0xF8, 0x21] }
        let fits = chunk((.text, stream(values)), (.relation, head(term(nameColumn))))
        let columns = try read([mapped, fits, codes, uuids, pieced([0xF8], head(term(nameColumn)))])
        let a = try #require(columns[own])
        for i in 0..<count { #expect(a.value(at: i) == .string(i % 7 == 0 ? "none" : "entry \(i % 10)!")) }
        #expect(columns[other] == nil, "a piece of a column without a value")
        // Rows without a value have no text, whatever their stored text is.
        let absent = chunk(
            (.present, presence), (.text, stream(Array(repeating: [0xF8], count: count))), (.relation, head(term(nameColumn))))
        let again = try #require(try read([mapped, absent, codes, uuids, names])[own])
        #expect(again.value(at: 0) == .null && again.value(at: 1) == .string("entry 1"))
    }

    @Test func `heads that lie, and bytes without a piece, are damage`() throws {
        let huge = [UInt8](repeating: 0xFF, count: 12), good = term(nameColumn)
        let faults: [(what: String, chunk: [UInt8])] = [
            ("itself", pieced([0xF8], head(term(own)))), ("a column that does not exist", pieced([0xF8], head(term(5)))),
            ("a far column", pieced([0xF8], head(term(1 << 31)))), ("no terms", pieced([0x41], head())),
            ("too many terms", pieced([0xF8], head(good, good, good, good, good))), ("fewer terms", pieced([0xF8], head(good, count: 2))),
            ("more terms", pieced([0xF8], head(good, good, count: 1))), ("integers as text", pieced([0xF8], head(term(idColumn)))),
            ("text as integers", pieced([0xF8], head(term(nameColumn, 1)))), ("integers as UUIDs", pieced([0xF8], head(term(idColumn, 2)))),
            ("an unknown form", pieced([0xF8], head(term(nameColumn, 4)))),
            ("an unknown part", pieced([0xF8], head(term(nameColumn, part: [5])))),
            ("a part without bytes", pieced([0xF8], head(term(nameColumn, part: [1, 0])))),
            ("a huge part", pieced([0xF8], head(term(nameColumn, part: [2] + huge)))),
            ("an end that is not ASCII", pieced([0xF8], head(term(nameColumn, part: [3, 0xC3])))),
            ("an unknown case", pieced([0xF8], head(term(nameColumn, letters: 3)))),
            ("a replaced byte that is not ASCII", pieced([0xF8], head(term(nameColumn, replaced: [0xC3, 0x2D])))),
            ("a replacement that is not ASCII", pieced([0xF8], head(term(nameColumn, replaced: [0x2D, 0xF8])))),
            ("half a replacement", pieced([0xF8], head(term(nameColumn, replaced: [0x2D, 0])))),
            ("a byte without a term", pieced([0xF9], head(good))), ("a piece twice", pieced([0xF8, 0xF8], head(good))),
            ("a piece that cuts a character", pieced([0xF8], head(term(nameColumn, part: [2, 2])))),
            ("nothing after the id", pieced([0x41], [5])), ("huge numbers", pieced([0x41], [5, 1] + huge)),
            ("no text", chunk((.relation, head(good)))),
            ("text of another length", chunk((.text, Array(stream(text(name)).prefix(40))), (.relation, head(good)))),
        ]
        let umlauts = chunk((.text, stream(text { "\($0)ö" })))
        for (what, bytes) in faults {
            let columns = try read([what.contains("cuts") ? umlauts : names, bytes, ids, uuids, names])
            #expect(columns[own] == nil || what == "a piece that cuts a character", "\(what)")
            #expect(columns[nameColumn] != nil && columns[idColumn] != nil && columns[other] != nil, "\(what)")
        }
        let cut = try read([umlauts, pieced([0xF8], head(term(nameColumn, part: [2, 1]))), ids, uuids, names])
        #expect(cut[own] == nil)
        let integers = try read([names, names, chunk((.words, HostileSegment.integers([1])), (.relation, head(good))), uuids, names])
        #expect(integers[idColumn] == nil, "pieces in a column of integers")
    }

    @Test func `pieces never refer to pieces, copies or predictions, and cycles are damage`() throws {
        let good = head(term(nameColumn))
        let chain = try read([names, pieced([0xF8], good), ids, uuids, pieced([0xF8], head(term(own)))])
        #expect(chain[own] != nil && chain[other] == nil)
        let cycle = try read([names, pieced([0xF8], head(term(other))), ids, uuids, pieced([0xF8], head(term(own)))])
        #expect(cycle[own] == nil && cycle[other] == nil)
        let copy = chunk((.text, stream([])), (.relation, [2, 0, 0, 0]))
        let copied = try read([names, copy, ids, uuids, pieced([0xF8], head(term(own)))])
        #expect(copied[own] != nil && copied[other] == nil)
        let map = chunk((.text, stream([Array("x".utf8)])), (.relation, [1, 1, 1, 0]))
        let mapped = try read([names, pieced([0x41], good), ids, uuids, map])
        #expect(mapped[own] != nil && mapped[other] == nil, "text with pieces has no codes")
        let lost = try read([[9, 9, 9], pieced([0xF8], good), ids, uuids, names])
        #expect(lost[nameColumn] == nil && lost[own] == nil && lost[other] != nil)
    }

    @Test func `long pieces in many rows do not take more memory than their columns and the limit`() throws {
        let long = chunk((.text, stream(Array(repeating: [UInt8](repeating: 0x61, count: 20_000), count: count))))
        let many = (0..<20).map { 0xF8 + UInt8($0 % 2) }
        let columns = try read([long, pieced(many, head(term(nameColumn), term(nameColumn))), ids, uuids, names])
        #expect(columns[own] == nil && columns[other] != nil)
    }

    @Test func `damaged bytes of text with pieces never trap`() throws {
        var random = Random(seed: 3)
        let a = pieced([0x41, 0xF8, 0xF9], head(term(nameColumn, part: [3, 0x2D], letters: 2), term(idColumn, 1)))
        let b = pieced([0xF8, 0x2F], head(term(uuidColumn, 2, part: [2, 12]), term(nameColumn, part: [1, 3], replaced: [0x61, 0x62])))
        for _ in 0..<(Tier.isLong ? 30_000 : 300) {
            var chunks = [names, a, ids, uuids, b]
            HostileSegment.damage(&chunks, &random)
            _ = try? read(chunks)
        }
    }
}
