import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// Reads text and collects all batches.
struct Table {
    var schema: Schema
    var batches: [Batch]
    var remarks: [String]

    init(_ text: [UInt8], _ layout: JSONOptions.Layout, change: (inout JSONOptions) -> Void = { _ in }) throws {
        var options = JSONOptions(layout: layout)
        change(&options)
        let reader = try JSONReader(Input(bytes: text, name: "test.json"), options: options)
        batches = []
        while let (_, batch) = try reader.next() { batches.append(batch) }
        schema = reader.schema
        remarks = reader.remarks
        #expect(batches.reduce(0) { $0 + $1.count } == reader.rowCount)
    }

    init(_ text: String, _ layout: JSONOptions.Layout = .document, change: (inout JSONOptions) -> Void = { _ in }) throws {
        try self.init(Array(text.utf8), layout, change: change)
    }

    var type: TypeSchema { schema.types[0] }
    func typeName(_ column: String) -> String? { type.index(of: column).map { type.columns[$0].type.name } }

    func written(_ layout: JSONOptions.Layout = .document, change: (inout JSONOptions) -> Void = { _ in }) throws -> [UInt8] {
        var options = JSONOptions(layout: layout)
        change(&options)
        let output = Output(memory: "out")
        let writer = JSONWriter(output, options: options)
        try writer.begin(schema)
        for batch in batches { try writer.write(batch, type: type.name) }
        try writer.finish()
        return output.bytes
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Parses JSON with Foundation, for comparison with `isEqual`.
func foundation(_ bytes: [UInt8]) throws -> NSObject {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? NSObject)
}

func expectSameDocument(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
    let table = try Table(bytes, .document)
    let again = try table.written()
    #expect(try foundation(bytes).isEqual(foundation(again)), "written: \(text(again).prefix(2000))", sourceLocation: location)
}

func expectSameLines(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
    let table = try Table(bytes, .lines)
    let before = bytes.split(separator: 10), after = try table.written(.lines).split(separator: 10)
    #expect(before.count == after.count, sourceLocation: location)
    for (line, (a, b)) in zip(before, after).enumerated() where try !foundation(Array(a)).isEqual(foundation(Array(b))) {
        Issue.record("line \(line + 1): \(text(Array(a))) became \(text(Array(b)))", sourceLocation: location)
        return
    }
}

/// Reads a file of the shared data, if it exists.
func shared(_ path: String) -> [UInt8]? {
    SharedData.file(path).flatMap { try? Data(contentsOf: $0) }.map { Array($0) }
}

let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
    "Fixtures/json")
func fixture(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: fixtures.appendingPathComponent(name))) }
