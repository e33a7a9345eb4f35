import FirnBytes
import FirnDatabase
import FirnKit
import FirnQuery
import Foundation
import Testing

/// Files with the damage that disks cause. Each file is read completely, queried through its indexes, verified and recovered: the data is
/// correct or reported as damaged. `FIRN_SURVEY=n` makes n times 100 flipped bits, 40 zeroed sectors, 40 truncations and 40 truncations
/// while mapped for each file. FIRN_SURVEY_REPORT names a file for the counts. A failure is written to `firn-survey-failure.txt` in the
/// temporary folder.
@Suite struct SurveyTests {
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_SURVEY"].flatMap { Int($0) }

    private typealias Sample = SurveySample
    private typealias Content = SurveySample.Content

    private struct Counts {
        var cases = 0, right = 0, older = 0, refused = 0, recovered = 0, complete = 0, nothing = 0
        /// Recoveries with unproven rows, if these were requested, and recoveries of versions whose number is unknown.
        var unproven = 0, unnumbered = 0
        mutating func add(_ other: Counts) {
            cases += other.cases; right += other.right; older += other.older; refused += other.refused
            recovered += other.recovered; complete += other.complete; nothing += other.nothing
            unproven += other.unproven; unnumbered += other.unnumbered
        }
    }

    private static func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        // Exit tests do not show the output of their process.
        try? Data((what() + "\n").utf8).write(to: FileManager.default.temporaryDirectory.appending(path: "firn-survey-failure.txt"))
        fatalError(what())
    }

    private static func examine(_ sample: Sample, _ path: String, _ what: String, _ counts: inout Counts) {
        counts.cases += 1
        let label = "\(sample.name), \(what)", length = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        var isRight = false
        do {
            let database = try Database.open(path: path, key: sample.key)
            let snapshot = try database.snapshot()
            var failed = false
            if snapshot.version > 0 {
                expect(
                    database.fallback != nil || snapshot.version == sample.truths.keys.max(),
                    "\(label): version \(snapshot.version) is read without a report")
                if let found = try? Sample.content(snapshot) {
                    expect(found == sample.truths[snapshot.version], "\(label): other data is read without a report")
                } else {
                    failed = true
                }
                if let found = try? Sample.answers(snapshot) {
                    expect(found == sample.answers[snapshot.version], "\(label): a query finds other rows without a report")
                } else {
                    failed = true
                }
                let quick = snapshot.verify(full: false), full = snapshot.verify(full: true)
                expect(!failed || (!quick.isEmpty && !full.isEmpty), "\(label): the file cannot be read, but verify reports no damage")
                for defect in quick + full {
                    expect(!defect.subject.isEmpty && !defect.damage.what.isEmpty, "\(label): a defect has no subject or description")
                }
                if database.fallback != nil { counts.older += 1 } else if !failed { counts.right += 1 }
                // After a torn commit, readers use the previous version. Recovery uses what remains of the newer one and reports it.
                isRight = !failed && database.fallback == nil
            }
            expect(
                snapshot.version > 0 || database.fallback != nil || length <= 512,
                "\(label): no version can be read, and this is not reported")
            if failed || snapshot.version == 0 { counts.refused += 1 }
        } catch { counts.refused += 1 }
        recover(sample, path, label, isRight, &counts)
        recover(sample, path, "\(label), unproven", isRight, unproven: true, &counts)
    }

    /// Each recovered value is that of the row, or is reported as lost, as that of an older version, or, if this was requested, as
    /// unproven.
    private static func recover(
        _ sample: Sample, _ path: String, _ label: String, _ isRight: Bool, unproven: Bool = false, _ counts: inout Counts
    ) {
        let target = path + ".saved"
        defer { try? FileManager.default.removeItem(atPath: target) }
        do {
            let recovery = try Recovery.run(
                from: path, unproven: unproven, key: sample.key, to: target, overwrite: true, profile: .fast, threads: 1)
            if unproven {
                counts.unproven += recovery.losses.contains(where: \.isUnproven) ? 1 : 0
            } else {
                counts.recovered += 1
                if recovery.losses.isEmpty { counts.complete += 1 }
                expect(!recovery.losses.contains(where: \.isUnproven), "\(label): unproven rows are written without a request")
            }
            if recovery.version == 0 { counts.unnumbered += 1 }
            let snapshot = try Database.open(path: target, key: sample.key).snapshot(), defects = snapshot.verify(full: true)
            expect(defects.isEmpty, "\(label): the recovered file is damaged: \(defects.first?.description ?? "")")
            let found = try Sample.content(snapshot)
            // If the number of the version is unknown, it is one of the existing versions.
            guard
                let truth = recovery.version > 0
                    ? sample.truths[recovery.version] : sample.truths.values.first(where: { $0 == found }) ?? sample.truths.values.first
            else {
                return expect(false, "\(label): version \(recovery.version) never existed")
            }
            if recovery.losses.isEmpty { expect(found == truth, "\(label): no loss is reported, but the rows differ") }
            let isUnsure = recovery.losses.contains { $0.type == nil && $0.isUnproven }
            for (type, rows) in truth {
                let losses = recovery.losses.filter { $0.type == type }, columns = snapshot.schema[type]?.columns ?? []
                // Embedded objects are read through their owners, where lost ones are null.
                let isPlain = !columns.contains { $0.type.kind == .embedded }
                var missing = 0
                for (id, row) in rows {
                    let own = losses.filter { $0.rows?.contains(id) ?? true }
                    guard let saved = found[type]?[id] else {
                        missing += 1
                        expect(isUnsure || own.contains { $0.column == nil }, "\(label): row \(id) of \(type) is missing without a report")
                        continue
                    }
                    // A value from another version is compared with that version. Versions that are not kept cannot be checked.
                    if isUnsure || !isPlain || own.contains(where: \.isUnproven)
                        || own.contains(where: { $0.takenFrom.map { sample.truths[$0] == nil } ?? false })
                    {
                        continue
                    }
                    for place in row.indices where saved[place] != row[place] {
                        let isTold = own.contains { $0.column == nil || $0.column == columns[place].name }
                        let wasThere = saved[place].isNull || sample.truths.values.contains { $0[type]?[id]?[place] == saved[place] }
                        expect(
                            isTold && wasThere,
                            "\(label): \(type).\(columns[place].name) of row \(id) is \(saved[place]), not \(row[place])")
                    }
                }
                for id in found[type]?.keys ?? [:].keys where rows[id] == nil {
                    expect(
                        isUnsure || losses.contains { $0.column == nil && $0.rows?.contains(id) ?? true },
                        "\(label): row \(id) of \(type) never existed")
                }
            }
            expect(
                !isRight || recovery.losses.isEmpty || recovery.losses.contains { $0.type == nil },
                "\(label): the file can be read completely, but recovery reports a loss: \(recovery.losses.first?.description ?? "")")
        } catch let error as FirnError {
            if !unproven { counts.nothing += 1 }
            expect(error.code == .damaged && !isRight, "\(label): recovery fails unexpectedly: \(error)")
            expect(!FileManager.default.fileExists(atPath: target), "\(label): a target file remains")
        } catch { expect(false, "\(label): \(error)") }
    }

    private static func survey() {
        guard let samples = try? Sample.all() else { fatalError("the samples cannot be made") }
        let temporary = TemporaryFolder(), path = temporary.file("a")
        var total = Counts(), said = ""
        for sample in samples {
            var random = Random(seed: 6), counts = Counts()
            let large = sample.bytes.count > 50_000
            func below(_ n: Int) -> Int { Int(random.next() % UInt64(n)) }
            func many(_ full: Int, _ short: Int) -> Int {
                rounds.map { $0 * full } ?? (large ? Tier.cases(1, of: short / 4) : Tier.cases(short / 8 + 1, of: short))
            }
            func place(_ bytes: [UInt8], _ what: String) {
                alarm(60)
                guard (try? Data(bytes).write(to: URL(filePath: path))) != nil else { fatalError("the scratch file cannot be written") }
                examine(sample, path, what, &counts)
            }
            for _ in 0..<many(100, 20) {
                var bytes = sample.bytes
                // Half of the flips are in the structure: at the front of the file, or in the first bytes of an extent.
                let
                    at =
                        below(2) == 0
                        ? below(bytes.count) : min(bytes.count - 1, below(2) == 0 ? below(200) : below(bytes.count / 64) * 64 + below(16)),
                    bit = below(8)
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
                guard (try? Data(sample.bytes).write(to: URL(filePath: path))) != nil,
                    let database = try? Database.open(path: path, key: sample.key), let snapshot = try? database.snapshot()
                else { fatalError("the intact file cannot be opened") }
                truncate(path, off_t(length))
                counts.cases += 1
                if let found = try? Sample.content(snapshot) {
                    expect(
                        found == sample.truths[snapshot.version],
                        "\(sample.name), cut to \(length) bytes while open: other data is read without a report")
                    counts.right += 1
                } else {
                    counts.refused += 1
                }
                if let found = try? Sample.answers(snapshot) {
                    expect(
                        found == sample.answers[snapshot.version],
                        "\(sample.name), cut to \(length) bytes while open: a query finds other rows")
                }
                _ = snapshot.verify(full: true)
            }
            alarm(0)
            said += "\(sample.name) (\(sample.bytes.count) bytes): \(counts)\n"
            total.add(counts)
        }
        said += "all: \(total)\n"
        if let report = ProcessInfo.processInfo.environment["FIRN_SURVEY_REPORT"] { try? Data(said.utf8).write(to: URL(filePath: report)) }
    }

    @Test func `damage of files is reported, and data that is read is correct`() async {
        await #expect(processExitsWith: .success) { SurveyTests.survey() }
    }
}
