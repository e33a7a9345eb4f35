import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// A file with one type, for tests of how columns are stored.
struct OneTypeFile {
    let type: TypeSchema
    let database: Database

    /// Writes rows with ids from 0.
    init(_ type: TypeSchema, _ rows: [[Value]], _ path: String, profile: Profile = .standard) throws {
        self.type = type
        database = try Database.create(path: path)
        let transaction = try database.begin()
        transaction.profile = profile
        try transaction.extendSchema([type])
        try transaction.bulkWriter(type.name).append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
    }

    init(opening path: String, _ type: TypeSchema) throws { (self.type, database) = (type, try Database.open(path: path)) }

    /// The encodings of each column, as `firn info` prints them.
    var encodings: [String: String] {
        get throws {
            let columns = try database.snapshot().statistics()[0].columns
            return Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.encodings.map(\.name).joined(separator: ", ")) })
        }
    }

    /// Expects exactly these rows, in a scan and by row id, and a file without defects.
    func expect(_ model: [Int64: [Value]], _ note: String) throws {
        let snapshot = try Database.open(path: database.path).snapshot(), table = snapshot.table(named: type.name)!
        let back = try allRows(table), expected = model.sorted { $0.key < $1.key }
        #expect(back.map(\.id) == expected.map(\.key), "\(note)")
        for (row, wanted) in zip(back, expected) where row.values != wanted.value {
            Issue.record("\(note), row \(row.id): \(row.values) for \(wanted.value)")
            break
        }
        for (id, values) in expected.suffix(40) { #expect(try table.row(id) == values, "\(note), row \(id)") }
        let defects = snapshot.verify(full: true)
        #expect(defects.isEmpty, "\(note): \(defects)")
    }

    /// Gives one in `share` rows the value of the next row in a column, deletes a row, and writes the delta store to segments.
    func change(column: Int, oneIn share: Int, deleting gone: Int, _ model: inout [Int64: [Value]], from rows: [[Value]]) throws {
        let transaction = try database.begin()
        for i in stride(from: 0, to: rows.count, by: share) {
            guard var values = model[Int64(i)] else { continue }
            values[column] = rows[(i + 1) % rows.count][column]
            try transaction.update(type.name, rowID: Int64(i), column: type.columns[column].name, values[column])
            model[Int64(i)] = values
        }
        if model.removeValue(forKey: Int64(gone)) != nil { try transaction.delete(type.name, rowID: Int64(gone)) }
        try transaction.commit()
        let flush = try database.begin()
        try flush.flushAll()
        try flush.commit()
    }
}
