import FirnBytes
import FirnKit
import FirnTable

@testable import FirnChange

extension LinkedModel {
    /// Columns are added, removed and changed, a type is added, and types get a key, lose it, or get another one.
    mutating func reshape(_ random: inout RandomTables) {
        for name in ["Int", "Pair", "Plain"] where random.chance(70) {
            let position = schema.types.firstIndex { $0.name == name }!
            let x = schema.types[position].index(of: "x")!
            schema.types[position].columns[x] = ColumnSchema("x", ColumnType(.string, optional: true))
            schema.types[position].columns.append(ColumnSchema("late", ColumnType(.link, collection: .list, target: "New")))
            for i in rows[name, default: []].indices {
                rows[name]![i].values[x] = .string("now \(i)")
                rows[name]![i].values.append(.list([]))
            }
            if random.chance(40) {
                switch name {
                case "Plain": schema.types[position].key = [x]
                case "Int": schema.types[position].key = random.chance(50) ? [] : [x]
                default: schema.types[position].key = [x, 0]
                }
            }
            if random.chance(50), let gone = schema.types[position].index(of: "link0") {
                schema.types[position].columns.remove(at: gone)
                schema.types[position].key = schema.types[position].key.map { $0 > gone ? $0 - 1 : $0 }
                for i in rows[name, default: []].indices { rows[name]![i].values.remove(at: gone) }
            }
        }
        if random.chance(50), let position = schema.types.firstIndex(where: { $0.name == "Inner" }) {
            // The embedded type changes, so all columns with such objects become empty.
            schema.types[position].columns.append(column("more", .double))
            for type in schema.roots {
                for (c, column) in type.columns.enumerated() where column.type.kind == .embedded {
                    for i in rows[type.name, default: []].indices { rows[type.name]![i].values[c] = Column.absentValue(column.type) }
                }
            }
        }
        schema.types.append(
            TypeSchema(
                "New",
                columns: [
                    column("id", .int, optional: false), ColumnSchema("back", ColumnType(.link, optional: true, target: "Int")),
                    ColumnSchema("own", ColumnType(.link, optional: true, target: "New")),
                ], key: [0]))
        rows["New"] = []
        for i in 0..<Int64(random.number(1...9)) {
            let back = rows["Int"]?.randomElement(using: &random.generator).map { Value.link($0.number) } ?? .null
            rows["New"]!.append(Row(number: -100 - i, values: [.int(i), back, .link(-100 - i)]))
        }
        for type in schema.roots { relink(type.name, percent: 10, &random) }
    }
}
