import FirnBytes
import FirnDisk
import FirnKit

@testable import FirnDatabase
@testable import FirnTable

/// A step in the history of a database. Its effect follows from its numbers, so that steps can be left out and reduced.
enum HistoryStep: CustomStringConvertible {
    case insert(seed: UInt64, count: Int)
    case bulk(seed: UInt64, count: Int)
    case update(pick: UInt64, seed: UInt64)
    case delete(pick: UInt64, count: Int)
    case flush
    case commit(Durability)
    case cancel
    case addColumn
    case addIndex(pick: UInt64)
    case pin, letGo(pick: UInt64)
    case settle, reopen, compact, shrink
    case crash(seed: UInt64)

    init(_ random: inout RandomTables) {
        let seed = random.generator.next() >> 8
        switch random.number(0...99) {
        case 0..<24: self = .insert(seed: seed, count: random.number(1...6))
        case 24..<28: self = .bulk(seed: seed, count: random.chance(10) ? random.number(500...1500) : random.number(1...60))
        case 28..<48: self = .update(pick: seed, seed: seed)
        case 48..<58: self = .delete(pick: seed, count: random.number(1...4))
        case 58..<61: self = .flush
        case 61..<73: self = .commit(.full)
        case 73..<77: self = .commit(.none)
        case 77..<79: self = .commit(.grouped)
        case 79..<82: self = .cancel
        case 82..<84: self = .addColumn
        case 84..<86: self = .addIndex(pick: seed)
        case 86..<89: self = .pin
        case 89..<92: self = .letGo(pick: seed)
        case 92..<93: self = .settle
        case 93..<95: self = .reopen
        case 95..<96: self = .compact
        case 96..<97: self = .shrink
        default: self = .crash(seed: seed)
        }
    }

    /// The same step with half the effect, or nil if it cannot be reduced.
    var half: HistoryStep? {
        switch self {
        case .insert(let seed, let count) where count > 1: .insert(seed: seed, count: count / 2)
        case .bulk(let seed, let count) where count > 1: .bulk(seed: seed, count: count / 2)
        case .delete(let pick, let count) where count > 1: .delete(pick: pick, count: count / 2)
        case .insert(let seed, let count) where seed > 0: .insert(seed: seed / 2, count: count)
        case .update(let pick, let seed) where pick > 0: .update(pick: pick / 2, seed: seed / 2)
        case .delete(let pick, let count) where pick > 0: .delete(pick: pick / 2, count: count)
        case .letGo(let pick) where pick > 0: .letGo(pick: pick / 2)
        case .addIndex(let pick) where pick > 0: .addIndex(pick: pick / 2)
        default: nil
        }
    }

    var description: String {
        switch self {
        case .insert(let seed, let count): "insert \(count) of \(seed)"
        case .bulk(let seed, let count): "bulk \(count) of \(seed)"
        case .update(let pick, let seed): "update \(pick) by \(seed)"
        case .delete(let pick, let count): "delete \(count) at \(pick)"
        case .commit(let durability): "commit \(durability)"
        case .addIndex(let pick): "index \(pick)"
        case .letGo(let pick): "release \(pick)"
        case .crash(let seed): "crash \(seed)"
        case .flush: "flush"
        case .cancel: "cancel"
        case .addColumn: "add a column"
        case .pin: "pin"
        case .settle: "settle"
        case .reopen: "reopen"
        case .compact: "compact"
        case .shrink: "shrink"
        }
    }
}

/// A failure of a history, and its step.
struct HistoryFailure: Error, CustomStringConvertible {
    var step: Int
    var description: String
}

/// A database and a dictionary with the same history.
final class HistoryModel {
    typealias Rows = [Int64: [Value]]

    private var folder = TemporaryFolder(inMemory: true)
    private var journal: DiskJournal
    private var database: Database
    private var transaction: DatabaseTransaction?
    private var schema: Schema
    private var type: TypeSchema { schema.types.last! }
    /// The committed rows, and the rows that the transaction sees.
    private var rows: Rows = [:], working: Rows = [:]
    private var workingSchema: Schema
    /// The states that a crash may leave: the durable one, and those committed since without durability.
    private var survivors: [(rows: Rows, schema: Schema)] = []
    private var pins: [(snapshot: DatabaseSnapshot, rows: Rows)] = []
    private(set) var counts: [String: Int] = [:]
    private var at = 0
    /// For the test of these tests: a model that ignores some deletions.
    private let forgets: Bool

