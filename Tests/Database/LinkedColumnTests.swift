import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct LinkedColumnTests {
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("i", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("l", ColumnType(.int, collection: .list)),
        ])

    private func table(_ count: Int, segments: Int = 1) -> MemoryTable {
        var batches: [Batch] = []
        for part in 0..<segments {
            var batch = Batch(Self.type, in: Schema([Self.type]))
            for i in part * count..<(part + 1) * count {
                batch.columns[0].append(.int(Int64(i) * 3))
                batch.columns[1].append(i % 5 == 0 ? .null : .string("text \(i)"))
                batch.columns[2].append(.list((0..<i % 3).map { .int(Int64(i + $0)) }))
            }
            batch.count = count
            batches.append(batch)
        }
        return MemoryTable(Self.type, schema: Schema([Self.type]), batches: batches)
    }

    private func expected(_ column: Int, _ id: Int64, of count: Int) -> Value {
        guard id >= 0, id < count else { return .null }
        return switch column {
        case 0: .int(id * 3)
        case 1: id % 5 == 0 ? .null : .string("text \(id)")
        default: .list((0..<id % 3).map { .int(id + $0) })
        }
    }

    @Test(arguments: [0, 1, 2]) func `values of linked rows are returned in the order of the links`(column: Int) throws {
        let table = table(3000, segments: 3)
        var generator = Random(seed: UInt64(column))
        var linked = try LinkedColumn(table, path: [column])
        for count in [0, 1, 3, 1000, 5, 20_000] {
            let ids = (0..<count).map { _ in Int64.random(in: -3...9002, using: &generator) }
            var present = Bits(repeating: true, count: count)
            for i in 0..<count where Int.random(in: 0..<9, using: &generator) == 0 { present[i] = false }
            let out = try linked.fetch(ids, present: present)
            #expect(out.count == count)
            for i in 0..<count {
                #expect(out.value(at: i) == (present[i] ? expected(column, ids[i], of: 9000) : .null), "\(column) \(i) \(ids[i])")
            }
            let live = try linked.live(ids, present: present)
            for i in 0..<count { #expect(live[i] == (present[i] && (0..<9000).contains(ids[i]))) }
        }
        #expect(linked.vectorsDecoded == 9)
    }

    @Test func `each vector is decoded once, and few values are read one by one`() throws {
        let table = table(60_000)
        var linked = try LinkedColumn(table, path: [1])
        for start in stride(from: Int64(0), to: 60_000, by: 1000) {
            _ = try linked.fetch((start..<start + 1000).map { ($0 * 7919) % 60_000 }, present: nil)
        }
        #expect(linked.vectorsDecoded == 59)
        var few = try LinkedColumn(table, path: [1])
        for _ in 0..<3 { #expect(try few.fetch([5, 59_999, 30_000, 5], present: nil).value(at: 1) == .string("text 59999")) }
        #expect(few.vectorsDecoded == 0 && few.valuesRead == 3)
    }

    @Test(arguments: [0, 1, 2]) func `a pool that exceeds its limit is cleared, and the values stay correct`(column: Int) throws {
        let table = table(3000, segments: 3)
        var generator = Random(seed: 77)
        var linked = try LinkedColumn(table, path: [column], most: 30_000)
        for round in 0..<60 {
            let spread = [9000, 300, 9000, 40][round % 4],
                ids = (0..<[700, 500, 20, 3][round % 4]).map { _ in Int64.random(in: 0..<Int64(spread), using: &generator) }
            let out = try linked.fetch(ids, present: nil)
            for i in ids.indices { #expect(out.value(at: i) == expected(column, ids[i], of: 9000), "round \(round)") }
        }
        #expect(linked.vectorsDecoded > 9 && linked.valuesRead > 0)
    }

    @Test func `selected rows are a table in their order, with duplicates, and missing rows are not live`() throws {
        let base = table(3000, segments: 2)
        var generator = Random(seed: 9)
        for count in [0, 1, 70_000] {
            let ids = (0..<count).map { _ in Int64.random(in: -1...6001, using: &generator) }
            let rows = SelectedRows(ids, of: base)
            #expect(rows.segmentCount == (count + 65_535) / 65_536 && rows.type == base.type)
            #expect(rows.rowCount == ids.filter { (0..<6000).contains($0) }.count)
            var at = 0
            for s in 0..<rows.segmentCount {
                let segment = try rows.segment(s)
                for index in 0..<3 {
                    let reader = try segment.column(index)
                    #expect(reader.type == base.type.columns[index].type && reader.rowCount == segment.rowCount)
                    var column = Column(reader.type)
                    for vector in [0, segment.vectorCount - 1] {
                        try reader.read(vector: vector, into: &column)
                        for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                            #expect(column.value(at: row - vector * 1024) == expected(index, ids[at + row], of: 6000))
                        }
                    }
                    #expect(try reader.value(at: 0) == (segment.live?[0] ?? true ? expected(index, ids[at], of: 6000) : .null))
                }
                #expect(try segment.rowID(at: segment.rowCount - 1) == ids[at + segment.rowCount - 1])
                at += segment.rowCount
            }
            #expect(at == count)
        }
        #expect(try SelectedRows([5], of: base).related("T") === base)
        #expect(try SelectedRows([5], of: base).segmentIndex(of: 6) == nil)
    }

    @Test func `links in a file lead to tables of the same version`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        let dog = TypeSchema("Dog", columns: [ColumnSchema("owner", ColumnType(.link, optional: true, target: "Person"))])
        try transaction.extendSchema([dog, TypeSchema("Person", columns: [ColumnSchema("name", ColumnType(.string))])])
        let ada = try transaction.insert("Person", [.string("Ada")])
        try transaction.insert("Dog", [.link(ada)])
        try transaction.commit()
        let dogs = try #require(try database.snapshot().table(named: "Dog"))
        let people = try #require(try dogs.related("Person"))
        #expect(people.type.name == "Person" && people.rowCount == 1)
        #expect(try dogs.related("Cat") == nil)
        var names = try LinkedColumn(people, path: [0])
        #expect(try names.fetch([ada, ada + 1], present: nil).value(at: 0) == .string("Ada"))
        #expect(try !names.isLive(ada + 1))
    }

    @Test func `selected rows return embedded objects both as stored links and as complete objects`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        let person = TypeSchema(
            "Person",
            columns: [ColumnSchema("home", ColumnType(.embedded, optional: true, target: "Address")), ColumnSchema("n", ColumnType(.int))])
        try transaction.extendSchema([
            person, TypeSchema("Address", columns: [ColumnSchema("city", ColumnType(.string))], isEmbedded: true),
        ])
        for i in 0..<3 { try transaction.insert("Person", [i == 1 ? .null : .object([.init("city", .string("c\(i)"))]), .int(Int64(i))]) }
        try transaction.commit()
        let people = try #require(try database.snapshot().table(named: "Person"))
        let segment = try SelectedRows([2, 1, 0, 2], of: people).segment(0)
        let stored = try segment.storedColumn(0)
        #expect(stored.type.kind == .link)
        #expect(try (0..<4).map { try stored.value(at: $0) } == [.link(1), .null, .link(0), .link(1)])
        #expect(try segment.storedColumn(1).value(at: 0) == .int(2))
        #expect(
            try (0..<4).map { try segment.column(path: [0, 0]).value(at: $0) } == [.string("c2"), .null, .string("c0"), .string("c2")])
        var whole = Column(person.columns[0], in: people.schema)
        try segment.column(0).read(vector: 0, into: &whole)
        #expect(stripped(whole.value(at: 3)) == .object([.init("", .string("c2"))]) && whole.value(at: 1) == .null)
    }
}
