import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

/// Makes random changes through two handles of one file, and compares with dictionaries.
private final class KeyTrial {
    typealias Key = [Int?]

    var random: RandomTables
    let type: TypeSchema
    let path: String
    let mask: UInt64
    /// Deleted with the trial.
    let folder: TemporaryFolder
    var handles: [Database]
    var rows: [Int64: Key] = [:]
    var byKey: [Key: Int64] = [:]
    var kept: [(table: StoredTable, snapshot: DatabaseSnapshot, byKey: [Key: Int64])] = []

    init(seed: UInt64, kinds: [ColumnType], folder: TemporaryFolder) throws {
        random = RandomTables(seed: seed)
        self.folder = folder
        mask = [UInt64.max, 3 << 62, 0][Int(seed % 3)]
        path = folder.file("\(seed).firn")
        type = TypeSchema(
            "T", columns: kinds.enumerated().map { ColumnSchema("k\($0.offset)", $0.element) } + [ColumnSchema("v", ColumnType(.int))],
            key: Array(kinds.indices))
        handles = [try Database.create(path: path)]
        handles[0].keys.setHashMask(mask)
        let transaction = try handles[0].begin()
        try transaction.extendSchema([type])
        try transaction.commit()
        handles.append(try open())
    }

    func open() throws -> Database {
        let database = try Database.open(path: path, writable: true)
        database.keys.setHashMask(mask)
        return database
    }

    func key() -> Key {
        type.key.map { type.columns[$0].type.isOptional && random.chance(10) ? nil : random.number(0...(type.key.count == 1 ? 120 : 12)) }
    }

    /// Returns distinct values for numbers; some values have two equal forms.
    func value(_ n: Int?, _ kind: ScalarKind) -> Value {
        guard let n else { return .null }
        let twice = random.chance(50)
        switch kind {
        case .bool: return .bool(n % 2 == 1)
        case .int: return .int(Int64(n) &* 0x1234_5678_9ABC)
        case .float: return .float(n == 0 && twice ? -0.0 : Float(n) / 4)
        case .double: return n == 1 ? .double(twice ? .nan : -.nan) : .double(n == 0 && twice ? -0.0 : Double(n) / 4)
        case .string: return .string(n == 0 ? "" : String(repeating: "ä\(n % 7)", count: n % 9) + "key\(n)")
        case .data: return .data(Array(repeating: UInt8(n), count: n))
        case .date: return .date(Timestamp(seconds: Int64(n / 3) - 20, nanoseconds: Int32(n % 3)))
        case .decimal: return .decimal(Decimal(twice ? "\(n).50" : "\(n).5")!)
        case .objectID: return .objectID(Identifier(high: UInt64(n / 4) << 58, low: UInt64(n % 4)))
        case .uuid: return .uuid(Identifier(high: UInt64(n % 4) << 62, low: UInt64(n / 4)))
        default: return n % 2 == 0 ? (twice ? .int(Int64(n)) : .double(Double(n))) : .string("any\(n)")
        }
    }

    func values(_ key: Key) -> [Value] { zip(key, type.key).map { value($0, type.columns[$1].type.kind) } }

    func run() throws {
        for _ in 0..<random.number(10...30) {
            let handle = handles[random.number(0...1)]
            let transaction = try handle.begin()
            let before = (rows, byKey)
            for _ in 0..<random.number(1...(random.chance(20) ? 120 : 12)) { try change(transaction) }
            if random.chance(10) { try transaction.flushAll() }
            if random.chance(25) {
                transaction.cancel()
                (rows, byKey) = before
            } else {
                try transaction.commit()
            }
            if random.chance(10) { handles[random.number(0...1)] = try open() }
            try look()
        }
    }

    func change(_ transaction: DatabaseTransaction) throws {
        let key = key()
        switch random.number(0...9) {
        case 0...3:
            if let id = try attempt(key, but: nil, { try transaction.insert("T", values(key) + [.int(0)]) }) { enter(id, key) }
        case 4, 5:
            guard let id = anyRow() else { return }
            let position = random.number(0...type.key.count - 1)
            var after = rows[id]!
            after[position] = key[position]
            let done: Void? = try attempt(after, but: id) {
                try transaction.update(
                    "T", rowID: id, column: type.columns[position].name, value(key[position], type.columns[position].type.kind))
            }
            if done != nil {
                leave(id)
                enter(id, after)
            }
        case 6: if let id = anyRow() { try transaction.update("T", rowID: id, column: "v", .int(Int64(random.number(0...9)))) }
        case 7:
            guard let id = anyRow() else { return }
            try transaction.delete("T", rowID: id)
            leave(id)
        case 8: #expect(try transaction.find("T", key: values(key)) == byKey[key], "\(key)")
        default:
            guard random.chance(20) else { return }
            var fresh: [Key] = []
            for _ in 0..<random.number(1...60) {
                let key = self.key()
                if byKey[key] == nil, !fresh.contains(key) { fresh.append(key) }
            }
            let rows = fresh.map { values($0) + [.int(1)] }
            let first = try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
            for (i, key) in fresh.enumerated() { enter(first + Int64(i), key) }
        }
    }

    /// Runs the body. It must be refused if another row has the key.
    func attempt<R>(_ key: Key, but row: Int64?, _ body: () throws -> R) throws -> R? {
        let isTaken = byKey[key].map { $0 != row } ?? false
        do throws(any Error) {
            let result = try body()
            #expect(!isTaken, "\(key) is the key of row \(byKey[key] ?? -1)")
            return result
        } catch let error as FirnError where error.code == .duplicateKey {
            #expect(isTaken, "\(error)")
            return nil
        }
    }

    func look() throws {
        let handle = handles[random.number(0...1)]
        let snapshot = try handle.snapshot()
        if random.chance(30) { kept.append((snapshot.table(named: "T")!, snapshot, byKey)) }
        if kept.count > 3 { kept.removeFirst() }
        for (table, byKey) in [(snapshot.table(named: "T")!, byKey)] + kept.map({ ($0.table, $0.byKey) }) {
            for _ in 0..<random.number(0...15) {
                let key = random.chance(50) ? byKey.keys.randomElement(using: &random.generator) ?? key() : key()
                #expect(try table.find(key: values(key)) == byKey[key], "\(key)")
            }
        }
    }

    func anyRow() -> Int64? { rows.keys.sorted().randomElement(using: &random.generator) }
    func enter(_ id: Int64, _ key: Key) { (rows[id], byKey[key]) = (key, id) }
    func leave(_ id: Int64) {
        byKey[rows[id]!] = nil
        rows[id] = nil
    }
}

@Suite struct KeyPropertyTests {
    private static let keys: [[ColumnType]] = [
        [ColumnType(.int)], [ColumnType(.string)], [ColumnType(.uuid)], [ColumnType(.decimal)], [ColumnType(.double, optional: true)],
        [ColumnType(.data)],
        [ColumnType(.int, optional: true), ColumnType(.string, optional: true)], [ColumnType(.date), ColumnType(.float)],
        [ColumnType(.objectID, optional: true)],
        [ColumnType(.any, optional: true)], [ColumnType(.string), ColumnType(.uuid), ColumnType(.decimal, optional: true)],
    ]

    @Test(arguments: Seed.first(Tier.cases(55, of: 165)))
    func `keys are unique and found after random changes with two handles, old snapshots and colliding hashes`(seed: Seed) throws {
        let trial = try KeyTrial(seed: seed.number, kinds: Self.keys[Int(seed.number) % Self.keys.count], folder: TemporaryFolder())
        do { try trial.run() } catch { Issue.record("seed \(seed): \(error)") }
    }
}
