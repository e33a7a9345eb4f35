import FirnBytes
import FirnCodecs
import FirnKit
import Foundation
import Synchronization
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Ends the process of an exit test if a condition does not hold, because later results would be meaningless.
private func demand(_ holds: Bool, _ what: @autoclosure () -> String = "a condition does not hold") {
    if holds { return }
    Issue.record("\(what())")
    exit(EXIT_FAILURE)
}

/// T4: failures of C libraries, which are failed allocations. Scripts apply to the whole process, so each test has a separate one.
@Suite struct LibraryFaultTests {
    /// After the first few calls, only one call in so many is refused, because there are more than 1,000 of each kind. `FIRN_FAULTS=20`
    /// refuses more.
    private static let pace = max(1, ProcessInfo.processInfo.environment["FIRN_FAULTS"].flatMap { Int($0) } ?? 2)
    private static let key = EncryptionKey([UInt8](0..<64))!
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("n", ColumnType(.int)), ColumnSchema("page", ColumnType(.string)), ColumnSchema("word", ColumnType(.string)),
            ColumnSchema("bytes", ColumnType(.data)),
        ])

    /// Refuses the call of a kind after `after` others, once or with all later ones, and counts the refused calls.
    private final class Script: Sendable {
        private let state: Mutex<(after: Int, refused: Int)>
        private let only: LibraryCall, forEver: Bool

        init(_ only: LibraryCall, after: Int, forEver: Bool) {
            (self.only, self.forEver) = (only, forEver)
            state = Mutex((after, 0))
        }

        var refused: Int { state.withLock { $0.refused } }

        func run<R>(_ body: () throws -> R) rethrows -> R {
            LibraryFaults.begin { [self] call in
                guard call == only else { return false }
                return state.withLock { state in
                    if state.after > 0 {
                        state.after -= 1
                        return false
                    }
                    if !forEver, state.refused > 0 { return false }
                    state.refused += 1
                    return true
                }
            }
            defer { LibraryFaults.begin(nil) }
            return try body()
        }
    }

    /// Returns rows whose text is stored in every kind of stream that uses zstd.
    private static func rows(_ random: inout RandomTables, _ count: Int) -> [[Value]] {
        (0..<count).map { i in
            let page = (0..<12).map { _ in ["the", "quick", "brown", "fox", "jumps", "\(random.number(0...9999))"][random.number(0...5)] }
                .joined(separator: " ")
            return [
                .int(Int64(i)), .string(i == 7 ? String(repeating: page, count: 2000) : "https://example.org/\(i % 97)/" + page),
                .string("word \(random.number(0...40))"), .data(Array(page.utf8)),
            ]
        }
    }

    /// A writing step: bulk rows, then sealed deltas.
    private static func step(_ database: Database, _ seed: UInt64) throws {
        var random = RandomTables(seed: seed)
        let transaction = try database.begin(threads: 2)
        _ = try transaction.bulkWriter("T").append(RandomTables.batch(rows(&random, 150), of: type, in: Schema([type])))
        for row in rows(&random, 40) { _ = try transaction.insert("T", row) }
        try transaction.update("T", rowID: 3, column: "page", .string("changed by \(seed)"))
        try transaction.flushAll()
        try transaction.commit()
    }

    /// Writes with one refused call, and checks that the file has the old state or a complete new one, and can be written again.
    private static func work(_ call: LibraryCall, forEver: Bool, key: EncryptionKey?) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        do {
            let first = try Database.create(path: path, key: key).begin()
            try first.extendSchema([type])
            try first.commit()
            try step(try Database.open(path: path, writable: true, key: key), 1)
        }
        let before = try Database.open(path: path, key: key).snapshot().contentDigest(),
            image = try Data(contentsOf: URL(fileURLWithPath: path))
        var nth = 0, errors = 0
        while true {
            try image.write(to: URL(fileURLWithPath: path))
            let script = Script(call, after: nth, forEver: forEver), database = try Database.open(path: path, writable: true, key: key)
            var failure: FirnError?
            script.run {
                do { try step(database, 2) } catch { failure = error as? FirnError ?? FirnError(Damage("\(error)"), in: path) }
            }
            if script.refused == 0 { break }
            let context = "\(call) \(nth), \(forEver ? "always" : "once"), \(key == nil ? "plain" : "encrypted")"
            if let failure {
                errors += 1
                demand(failure.code == .inputOutput, "\(context): \(failure.code) \(failure)")
                let now = try Database.open(path: path, key: key)
                try demand(now.snapshot().contentDigest() == before && now.verifyStructure().isEmpty, "\(context): the old state is lost")
            } else {
                // An attempt to compress that is only made to save space can fail without an error.
                try demand(database.snapshot().contentDigest() != before, "\(context): neither an error nor a commit")
            }
            // Memory is available again: the same database can write, and its result is correct.
            let version = try database.snapshot().version
            try step(database, 3)
            let whole = try Database.open(path: path, key: key), newest = try whole.snapshot()
            demand(newest.version > version && newest.verify(full: true).isEmpty, "\(context): \(newest.verify(full: true))")
            try demand(whole.verifyStructure().isEmpty, "\(context)")
            nth += max(1, nth / LibraryFaultTests.pace)
        }
        demand(errors > 0, "\(call) was never refused with an error, of \(nth) calls")
        print(
            "\(call), \(forEver ? "always" : "once"), \(key == nil ? "plain" : "encrypted"): refused up to the \(nth)th, \(errors) errors"
        )
    }

    @Test func `if zstd fails to compress, the transaction fails, the old state remains, and the next transaction works [T4]`() async {
        await #expect(processExitsWith: .success) {
            for call in [LibraryCall.compressionContext, .compress] {
                for forEver in [false, true] { try LibraryFaultTests.work(call, forEver: forEver, key: nil) }
            }
        }
    }

    @Test func `if OpenSSL fails to encrypt, the transaction fails, the old state remains, and the next transaction works [T4, T13]`()
        async
    {
        await #expect(processExitsWith: .success) {
            for forEver in [false, true] { try LibraryFaultTests.work(.seal, forEver: forEver, key: LibraryFaultTests.key) }
        }
    }

    /// Reads the whole file repeatedly, and the nth call fails. The result is an error that is not damage, or the correct rows. Reading
    /// again is correct.
    private static func reading(_ call: LibraryCall, forEver: Bool, key: EncryptionKey?) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        do {
            let database = try Database.create(path: path, key: key), first = try database.begin()
            try first.extendSchema([type])
            try first.commit()
            for seed in 1...3 as ClosedRange<UInt64> { try step(database, seed) }
        }
        let expected = try Database.open(path: path, key: key).snapshot().contentDigest()
        var nth = 0, errors = 0, unnoticed = 0
        while true {
            let script = Script(call, after: nth, forEver: forEver)
            var snapshot: DatabaseSnapshot?
            let context = "\(call) \(nth), \(forEver ? "always" : "once"), \(key == nil ? "plain" : "encrypted")"
            try script.run {
                do {
                    // The previous version is not a correct result either.
                    snapshot = try Database.open(path: path, key: key).snapshot()
                    let found = try snapshot!.contentDigest()
                    demand(found == expected, "\(context): other rows were read")
                    // Optional reads (an older record, a root that is not the newest) may fail without an error.
                    if script.refused > 0 { unnoticed += 1 }
                } catch let damage as Damage {
                    errors += 1
                    demand(damage.isUnread, "\(context): \(damage)")
                } catch let error as FirnError {
                    errors += 1
                    demand(error.code == .inputOutput, "\(context): \(error.code) \(error)")
                }
            }
            if script.refused == 0 { break }
            if let snapshot { try demand(snapshot.contentDigest() == expected, "\(context): other rows were read after the failure") }
            try demand(
                Database.open(path: path, key: key).snapshot().contentDigest() == expected,
                "\(context): other rows were read after the failure and reopening")
            nth += max(1, nth / LibraryFaultTests.pace)
        }
        demand(errors > unnoticed && !(forEver && unnoticed > 1), "\(call): \(errors) errors, \(unnoticed) unnoticed")
        print(
            "\(call), \(forEver ? "always" : "once"), \(key == nil ? "plain" : "encrypted"): refused up to the \(nth)th, \(errors) errors"
        )
    }

    @Test func `if zstd fails to decompress, reading is an error that is not damage, and works again later [T4]`() async {
        await #expect(processExitsWith: .success) {
            for call in [LibraryCall.decompressionContext, .decompress] {
                for forEver in [false, true] { try LibraryFaultTests.reading(call, forEver: forEver, key: nil) }
            }
        }
    }

    @Test func `if OpenSSL fails to decrypt, opening and reading are errors, without a fallback to an older version [T4, T13]`() async {
        await #expect(processExitsWith: .success) {
            for forEver in [false, true] { try LibraryFaultTests.reading(.open, forEver: forEver, key: LibraryFaultTests.key) }
        }
    }
}
