import FirnBytes
import FirnDisk
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnRealmFile

/// Compares every fixture with the contents that Realm itself reports (`X.json` next to `X.realm`).
@Suite struct FixtureTests {
    static let names = [
        "all_types", "collections", "compacted", "empty_committed", "empty_no_commit", "encrypted", "ints", "links", "many_commits",
        "mixed",
        "schema", "sparse_keys", "streaming_copy", "streaming_v0", "strings",
    ]

    @Test(arguments: names, [FileReading.mapped, .copied]) func `every fixture reads as Realm reads it`(
        _ name: String, _ reading: FileReading
    )
        throws
    {
        guard let folder = SharedData.file("realm") else { return }
        var options = RealmFileOptions()
        options.readsInternal = true
        options.reading = reading
        if name == "encrypted" {
            options.key = try EncryptionKey(written: Array(Data(contentsOf: folder.appending(path: "encrypted.key.hex"))))
        }
        let reader = try RealmFileReader(Input(path: folder.appending(path: "\(name).realm").path), options: options)
        var rows: [String: [[Value]]] = [:]
        while let (type, batch) = try reader.next() {
            for column in batch.columns { #expect(column.isWhole(batch.count)) }
            for row in 0..<batch.count { rows[type, default: []].append(batch.columns.map { $0.value(at: row) }) }
        }
        let json = try Data(contentsOf: folder.appending(path: "\(name).json"))
        let dump = try RealmDump(try #require(ExactJSON.parse(json) as? [String: Any]))
        try dump.compare(reader.schema, rows)
        if name != "empty_no_commit" { #expect(reader.remarks == []) }
    }
}

/// The contents of a file as Realm reports them.
struct RealmDump {
    let tables: [[String: Any]]
    /// The objects of all tables by name and key, and their positions.
    private var objects: [String: [Int64: [String: Any]]] = [:], positions: [String: [Int64: Int]] = [:]

    init(_ json: [String: Any]) throws {
        tables = try #require(json["tables"] as? [[String: Any]])
        for table in tables {
            let name = table["name"] as! String
            for (position, object) in (table["objects"] as! [[String: Any]]).enumerated() {
                let key = (object["_key"] as! NSNumber).int64Value
                objects[name, default: [:]][key] = object
                positions[name, default: [:]][key] = position
            }
        }
    }

    private func type(_ name: String) -> String { name.hasPrefix("class_") ? String(name.dropFirst(6)) : name }

    func compare(_ schema: Schema, _ rows: [String: [[Value]]]) throws {
        #expect(schema.types.map(\.name) == tables.map { type($0["name"] as! String) })
        for table in tables {
            let name = table["name"] as! String, columns = table["columns"] as! [[String: Any]]
            let type = try #require(schema[type(name)])
            #expect(type.isEmbedded == (table["type"] as! String == "embedded"))
            #expect(type.key.map { type.columns[$0].name } == [table["primaryKey"] as? String].compactMap(\.self))
            #expect(type.columns.map(\.name) == columns.map { $0["name"] as! String })
            for (column, expected) in zip(type.columns, columns) { compare(column, expected, table) }
            if type.isEmbedded { continue }
            let objects = table["objects"] as! [[String: Any]], found = rows[type.name] ?? []
            #expect(found.count == objects.count && objects.count == table["count"] as! Int, "\(name)")
            for (row, object) in zip(found, objects) {
                for (column, value) in zip(columns, row) {
                    let expected = try self.value(object[column["name"] as! String] ?? NSNull(), column)
                    if !RealmDump.isSame(value, expected) {
                        Issue.record("\(name).\(column["name"]!) of object \(object["_key"]!): \(value), expected \(expected)")
                    }
                }
            }
        }
    }

    private func compare(_ column: ColumnSchema, _ expected: [String: Any], _ table: [String: Any]) {
        let names = ["binary": "data", "timestamp": "date", "mixed": "any"], kind = expected["type"] as! String
        let collection = expected["collection"] as! String
        #expect("\(column.type.collection)" == (collection == "dictionary" ? "map" : collection))
        #expect(column.type.kind == .embedded && kind == "link" || column.type.kind.name == names[kind] ?? kind)
        let isNullable = expected["nullable"] as! Bool && kind != "mixed"
        #expect((column.type.isCollection ? column.type.elementIsOptional : column.type.isOptional) == isNullable, "\(column.name)")
        #expect(column.type.target == (expected["target"] as? String).map(type))
        if column.name != table["primaryKey"] as? String {
            #expect(column.indexes.contains(.values) == (expected["index"] as! String == "general"), "\(column.name)")
            #expect(column.indexes.contains(.words) == (expected["index"] as! String == "fulltext"), "\(column.name)")
        }
    }

    /// Equality of bits, except that a column of floats does not keep the payload of a NaN.
    private static func isSame(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern || x.isNaN && y.isNaN
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern || x.isNaN && y.isNaN
        case (.list(let x), .list(let y)), (.set(let x), .set(let y)): x.count == y.count && zip(x, y).allSatisfy(isSame)
        case (.map(let x), .map(let y)): x.count == y.count && zip(x, y).allSatisfy { $0.key == $1.key && isSame($0.value, $1.value) }
        case (.object(let x), .object(let y)): x.count == y.count && zip(x, y).allSatisfy { isSame($0.value, $1.value) }
        default: a == b
        }
    }

    // MARK: Values

    private func value(_ json: Any, _ column: [String: Any]) throws -> Value {
        let kind = column["type"] as! String
        func one(_ json: Any) throws -> Value { try scalar(json, kind, column["target"] as? String) }
        switch column["collection"] as! String {
        case "list": return .list(try (json as! [Any]).map(one))
        case "set": return .set(Value.distinctSorted(try (json as! [Any]).map(one)))
        case "dictionary":
            return .map(
                try (json as! [String: Any]).map { Value.Entry($0.key, try one($0.value)) }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        default: return try one(json)
        }
    }

    private func scalar(_ json: Any, _ kind: String, _ target: String?) throws -> Value {
        if json is NSNull { return .null }
        let object = json as? [String: Any]
        switch kind {
        case "int": return .int((json as! NSNumber).int64Value)
        case "bool": return .bool((json as! NSNumber).boolValue)
        case "float": return .float(Float(RealmDump.number(json)))
        case "double": return .double(RealmDump.number(json))
        case "string": return .string(json as! String)
        case "binary": return .data(RealmDump.bytes(object!["$hex"] as! String))
        case "timestamp":
            let parts = (object!["$ts"] as! [NSNumber]).map(\.int64Value), before = parts[1] < 0
            return .date(Timestamp(seconds: parts[0] - (before ? 1 : 0), nanoseconds: Int32(parts[1] + (before ? 1_000_000_000 : 0))))
        case "decimal128": return .decimal(try #require(Decimal(object!["$dec"] as! String)))
        case "objectId": return .objectID(try #require(Identifier(objectIDText: object!["$oid"] as! String)))
        case "uuid": return .uuid(try #require(Identifier(uuidText: object!["$uuid"] as! String)))
        case "link", "typedLink":
            let parts = object!["$link"] as! [Any], table = parts[0] as! String, key = (parts[1] as! NSNumber).int64Value
            if kind == "typedLink" { return .map([.init("$link", .list([.string(type(table)), .link(Int64(positions[table]![key]!))]))]) }
            guard tables.first(where: { $0["name"] as! String == table })!["type"] as! String == "embedded" else {
                return .link(Int64(positions[table]![key]!))
            }
            let columns = tables.first { $0["name"] as! String == table }!["columns"] as! [[String: Any]]
            return .object(
                try columns.map { .init($0["name"] as! String, try value(objects[table]![key]![$0["name"] as! String] ?? NSNull(), $0)) })
        case "mixed": return try mixed(object!)
        default: throw FirnError(.usage, "type \(kind)")
        }
    }

    private func mixed(_ json: [String: Any]) throws -> Value {
        let kind = json["t"] as! String
        switch kind {
        case "list": return .list(try (json["v"] as! [Any]).map { $0 is NSNull ? .null : try mixed($0 as! [String: Any]) })
        case "dictionary":
            return .map(
                try (json["v"] as! [String: Any]).map {
                    Value.Entry($0.key, $0.value is NSNull ? .null : try mixed($0.value as! [String: Any]))
                }
                .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        case "null": return .null
        default: return try scalar(json["v"]!, kind == "link" ? "typedLink" : kind, nil)
        }
    }

    private static func number(_ json: Any) -> Double {
        guard let name = (json as? [String: Any])?["$num"] as? String else { return (json as! NSNumber).doubleValue }
        return name == "nan" ? .nan : name == "inf" ? .infinity : -.infinity
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)! }
    }
}

extension Column {
    /// Whether there are as many entries as rows. The fields of embedded objects are columns of their own.
    func isWhole(_ rows: Int) -> Bool {
        guard count == rows, present.map({ $0.count == rows }) ?? true else { return false }
        if type.isCollection { return offsets.count == rows + 1 && children.allSatisfy { $0.isWhole(offsets[rows]) } }
        return type.kind == .embedded ? children.allSatisfy { $0.isWhole(rows) } : holds(rows)
    }
}
