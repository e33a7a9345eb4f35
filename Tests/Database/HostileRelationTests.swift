import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Relations that no writer makes: they are damage or have their meaning, and never trap.
@Suite struct HostileRelationTests {
    private static let count = 3000
    private let count = count
    private let type = TypeSchema(
        "T", columns: (0..<3).map { ColumnSchema("c\($0)", ColumnType(.int, optional: true), id: UInt32($0 + 1)) })

    private func integers(_ values: [Int64], isCoded: Bool = false) -> [UInt8] { HostileSegment.integers(values, isCoded: isCoded) }

    /// Reads such a segment. A damaged column is nil.
    private func read(_ chunks: [[UInt8]]) throws -> [Column?] {
        try HostileSegment(type: type, rows: count).read(chunks) { segment, position, raw in
            for row in [0, 1, 2, 1024, count - 1] { _ = try? raw.value(at: row) }
            for row in [0, 1, 2, 1024, count - 1] { _ = try? raw.word(at: row) }
            let column = StoredColumn(raw)
            _ = column.zone(ofVector: 0)
            return try? segment.allRows(position)
        }
    }

    private func chunk(_ streams: (kind: StreamKind, bytes: [UInt8])...) -> [UInt8] {
        HostileSegment.chunk(streams)
    }

    private func relation(_ kind: UInt8, _ column: Int, keys: Int, exceptions: [Int64] = [], count: Int? = nil) -> [UInt8] {
        var out = ByteWriter()
        out.append(kind)
        out.appendVarint(column)
        out.appendVarint(keys)
        out.appendVarint(count ?? exceptions.count)
        if !exceptions.isEmpty { out.append(contentsOf: integers(exceptions)) }
        return out.bytes
    }

    private let keys = (0..<count).map { Int64($0 % 10) * 3 }
    private var source: [UInt8] { chunk((.words, integers(keys, isCoded: true))) }
    private var plain: [UInt8] { chunk((.words, integers((0..<count).map { Int64($0 * $0) }))) }
    private func mapped(_ entries: [Int64], _ head: [UInt8]) -> [UInt8] { chunk((.words, integers(entries)), (.relation, head)) }
    private let ten: [Int64] = (100..<110).map { $0 }

    @Test func `maps and copies are followed, to earlier and later columns, with exceptions`() throws {
        let map = mapped(ten + [7, 8], relation(1, 0, keys: 10, exceptions: [5, 2047]))
        let copy = mapped([-1], relation(2, 0, keys: 0, exceptions: [1024]))
        for (chunks, at) in [([source, map, copy], (1, 2)), ([source, copy, map], (2, 1))] {
            let columns = try read(chunks)
            var wanted = (0..<count).map { ten[$0 % 10] }
            (wanted[5], wanted[2047]) = (7, 8)
            var copied = keys
            copied[1024] = -1
            #expect(columns[at.0]?.words == wanted && columns[at.1]?.words == copied)
        }
        let first = try read([mapped(ten, relation(1, 1, keys: 10)), source, plain])
        #expect(first[0]?.words == (0..<count).map { ten[$0 % 10] })
    }

    @Test func `a row of the other column without a value has the last key, and entries can be null`() throws {
        var present = Bits(repeating: true, count: count)
        for i in stride(from: 0, to: count, by: 7) { present[i] = false }
        let presence = BooleansEncoder.encode(present, profile: .standard)
        let source = chunk((.present, presence), (.words, integers(keys, isCoded: true)))
        var entries = Bits(repeating: true, count: 11)
        entries[3] = false
        let map = chunk(
            (.elementPresent, BooleansEncoder.encode(entries, profile: .standard)), (.words, integers(ten + [999])),
            (.relation, relation(1, 0, keys: 11)))
        let column = try #require(try read([source, map, plain])[1])
        for i in 0..<count {
            let wanted: Value = i % 7 == 0 ? .int(999) : i % 10 == 3 ? .null : .int(ten[i % 10])
            #expect(column.value(at: i) == wanted, "row \(i)")
        }
    }

