import FirnBytes
import FirnKit
import FirnModel
import FirnQuery
import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

/// T6: files damaged in every way that disks do it. Each is read whole, asked through its indexes, verified and recovered: what comes out is right, or is
/// said to be damaged. `FIRN_SURVEY=n`: n times 100 flipped bits, 40 zeroed sectors, 40 truncations and 40 truncations while mapped for each file; the counts go to
/// `FIRN_SURVEY_REPORT`. What fails is told in `firn-survey-failure.txt` of the temporary folder.
@Suite struct SurveyTests {
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_SURVEY"].flatMap { Int($0) }

    /// What a version holds: row ids and rows of each type.
    private typealias Content = [String: [Int64: [Value]]]

    private enum Wrong: Error { case damaged(String) }

    private static func content(_ snapshot: DatabaseSnapshot) throws -> Content {
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
                for row in 0..<segment.rowCount where segment.live?[row] ?? true { rows[try segment.rowID(at: row)] = columns.map { $0[row] } }
            }
            guard rows.count == table.rowCount else { throw Wrong.damaged("\(rows.count) rows, not \(table.rowCount)") }
            content[table.type.name] = rows
        }
        return content
    }

    /// Questions to columns with and without indexes; the answers as row ids.
    private static func answers(_ snapshot: DatabaseSnapshot) throws -> [[Int64]] {
        var answers: [[Int64]] = []
        for table in snapshot.tables where !table.type.isEmbedded {
            for column in table.type.columns where !column.type.isCollection {
                let filter: String? = switch column.type.kind {
                case .int: "\(column.name) BETWEEN {3, 9}"
                case .double, .float: "\(column.name) == 7.25 OR \(column.name) < -500"
                case .string: "\(column.name) == 'word7' OR \(column.name) BEGINSWITH 'word1'"
                case .date: "\(column.name) > 2030-01-01@00:00:00"
                default: nil
                }
                guard let filter else { continue }
                let run = try QueryRun(QueryRequest(filter: filter), table: table)
                answers.append(try run.rowPositions().map { try table.segment($0.segment).rowID(at: $0.row) })
            }
        }
        return answers
    }

    private struct Sample {
        var name: String
        var bytes: [UInt8]
        var truths: [UInt64: Content] = [:]
        var answers: [UInt64: [[Int64]]] = [:]
    }

    private static func sample(_ name: String, _ path: String) throws -> Sample {
        var sample = Sample(name: name, bytes: Array(try Data(contentsOf: URL(filePath: path))))
        let database = try Database.open(path: path)
        for version in try database.versions() {
            let snapshot = try database.snapshot(version: version.version)
            sample.truths[version.version] = try content(snapshot)
            sample.answers[version.version] = try answers(snapshot)
        }
        return sample
    }

    private static func samples() throws -> [Sample] {
        let folder = TemporaryFolder()
        var samples: [Sample] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Tests/Fixtures/firn").path).sorted() where name.hasSuffix(".firn") {
            if let sample = try? sample(name, root.appending(path: "Tests/Fixtures/firn/\(name)").path) { samples.append(sample) }
        }
        // Every kind of column and collection, with indexes, patches, deletions, a delta and several versions; every fourth in one extent.
        for seed in [21, 22, 23, 24] as [UInt64] {
            var random = RandomTables(seed: seed)
            let schema = random.schema(), type = schema.types.last!, path = folder.file("\(seed).firn")
            let database = try Database.create(path: path, atFirstCommit: seed % 4 == 0)
            let first = try database.begin()
            try first.extendSchema(schema.types)
            if seed % 4 != 0 { for column in type.columns where column.type.refusal(of: .values) == nil { try first.addIndex("Thing", column.name, .values) } }
            try first.bulkWriter("Thing").append(RandomTables.batch(random.rows(seed % 4 == 0 ? 60 : 1000, of: type, in: schema), of: type, in: schema))
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
            samples.append(try sample("random \(seed)", path))
        }
        // Wide segments: chunks, shared dictionaries and headers in extents of their own.
        let path = folder.file("wide.firn"), database = try Database.create(path: path), begun = try database.begin()
        let type = TypeSchema("Wide", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("x", ColumnType(.double)),
                                                ColumnSchema("tags", ColumnType(.string, collection: .list))], key: [0])
        try begun.extendSchema([type])
        let schema = begun.schema, writer = try begun.bulkWriter("Wide")
        for part in 0..<3 {
            let rows: [[Value]] = (0..<30_000).map { i in
                let id = part * 30_000 + i
                return [.int(Int64(id)), id % 7 == 0 ? .null : .string("word\(id % 300)"), .double(Double(id * 7919 % 1000) / 8 - 20), .list((0..<(id % 3)).map { .string("t\($0)") })]
            }
            try writer.append(RandomTables.batch(rows, of: schema["Wide"]!, in: schema))
        }
        try begun.commit()
        let more = try database.begin()
        for id in stride(from: Int64(0), to: 90_000, by: 1000) { try more.update("Wide", rowID: id, column: "x", .double(-600)) }
        try more.commit()
        samples.append(try sample("wide", path))
        return samples
    }

    private struct Counts {
        var cases = 0, right = 0, older = 0, refused = 0, recovered = 0, complete = 0, nothing = 0
        mutating func add(_ other: Counts) {
            cases += other.cases; right += other.right; older += other.older; refused += other.refused
            recovered += other.recovered; complete += other.complete; nothing += other.nothing
        }
    }

    private static func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        // Exit tests do not pass on what their process says.
        try? Data((what() + "\n").utf8).write(to: FileManager.default.temporaryDirectory.appending(path: "firn-survey-failure.txt"))
        fatalError(what())
    }

    private static func examine(_ sample: Sample, _ path: String, _ what: String, _ counts: inout Counts) {
        counts.cases += 1
        let label = "\(sample.name), \(what)"
        var isRight = false
        do {
            let database = try Database.open(path: path)
            let snapshot = try database.snapshot()
            var failed = false
            if snapshot.version > 0 {
                expect(database.fallback != nil || snapshot.version == sample.truths.keys.max(), "\(label): version \(snapshot.version) is read without a word")
                if let found = try? content(snapshot) { expect(found == sample.truths[snapshot.version], "\(label): other data is read without a word") } else { failed = true }
                if let found = try? answers(snapshot) { expect(found == sample.answers[snapshot.version], "\(label): a query gives other rows without a word") } else { failed = true }
                let quick = snapshot.verify(full: false), full = snapshot.verify(full: true)
                expect(!failed || (!quick.isEmpty && !full.isEmpty), "\(label): cannot be read, and verify calls it intact")
                for defect in quick + full { expect(!defect.subject.isEmpty && !defect.damage.what.isEmpty, "\(label): a defect without a name") }
                if database.fallback != nil { counts.older += 1 } else if !failed { counts.right += 1 }
                // Where a commit is torn, readers take the version before; recovery takes what is left of the newer one, and says so.
                isRight = !failed && database.fallback == nil
            }
            if failed || snapshot.version == 0 { counts.refused += 1 }
        } catch { counts.refused += 1 }
        recover(sample, path, label, isRight, &counts)
    }

    /// What is recovered is what was there; what is missing is told.
    private static func recover(_ sample: Sample, _ path: String, _ label: String, _ isRight: Bool, _ counts: inout Counts) {
        let target = path + ".saved"
        defer { try? FileManager.default.removeItem(atPath: target) }
        do {
            let recovery = try Recovery.run(from: path, to: target, overwrite: true, profile: .fast, threads: 1)
            counts.recovered += 1
            if recovery.losses.isEmpty { counts.complete += 1 }
            guard let truth = sample.truths[recovery.version] else { return expect(false, "\(label): version \(recovery.version) was never there") }
            let snapshot = try Database.open(path: target).snapshot(), defects = snapshot.verify(full: true)
            expect(defects.isEmpty, "\(label): what is recovered is damaged: \(defects.first?.description ?? "")")
            let found = try content(snapshot)
            if recovery.losses.isEmpty { expect(found == truth, "\(label): nothing is said to be lost, and the rows are others") }
            let isUnsure = recovery.losses.contains { $0.type == nil }
            for (type, rows) in truth {
                let losses = recovery.losses.filter { $0.type == type }, columns = snapshot.schema[type]?.columns ?? []
                // Embedded objects are read through their owners: what is lost of them is null there.
                let isPlain = !columns.contains { $0.type.kind == .embedded }
                var missing = 0
                for (id, row) in rows {
                    let own = losses.filter { $0.rows?.contains(id) ?? true }
                    guard let saved = found[type]?[id] else {
                        missing += 1
                        expect(isUnsure || own.contains { $0.column == nil }, "\(label): row \(id) of \(type) is gone without a word")
                        continue
                    }
                    if isUnsure || !isPlain || own.contains(where: { $0.column == nil }) { continue }
                    for place in row.indices where saved[place] != row[place] {
                        expect(saved[place].isNull && own.contains { $0.column == columns[place].name }, "\(label): \(type).\(columns[place].name) of row \(id) is \(saved[place]), not \(row[place])")
                    }
                }
                for id in found[type]?.keys ?? [:].keys where rows[id] == nil {
                    expect(isUnsure || losses.contains { $0.column == nil && $0.rows?.contains(id) ?? true }, "\(label): row \(id) of \(type) comes from nowhere")
                }
            }
            expect(!isRight || recovery.losses.isEmpty || isUnsure, "\(label): all can be read, and recovery loses something: \(recovery.losses.first?.description ?? "")")
        } catch let error as FirnError {
            counts.nothing += 1
            expect(error.code == .damaged && !isRight, "\(label): recovery fails: \(error)")
            expect(!FileManager.default.fileExists(atPath: target), "\(label): a target is left behind")
        } catch { expect(false, "\(label): \(error)") }
    }

    private static func survey() {
        guard let samples = try? samples() else { fatalError("the samples cannot be made") }
        let shm = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        let path = shm + "/firn-survey-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var total = Counts(), said = ""
        for sample in samples {
            var random = SeededGenerator(seed: 6), counts = Counts()
            let large = sample.bytes.count > 50_000
            func below(_ n: Int) -> Int { Int(random.next() % UInt64(n)) }
            func many(_ full: Int, _ short: Int) -> Int { rounds.map { $0 * full } ?? (large ? short / 4 : short) }
            func place(_ bytes: [UInt8], _ what: String) {
                alarm(60)
                guard (try? Data(bytes).write(to: URL(filePath: path))) != nil else { fatalError("the scratch file cannot be written") }
                examine(sample, path, what, &counts)
            }
            for _ in 0..<many(100, 20) {
                var bytes = sample.bytes
                // Half of them where the structure is: the front, and the first bytes of an extent.
                let at = below(2) == 0 ? below(bytes.count) : min(bytes.count - 1, below(2) == 0 ? below(200) : below(bytes.count / 64) * 64 + below(16)), bit = below(8)
                bytes[at] ^= 1 << UInt8(bit)
                place(bytes, "bit \(bit) of byte \(at) flipped")
            }
            for _ in 0..<many(40, 8) {
                var bytes = sample.bytes
                let sector = below((bytes.count + 511) / 512) * 512
                for at in sector..<min(bytes.count, sector + 512) { bytes[at] = 0 }
                place(bytes, "sector at \(sector) zeroed")
            }
            for _ in 0..<many(40, 8) {
                let length = below(sample.bytes.count)
                place(Array(sample.bytes[..<length]), "cut to \(length) bytes")
            }
            for _ in 0..<many(40, 4) {
                alarm(60)
                let length = below(sample.bytes.count)
                guard (try? Data(sample.bytes).write(to: URL(filePath: path))) != nil, let database = try? Database.open(path: path), let snapshot = try? database.snapshot() else { fatalError("a whole file does not open") }
                truncate(path, off_t(length))
                counts.cases += 1
                if let found = try? content(snapshot) {
                    expect(found == sample.truths[snapshot.version], "\(sample.name), cut to \(length) bytes while open: other data is read without a word")
                    counts.right += 1
                } else { counts.refused += 1 }
                if let found = try? answers(snapshot) { expect(found == sample.answers[snapshot.version], "\(sample.name), cut to \(length) bytes while open: a query gives other rows") }
                _ = snapshot.verify(full: true)
            }
            alarm(0)
            said += "\(sample.name) (\(sample.bytes.count) bytes): \(counts)\n"
            total.add(counts)
        }
        said += "all: \(total)\n"
        if let report = ProcessInfo.processInfo.environment["FIRN_SURVEY_REPORT"] { try? Data(said.utf8).write(to: URL(filePath: report)) }
    }

    @Test func `T6 damaged files are told, and read right where they are read`() async { await #expect(processExitsWith: .success) { SurveyTests.survey() } }
}
