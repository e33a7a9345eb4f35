import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Random rows of two types in a file, which link to each other and to rows that do not exist: bulk rows, later rows, changed and deleted
/// rows.
struct RandomLinks {
    static let node = TypeSchema(
        "Node",
        columns: [
            ColumnSchema("i", ColumnType(.int, optional: true)), ColumnSchema("next", ColumnType(.link, optional: true, target: "Node")),
            ColumnSchema("kids", ColumnType(.link, collection: .list, target: "Leaf")),
            ColumnSchema("map", ColumnType(.link, collection: .map, elementOptional: true, target: "Node")),
        ])
    static let leaf = TypeSchema(
        "Leaf",
        columns: [
            ColumnSchema("d", ColumnType(.double, optional: true)), ColumnSchema("back", ColumnType(.link, optional: true, target: "Node")),
            ColumnSchema("ints", ColumnType(.int, collection: .list, elementOptional: true)),
        ])
    static let schema = Schema([node, leaf])

    /// By row id. Nil for deleted rows.
    var nodes: [[Value]?] = [], leaves: [[Value]?] = []
    let folder = TemporaryFolder()
    let snapshot: DatabaseSnapshot

    init(_ random: inout Random) throws {
        let counts = [1 + random.below(40), 1 + random.below(40)]
        func link(_ random: inout Random, _ count: Int) -> Value { random.below(6) == 0 ? .null : .link(Int64(random.below(count + 2))) }
        func number(_ random: inout Random) -> Value { random.below(5) == 0 ? .null : .int(Int64(random.below(7)) - 3) }
        func node(_ random: inout Random) -> [Value] {
            [
                number(&random), link(&random, counts[0]),
                .list((0..<random.below(4)).map { _ in .link(Int64(random.below(counts[1] + 1))) }),
                .map(["a", "b"].filter { _ in random.bool() }.map { .init($0, link(&random, counts[0])) }),
            ]
        }
        func leaf(_ random: inout Random) -> [Value] {
            let d: Value = if case .int(let x) = number(&random) { .double(Double(x) / 2) } else { .null }
            return [d, link(&random, counts[0]), .list((0..<random.below(3)).map { _ in number(&random) })]
        }
        for _ in 0..<counts[0] { nodes.append(node(&random)) }
        for _ in 0..<counts[1] { leaves.append(leaf(&random)) }
        let database = try Database.create(path: folder.file("a.firn"))
        var transaction = try database.begin()
        try transaction.extendSchema(RandomLinks.schema.types)
        let cuts = [random.below(counts[0] + 1), random.below(counts[1] + 1)]
        try transaction.bulkWriter("Node").append(
            RandomTables.batch(nodes[..<cuts[0]].map { $0! }, of: RandomLinks.node, in: RandomLinks.schema))
        try transaction.bulkWriter("Leaf").append(
            RandomTables.batch(leaves[..<cuts[1]].map { $0! }, of: RandomLinks.leaf, in: RandomLinks.schema))
        try transaction.commit()
        transaction = try database.begin()
        for row in nodes[cuts[0]...] { try transaction.insert("Node", row!) }
        for row in leaves[cuts[1]...] { try transaction.insert("Leaf", row!) }
        try transaction.commit()
        transaction = try database.begin()
        for row in nodes.indices where random.below(8) == 0 {
            nodes[row]![1] = link(&random, counts[0])
            try transaction.update("Node", rowID: Int64(row), column: "next", nodes[row]![1])
        }
        for row in nodes.indices where random.below(8) == 0 {
            nodes[row] = nil
            try transaction.delete("Node", rowID: Int64(row))
        }
        for row in leaves.indices where random.below(8) == 0 {
            leaves[row] = nil
            try transaction.delete("Leaf", rowID: Int64(row))
        }
        try transaction.commit()
        snapshot = try database.snapshot()
    }

    func row(_ typeName: String, _ id: Value) -> [Value]? {
        guard case .link(let id) = id, id >= 0 else { return nil }
        let rows = typeName == "Node" ? nodes : leaves
        return id < rows.count ? rows[Int(id)] : nil
    }

