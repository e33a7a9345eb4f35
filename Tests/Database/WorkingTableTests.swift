import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Returns the stored rows of a table by id, read through vectors.
func storedRows(_ table: any Table) throws -> [Int64: [Value]] {
    var out: [Int64: [Value]] = [:]
    for s in 0..<table.segmentCount {
        let segment = try table.segment(s)
        for vector in 0..<segment.vectorCount {
            var columns: [Column] = []
            for i in table.type.columns.indices {
                let reader = try segment.storedColumn(i)
                var column = Column(reader.type)
                try reader.read(vector: vector, into: &column)
                columns.append(column)
            }
            for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                out[try segment.rowID(at: row)] = columns.map { $0.value(at: row - vector * vectorSize) }
            }
        }
    }
    return out
}

/// A transaction's table and a plain dictionary with the same changes.
private struct Pair {
    var random: RandomTables
    let schema: Schema
    let type: TypeSchema
    var model: [Int64: [Value]] = [:]
    var ids: [Int64] = []

    mutating func pick() -> Int64? {
        while let index = ids.indices.randomElement(using: &random.generator) {
            if model[ids[index]] != nil { return ids[index] }
            ids.swapAt(index, ids.count - 1)
            ids.removeLast()
        }
        return nil
    }

    mutating func append(_ table: WorkingTable) throws {
        let row = random.rows(1, of: type, in: schema)[0]
        let id = try table.append { (columns) throws(FirnError) in
            for i in row.indices where !columns[i].append(row[i]) { Issue.record("\(row[i]) does not fit") }
        }
        model[id] = canonical(row)
        ids.append(id)
    }

    /// Returns the row as columns return it.
    func canonical(_ row: [Value]) -> [Value] {
        zip(type.columns, row).map { column, value in
            var one = Column(column.type.stored)
            let fits = one.append(value)
            #expect(fits)
            return one.value(at: 0)
        }
    }

    mutating func set(_ table: WorkingTable) throws {
        guard let id = pick() else { return }
        let column = random.number(0...type.columns.count - 1), kind = type.columns[column].type
        var value = random.value(kind, in: schema)
        if !kind.isCollection, kind.kind != .any, random.chance(50) {
            switch value {
            case .int(let x):
                return try {
                    try table.setWord(ofRow: id, column, to: x); model[id]![column] = value
                }()
            case .bool(let x):
                return try {
                    try table.setWord(ofRow: id, column, to: x ? 1 : 0); model[id]![column] = value
                }()
            case .double(let x):
                return try {
                    try table.setReal(ofRow: id, column, to: x); model[id]![column] = value
                }()
            case .float(let x):
                return try {
                    try table.setReal(ofRow: id, column, to: Double(x)); model[id]![column] = value
                }()
            default: break
            }
        }
        try table.set(id, column, value)
        var one = Column(kind.stored)
        let fits = one.append(value)
        #expect(fits)
        value = one.value(at: 0)
        model[id]![column] = value
    }

    mutating func delete(_ table: WorkingTable) throws {
        guard let id = pick() else { return }
        try table.delete(id)
        model[id] = nil
        #expect(throws: FirnError.self) { try table.delete(id) }
    }

    mutating func bulk(_ transaction: DatabaseTransaction, _ count: Int) throws {
        let rows = random.rows(count, of: type, in: schema)
        let first = try transaction.bulkWriter("Thing").append(RandomTables.batch(rows, of: type, in: schema))
        for (i, row) in rows.enumerated() {
            model[first + Int64(i)] = canonical(row)
            ids.append(first + Int64(i))
        }
    }

    /// Reads some rows one by one.
    mutating func check(_ table: any RowTable, _ seed: UInt64) throws {
        #expect(table.rowCount == model.count, "seed \(seed)")
        for _ in 0..<4 {
            guard let id = pick() else { return }
            let location = try #require(try table.location(of: id), "seed \(seed), row \(id)")
            for (i, column) in type.columns.enumerated() {
                let value = try table.storedValue(id, i)
                #expect(value == model[id]![i], "seed \(seed), row \(id), column \(i)")
                guard !column.type.isCollection else { continue }
                switch (column.type.kind, value) {
                case (.int, .int(let x)): #expect(try table.word(at: location, i) == x)
                case (.bool, .bool(let x)): #expect(try table.word(at: location, i) == (x ? 1 : 0))
                case (.double, .double(let x)): #expect(try table.real(at: location, i)?.bitPattern == x.bitPattern)
                case (.int, .null): #expect(try table.word(at: location, i) == nil)
                case (.double, .null): #expect(try table.real(at: location, i) == nil)
                default: break
                }
            }
        }
        let absent = (model.keys.max() ?? 0) + 1000
        #expect(try table.location(of: absent) == nil && !table.isLive(absent))
    }
}

