import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnChange

/// A model of types whose rows link to each other. It is stored with other row ids and in another order each time, so links refer to
/// numbers that rows keep.
struct LinkedModel {
    struct Row {
        var number: Int64
        var values: [Value]
    }

    var schema: Schema
    var rows: [String: [Row]] = [:]
    private var next: Int64 = 1
    /// The types that are targets of links.
    private var names = ["Int", "Text", "Pair", "Plain"]

    /// The keys in use for each type, to keep keys distinct.
    private var taken: [String: Set<String>] = [:]

    // MARK: Creating

    /// Types with keys of one column, of one optional column and of two columns, types without key, and objects with links. For each kind
    /// in `keys` there is also a type with a key of this kind, and objects are nested three levels deep.
    init(_ random: inout RandomTables, keys: [ScalarKind] = []) {
        names += keys.map { "Of\($0.rawValue)" }
        let names = names
        var types: [TypeSchema] = []
        func links(_ count: Int, _ random: inout RandomTables, first: String) -> [ColumnSchema] {
            (0..<count).map { i in
                let collection = CollectionKind(rawValue: UInt8(random.chance(40) ? 0 : random.number(1...3)))!
                let type = ColumnType(
                    .link, optional: collection == .none || random.chance(30), collection: collection,
                    elementOptional: collection == .map || random.chance(20),
                    target: names[random.number(0...names.count - 1)])
                return ColumnSchema("\(first)\(i)", type)
            }
        }
        let objects = keys.isEmpty ? ["Outer", "Inner"] : ["Outer", "Inner", "Deep", "Deeper"]
        types.append(TypeSchema("Inner", columns: [column("n", .int)] + links(1, &random, first: "to"), isEmbedded: true))
        types.append(
            TypeSchema(
                "Outer",
                columns: [column("s", .string), ColumnSchema("inner", ColumnType(.embedded, optional: true, target: "Inner"))]
                    + links(1, &random, first: "to"), isEmbedded: true))
        if !keys.isEmpty {
            for (name, inside) in [("Deep", "Outer"), ("Deeper", "Deep")] {
                let lists = ColumnSchema("lists", ColumnType(.embedded, collection: .list, target: inside)),
                    maps = ColumnSchema("maps", ColumnType(.embedded, collection: .map, target: "Inner"))
                types.append(
                    TypeSchema(
                        name,
                        columns: [
                            ColumnSchema("one", ColumnType(.embedded, optional: true, target: inside)), lists, maps, column("any", .any),
                        ] + links(2, &random, first: "to"), isEmbedded: true))
            }
        }
        for name in names {
            var columns: [ColumnSchema] = []
            var key: [Int] = []
            switch name {
            case "Int": (columns, key) = ([column("id", .int, optional: random.chance(50))], [0])
            case "Text": (columns, key) = ([column("id", .string)], [0])
            case "Pair": (columns, key) = ([column("a", .int, optional: false), column("b", .string)], [0, 1])
            case "Plain": break
            default:
                columns = [column("key", ScalarKind(rawValue: UInt8(name.dropFirst(2))!)!, optional: name == "Of1" || random.chance(50))]
                key = [0]
                if random.chance(30) {
                    columns.append(column("key2", keys[random.number(0...keys.count - 1)]))
                    key = random.chance(50) ? [0, 1] : [1, 0]
                }
            }
            columns +=
                [column("x", .int), column("y", .string, optional: false), column("z", .any)]
                + links(random.number(1...3), &random, first: "link")
            if random.chance(60) {
                let collection = random.chance(50) ? CollectionKind.none : random.chance(50) ? .list : .map
                columns.append(
                    ColumnSchema(
                        "object",
                        ColumnType(
                            .embedded, optional: collection == .none, collection: collection,
                            target: objects[random.number(0...objects.count - 1)])))
            }
            types.append(TypeSchema(name, columns: columns, key: key))
        }
        schema = Schema(types)
        for name in names { add(random.number(0...60), of: name, &random) }
        for name in names { relink(name, percent: 100, &random) }
    }

    /// Adds rows whose links are null.
    mutating func add(_ count: Int, of name: String, _ random: inout RandomTables) {
        let type = schema[name]!
        for _ in 0..<count {
            var row = Row(number: next, values: type.columns.map { value($0, &random) })
            let key = type.key.map { row.values[$0].number.map { "\(Float($0 == 0 ? 0 : $0))" } ?? "\(row.values[$0])" }.joined(
                separator: "|")
            if !type.key.isEmpty, !taken[name, default: []].insert(key).inserted { continue }
            row.number = next
            next += 1
            rows[name, default: []].append(row)
        }
    }