    @Test func `relations that lie are damage`() throws {
        let huge = [UInt8](repeating: 0xFF, count: 12)
        let chunks: [(what: String, chunk: [UInt8])] = [
            ("itself", mapped(ten, relation(1, 1, keys: 10))), ("a column that does not exist", mapped(ten, relation(1, 3, keys: 10))),
            ("a far column", mapped(ten, relation(1, 1 << 31, keys: 10))),
            ("a column without codes", mapped(ten, relation(1, 2, keys: 10))),
            ("too few keys", mapped(Array(ten.prefix(9)), relation(1, 0, keys: 9))), ("no keys", mapped(ten, relation(1, 0, keys: 0))),
            ("too many keys", mapped(ten, relation(1, 0, keys: 65_538))), ("a copy with keys", mapped(ten, relation(2, 0, keys: 10))),
            ("a copy of itself", mapped([], relation(2, 1, keys: 0))),
            ("exceptions that descend", mapped(ten + [1, 2], relation(1, 0, keys: 10, exceptions: [9, 8]))),
            ("exceptions twice", mapped(ten + [1, 2], relation(1, 0, keys: 10, exceptions: [9, 9]))),
            ("a negative exception", mapped(ten + [1], relation(1, 0, keys: 10, exceptions: [-1]))),
            ("an exception outside", mapped(ten + [1], relation(1, 0, keys: 10, exceptions: [Int64(count)]))),
            ("more exceptions than rows", mapped(ten, relation(1, 0, keys: 10, exceptions: [1], count: count + 1))),
            ("exceptions that are not listed", mapped(ten, relation(1, 0, keys: 10, count: 3))),
            ("listed exceptions that are not counted", mapped(ten, relation(1, 0, keys: 10, exceptions: [1], count: 0))),
            ("an unknown relation", mapped(ten, relation(9, 0, keys: 10))), ("nothing", mapped(ten, [])),
            ("huge numbers", mapped(ten, [1] + huge)), ("huge keys", mapped(ten, [1, 0] + huge)),
            ("no entries", chunk((.relation, relation(1, 0, keys: 10)))),
            ("element validity that is cut", chunk((.elementPresent, [2]), (.words, integers(ten)), (.relation, relation(1, 0, keys: 10)))),
        ]
        for (what, chunk) in chunks {
            let columns = try read([source, chunk, plain])
            #expect(columns[1] == nil, "\(what)")
            #expect(columns[0] != nil && columns[2] != nil, "\(what)")
        }
        // A reference to a column that refers itself, in both directions.
        let chain = try read([source, mapped(ten, relation(1, 0, keys: 10)), mapped(ten, relation(1, 1, keys: 10))])
        #expect(chain[1] != nil && chain[2] == nil)
        let cycle = try read([mapped(ten, relation(1, 1, keys: 10)), mapped(ten, relation(1, 0, keys: 10)), plain])
        #expect(cycle[0] == nil && cycle[1] == nil)
        let copies = try read([mapped([], relation(2, 1, keys: 0)), mapped([], relation(2, 0, keys: 0)), plain])
        #expect(copies[0] == nil && copies[1] == nil)
        // A column that cannot be read makes those that follow from it unreadable.
        let lost = try read([[9, 9, 9], mapped(ten, relation(1, 0, keys: 10)), plain])
        #expect(lost[0] == nil && lost[1] == nil && lost[2] != nil)
    }

    @Test func `damaged bytes of related chunks never trap`() throws {
        var random = Random(seed: 3)
        let map = mapped(ten + [7, 8], relation(1, 0, keys: 10, exceptions: [5, 2047])),
            copy = mapped([-1], relation(2, 0, keys: 0, exceptions: [1024]))
        for _ in 0..<300 {
            var chunks = [source, map, copy]
            HostileSegment.damage(&chunks, &random)
            _ = try? read(chunks)
        }
    }
}