    init(seed: UInt64, forgets: Bool = false) throws {
        var random = RandomTables(seed: seed)
        schema = random.schema()
        workingSchema = schema
        self.forgets = forgets
        journal = DiskJournal(of: folder)
        database = try Database.create(path: folder.file("a"), keep: random.number(2...8))
        let first = try database.begin()
        try first.extendSchema(schema.types)
        try first.commit()
        schema = try database.snapshot().schema
        workingSchema = schema
        survivors = [(rows, schema)]
    }

    deinit { ScriptedDisk.end(in: folder.path) }

    func run(_ steps: [HistoryStep]) throws(HistoryFailure) {
        for (index, step) in steps.enumerated() {
            at = index
            do { try take(step) } catch { throw error as? HistoryFailure ?? HistoryFailure(step: index, description: "\(step): \(error)") }
        }
        at = steps.count
        do {
            try end(.commit(.full))
            for pin in pins { try compare(pin.snapshot, pin.rows, "a pinned version at the end") }
        } catch { throw error as? HistoryFailure ?? HistoryFailure(step: at, description: "at the end: \(error)") }
    }

    private func fail(_ what: String) -> HistoryFailure { HistoryFailure(step: at, description: what) }

    private func begun() throws -> DatabaseTransaction {
        if let transaction { return transaction }
        working = rows
        workingSchema = schema
        transaction = try database.begin()
        return transaction!
    }

    private func pick(_ number: UInt64) -> Int64? {
        let ids = working.keys.sorted()
        return ids.isEmpty ? nil : ids[Int(number % UInt64(ids.count))]
    }

    private func take(_ step: HistoryStep) throws {
        counts["\(step)".split(separator: " ").first.map(String.init)!, default: 0] += 1
        switch step {
        case .insert(let seed, let count):
            let open = try begun(), type = workingSchema.types.last!
            var random = RandomTables(seed: seed)
            for row in random.rows(count, of: type, in: workingSchema) { working[try open.insert("Thing", row)] = row }
        case .bulk(let seed, let count):
            let open = try begun(), type = workingSchema.types.last!
            var random = RandomTables(seed: seed)
            let all = random.rows(count, of: type, in: workingSchema)
            let first = try open.bulkWriter("Thing").append(RandomTables.batch(all, of: type, in: workingSchema))
            for (index, row) in all.enumerated() { working[first + Int64(index)] = row }
        case .update(let number, let seed):
            let open = try begun(), type = workingSchema.types.last!
            guard let id = pick(number) else { return }
            var random = RandomTables(seed: seed)
            let column = random.number(0...type.columns.count - 1), value = random.value(type.columns[column].type, in: workingSchema)
            try open.update("Thing", rowID: id, column: type.columns[column].name, value)
            working[id]![column] = value
        case .delete(let number, let count):
            let open = try begun()
            for turn in 0..<UInt64(count) {
                guard let id = pick(number &+ turn &* 7919) else { return }
                try open.delete("Thing", rowID: id)
                if !(forgets && id % 5 == 3) { working[id] = nil }
            }
        case .flush: try begun().flushAll()
        case .addColumn:
            let open = try begun()
            guard workingSchema.types.last!.columns.count < 9 else { return }
            var wider = workingSchema.types.last!
            wider.columns.append(ColumnSchema("x\(wider.columns.count)", ColumnType(.int, optional: true)))
            try open.extendSchema([wider])
            workingSchema = open.schema
            for id in working.keys { working[id]!.append(.null) }
        case .addIndex(let number):
            let open = try begun(), type = workingSchema.types.last!
            let fitting = type.columns.filter { !$0.type.isCollection && [.int, .string].contains($0.type.kind) && $0.indexes == [] }
            guard !fitting.isEmpty else { return }
            try open.addIndex("Thing", fitting[Int(number % UInt64(fitting.count))].name, .values)
            workingSchema = open.schema
        case .commit, .cancel: try end(step)
        case .pin: pins.append((try database.snapshot(), rows))
        case .letGo(let number):
            guard !pins.isEmpty else { return }
            let pin = pins.remove(at: Int(number % UInt64(pins.count)))
            try compare(pin.snapshot, pin.rows, "a pinned version")
        case .settle:
            try end(.commit(.none))
            try database.settle()
            survivors = [(rows, schema)]
        case .reopen:
            try end(.cancel)
            try reopen()
        case .compact:
            try end(.commit(.full))
            try database.snapshot().compact(to: folder.file("a"), overwrite: true)
            pins = []
            try reopen()
        case .shrink:
            try end(.commit(.full))
            // A store with versions that are not durable yet holds the write lock.
            try database.settle()
            survivors = [(rows, schema)]
            let report = try Database.shrink(path: folder.file("a"))
            try compare(try database.snapshot(), rows, "after shrinking, \(report)")
            for pin in pins { try compare(pin.snapshot, pin.rows, "a pinned version after shrinking") }
            let defects =
                try database.snapshot().verify(full: true).map(\.description) + (try database.verifyStructure().map(\.description))
            if let defect = defects.first { throw fail("after shrinking: \(defect)") }
        case .crash(let seed): try crash(seed)
        }
    }