    /// Returns the rows of a type that link to a row by a column, once for each link.
    func sources(_ typeName: String, _ column: Int, _ target: Value) -> [Value] {
        var out: [Value] = []
        for (id, row) in (typeName == "Node" ? nodes : leaves).enumerated() {
            guard let row else { continue }
            let links: [Value] =
                switch row[column] {
                case .list(let values): values
                case .map(let entries): entries.map(\.value)
                default: [row[column]]
                }
            out += links.filter { $0 == target && !target.isNull }.map { _ in .link(Int64(id)) }
        }
        return out
    }
}

/// The values of a path for a row, computed one by one.
struct PathValues {
    var values: [Value]
    var isMany = false
    /// Whether the path takes part in no comparison, such as `list[0]` of an empty list.
    var isAbsent = false
    /// Whether the object with the last property does not exist.
    var isLost = false

    mutating func each(_ body: (Value) -> [Value]) { values = values.flatMap(body) }
}

/// A random path as text, and a function that computes its values for a row.
struct RandomPath {
    var text = ""
    var isMany = false
    /// Whether the path is one list of numbers for each row, so that a comparison with nil applies to the list itself.
    var isWhole = false
    var values: (RandomLinks, Int) -> PathValues

    init(_ random: inout Random) {
        var steps: [(RandomLinks, inout PathValues) -> Void] = []
        var typeName = "Node", parts: [String] = [], isMany = false
        func column(_ name: String, _ index: Int) {
            let type = typeName
            parts.append(name)
            steps.append { data, at in
                at.isLost = !at.isMany && data.row(type, at.values[0]) == nil
                at.each { [data.row(type, $0)?[index] ?? .null] }
            }
        }
        func enter() {
            isMany = true
            steps.append { _, at in
                at.isMany = true
                at.each { value in
                    switch value {
                    case .list(let values): values
                    case .map(let entries): entries.map(\.value)
                    default: []
                    }
                }
            }
        }
        func count() {
            parts.append("@count")
            steps.append { _, at in
                at.isLost = false
                at.each { if case .list(let values) = $0 { [.int(Int64(values.count))] } else { [.int(0)] } }
            }
        }
        func inverse(_ source: String, _ index: Int, _ name: String) {
            let type = typeName
            parts.append("@links.\(source).\(name)")
            typeName = source
            steps.append { data, at in
                at.each { target in [.list(data.row(type, target) == nil ? [] : data.sources(source, index, target))] }
            }
        }
        func pick(_ index: Int) {
            parts[parts.count - 1] += "[\(index)]"
            steps.append { _, at in
                if !at.isMany, case .list(let values) = at.values[0], !values.isEmpty {
                    at.isAbsent = false
                } else if !at.isMany {
                    at.isAbsent = true
                }
                at.each { if case .list(let values) = $0, index < values.count { [values[index]] } else { [.null] } }
            }
        }
        var isDone = false
        for _ in 0..<random.below(4) where !isDone {
            switch (typeName, random.below(6)) {
            case ("Node", 0), ("Node", 1): column("next", 1)
            case ("Node", 2):
                column("kids", 2)
                typeName = "Leaf"
                if random.below(4) == 0 { (count(), isDone = true) } else if random.below(3) == 0 { pick(random.below(2)) } else { enter() }
            case ("Node", 3):
                column("map", 3)
                let key = ["a", "b"][random.below(2)]
                parts[parts.count - 1] += random.bool() ? "['\(key)']" : ".\(key)"
                steps.append { _, at in
                    at.each { if case .map(let entries) = $0 { [entries.first { $0.key == key }?.value ?? .null] } else { [.null] } }
                }
            case ("Node", 4), ("Leaf", 3):
                if typeName == "Leaf" {
                    inverse("Node", 2, "kids")
                } else if random.bool() {
                    inverse("Leaf", 1, "back")
                } else {
                    inverse("Node", 3, "map")
                }
                if random.below(3) == 0 { (count(), isDone = true) } else { enter() }
            case ("Leaf", 0...2):
                column("back", 1)
                typeName = "Node"
            default: break
            }
        }
        if !isDone {
            if typeName == "Node" {
                column("i", 0)
            } else if random.below(3) > 0 {
                column("d", 0)
            } else {
                isWhole = !isMany
                column("ints", 2)
                enter()
            }
        }
        text = parts.joined(separator: ".")
        self.isMany = isMany
        values = { data, row in
            var at = PathValues(values: [.link(Int64(row))])
            for step in steps { step(data, &at) }
            return at
        }
    }
}