    private func value(_ column: ColumnSchema, _ random: inout RandomTables) -> Value {
        if ["id", "a"].contains(column.name), column.type.kind == .int {
            return column.type.isOptional && random.chance(10) ? .null : .int(Int64(random.number(0...120)))
        }
        if ["id", "b"].contains(column.name) { return random.chance(5) ? .null : .string("k\(random.number(0...90))") }
        if column.name.hasPrefix("key") { return keyValue(column, &random) }
        if column.type.kind == .any { return random.value(column.type, in: schema) }
        if column.type.kind == .link || column.type.kind == .embedded { return Column.absentValue(column.type) }
        return random.value(column.type, in: schema)
    }

    private func keyValue(_ column: ColumnSchema, _ random: inout RandomTables) -> Value {
        if column.type.isOptional, random.chance(5) { return .null }
        let odd: [Double] = [.nan, 0, -0.0, .infinity, -.infinity, Double(Int64.max), 0.1]
        switch column.type.kind {
        case .double where random.chance(20): return .double(odd[random.number(0...odd.count - 1)])
        case .float where random.chance(20): return .float(Float(odd[random.number(0...odd.count - 1)]))
        case .decimal where random.chance(20):
            return .decimal(Decimal(["NaN", "Infinity", "0E-10", "-0", "1E+20", "0.1", "0.10"][random.number(0...6)])!)
        case .any where random.chance(40):
            return [
                .float(0.1), .double(0.1), .decimal(Decimal("0.1")!), .double(-0.0), .int(0), .bool(false), .data([1]), .string(""),
                .set([.int(1)]),
            ][random.number(0...8)]
        case .string where random.chance(20): return .string(["", "é", "e\u{301}", "ß", "\u{0}"][random.number(0...4)])
        default: return random.value(ColumnType(column.type.kind), in: schema)
        }
    }

    /// The same key in another representation.
    private func rewritten(_ key: Value) -> Value {
        switch key {
        case .double(0): .double(-0.0)
        case .float(0): .float(-0.0)
        case .double(let x) where x.isNaN: .double(Double(bitPattern: 0x7FF8_0000_0000_0001))
        case .decimal(Decimal("0.1")!): .decimal(Decimal("0.10")!)
        default: key
        }
    }

    /// Replaces some of the values that may contain links.
    mutating func relink(_ name: String, percent: Int, _ random: inout RandomTables) {
        for (position, column) in schema[name]!.columns.enumerated()
        where schema.mayHoldLinks(column.type) && !schema[name]!.key.contains(position) {
            for i in rows[name, default: []].indices where random.chance(percent) {
                rows[name]![i].values[position] = linked(column.type, &random)
            }
        }
    }

    /// Returns nil if the type has no rows. -5 stands for a deleted row.
    private func target(_ name: String, _ random: inout RandomTables, mayBeGone: Bool) -> Value? {
        if mayBeGone, random.chance(5) { return .link(-5) }
        return rows[name]?.randomElement(using: &random.generator).map { .link($0.number) }
    }

    private func linked(_ type: ColumnType, _ random: inout RandomTables) -> Value {
        if type.isOptional, random.chance(20) { return .null }
        switch type.collection {
        case .none: break
        case .list:
            return .list(
                (0..<random.number(0...4)).map { _ in linked(type.element, &random) }.filter { type.elementIsOptional || !$0.isNull })
        case .set:
            var seen: [Value] = []
            for _ in 0..<random.number(0...4) {
                let value = linked(type.element, &random)
                // Two links to missing rows, or such a link and null, would become equal.
                if !seen.contains(value), value != .link(-5), type.elementIsOptional || !value.isNull { seen.append(value) }
            }
            return .set(seen)
        case .map:
            return .map(
                (0..<random.number(0...3)).map { Value.Entry("k\($0)", linked(type.element, &random)) }.filter {
                    type.elementIsOptional || !$0.value.isNull
                })
        }
        switch type.kind {
        case .link: return target(type.target!, &random, mayBeGone: type.isOptional) ?? .null
        case .embedded: return .object(schema[type.target!]!.columns.map { Value.Entry($0.name, linked($0.type, &random)) })
        case .any:
            guard random.chance(60) else { return random.value(type, in: schema) }
            let name = names[random.number(0...names.count - 1)]
            guard case .link(let row)? = target(name, &random, mayBeGone: true) else { return .null }
            let link = Value(link: row, to: name)
            return random.chance(50) ? link : .list([.int(1), link, .map([Value.Entry("deep", link)])])
        default: return random.value(type, in: schema)
        }
    }

