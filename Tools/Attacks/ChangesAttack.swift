import FirnBytes
import FirnChange
import FirnDatabase
import FirnDisk
import FirnTable

/// Applies an untrusted changes file to rows that it names.
package struct ChangesAttack {
    let path: String

    package init(path: String) { self.path = path }

    func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 1 << 20 else { return }
        let target = path + ".target"
        defer { _ = try? Paths.remove(target) }
        do {
            let file = try File(path: path, .createOrTruncate)
            try file.write(bytes, at: 0)
            try ChangesAttack.write(target, isNew: false)
        } catch { trap("cannot write the scratch files: \(error)") }
        guard let source = try? Database.open(path: path), let snapshot = try? source.snapshot(),
            let changes = try? Changeset(snapshot, name: "changes")
        else { return }
        for changes in [changes, changes.reversed] { apply(changes, target) }
    }

    private func apply(_ changes: Changeset, _ target: String) {
        guard let database = try? Database.open(path: target, writable: true), let transaction = try? database.begin() else {
            trap("cannot open the intact target")
        }
        defer { transaction.cancel() }
        guard case .applied? = try? changes.apply(in: transaction, options: DifferenceOptions()) else { return }
        // After the changes were applied, the file must be intact.
        guard (try? transaction.commit()) != nil else { return }
        trap(unless: (try? database.verifyStructure())?.isEmpty == true, "applying changes damaged the structure of the file")
        guard let snapshot = try? database.snapshot() else { return }
        let defects = snapshot.verify(full: true)
        trap(unless: defects.isEmpty, "applying changes damaged the file: \(defects[0])")
    }

    /// Writes one of two versions of a file whose rows link to each other by columns of every kind. The versions have different row ids.
    package static func write(_ path: String, isNew: Bool) throws(FirnError) {
        let database = try Database.create(path: path, overwrite: true), transaction = try database.begin()
        func column(
            _ name: String, _ kind: ScalarKind, _ collection: CollectionKind = .none, optional: Bool = false, _ target: String? = nil
        ) -> ColumnSchema {
            ColumnSchema(
                name, ColumnType(kind, optional: optional, collection: collection, elementOptional: collection == .map, target: target))
        }
        try transaction.extendSchema([
            TypeSchema("Part", columns: [column("size", .int), column("of", .link, optional: true, "Person")], isEmbedded: true),
            TypeSchema(
                "Person",
                columns: [
                    column("id", .int), column("name", .string, optional: true), column("boss", .link, optional: true, "Person"),
                    column("pets", .link, .list, "Pet"),
                    column("part", .embedded, optional: true, "Part"), column("any", .any, optional: true),
                ] + (isNew ? [column("late", .double, optional: true)] : []), key: [0]),
            TypeSchema(
                "Pet",
                columns: [
                    column("tag", .string, optional: true), column("n", .int), column("at", .link, optional: true, "Place"),
                    column("friends", .link, .map, "Pet"),
                ], key: [0, 1]),
            TypeSchema("Place", columns: [column("name", .string), column("who", .link, .set, "Person")]),
        ])
        let places = isNew ? ["barn", "yard", "roof"] : ["barn", "field"], count = isNew ? 9 : 8
        for place in places { try transaction.insert("Place", [.string(place), .set([])]) }
        for i in 0..<4 {
            try transaction.insert("Pet", [i == 0 ? .null : .string("pet \(i)"), .int(Int64(i)), .link(Int64(i % 2)), .map([])])
        }
        for i in 0..<count where isNew || i != 5 {
            // The new version has the rows in another order.
            let id = Int64(isNew ? count - i : i)
            try transaction.insert(
                "Person",
                [.int(id), .string("name \(isNew && id == 3 ? 33 : id)"), .null, .list([]), .null, .int(id)] + (isNew ? [.double(0.5)] : [])
            )
        }
        for row in 0..<Int64(count - 1) {
            try transaction.update("Person", rowID: row, column: "boss", .link((row + 1) % 4))
            try transaction.update("Person", rowID: row, column: "pets", .list([.link(row % 4), .link(isNew ? 0 : 1)]))
            try transaction.update(
                "Person", rowID: row, column: "part", .object([Value.Entry("size", .int(row)), Value.Entry("of", .link(row))]))
            try transaction.update(
                "Person", rowID: row, column: "any",
                .map([Value.Entry("$link", .list([.string(row % 2 == 0 ? "Pet" : "Place"), .link(row % 2)]))]))
        }
        for row in 0..<Int64(places.count) {
            try transaction.update("Place", rowID: row, column: "who", .set([.link(row), .link(row + 1)]))
        }
        for row in 0..<Int64(4) {
            try transaction.update(
                "Pet", rowID: row, column: "friends", .map([Value.Entry("a", .link((row + (isNew ? 1 : 2)) % 4)), Value.Entry("b", .null)]))
        }
        try transaction.commit()
    }
}