@Suite struct LinkPropertyTests {
    private static func holds(_ comparator: String, _ value: Value, _ constant: Double) -> Bool {
        guard let x = value.number else { return comparator == "!=" }
        switch comparator {
        case "==": return x == constant
        case "!=": return x != constant
        case "<": return x < constant
        default: return x >= constant
        }
    }

    /// Returns a random comparison of a path, and its result for a row.
    private static func comparison(_ random: inout Random, _ data: RandomLinks) -> (String, (Int) -> Bool) {
        let path = RandomPath(&random), comparator = ["==", "!=", "<", ">="][random.below(4)],
            constant = [-1.0, 0, 0.5, 1][random.below(4)]
        let quantifier = path.isMany ? ["", "ANY ", "ALL ", "NONE "][random.below(4)] : ""
        if random.below(4) == 0, quantifier != "" || !path.isWhole {
            let isNull = random.bool()
            return (
                "\(quantifier)\(path.text) \(isNull ? "==" : "!=") nil",
                { row in
                    judge(path.values(data, row), quantifier) { $0.isNull == isNull }
                }
            )
        }
        return (
            "\(quantifier)\(path.text) \(comparator) \(constant)",
            { row in judge(path.values(data, row), quantifier) { holds(comparator, $0, constant) } }
        )
    }

    private static func judge(_ found: PathValues, _ quantifier: String, _ test: (Value) -> Bool) -> Bool {
        if found.isAbsent { return false }
        let passed = found.values.filter(test).count
        return quantifier == "ALL " ? passed == found.values.count : quantifier == "NONE " ? passed == 0 : passed > 0
    }

    @Test func `random paths through links filter, sort and deduplicate rows like a simple evaluator`() throws {
        for seed in Seed.first(Tier.cases(40, of: 120)) {
            var random = Random(seed)
            let data = try RandomLinks(&random)
            let table = try #require(data.snapshot.table(named: "Node"))
            let chosen = random.bool() ? (0..<random.below(80)).map { _ in Int64(random.below(data.nodes.count + 2)) } : nil
            let rows: any Table = chosen.map { SelectedRows($0, of: table) } ?? table
            // The ids of existing rows, in order.
            let ids = (chosen ?? data.nodes.indices.map { Int64($0) }).map { Int($0) }.filter {
                $0 < data.nodes.count && data.nodes[$0] != nil
            }
            #expect(rows.rowCount == ids.count)
            func found(_ query: String) throws -> [Int] {
                let run = try QueryRun(QueryRequest(filter: query), table: rows, threads: 2)
                let count = try run.count()
                let out = try run.rowLocations().map { Int(try rows.segment($0.segment).rowID(at: $0.position)) }
                #expect(count == out.count)
                return out
            }
            for _ in 0..<30 {
                let (a, p) = Self.comparison(&random, data), (b, q) = Self.comparison(&random, data)
                let text: String, holds: (Int) -> Bool
                switch random.below(4) {
                case 0: (text, holds) = ("\(a) AND \(b)", { p($0) && q($0) })
                case 1: (text, holds) = ("\(a) OR NOT (\(b))", { p($0) || !q($0) })
                default: (text, holds) = (a, p)
                }
                #expect(try found(text) == ids.filter(holds), "seed \(seed): \(text)")
                let key = RandomPath(&random)
                if key.isMany { continue }
                let keys = Dictionary(ids.map { ($0, key.values(data, $0)) }) { a, _ in a }
                let ascending = random.bool()
                let sorted = ids.filter(holds).enumerated().sorted { x, y in
                    let a = keys[x.element]!, b = keys[y.element]!
                    if a.isLost != b.isLost { return a.isLost != ascending }
                    let order = Value.order(a.values[0], b.values[0])
                    return order == 0 ? x.offset < y.offset : (order < 0) == ascending
                }.map(\.element)
                #expect(
                    try found("(\(text)) SORT(\(key.text) \(ascending ? "ASC" : "DESC"))") == sorted,
                    "seed \(seed): \(text) SORT(\(key.text))")
                var met: Set<Value> = []
                let distinct = ids.filter { !keys[$0]!.isLost && met.insert(keys[$0]!.values[0]).inserted }
                #expect(try found("TRUEPREDICATE DISTINCT(\(key.text))") == distinct, "seed \(seed): DISTINCT(\(key.text))")
            }
        }
    }
}
