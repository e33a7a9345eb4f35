import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

/// Versions of one file share segments, which their difference leaves out.
@Suite struct VersionDifferenceTests {
    private static let types: [TypeSchema] = [
        TypeSchema("Row", columns: [column("id", .int, optional: false), column("name", .string), column("score", .double)], key: [0]),
        TypeSchema("Row", columns: [column("name", .string), column("id", .string), column("score", .double)], key: [1]),
        TypeSchema("Row", columns: [column("id", .int), column("name", .string), column("score", .double)], key: [0, 1]),
    ]

    private static func row(_ type: Int, _ number: Int) -> [Value] {
        switch type {
        case 0: [.int(Int64(number)), .string("name \(number % 10)"), .double(Double(number))]
        case 1: [.string("name \(number % 10)"), .string("key \(number &* 7919 % 10_007)"), .double(Double(number))]
        default:
            [
                number % 50 == 0 ? .null : .int(Int64(number / 3)),
                .string("\(number % 3) \(number % 50 == 0 ? number : 1)"), .double(Double(number)),
            ]
        }
    }

    /// The same rows in memory, where nothing is shared.
    private func copy(_ table: any Table) throws -> MemoryTable {
        var batches: [Batch] = []
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            var batch = Batch(table.type, in: table.schema)
            for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                for i in table.type.columns.indices { batch.columns[i].append(try segment.column(i).value(at: row)) }
                batch.count += 1
            }
            batches.append(batch)
        }
        return MemoryTable(table.type, schema: table.schema, batches: batches)
    }

    private func load(_ numbers: Range<Int>, _ type: Int, _ database: Database) throws {
        let transaction = try database.begin()
        var batch = Batch(Self.types[type], in: Schema([Self.types[type]]))
        for number in numbers {
            for (i, value) in Self.row(type, number).enumerated() { batch.columns[i].append(value) }
            batch.count += 1
        }
        try transaction.bulkWriter("Row").append(batch)
        try transaction.commit()
    }

    private func editRow(
        _ type: Int, _ numbers: inout [Int64: Int], _ next: inout Int, _ transaction: DatabaseTransaction, _ random: inout Random
    ) throws(FirnError) {
        let id = numbers.keys.sorted()[random.below(numbers.count)], key = Self.types[type].key[0]
        switch random.below(7) {
        case 0:
            try transaction.delete("Row", rowID: id)
            numbers[id] = nil
        case 1:
            // The row moves: the same key gets another row id.
            try transaction.delete("Row", rowID: id)
            guard let number = numbers.removeValue(forKey: id) else { return }
            numbers[try transaction.insert("Row", Self.row(type, number))] = number
        case 2:
            // Another key.
            try transaction.update("Row", rowID: id, column: Self.types[type].columns[key].name, Self.row(type, next)[key])
            numbers[id] = type == 2 ? nil : next
            next += 1
        case 3:
            next += 1
            numbers[try transaction.insert("Row", Self.row(type, next - 1))] = next - 1
        default: try transaction.update("Row", rowID: id, column: "score", .double(Double(random.below(5))))
        }
    }

    /// Changes some rows in one transaction.
    private func edit(_ type: Int, _ numbers: inout [Int64: Int], _ next: inout Int, _ database: Database, _ random: inout Random) throws {
        let transaction = try database.begin()
        for _ in 0..<(1 + random.below(12)) {
            do {
                try editRow(type, &numbers, &next, transaction, &random)
            } catch {
                // The other column of the key can make it that of another row.
                guard error.code == .duplicateKey else { throw error }
            }
        }
        if random.below(5) == 0 { try transaction.flushAll() }
        try transaction.commit()
    }

    @Test(arguments: Seed.first(Tier.cases(6, of: 9))) func `the difference of two versions is that of all their rows`(seed: Seed) throws {
        var random = Random(seed)
        let type = Int(seed.number) % 3, folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([Self.types[type]])
        try transaction.commit()
        for part in 0..<5 { try load(part * 300..<(part + 1) * 300, type, database) }
        var next = 1500, numbers: [Int64: Int] = [:], snapshots = [try database.snapshot()]
        #expect(snapshots[0].table(named: "Row")!.segmentCount > 2)
        for (number, row) in try allRows(snapshots[0].table(named: "Row")!).enumerated() { numbers[row.id] = number }
        for step in 0..<14 {
            try edit(type, &numbers, &next, database, &random)
            if step % 3 == 0 { snapshots.append(try database.snapshot()) }
            if step == 7 { _ = try? Database.shrink(path: path) }
        }
        let copies = try snapshots.map { try copy($0.table(named: "Row")!) }
        for (i, old) in snapshots.enumerated() {
            for (j, new) in snapshots.enumerated() where i != j {
                let before = old.table(named: "Row")!, after = new.table(named: "Row")!
                let fast = try difference(before, after) { $0.execution.keepsPartners = i % 2 == 0 }
                let slow = try difference(copies[i], copies[j])
                #expect(try lines(fast) == lines(slow), "\(i) to \(j)")
                #expect(
                    [fast.added, fast.removed, fast.changed, fast.unchanged] == [slow.added, slow.removed, slow.changed, slow.unchanged])
                // Old rows are found at their places.
                let readers = fast.readers()
                try fast.forEachEntry(of: [.changed]) { entry throws(FirnError) in
                    if case .changed(let there, let here, _) = entry {
                        for column in fast.key {
                            #expect(try readers.old.value(there, column.old) == readers.new.value(here, column.new))
                        }
                    }
                    return true
                }
            }
        }
    }

    @Test func `repeated keys among changed rows are found`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([Self.types[0]])
        try transaction.commit()
        for _ in 0..<2 { try load(0..<300, 0, database) }
        let old = try database.snapshot()
        for _ in 0..<2 { try load(1000..<1010, 0, database) }
        let new = try database.snapshot()
        let error = #expect(throws: FirnError.self) { try difference(old.table(named: "Row")!, new.table(named: "Row")!) }
        #expect(error?.code == .duplicateKey)
    }
}
