import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// Applying the changes between two versions to one of them gives the other, in both directions.
@Suite struct ApplyTests {
    private typealias Rows = [Int64: [Value]]

    private func rows(_ table: StoredTable?) throws -> Rows {
        var rows: Rows = [:]
        guard let table else { return rows }
        for i in 0..<table.segmentCount {
            let segment = try table.segment(i)
            for position in 0..<segment.rowCount where segment.live?[position] ?? true {
                let id = try segment.rowID(at: position)
                rows[id] = try #require(try table.row(id))
            }
        }
        return rows
    }

    /// Applies the changes to `old`. Only values that the changes name are taken from `new`.
    private func apply(_ changes: TableChanges, to old: Rows, from new: Rows, columns: [Int?]) throws -> Rows {
        var rows = old.mapValues { values in columns.map { $0.map { values[$0] } ?? .null } }
        for id in changes.deleted { #expect(rows.removeValue(forKey: id) != nil, "deleted \(id)") }
        for id in changes.inserted { #expect(rows.updateValue(try #require(new[id]), forKey: id) == nil, "inserted \(id)") }
        for (position, id) in changes.modified.rowIDs.enumerated() {
            let mask = changes.modified.columns(at: position)
            for column in 0..<mask.count where mask[column] { rows[id]![column] = try #require(new[id])[column] }
        }
        return rows
    }

    /// `FIRN_HISTORIES` sets the number of random histories. Failures include the seed.
    private static let histories = UInt64(ProcessInfo.processInfo.environment["FIRN_HISTORIES"] ?? "") ?? 4

    @Test(arguments: Seed.first(histories))
    func `changes between any two versions, applied to one of them, give the other`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 7919), schema = random.schema(), ids: [Int64] = []
        let database = try Database.create(path: folder.file("a.firn"), keep: 64)
        for step in 0..<12 {
            let transaction = try database.begin()
            if step == 6, !schema["Thing"]!.columns.contains(where: { $0.name == "late" }) {
                let position = schema.types.firstIndex { $0.name == "Thing" }!
                schema.types[position].columns.append(ColumnSchema("late", ColumnType(.int, optional: true)))
            }
            try transaction.extendSchema(schema.types)
            let type = schema["Thing"]!
            if random.chance(40) {
                let new = random.rows(random.number(1...1300), of: type, in: schema)
                let first = try transaction.bulkWriter("Thing").append(RandomTables.batch(new, of: type, in: schema))
                ids += (0..<new.count).map { first + Int64($0) }
            }
            for row in random.rows(random.number(0...30), of: type, in: schema) { ids.append(try transaction.insert("Thing", row)) }
            for _ in 0..<random.number(0...40) where !ids.isEmpty {
                let id = ids[random.number(0...ids.count - 1)], column = type.columns[random.number(0...type.columns.count - 1)]
                try transaction.update("Thing", rowID: id, column: column.name, random.value(column.type, in: schema))
            }
            for _ in 0..<random.number(0...15) where !ids.isEmpty {
                try transaction.delete("Thing", rowID: ids.remove(at: random.number(0...ids.count - 1)))
            }
            if random.chance(20) { try transaction.flushAll() }
            try transaction.commit()
            if random.chance(15), step > 2 {
                // Reverts to an older version: deleted rows exist again, before the newest rows.
                let older = try database.snapshot(version: UInt64(random.number(1...step)))
                let back = try database.begin()
                try back.revert(to: older)
                try back.commit()
                ids = try rows(database.snapshot().table(named: "Thing")).keys.sorted()
            }
        }
        let versions = try database.versions().map(\.version)
        for _ in 0..<10 {
            let pair = [versions.randomElement(using: &random.generator)!, versions.randomElement(using: &random.generator)!]
            let (a, b) = (try database.snapshot(version: pair[0]), try database.snapshot(version: pair[1]))
            for name in b.schema.types.map(\.name) {
                guard let old = a.table(named: name), let new = b.table(named: name) else { continue }
                let (before, after) = (try rows(old), try rows(new))
                let columns = new.type.columns.map { column in old.type.columns.firstIndex { $0.name == column.name } }
                let changes = try TableChanges.between(old, new)
                #expect(
                    try apply(changes, to: before, from: after, columns: columns) == after,
                    "seed \(seed): \(name) from \(pair[0]) to \(pair[1])")
            }
        }
    }
}
