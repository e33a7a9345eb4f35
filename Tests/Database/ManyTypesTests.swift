import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Transactions that add types or columns again and again.
@Suite struct ManyTypesTests {
    private func type(_ number: Int, columns: Int = 1) -> TypeSchema {
        TypeSchema("T\(number)", columns: (0..<columns).map { ColumnSchema("c\($0)", ColumnType(.int, optional: true)) })
    }

    @Test(arguments: Seed.first(8)) func `types that are added one by one between other changes have the rows of each step`(seed: Seed)
        throws
    {
        var random = Random(seed)
        let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path)
        var rows: [Int: [Int64: [Value]]] = [:], columns: [Int: Int] = [:], held: [WorkingTable] = []
        for part in 0..<3 {
            let transaction = try database.begin()
            for step in 0..<60 {
                let number = part * 60 + step
                try transaction.extendSchema([type(number)])
                (rows[number], columns[number]) = ([:], 1)
                for _ in 0..<random.below(5) {
                    let other = random.below(number + 1), count = columns[other]!
                    switch random.below(6) {
                    case 0:
                        // A new column: rows that exist have null in it.
                        try transaction.extendSchema([type(other, columns: count + 1)])
                        columns[other] = count + 1
                        for id in rows[other]!.keys { rows[other]![id]!.append(.null) }
                    case 1:
                        guard let id = rows[other]!.keys.min() else { continue }
                        try transaction.update("T\(other)", rowID: id, column: "c0", .int(Int64(step)))
                        rows[other]![id]![0] = .int(Int64(step))
                    case 2:
                        guard let id = rows[other]!.keys.max() else { continue }
                        try transaction.delete("T\(other)", rowID: id)
                        rows[other]![id] = nil
                    case 3:
                        let batch = RandomTables.batch(
                            (0..<3).map { i in (0..<count).map { .int(Int64(i + $0)) } }, of: transaction.schema["T\(other)"]!,
                            in: transaction.schema)
                        let first = transaction.states[other].nextRowID
                        try transaction.bulkWriter("T\(other)").append(batch)
                        for i in 0..<3 { rows[other]![first + Int64(i)] = (0..<count).map { .int(Int64(i + $0)) } }
                    default:
                        let values = (0..<count).map { Value.int(Int64($0 * step)) }
                        rows[other]![try transaction.insert("T\(other)", values)] = values
                    }
                }
                if random.below(10) == 0 { try transaction.keepPart() }
                // Tables that were requested before later types were added.
                if held.count < 5 { held.append(transaction.table("T\(number)")) }
                for table in held { #expect(try storedRows(table) == rows[table.index], "step \(step)") }
            }
            held = []
            try transaction.commit()
            let snapshot = try Database.open(path: path).snapshot()
            #expect(snapshot.verify(full: true).isEmpty)
            for number in rows.keys { #expect(try storedRows(snapshot.table(named: "T\(number)")!) == rows[number], "type \(number)") }
            for number in rows.keys { #expect(try storedRows(database.snapshot().table(named: "T\(number)")!) == rows[number]) }
        }
    }

    @Test func `a type that is added is checked like a whole schema`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema([type(0)])
        let missing = TypeSchema("L", columns: [ColumnSchema("to", ColumnType(.link, optional: true, target: "Missing"))])
        #expect(#expect(throws: FirnError.self) { try transaction.extendSchema([missing]) }?.code == .schema)
        let other = try Database.create(path: folder.file("b.firn")).begin()
        let twice = TypeSchema("D", columns: [ColumnSchema("a", ColumnType(.int)), ColumnSchema("a", ColumnType(.int))])
        #expect(#expect(throws: FirnError.self) { try other.extendSchema([twice]) }?.code == .schema)
    }
}
