import FirnBytes
import FirnQuery
import FirnTable

/// Runs the text of a query on a table with columns of nearly every kind. The result must be rows, or an error with a position.
enum QueryAttack {
    private static let schema = Schema([
        TypeSchema(
            "Toy", columns: [ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("price", ColumnType(.double))],
            isEmbedded: true),
        TypeSchema(
            "Dog",
            columns: [
                ColumnSchema("name", ColumnType(.string)), ColumnSchema("age", ColumnType(.int, optional: true)),
                ColumnSchema("weight", ColumnType(.double)),
                ColumnSchema("good", ColumnType(.bool)), ColumnSchema("born", ColumnType(.date, optional: true)),
                ColumnSchema("mixed", ColumnType(.any, optional: true)),
                ColumnSchema("tags", ColumnType(.string, collection: .list)), ColumnSchema("ints", ColumnType(.int, collection: .set)),
                ColumnSchema("dict", ColumnType(.int, collection: .map)),
                ColumnSchema("toy", ColumnType(.embedded, optional: true, target: "Toy")),
                ColumnSchema("toys", ColumnType(.embedded, collection: .list, target: "Toy")),
                ColumnSchema("friend", ColumnType(.link, optional: true, target: "Dog")),
            ]),
    ])

    private static let table: MemoryTable = {
        let type = schema["Dog"]!
        var batch = Batch(type, in: schema)
        for i in 0..<20 {
            let toy = Value.object([.init("name", i % 3 == 0 ? .null : .string("ball\(i)")), .init("price", .double(Double(i) / 4))])
            let row: [Value] = [
                .string("Dog \(i % 7) é"), i % 4 == 0 ? .null : .int(Int64(i)), .double(Double(i) * 1.5), .bool(i % 2 == 0),
                .date(Timestamp(seconds: Int64(i) * 100_000_000)), i % 3 == 0 ? .string("x") : .int(5),
                .list((0..<(i % 3)).map { .string("tag\($0)") }),
                .set(Value.distinctSorted((0..<(i % 4)).map { .int(Int64($0)) })), .map([.init("k", .int(Int64(i)))]),
                i % 5 == 0 ? .null : toy,
                .list(Array(repeating: toy, count: i % 3)), .link(Int64(i / 2)),
            ]
            for column in row.indices {
                trap(unless: batch.columns[column].append(row[column]), "a row of the attack does not fit its type")
            }
            batch.count += 1
        }
        return MemoryTable(type, schema: schema, batches: [batch])
    }()

    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 4096 else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(QueryError) {
            let tree = try Parser.query(text)
            guard let again = try? Parser.query(tree.description) else {
                trap("\"\(text)\" is printed as \"\(tree)\", which is rejected")
            }
            trap(unless: again == tree, "\"\(text)\" is printed as \"\(tree)\", which has another meaning")
            let run = try QueryRun(
                QueryRequest(filter: text, arguments: [.int(5), .string("age"), .list([.int(1), .null]), .link(1)]), table: table)
            _ = try? run.count()
        } catch {
            trap(
                unless: error.position >= 0 && error.position <= error.text.utf8.count && !error.message.isEmpty,
                "an error has no message or no valid position")
        }
    }
}
