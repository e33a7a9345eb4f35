import FirnDatabase
import FirnTable

/// Two versions of a file with three types whose rows link to each other, with different row ids: persons by id, pets by tag, places
/// without key.
public enum LinkedFile {
    /// - `more`: the number of additional rows that are the same in both versions.
    public static func write(_ path: String, isNew: Bool, more: Int = 0) throws {
        let person = TypeSchema(
            "Person",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
                ColumnSchema("boss", ColumnType(.link, optional: true, target: "Person")),
                ColumnSchema("pets", ColumnType(.link, collection: .list, target: "Pet")),
            ], key: [0])
        let pet = TypeSchema(
            "Pet",
            columns: [ColumnSchema("tag", ColumnType(.string)), ColumnSchema("at", ColumnType(.link, optional: true, target: "Place"))],
            key: [0])
        let place = TypeSchema("Place", columns: [ColumnSchema("name", ColumnType(.string))])
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([person, pet, place])
        let places = try (isNew ? ["barn", "yard", "roof"] : ["barn", "field"]).map { try transaction.insert("Place", [.string($0)]) }
        if isNew {
            let cat = try transaction.insert("Pet", [.string("cat"), .link(places[2])]),
                dog = try transaction.insert("Pet", [.string("dog"), .link(places[1])])
            let cy = try transaction.insert("Person", [.int(3), .string("Cy"), .null, .list([.link(cat)])])
            _ = try transaction.insert("Person", [.int(1), .string("Ada"), .link(cy), .list([.link(dog), .link(cat)])])
        } else {
            let dog = try transaction.insert("Pet", [.string("dog"), .link(places[1])])
            let ada = try transaction.insert("Person", [.int(1), .string("Ada"), .null, .list([.link(dog)])])
            _ = try transaction.insert("Person", [.int(2), .string("Bo"), .link(ada), .list([])])
        }
        for i in 0..<more { try transaction.insert("Person", [.int(Int64(100 + i)), .string("more \(i)"), .null, .list([])]) }
        try transaction.commit()
    }
}