    /// Ends the transaction, if one is open.
    private func end(_ step: HistoryStep) throws {
        guard let open = transaction else { return }
        transaction = nil
        if case .commit(let durability) = step {
            try open.commit(durability: durability)
            rows = working
            schema = workingSchema
            if durability != .none { survivors = [] }
            survivors.append((rows, schema))
        } else {
            open.cancel()
        }
        try compare(try database.snapshot(), rows, "after \(step)")
    }

    private func reopen() throws {
        let path = database.path, keep = database.keep?.versions
        try database.settle()
        database = try Database.open(path: path, writable: true, keep: keep)
        survivors = [(rows, schema)]
        try compare(try database.snapshot(), rows, "after reopening")
        let defects = try database.verifyStructure()
        if let defect = defects.first { throw fail("after reopening: \(defect)") }
    }

    /// Simulates a crash: a possible image of the disk replaces the folder.
    private func crash(_ seed: UInt64) throws {
        var images = CrashImages(seed: seed, samples: 1), all: [(String, [String: [UInt8]])] = []
        let events = journal.events
        images.visit(events, from: journal.first, stops: events.count...events.count) { _, what, files in all.append((what, files)) }
        let (what, files) = all[Int(seed % UInt64(all.count))], keep = database.keep?.versions
        ScriptedDisk.end(in: folder.path)
        let next = TemporaryFolder(inMemory: true)
        for (name, bytes) in files { try File(path: next.file(name), .createNew).write(bytes, at: 0) }
        // Open stores continue in the old folder, which is not used again.
        transaction?.cancel()
        transaction = nil
        pins = []
        folder = next
        journal = DiskJournal(of: next)
        database = try Database.open(path: next.file("a"), writable: true, keep: keep)
        let snapshot = try database.snapshot(), table = try contents(snapshot)
        guard let left = survivors.last(where: { same(table, $0.rows) }) else {
            throw fail("after a crash (\(what)): \(snapshot.version) holds \(table.count) rows, not one of \(survivors.map(\.rows.count))")
        }
        (rows, schema) = left
        if snapshot.schema != schema { throw fail("after a crash (\(what)): another schema") }
        survivors = [left]
        let defects = snapshot.verify(full: true)
        if let defect = defects.first { throw fail("after a crash (\(what)): \(defect)") }
    }

    private func contents(_ snapshot: DatabaseSnapshot) throws -> [(id: Int64, values: [Value])] {
        try allRows(snapshot.table(named: "Thing")!)
    }

    private func same(_ table: [(id: Int64, values: [Value])], _ rows: Rows) -> Bool {
        table.map(\.id) == rows.keys.sorted() && table.allSatisfy { $0.values == rows[$0.id]!.map(stripped) }
    }

    private func compare(_ snapshot: DatabaseSnapshot, _ rows: Rows, _ what: String) throws {
        let table = try contents(snapshot)
        if same(table, rows) { return }
        let ids = Set(table.map(\.id)), extra = ids.subtracting(rows.keys).sorted(), missing = Set(rows.keys).subtracting(ids).sorted()
        let other = table.first { row in rows[row.id].map { $0.map(stripped) != row.values } ?? false }
        throw fail(
            "\(what), version \(snapshot.version): \(extra.count) rows too many \(extra.prefix(3)), \(missing.count) missing \(missing.prefix(3)), differs: \(other.map { "\($0)" } ?? "none")"
        )
    }
}
