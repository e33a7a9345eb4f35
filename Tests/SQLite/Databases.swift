import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

/// Makes databases from SQL, and reads them.
final class Databases {
    private let folder = TemporaryFolder()

    func path(_ name: String = "a.db") -> String { folder.file(name) }
    var names: [String] { folder.names }

    /// Executes statements in a new database. Returns its path.
    @discardableResult
    func make(_ sql: String, _ name: String = "a.db") throws -> String {
        FileManager.default.createFile(atPath: path(name), contents: nil)
        let connection = try SQLiteConnection(writing: path(name), named: name)
        try connection.execute(sql)
        return path(name)
    }

    func bytes(_ name: String = "a.db") throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }
}

/// Whether a column has as many entries as rows. The fields of embedded objects are columns of their own.
private func isWhole(_ column: Column, _ rows: Int) -> Bool {
    guard column.count == rows, column.present.map({ $0.count == rows }) ?? true else { return false }
    if column.type.isCollection {
        return column.offsets.count == rows + 1 && column.children.allSatisfy { isWhole($0, column.offsets[rows]) }
    }
    return column.type.kind == .embedded ? column.children.allSatisfy { isWhole($0, rows) } : column.holds(rows)
}

/// All that was read of a database.
struct ReadDatabase {
    let schema: Schema
    var rows: [String: [[Value]]] = [:]
    var remarks: [String] = []

    init(_ path: String, _ change: (inout SQLiteOptions) -> Void = { _ in }) throws(FirnError) {
        try self.init(Input(path: path), change)
    }

    init(_ input: Input, _ change: (inout SQLiteOptions) -> Void = { _ in }) throws(FirnError) {
        var options = SQLiteOptions()
        change(&options)
        let reader = try SQLiteReader(input, options: options)
        schema = reader.schema
        while let (type, batch) = try reader.next() {
            for column in batch.columns { #expect(isWhole(column, batch.count)) }
            for row in 0..<batch.count { rows[type, default: []].append(batch.columns.map { $0.value(at: row) }) }
        }
        remarks = reader.remarks
    }

    /// The columns of a type as `name type`, separated by commas.
    func columns(_ type: String) -> String {
        schema[type]?.columns.map { "\($0.name) \($0.type.name)\($0.logical.map { " \($0)" } ?? "")" }.joined(separator: ", ") ?? "no type"
    }

    func key(_ type: String) -> [String] { schema[type].map { type in type.key.map { type.columns[$0].name } } ?? [] }
    func values(_ type: String, _ column: Int) -> [Value] { (rows[type] ?? []).map { $0[column] } }
}
