import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation

@testable import FirnArrow

/// The rows of a file as texts.
struct ReadFile {
    var schema: Schema
    var rows: [String] = []
    var remarks: [String]

    /// `isPipe`: the bytes are read message by message, as from a pipe.
    init(
        _ bytes: [UInt8], threads: Int = 1, batchRows: Int = 65_536, columns: [String]? = nil, isPipe: Bool = true
    ) throws {
        var options = ArrowOptions(typeName: "t")
        options.threads = threads
        options.batchRows = batchRows
        options.columns = columns
        options.staysOffDisk = true
        let reader =
            isPipe
            ? try ArrowReader.open(Input(bytes: bytes, name: "t.arrow"), options: options)
            : try ArrowReader.mapped(FileBytes(array: bytes, name: "t.arrow"), options: options)
        schema = reader.schema
        let type = reader.schema.types[0]
        while let (_, batch) = try reader.next() {
            for column in batch.columns { precondition(column.count == batch.count) }
            for row in 0..<batch.count {
                rows.append(
                    zip(type.columns, batch.columns).map { nestedText($1.value(at: row), notation: $0.notation) }.joined(separator: " "))
            }
        }
        remarks = reader.remarks
    }

    /// The types of the columns, with their logical types.
    var types: [String] {
        schema.types[0].columns.map { "\($0.name) \($0.type.name)" + ($0.logical.map { " \($0)" } ?? "") }
    }
}

enum Fixture {
    static let names = ["types.arrow", "types-lz4.arrows", "nested.arrow", "nested.arrows", "odd.arrow", "deltas.arrows", "orders.arrow"]
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/arrow").standardized.path

    static func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: folder + "/" + name))) }
}
