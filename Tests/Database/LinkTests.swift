import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

@Suite struct LinkTests {
    private let schema = Schema([
        TypeSchema("Dog", columns: [ColumnSchema("name", ColumnType(.string))]),
        TypeSchema(
            "Person",
            columns: [
                ColumnSchema("dog", ColumnType(.link, optional: true, target: "Dog")),
                ColumnSchema("dogs", ColumnType(.link, collection: .list, target: "Dog")),
                ColumnSchema("set", ColumnType(.link, collection: .set, target: "Dog")),
                ColumnSchema("map", ColumnType(.link, collection: .map, elementOptional: true, target: "Dog")),
                ColumnSchema("strict", ColumnType(.link, collection: .map, target: "Dog")),
                ColumnSchema("friend", ColumnType(.link, optional: true, target: "Person")),
            ]),
    ])

    @Test(arguments: Seed.first(20))
    func `deleting rows removes them from every link and collection, and referrers are found by their target`(seed: Seed) throws {
        var random = Random(seed)
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        for i in 0..<50 { try transaction.insert("Dog", [.string("dog \(i)")]) }
        func dog() -> Value { .link(Int64.random(in: 0..<50, using: &random)) }
        func dogs() -> [Value] { (0..<Int.random(in: 0..<4, using: &random)).map { _ in dog() } }
        var people: [[Value]] = []
        for i in 0..<Int.random(in: 1..<3000, using: &random) {
            func map(_ values: [Value]) -> Value { .map(values.enumerated().map { Value.Entry("k\($0.offset)", $0.element) }) }
            people.append([
                Bool.random(using: &random) ? .null : dog(), .list(dogs()), .set(Value.distinctSorted(dogs())), map(dogs() + [.null]),
                map(dogs()),
                i % 3 == 0 ? .null : .link(Int64(i / 2)),
            ])
            if seed.number.isMultiple(of: 3), i == 1000 {
                try transaction.commit()
                transaction = try database.begin()
            }
            try transaction.insert("Person", people[i])
        }
        if Bool.random(using: &random) {
            try transaction.commit()
            transaction = try database.begin()
        }
        func leads(_ value: Value, _ gone: Set<Int64>) -> Bool {
            switch value {
            case .link(let id): gone.contains(id)
            case .list(let values), .set(let values): values.contains { leads($0, gone) }
            case .map(let entries): entries.contains { leads($0.value, gone) }
            default: false
            }
        }
        for column in 0..<5 {
            let expected = people.indices.filter { leads(people[$0][column], [7]) }.map(Int64.init)
            #expect(
                try transaction.referrers(to: "Dog", row: 7, from: "Person", column: column) == expected, "seed \(seed), column \(column)")
        }
        let gone = Set((0..<Int.random(in: 1..<20, using: &random)).map { _ in Int64.random(in: 0..<50, using: &random) })
        for id in gone { try transaction.delete("Dog", rowID: id) }
        try transaction.deleteLinks(to: "Dog", rows: gone)
        for i in people.indices {
            if leads(people[i][0], gone) { people[i][0] = .null }
            for column in 1..<5 {
                switch people[i][column] {
                case .list(let values): people[i][column] = .list(values.filter { !leads($0, gone) })
                case .set(let values): people[i][column] = .set(values.filter { !leads($0, gone) })
                case .map(let entries) where column == 3:
                    people[i][column] = .map(entries.map { leads($0.value, gone) ? Value.Entry($0.key, .null) : $0 })
                case .map(let entries): people[i][column] = .map(entries.filter { !leads($0.value, gone) })
                default: break
                }
            }
        }
        let expected = Dictionary(uniqueKeysWithValues: people.enumerated().map { (Int64($0.offset), $0.element) })
        #expect(try storedRows(transaction.table("Person")) == expected, "seed \(seed)")
        try transaction.commit()
        let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
        #expect(try storedRows(snapshot.table(named: "Person")!) == expected, "seed \(seed)")
        #expect(snapshot.verify(full: true).isEmpty)
    }
}
