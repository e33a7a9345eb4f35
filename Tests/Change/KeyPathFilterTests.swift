import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct KeyPathFilterTests {
    static let toy = TypeSchema(
        "Toy",
        columns: [
            ColumnSchema("brand", ColumnType(.string)), ColumnSchema("price", ColumnType(.int)),
            ColumnSchema("maker", ColumnType(.link, optional: true, target: "Maker")),
        ])
    static let maker = TypeSchema(
        "Maker",
        columns: [ColumnSchema("name", ColumnType(.string)), ColumnSchema("dog", ColumnType(.link, optional: true, target: "Dog"))])
    static let tag = TypeSchema("Tag", columns: [ColumnSchema("text", ColumnType(.string))], isEmbedded: true)
    static let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("age", ColumnType(.int)),
            ColumnSchema("toys", ColumnType(.link, collection: .list, target: "Toy")),
            ColumnSchema("best", ColumnType(.link, optional: true, target: "Toy")),
            ColumnSchema("byName", ColumnType(.link, collection: .map, elementOptional: true, target: "Toy")),
            ColumnSchema("bag", ColumnType(.link, collection: .set, target: "Toy")),
            ColumnSchema("tag", ColumnType(.embedded, optional: true, target: "Tag")),
        ])
    static let schema = Schema([dog, toy, maker, tag])

    /// A file with dogs and toys, which makes commits and returns the rows of the last one that a filter reports.
    final class Kennel {
        let folder = TemporaryFolder()
        let database: Database
        var before: DatabaseSnapshot

        init(dogs: Int = 6, toys: Int = 6, flushed: Bool = false) throws {
            database = try Database.create(path: folder.file("a.firn"), keep: 64)
            let transaction = try database.begin()
            try transaction.extendSchema(schema.types)
            for i in 0..<3 { _ = try transaction.insert("Maker", [.string("m\(i)"), i == 0 ? .link(Int64(dogs - 1)) : .null]) }
            for i in 0..<toys { _ = try transaction.insert("Toy", [.string("b\(i)"), .int(Int64(i)), .link(Int64(i % 3))]) }
            for i in 0..<dogs {
                let toy = Int64(i % toys)
                _ = try transaction.insert(
                    "Dog",
                    [
                        .string("d\(i)"), .int(1), i % 2 == 0 ? .list([.link(toy), .link(toy)]) : .list([]),
                        i == 1 ? .link(0) : .null, i == 3 ? .map([.init("k", .link(0)), .init("n", .null)]) : .map([]),
                        i == 5 ? .set([.link(0), .link(1)]) : .set([]), .object([.init("text", .string("t"))]),
                    ])
            }
            if flushed { try transaction.flushAll() }
            try transaction.commit()
            before = try database.snapshot()
        }

        func modified(
            _ keyPaths: [String]?, among scope: KeyPathFilter.Scope = .all, root: String = "Dog",
            _ edit: (DatabaseTransaction) throws -> Void
        ) throws -> [Int64] {
            let transaction = try database.begin()
            try edit(transaction)
            try transaction.commit()
            let after = try database.snapshot()
            defer { before = after }
            return try answer(keyPaths, scope, root, after).rows.rowIDs
        }

        static let inverses = [
            KeyPathFilter.Inverse("owners", type: "Dog", column: "toys"), .init("makers", type: "Maker", column: "dog"),
            .init("toys", type: "Toy", column: "maker"),
        ]

        func answer(_ keyPaths: [String]?, _ scope: KeyPathFilter.Scope, _ root: String, _ after: DatabaseSnapshot) throws
            -> KeyPathFilter.Answer
        {
            let filter = try KeyPathFilter(root: root, in: after.schema, keyPaths: keyPaths, inverses: Self.inverses)
            let before = before
            return try filter.modifiedRows(
                among: scope,
                changes: { name throws(Damage) in
                    try TableChanges.between(before.table(named: name), after.table(named: name))
                }, tables: { name throws(Damage) in after.table(named: name) },
                oldTables: { name throws(Damage) in before.table(named: name) })
        }
    }

    @Test func `an inverse is reported when rows start or stop linking to a row, and when a property named by a path changes`() throws {
        let kennel = try Kennel()
        // Dogs 0, 2 and 4 have toys 0, 2 and 4.
        #expect(try kennel.modified(["owners.name"], root: "Toy") { try $0.update("Dog", rowID: 2, column: "name", .string("x")) } == [2])
        #expect(try kennel.modified(["owners"], root: "Toy") { try $0.update("Dog", rowID: 2, column: "name", .string("y")) } == [])
        #expect(
            try kennel.modified(["owners"], root: "Toy") { try $0.update("Dog", rowID: 2, column: "toys", .list([.link(5), .link(4)])) }
                == [2, 4, 5])
        #expect(try kennel.modified(["owners.age"], among: .rows([5]), root: "Toy") { try $0.delete("Dog", rowID: 2) }.contains(5))
        #expect(
            try kennel.modified(["owners"], root: "Toy") {
                _ = try $0.insert("Dog", [.string("n"), .int(1), .list([.link(3)]), .null, .map([]), .set([]), .null])
            } == [3])
        // Paths with links and inverse links: the other toys of a toy's maker, and the owners of a maker's toys.
        #expect(
            try kennel.modified(["maker.toys.price"], root: "Toy") { try $0.update("Toy", rowID: 1, column: "price", .int(90)) } == [1, 4])
        #expect(try kennel.modified(["toys.owners.age"], root: "Maker") { try $0.update("Dog", rowID: 4, column: "age", .int(8)) } == [1])
        #expect(try kennel.modified(["makers.toys.brand"]) { try $0.update("Toy", rowID: 3, column: "brand", .string("z")) } == [5])
        // If both rows are deleted, no row is left to report.
        #expect(
            try kennel.modified(["owners"], root: "Toy") {
                try $0.delete("Dog", rowID: 0)
                try $0.delete("Toy", rowID: 0)
            } == [])
        #expect(throws: FirnError.self) { try KeyPathFilter(root: "Dog", in: Self.schema, keyPaths: ["owners"], inverses: Kennel.inverses) }
        #expect(throws: FirnError.self) {
            try KeyPathFilter(root: "Toy", in: Self.schema, keyPaths: ["owners.nope"], inverses: Kennel.inverses)
        }
    }

    @Test func `only changes of the properties that a key path names are reported [N10]`() throws {
        let kennel = try Kennel()
        var last: Int64 = 100
        let age: (DatabaseTransaction) throws -> Void = {
            last += 1
            try $0.update("Dog", rowID: 2, column: "age", .int(last))
        }
        #expect(try kennel.modified(["name"], age) == [])
        #expect(try kennel.modified(["age"], age) == [2])
        #expect(try kennel.modified(["name"]) { try $0.update("Dog", rowID: 2, column: "name", .string("x")) } == [2])
        // ["toys"]: the list itself, not properties of its toys.
        #expect(try kennel.modified(["toys"]) { try $0.update("Toy", rowID: 0, column: "brand", .string("x")) } == [])
        #expect(try kennel.modified(["toys"]) { try $0.update("Dog", rowID: 3, column: "toys", .list([.link(0)])) } == [3])
        // ["toys.brand"]: the list, and the brand of each toy in it.
        #expect(try kennel.modified(["toys.brand"]) { try $0.update("Toy", rowID: 0, column: "brand", .string("y")) } == [0, 3])
        #expect(try kennel.modified(["toys.brand"]) { try $0.update("Toy", rowID: 0, column: "price", .int(77)) } == [])
        #expect(try kennel.modified(["toys.brand"]) { try $0.update("Dog", rowID: 3, column: "toys", .list([])) } == [3])
        #expect(try kennel.modified(["toys.brand"], age) == [])
        // Single links, maps and sets are followed too.
        for (path, dog) in [("best.price", 1), ("byName.price", 3), ("bag.price", 5)] {
            #expect(
                try kennel.modified([path]) { try $0.update("Toy", rowID: 0, column: "price", .int(Int64(dog))) } == [Int64(dog)], "\(path)"
            )
        }
        // Embedded objects: changes of their own fields.
        #expect(try kennel.modified(["tag.text"]) { try $0.update("Tag", rowID: 4, column: "text", .string("u")) } == [4])
        #expect(try kennel.modified(["tag"]) { try $0.update("Tag", rowID: 4, column: "text", .string("v")) } == [])
        #expect(
            try kennel.modified(["tag"]) { try $0.update("Dog", rowID: 4, column: "tag", .object([.init("text", .string("v"))])) } == [4])
        // Several paths, and wildcards.
        #expect(try kennel.modified(["name", "toys.maker.name"]) { try $0.update("Maker", rowID: 2, column: "name", .string("z")) } == [2])
        #expect(try kennel.modified(["*"]) { try $0.update("Toy", rowID: 0, column: "price", .int(100)) } == [])
        #expect(try kennel.modified(["*"], age) == [2])
        #expect(try kennel.modified(["*.price"]) { try $0.update("Toy", rowID: 0, column: "price", .int(101)) } == [0, 1, 3, 5])
        #expect(try kennel.modified(["toys.*"]) { try $0.update("Toy", rowID: 2, column: "price", .int(102)) } == [2])
        // An empty list of paths: properties of elements do not count.
        #expect(try kennel.modified([], age) == [])
    }

    @Test func `without key paths changes within four links are reported, and cycles of links end [N11]`() throws {
        let kennel = try Kennel()
        // Dog 5 is the dog of maker 0, who makes toys 0 and 3. Dogs with one of these toys reach dog 5 through toy and maker in three
        // links.
        #expect(try kennel.modified(nil) { try $0.update("Dog", rowID: 5, column: "age", .int(9)) } == [0, 1, 3, 5])
        #expect(try kennel.modified(nil) { try $0.update("Tag", rowID: 5, column: "text", .string("w")) } == [0, 1, 3, 5])
        // A chain of dogs, toys and makers that is longer than four links is not followed to its end.
        #expect(
            try kennel.modified(nil) {
                try $0.update("Maker", rowID: 1, column: "dog", .link(0))
                try $0.update("Dog", rowID: 0, column: "toys", .list([]))
            } == [0, 4, 5])
        // Dog 4 -> toy 4 -> maker 1 -> dog 0 -> (best) toy 2 is four links. Its maker 2 is a fifth link: too far for dog 4 but not for dog
        // 0.
        _ = try kennel.modified(nil) { try $0.update("Dog", rowID: 0, column: "best", .link(2)) }
        #expect(try kennel.modified(nil) { try $0.update("Toy", rowID: 2, column: "price", .int(500)) } == [0, 2, 4, 5])
        #expect(try kennel.modified(nil) { try $0.update("Maker", rowID: 2, column: "name", .string("q")) } == [0, 2])
    }

    @Test func `an invalid key path is refused with the property and its type`() throws {
        func message(_ path: String) -> String {
            do throws(FirnError) {
                _ = try KeyPathFilter(root: "Dog", in: Self.schema, keyPaths: ["name", path])
                return ""
            } catch { return error.message }
        }
        #expect(message("nope") == "Property 'nope' in KeyPath 'nope' is not a valid property in Dog.")
        #expect(message("toys.nope") == "Property 'nope' in KeyPath 'toys.nope' is not a valid property in Toy.")
        #expect(message("toys.maker.x.y") == "Property 'x' in KeyPath 'toys.maker.x.y' is not a valid property in Maker.")
        #expect(message("name.x") == "Property 'name' in KeyPath 'name.x' does not lead to objects, so nothing can follow it.")
        #expect(message("*.nope") == "Property '*' in KeyPath '*.nope' is not a valid property in Dog.")
        for path in ["", ".", "toys.", ".toys", "toys..brand"] { #expect(message(path).contains("is not a valid property in"), "\(path)") }
        for path in ["toys.*.name", "*.*.*", "best", "tag.text", "toys.maker.dog.toys.maker.dog.name"] {
            #expect(message(path) == "", "\(path)")
        }
        #expect(throws: FirnError.self) { try KeyPathFilter(root: "Cat", in: Self.schema, keyPaths: nil) }
        #expect(try KeyPathFilter(root: "Dog", in: Self.schema, keyPaths: ["toys.brand"]).types == ["Dog", "Toy"])
        #expect(try KeyPathFilter(root: "Dog", in: Self.schema, keyPaths: nil).types == ["Dog", "Toy", "Maker", "Tag"])
    }

    @Test func `links are not read if no target has changed, and for few rows only few links are read`() throws {
        let kennel = try Kennel(dogs: 20_000, toys: 5000, flushed: true)
        let transaction = try kennel.database.begin()
        try transaction.update("Dog", rowID: 77, column: "age", .int(50))
        try transaction.commit()
        let after = try kennel.database.snapshot()
        for paths in [["age"], ["toys.brand", "age"]] {
            let answer = try kennel.answer(paths, .all, "Dog", after)
            #expect(answer.rows.rowIDs == [77] && answer.decoded == .init())
        }
        let second = try kennel.database.begin()
        try second.update("Toy", rowID: 4000, column: "brand", .string("new"))
        try second.commit()
        let last = try kennel.database.snapshot()
        let all = try kennel.answer(["toys.brand"], .all, "Dog", last)
        #expect(all.rows.rowIDs == [4000, 9000, 14_000, 19_000])
        let few = try kennel.answer(["toys.brand"], .rows([19_000, 9000, 9000, 3, 1_000_000]), "Dog", last)
        #expect(few.rows.rowIDs == [9000, 19_000])
        #expect(few.decoded.vectors == 0 && few.decoded.values == 3)
    }

    @Test func `a deleted row is not reported, even if it linked to a changed row`() throws {
        let kennel = try Kennel(flushed: true)
        _ = try kennel.modified(nil) { try $0.delete("Dog", rowID: 1) }
        var last: Int64 = 1000
        let price: (DatabaseTransaction) throws -> Void = {
            last += 1
            try $0.update("Toy", rowID: 0, column: "price", .int(last))
        }
        #expect(try kennel.modified(["best.price"], price) == [])
        #expect(try kennel.modified(["best.price"], among: .rows([0, 1]), price) == [])
        #expect(try kennel.modified(["*.price"], price) == [0, 3, 5])
    }

    @Test func `rows reached through a path with few rows and through one with many are all checked`() throws {
        func links(_ name: String, _ target: String) -> ColumnSchema {
            ColumnSchema(name, ColumnType(.link, collection: .list, target: target))
        }
        let types = [
            TypeSchema("Root", columns: [links("narrow", "N"), links("wide", "M")]), TypeSchema("N", columns: [links("x", "X")]),
            TypeSchema("M", columns: [links("x", "X")]), TypeSchema("X", columns: [links("y", "Y")]),
            TypeSchema("Y", columns: [ColumnSchema("v", ColumnType(.int))]),
        ]
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let first = try database.begin()
        try first.extendSchema(types)
        for i in 0..<200 {
            _ = try first.insert("Y", [.int(0)])
            _ = try first.insert("X", [.list([.link(Int64(i))])])
            _ = try first.insert("M", [.list([.link(Int64(i))])])
        }
        _ = try first.insert("N", [.list([.link(0)])])
        _ = try first.insert("Root", [.list([.link(0)]), .list((0..<200).map { .link($0) })])
        try first.commit()
        let before = try database.snapshot()
        let second = try database.begin()
        try second.update("Y", rowID: 150, column: "v", .int(1))
        try second.commit()
        let after = try database.snapshot()
        for paths in [nil, ["narrow.x.y.v", "wide.x.y.v"]] as [[String]?] {
            let filter = try KeyPathFilter(root: "Root", in: after.schema, keyPaths: paths)
            let answer = try filter.modifiedRows(
                among: .rows([0]),
                changes: { name throws(Damage) in
                    try TableChanges.between(before.table(named: name), after.table(named: name))
                }, tables: { name throws(Damage) in after.table(named: name) })
            #expect(answer.rows.rowIDs == [0])
        }
    }

    /// Random links between random rows and a random commit, compared with a simple search that follows every link.
    @Test(arguments: Seed.first(Tier.cases(9, of: 20))) func `the rows that are reported are those that reach a change`(seed: Seed) throws {
        var random = RandomTables(seed, salt: 77)
        let types = ["A", "B"].map { name in
            TypeSchema(
                name,
                columns: [
                    ColumnSchema("v", ColumnType(.int)), ColumnSchema("w", ColumnType(.int)),
                    ColumnSchema("one", ColumnType(.link, optional: true, target: "B")),
                    ColumnSchema("many", ColumnType(.link, collection: .list, target: "A")),
                ])
        }
        let folder = TemporaryFolder(), count = random.chance(50) ? 12 : 300
        let database = try Database.create(path: folder.file("a.firn"), keep: 64)
        func link(_ random: inout RandomTables) -> Value { .link(Int64(random.number(0...count - 1))) }
        func list(_ random: inout RandomTables) -> Value { .list((0..<random.number(0...2)).map { _ in link(&random) }) }
        let first = try database.begin()
        try first.extendSchema(types)
        for type in ["A", "B"] {
            for _ in 0..<count { _ = try first.insert(type, [.int(0), .int(0), random.chance(30) ? link(&random) : .null, list(&random)]) }
        }
        if random.chance(50) { try first.flushAll() }
        try first.commit()
        var before = try database.snapshot(), gone: Set<String> = []
        for round in 0..<6 {
            let transaction = try database.begin()
            for _ in 0..<random.number(0...3) {
                let type = random.chance(50) ? "A" : "B", row = Int64(random.number(0...count - 1))
                if gone.contains("\(type)\(row)") { continue }
                switch random.number(0...6) {
                case 6:
                    // Links to the row dangle, and its own links no longer count.
                    try transaction.delete(type, rowID: row)
                    gone.insert("\(type)\(row)")
                case 0: try transaction.update(type, rowID: row, column: "one", link(&random))
                case 1: try transaction.update(type, rowID: row, column: "many", list(&random))
                case 2: try transaction.update(type, rowID: row, column: "w", .int(Int64(round + 1)))
                default: try transaction.update(type, rowID: row, column: "v", .int(Int64(round + 1)))
                }
            }
            try transaction.commit()
            let after = try database.snapshot()
            let changes = try ["A", "B"].map { try TableChanges.between(before.table(named: $0), after.table(named: $0)) }
            for paths in [
                nil, ["v"], ["one.v"], ["many.one.v", "w"], ["*.v"], ["many.many.many.w", "one"], ["*.*"], ["one.many", "many"],
            ] as [[String]?] {
                let filter = try KeyPathFilter(root: "A", in: after.schema, keyPaths: paths)
                let expected = try (0..<Int64(count)).filter {
                    try reaches($0, 0, paths?.map { $0.split(separator: ".").map(String.init) }, 0, changes, after)
                }
                for scope in [KeyPathFilter.Scope.all, .rows((0..<Int64(count)).map { $0 }.reversed()), .rows([3, 5, 5])] {
                    let answer = try filter.modifiedRows(
                        among: scope, changes: { name throws(Damage) in changes[name == "A" ? 0 : 1] },
                        tables: { name throws(Damage) in after.table(named: name) })
                    if case .rows(let rows) = scope, rows.count == 3 {
                        #expect(
                            [3, 5].filter(answer.rows.contains) == [3, 5].filter(expected.contains),
                            "seed \(seed), round \(round), \(paths ?? ["all"])")
                    } else {
                        #expect(answer.rows.rowIDs == expected, "seed \(seed), round \(round), \(paths ?? ["all"])")
                    }
                }
            }
            before = after
        }
    }

    private func reaches(
        _ row: Int64, _ type: Int, _ paths: [[String]]?, _ hops: Int, _ changes: [TableChanges], _ snapshot: DatabaseSnapshot
    ) throws -> Bool {
        let names = ["v", "w", "one", "many"]
        let columns = changes[type].modified.columns(ofRow: row)
        guard let values = try snapshot.table(named: ["A", "B"][type])!.row(row) else { return false }
        for (c, name) in names.enumerated() {
            let here = paths?.filter { $0[0] == "*" || $0[0] == name } ?? []
            let ends = here.contains { $0.count == 1 }
            let on = here.filter { $0.count > 1 }.map { Array($0.dropFirst()) }
            let matters = paths == nil || ends || (c > 1 && !on.isEmpty)
            if matters, columns?[c] ?? false { return true }
            guard c > 1, paths == nil ? hops < 4 : !on.isEmpty else { continue }
            var targets: [Value] = [values[c]]
            if case .list(let elements) = values[c] { targets = elements }
            for case .link(let target) in targets {
                if try reaches(target, c == 2 ? 1 : 0, paths == nil ? nil : on, hops + 1, changes, snapshot) { return true }
            }
        }
        return false
    }
}
