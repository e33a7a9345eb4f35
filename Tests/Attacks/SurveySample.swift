import FirnBytes
import FirnCSV
import FirnDatabase
import FirnExchange
import FirnJSON
import FirnKit
import FirnQuery
import FirnTable
import Foundation

private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

/// A file that the survey damages, and its expected content.
struct SurveySample {
    /// The content of a version: the row ids and rows of each type.
    typealias Content = [String: [Int64: [Value]]]

    var name: String
    var bytes: [UInt8]
    var key: EncryptionKey?
    var truths: [UInt64: Content] = [:]
    var answers: [UInt64: [[Int64]]] = [:]

    enum Wrong: Error { case damaged(String), missing(String) }

    // MARK: Reading

    static func content(_ snapshot: DatabaseSnapshot) throws -> Content {
        var content: Content = [:]
        for table in snapshot.tables {
            var rows: [Int64: [Value]] = [:]
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                var columns: [[Value]] = []
                for place in table.type.columns.indices {
                    let reader = try segment.column(place)
                    var column = Column(table.type.columns[place], in: table.schema), values: [Value] = []
                    for vector in 0..<segment.vectorCount {
                        try reader.read(vector: vector, into: &column)
                        for row in 0..<column.count { values.append(column.value(at: row)) }
                    }
                    columns.append(values)
                }
                for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                    rows[try segment.rowID(at: row)] = columns.map { $0[row] }
                }
            }
            guard rows.count == table.rowCount else { throw Wrong.damaged("\(rows.count) rows, not \(table.rowCount)") }
            content[table.type.name] = rows
        }
        return content
    }

    /// Queries of columns with and without indexes.
    static func question(_ column: ColumnSchema) -> String? {
        guard !column.type.isCollection else { return nil }
        let name = "`\(column.name)`"
        return switch column.type.kind {
        case .int: "\(name) BETWEEN {3, 9}"
        case .double, .float: "\(name) == 7.25 OR \(name) < -500"
        case .string: "\(name) == 'word7' OR \(name) BEGINSWITH 'word1'"
        case .date: "\(name) > 2030-01-01@00:00:00"
        default: nil
        }
    }

    /// Returns the results of the queries as row ids.
    static func answers(_ snapshot: DatabaseSnapshot) throws -> [[Int64]] {
        var answers: [[Int64]] = []
        for table in snapshot.tables where !table.type.isEmbedded {
            for filter in table.type.columns.compactMap(question) {
                let run = try QueryRun(QueryRequest(filter: filter), table: table)
                answers.append(try run.rowLocations().map { try table.segment($0.segment).rowID(at: $0.position) })
            }
        }
        return answers
    }

    // MARK: Creating

    private init(_ name: String, _ path: String, key: EncryptionKey? = nil) throws {
        self.name = name
        self.key = key
        bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let database = try Database.open(path: path, key: key)
        for version in Set(try database.versions().map(\.version) + database.tags().map(\.version)) {
            let snapshot = try database.snapshot(version: version)
            truths[version] = try SurveySample.content(snapshot)
            answers[version] = try SurveySample.answers(snapshot)
        }
    }

    /// Returns all fixtures, files with every kind of column, and files converted from real data if that is available.
    static func all() throws -> [SurveySample] {
        let folder = TemporaryFolder()
        var samples: [SurveySample] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Tests/Fixtures/firn").path).sorted()
        where name.hasSuffix(".firn") {
            samples.append(
                try SurveySample(
                    name, root.appending(path: "Tests/Fixtures/firn/\(name)").path,
                    key: name == "encrypted.firn" ? EncryptionKey(Array(0..<64))! : nil))
        }
        for seed in [21, 22, 23, 24] as [UInt64] { samples.append(try random(seed, folder.file("\(seed).firn"))) }
        samples.append(try wide(folder.file("wide.firn")))
        samples.append(try sealed(folder.file("sealed.firn")))
        for name in ["csv/stats.csv", "pairs/country-codes/old.csv", "json/de.1.json"] {
            guard let path = SharedData.file(name)?.path else { continue }
            samples.append(try converted(path, folder.file(name.replacingOccurrences(of: "/", with: "-") + ".firn")))
        }
        return samples
    }

    /// Every kind of column and collection, with indexes, overlays, deletions, a delta and several versions. Every fourth file is in one
    /// extent.
    private static func random(_ seed: UInt64, _ path: String) throws -> SurveySample {
        var random = RandomTables(seed: seed)
        let schema = random.schema(), type = schema.types.last!
        let database = try Database.create(path: path, atFirstCommit: seed % 4 == 0)
        let first = try database.begin()
        try first.extendSchema(schema.types)
        if seed % 4 != 0 {
            for column in type.columns where column.type.refusal(of: .values) == nil { try first.addIndex("Thing", column.name, .values) }
        }
        try first.bulkWriter("Thing").append(
            RandomTables.batch(random.rows(seed % 4 == 0 ? 60 : 1000, of: type, in: schema), of: type, in: schema))
        try first.commit()
        for round in 0..<(seed % 4 == 0 ? 0 : 4) {
            let transaction = try database.begin()
            for step in 0..<20 {
                let column = type.columns[random.number(0...type.columns.count - 1)]
                try transaction.update("Thing", rowID: Int64(step * 11 + round), column: column.name, random.value(column.type, in: schema))
                _ = try transaction.insert("Thing", random.rows(1, of: type, in: schema)[0])
            }
            try transaction.delete("Thing", rowID: Int64(900 + round))
            if round == 1 { try transaction.flushAll() }
            try transaction.commit()
        }
        return try SurveySample("random \(seed)", path)
    }

    /// Wide segments: chunks, shared dictionaries and headers in separate extents.
    private static func wide(_ path: String) throws -> SurveySample {
        let database = try Database.create(path: path), begun = try database.begin()
        let type = TypeSchema(
            "Wide",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
                ColumnSchema("x", ColumnType(.double)),
                ColumnSchema("tags", ColumnType(.string, collection: .list)),
            ], key: [0])
        try begun.extendSchema([type])
        let schema = begun.schema, writer = try begun.bulkWriter("Wide")
        for part in 0..<3 {
            let rows: [[Value]] = (0..<30_000).map { i in
                let id = part * 30_000 + i
                return [
                    .int(Int64(id)), id % 7 == 0 ? .null : .string("word\(id % 300)"), .double(Double(id * 7919 % 1000) / 8 - 20),
                    .list((0..<(id % 3)).map { .string("t\($0)") }),
                ]
            }
            try writer.append(RandomTables.batch(rows, of: schema["Wide"]!, in: schema))
        }
        try begun.commit()
        let more = try database.begin()
        for id in stride(from: Int64(0), to: 90_000, by: 1000) { try more.update("Wide", rowID: id, column: "x", .double(-600)) }
        try more.commit()
        return try SurveySample("wide", path)
    }

    /// An encrypted file with several versions, a tag, an index, overlays and a delta.
    private static func sealed(_ path: String) throws -> SurveySample {
        let key = EncryptionKey((0..<64).map { UInt8($0 * 3 & 255) })!
        let database = try Database.create(path: path, key: key), first = try database.begin()
        let type = TypeSchema(
            "Sealed",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
                ColumnSchema("at", ColumnType(.date)),
            ], key: [0])
        try first.extendSchema([type])
        let rows: [[Value]] = (0..<3000).map {
            [.int(Int64($0)), $0 % 9 == 0 ? .null : .string("word\($0 % 40)"), .date(Timestamp(seconds: Int64($0) * 1_000_003))]
        }
        try first.bulkWriter("Sealed").append(RandomTables.batch(rows, of: first.schema["Sealed"]!, in: first.schema))
        try first.addIndex("Sealed", "name", .values)
        try first.commit()
        try database.tag("first", database.snapshot())
        for round in 0..<4 {
            let transaction = try database.begin()
            for id in stride(from: Int64(round), to: 3000, by: 151) {
                try transaction.update("Sealed", rowID: id, column: "name", .string("word\(round)"))
            }
            for id in 0..<10 {
                _ = try transaction.insert("Sealed", [.int(Int64(10_000 + round * 10 + id)), .null, .date(Timestamp(seconds: 5))])
            }
            if round == 2 { try transaction.flushAll() }
            try transaction.commit()
        }
        return try SurveySample("sealed", path, key: key)
    }

    private static func converted(_ source: String, _ path: String) throws -> SurveySample {
        let input = try Input(path: source), name = URL(filePath: source).deletingPathExtension().lastPathComponent
        let reader: any BatchReader
        if source.hasSuffix(".csv") {
            var options = CSVOptions()
            options.typeName = name
            reader = try CSVReader(input, options: options)
        } else {
            reader = try JSONReader(input, options: JSONOptions(layout: .document, typeName: name))
        }
        let transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema(reader.schema.types)
        var writers: [String: BulkWriter] = [:]
        while let (type, batch) = try reader.next() {
            if writers[type] == nil { writers[type] = try transaction.bulkWriter(type) }
            try writers[type]!.append(batch)
        }
        try transaction.commit()
        return try SurveySample(URL(filePath: source).lastPathComponent, path)
    }
}