@Suite struct WorkingTableTests {
    private func schema(_ random: inout RandomTables) -> Schema {
        var schema = random.schema()
        schema.types = schema.types.filter { !$0.isEmbedded }
        for i in schema.types[0].columns.indices where schema.types[0].columns[i].type.kind == .embedded {
            schema.types[0].columns[i] = ColumnSchema("c\(i)", ColumnType(.int, optional: true))
        }
        return schema
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `rows that are changed in place agree with a plain model, and pinned versions do not change`(seed: UInt64) throws {
        var random = RandomTables(seed: seed &* 104_729)
        let schema = schema(&random)
        let folder = TemporaryFolder()
        let path = folder.file("a.firn")
        var database = try Database.create(path: path, atFirstCommit: seed.isMultiple(of: 2))
        var pair = Pair(random: random, schema: schema, type: schema.types[0])
        let first = try database.begin()
        try first.extendSchema(schema.types)
        if pair.random.chance(60) { try pair.bulk(first, pair.random.number(1...3000)) }
        for _ in 0..<pair.random.number(0...20) { try pair.append(first.table("Thing")) }
        try first.commit()
        var pinned: [(DatabaseSnapshot, [Int64: [Value]])] = []
        for _ in 0..<pair.random.number(3...14) {
            // A second handle on the file, like that of another process.
            let other = pair.random.chance(20) ? try Database.open(path: path, writable: true) : database
            let transaction = try other.begin()
            let table = transaction.table("Thing")
            let before = (pair.model, pair.ids)
            let most = pair.random.chance(15) ? 3000 : 60
            for _ in 0..<pair.random.number(0...most) {
                switch pair.random.number(0...99) {
                case 0..<40: try pair.append(table)
                case 40..<80: try pair.set(table)
                case 80..<96: try pair.delete(table)
                case 96: try pair.bulk(transaction, pair.random.number(1...50))
                case 97: try pair.check(table, seed)
                case 98: #expect(try storedRows(table) == pair.model, "seed \(seed)")
                default: if pair.random.chance(30) { try transaction.flushAll() }
                }
            }
            #expect(try storedRows(table) == pair.model, "seed \(seed)")
            try pair.check(table, seed)
            if pair.random.chance(15) {
                transaction.cancel()
                (pair.model, pair.ids) = before
            } else {
                try transaction.commit()
            }
            if pair.random.chance(15) { database = try Database.open(path: path, writable: true) }
            if pair.random.chance(60) {
                let snapshot = try database.snapshot()
                try pair.check(snapshot.table(named: "Thing")!, seed)
                pinned.append((snapshot, pair.model))
            }
            if pair.random.chance(30), !pinned.isEmpty { pinned.remove(at: pair.random.number(0...pinned.count - 1)) }
        }
        pinned.append((try database.snapshot(), pair.model))
        pinned.append((try Database.open(path: path).snapshot(), pair.model))
        for (snapshot, expected) in pinned {
            #expect(try storedRows(snapshot.table(named: "Thing")!) == expected, "seed \(seed)")
            #expect(snapshot.verify(full: true).isEmpty, "seed \(seed): \(snapshot.verify(full: true))")
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `parts of a transaction can be kept or rolled back, and the kept parts become one version`(seed: UInt64) throws {
        var random = RandomTables(seed: seed &* 7_368_787)
        let schema = schema(&random)
        let folder = TemporaryFolder()
        let path = folder.file("a.firn")
        let database = try Database.create(path: path)
        var pair = Pair(random: random, schema: schema, type: schema.types[0])
        let first = try database.begin()
        try first.extendSchema(schema.types)
        if pair.random.chance(60) { try pair.bulk(first, pair.random.number(1...3000)) }
        for _ in 0..<pair.random.number(0...20) { try pair.append(first.table("Thing")) }
        try first.commit()
        for round in 0..<4 {
            let version = try database.snapshot().version, before = (pair.model, pair.ids)
            let transaction = try database.begin()
            let table = transaction.table("Thing")
            var kept: ([Int64: [Value]], [Int64])?
            for _ in 0..<pair.random.number(1...8) {
                let most = pair.random.chance(10) ? 2500 : 40
                for _ in 0..<pair.random.number(0...most) {
                    switch pair.random.number(0...99) {
                    case 0..<40: try pair.append(table)
                    case 40..<80: try pair.set(table)
                    case 80..<95: try pair.delete(table)
                    case 95: try pair.bulk(transaction, pair.random.number(1...50))
                    case 96, 97: try pair.check(table, seed)
                    default: if pair.random.chance(20) { try transaction.flushAll() }
                    }
                }
                if kept != nil, pair.random.chance(40) {
                    // A type that was added after the kept part is rolled back with it.
                    if pair.random.chance(30) {
                        try transaction.extendSchema([TypeSchema("More", columns: [ColumnSchema("a", ColumnType(.int))])])
                    }
                    transaction.rollBack()
                    (pair.model, pair.ids) = kept!
                    #expect(transaction.schema["More"] == nil)
                } else {
                    try transaction.keepPart()
                    kept = (pair.model, pair.ids)
                }
                #expect(try storedRows(table) == pair.model, "seed \(seed), round \(round)")
                try pair.check(table, seed)
            }
            if pair.random.chance(20) {
                transaction.cancel()
                (pair.model, pair.ids) = before
            } else {
                #expect(try transaction.commit() == version + 1)
            }
            let snapshot = try database.snapshot()
            #expect(try storedRows(snapshot.table(named: "Thing")!) == pair.model, "seed \(seed), round \(round)")
        }
        let snapshot = try Database.open(path: path).snapshot()
        #expect(try storedRows(snapshot.table(named: "Thing")!) == pair.model, "seed \(seed)")
        #expect(snapshot.verify(full: true).isEmpty, "seed \(seed)")
        #expect(try database.verifyStructure().isEmpty, "seed \(seed)")
    }
}
