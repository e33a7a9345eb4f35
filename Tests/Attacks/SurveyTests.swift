import FirnBytes
import FirnDatabase
import FirnKit
import FirnQuery
import Foundation
import Testing

/// T6: files damaged in every way that disks do it. Each is read whole, asked through its indexes, verified and recovered: what comes out
/// is right, or is said to be damaged. `FIRN_SURVEY=n`: n times 100 flipped bits, 40 zeroed sectors, 40 truncations and 40 truncations
/// while mapped for each file; the counts go to
/// `FIRN_SURVEY_REPORT`. What fails is told in `firn-survey-failure.txt` of the temporary folder.
@Suite struct SurveyTests {
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_SURVEY"].flatMap { Int($0) }

    private typealias Sample = SurveySample
    private typealias Content = SurveySample.Content

    private struct Counts {
        var cases = 0, right = 0, older = 0, refused = 0, recovered = 0, complete = 0, nothing = 0
        /// Recoveries with unproven rows, asked for; and of versions without a known number.
        var unproven = 0, unnumbered = 0
        mutating func add(_ other: Counts) {
            cases += other.cases; right += other.right; older += other.older; refused += other.refused
            recovered += other.recovered; complete += other.complete; nothing += other.nothing
            unproven += other.unproven; unnumbered += other.unnumbered
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
        let label = "\(sample.name), \(what)", length = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        var isRight = false
        do {
            let database = try Database.open(path: path, key: sample.key)
            let snapshot = try database.snapshot()
            var failed = false
            if snapshot.version > 0 {
                expect(
                    database.fallback != nil || snapshot.version == sample.truths.keys.max(),
                    "\(label): version \(snapshot.version) is read without a word")
                if let found = try? Sample.content(snapshot) {
                    expect(found == sample.truths[snapshot.version], "\(label): other data is read without a word")
                } else {
                    failed = true
                }
                if let found = try? Sample.answers(snapshot) {
                    expect(found == sample.answers[snapshot.version], "\(label): a query gives other rows without a word")
                } else {
                    failed = true
                }
                let quick = snapshot.verify(full: false), full = snapshot.verify(full: true)
                expect(!failed || (!quick.isEmpty && !full.isEmpty), "\(label): cannot be read, and verify calls it intact")
                for defect in quick + full {
                    expect(!defect.subject.isEmpty && !defect.damage.what.isEmpty, "\(label): a defect without a name")
                }
                if database.fallback != nil { counts.older += 1 } else if !failed { counts.right += 1 }
                // Where a commit is torn, readers take the version before; recovery takes what is left of the newer one, and says so.
                isRight = !failed && database.fallback == nil
            }
            expect(snapshot.version > 0 || database.fallback != nil || length <= 512, "\(label): nothing is read without a word")
            if failed || snapshot.version == 0 { counts.refused += 1 }
        } catch { counts.refused += 1 }
        recover(sample, path, label, isRight, &counts)
        recover(sample, path, "\(label), unproven", isRight, unproven: true, &counts)
    }

    /// Every recovered value is the one that the row had, or is reported: as lost, as that of an older version, or, where that was asked
    /// for, as unproven.
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
                expect(!recovery.losses.contains(where: \.isUnproven), "\(label): rows without proof are written unasked")
            }
            if recovery.version == 0 { counts.unnumbered += 1 }
            let snapshot = try Database.open(path: target, key: sample.key).snapshot(), defects = snapshot.verify(full: true)
            expect(defects.isEmpty, "\(label): what is recovered is damaged: \(defects.first?.description ?? "")")
            let found = try Sample.content(snapshot)
            // Where the number of the version is not known, it is one of those that were there.
            guard
                let truth = recovery.version > 0
                    ? sample.truths[recovery.version] : sample.truths.values.first(where: { $0 == found }) ?? sample.truths.values.first
            else {
                return expect(false, "\(label): version \(recovery.version) was never there")
            }
            if recovery.losses.isEmpty { expect(found == truth, "\(label): nothing is said to be lost, and the rows are others") }
            let isUnsure = recovery.losses.contains { $0.type == nil && $0.isUnproven }
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
                    // What is taken from another version is what stood there; of versions that are not kept nobody knows.
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
                        "\(label): row \(id) of \(type) comes from nowhere")
                }
            }
            expect(
                !isRight || recovery.losses.isEmpty || recovery.losses.contains { $0.type == nil },
                "\(label): all can be read, and recovery loses something: \(recovery.losses.first?.description ?? "")")
        } catch let error as FirnError {
            if !unproven { counts.nothing += 1 }
            expect(error.code == .damaged && !isRight, "\(label): recovery fails: \(error)")
            expect(!FileManager.default.fileExists(atPath: target), "\(label): a target is left behind")
        } catch { expect(false, "\(label): \(error)") }
    }

    private static func survey() {
        guard let samples = try? Sample.all() else { fatalError("the samples cannot be made") }
        let shm = TemporaryFolder.memory
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
                else { fatalError("a whole file does not open") }
                truncate(path, off_t(length))
                counts.cases += 1
                if let found = try? Sample.content(snapshot) {
                    expect(
                        found == sample.truths[snapshot.version],
                        "\(sample.name), cut to \(length) bytes while open: other data is read without a word")
                    counts.right += 1
                } else {
                    counts.refused += 1
                }
                if let found = try? Sample.answers(snapshot) {
                    expect(
                        found == sample.answers[snapshot.version],
                        "\(sample.name), cut to \(length) bytes while open: a query gives other rows")
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

    @Test func `T6 damaged files are told, and read right where they are read`() async {
        await #expect(processExitsWith: .success) { SurveyTests.survey() }
    }
}