    /// Returns another version of the model, with rows added, removed and changed.
    func changed(_ random: inout RandomTables) -> LinkedModel {
        var copy = self
        for type in schema.roots {
            copy.rows[type.name] = copy.rows[type.name, default: []].filter { _ in !random.chance(10) }
            for i in copy.rows[type.name]!.indices where random.chance(20) {
                let position = random.number(0...type.columns.count - 1)
                if type.columns[position].name.hasPrefix("key") {
                    let key = copy.rows[type.name]![i].values[position]
                    copy.rows[type.name]![i].values[position] =
                        type.columns[position].type.kind == .any && key.number.map { $0 == $0.rounded() && $0.magnitude < 1e9 } ?? false
                        ? .double(key.number!) : rewritten(key)
                }
                if !type.key.contains(position), !schema.mayHoldLinks(type.columns[position].type) {
                    copy.rows[type.name]![i].values[position] = random.value(type.columns[position].type, in: schema)
                }
            }
            copy.add(random.number(0...12), of: type.name, &random)
        }
        for type in schema.roots { copy.relink(type.name, percent: 15, &random) }
        copy.forgetRowsThatAreGone()
        return copy
    }

    /// Removes links to removed rows, as deleting rows does. Links in `any` values are kept.
    private mutating func forgetRowsThatAreGone() {
        let there = Set(rows.values.joined().map(\.number))
        for type in schema.roots {
            for (position, column) in type.columns.enumerated() where schema.mayHoldLinks(column.type) {
                for i in rows[type.name, default: []].indices {
                    rows[type.name]![i].values[position] = kept(rows[type.name]![i].values[position], column.type, there)
                }
            }
        }
    }

    private func kept(_ value: Value, _ type: ColumnType, _ there: Set<Int64>) -> Value {
        func isKept(_ value: Value) -> Bool { type.elementIsOptional || !value.isNull }
        switch value {
        case .link(let row): return there.contains(row) || row == -5 ? value : .null
        case .list(let values) where type.collection == .list: return .list(values.map { kept($0, type.element, there) }.filter(isKept))
        case .set(let values) where type.collection == .set:
            return .set(Value.distinctSorted(values.map { kept($0, type.element, there) }.filter(isKept)))
        case .map(let entries) where type.collection == .map:
            return .map(entries.map { Value.Entry($0.key, kept($0.value, type.element, there)) }.filter { isKept($0.value) })
        case .object(let entries) where type.kind == .embedded:
            let fields = schema[type.target!]!.columns
            return .object(entries.enumerated().map { Value.Entry($1.key, kept($1.value, fields[$0].type, there)) })
        default: return value
        }
    }

    // MARK: Storing

    /// Writes the model with new row ids.
    func store(_ path: String, _ random: inout RandomTables) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        var ids: [Int64: Int64] = [:], order: [String: [Row]] = [:], gone: [String: Int64] = [:]
        for type in schema.roots {
            // Rows that were deleted before shift the row ids.
            for _ in 0...random.number(0...3) {
                let row = try transaction.insert(type.name, filler(type))
                try transaction.delete(type.name, rowID: row)
                gone[type.name] = row
            }
            var rows = self.rows[type.name, default: []]
            if !type.key.isEmpty { rows.shuffle(using: &random.generator) }
            order[type.name] = rows
            for row in rows {
                if random.chance(10), hasFiller(type) {
                    try transaction.delete(type.name, rowID: transaction.insert(type.name, filler(type)))
                }
                let bare = zip(type.columns, row.values).map { $1.mapLinks($0.type, in: schema) { name, _ in (name, -1) } }
                ids[row.number] = try transaction.insert(type.name, bare)
            }
        }
        for type in schema.roots {
            for row in order[type.name]! {
                for (column, value) in zip(type.columns, row.values) where value.hasLinks(column.type, in: schema) {
                    try transaction.update(
                        type.name, rowID: ids[row.number]!, column: column.name,
                        value.mapLinks(column.type, in: schema) { ($0, ids[$1] ?? gone[$0]!) })
                }
            }
        }
        try transaction.commit()
        return database
    }

    /// A kind with few values may have no unused key.
    private func hasFiller(_ type: TypeSchema) -> Bool { type.key.first.map { type.columns[$0].type.kind != .bool } ?? true }

    /// A row with an unused key, which only shifts row ids.
    private func filler(_ type: TypeSchema) -> [Value] {
        type.columns.enumerated().map { position, column in
            guard type.key.contains(position) else { return Column.absentValue(column.type) }
            switch column.type.kind {
            case .string, .any: return .string("filler")
            case .int: return .int(.min)
            case .float, .double, .decimal:
                return column.type.kind == .float
                    ? .float(-1e30) : column.type.kind == .double ? .double(-1e300) : .decimal(Decimal("-1E+300")!)
            case .data: return .data(Array(repeating: 7, count: 40))
            case .date: return .date(Timestamp(seconds: -77, nanoseconds: 77))
            case .objectID: return .objectID(Identifier(high: 7, low: 7))
            case .uuid: return .uuid(Identifier(high: 7, low: 7))
            default: return .null
            }
        }
    }
}
