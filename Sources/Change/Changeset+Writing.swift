import FirnBytes
import FirnModel

/// A difference as a file of changes.
extension TableDifference {
    /// Gives the schema of such a file to `begin`, and then its rows to `write`. `parallel` hashes, as in `ContentHash.Options`.
    package func writeChanges(begin: (Schema) throws(FirnError) -> Void, write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        guard leftOutOld == 0, leftOutNew == 0, options.rows == nil, options.tolerance == 0, options.ignore.isEmpty, options.columns.isEmpty, options.kinds.count == 3 else {
            preconditionFailure("changes are made of all rows and columns: compare without leaving any out")
        }
        for (table, name) in [(old, options.oldName), (new, options.newName)] {
            let columns = [table.type] + table.schema.embedded(from: table.type)
            guard !columns.contains(where: { $0.columns.contains { $0.type.kind == .link } }) else {
                throw FirnError(.unsupported, "changes of rows with links are not written: a link names a row of its own file", at: .init(file: name))
            }
        }
        let isWhole = !old.type.hasShape(of: new.type, in: old.schema, other: new.schema)
        let sides = [ChangedSide("old", old, options.oldName), ChangedSide("new", new, options.newName)]
        try begin(Schema([Changeset.facts] + sides.flatMap(\.types)))

        var pairs: [(old: RowPlace, new: RowPlace)] = [], removed: [RowPlace] = [], added: [RowPlace] = []
        if isWhole {
            removed = try Self.places(old, options.oldName)
            added = try Self.places(new, options.newName)
        } else {
            try forEachEntry { entry throws(FirnError) in
                switch entry {
                case .added(let place): added.append(place)
                case .removed(let place): removed.append(place)
                case .changed(let before, let after, _): pairs.append((before, after))
                }
                return true
            }
        }
        try sides[0].write(pairs.map(\.old) + removed, write)
        try sides[1].write(pairs.map(\.new) + added, write)

        let names = key.map(\.name)
        func hash(_ table: any Table, _ name: String) throws(FirnError) -> Value {
            var asked = ContentHash.Options()
            asked.key = names
            asked.name = name
            asked.parallel = options.parallel
            return .string("\(try ContentHash(of: table, options: asked).hash)")
        }
        let facts: [Value] = [.int(Changeset.version), .string(new.type.name), .list(names.map { .string($0) }), .int(Int64(pairs.count)), .bool(isWhole),
                              try hash(old, options.oldName), try hash(new, options.newName)]
        var batch = Batch(Changeset.facts, in: Schema([Changeset.facts]))
        for (i, value) in facts.enumerated() { batch.columns[i].append(value) }
        batch.count = 1
        try write("changes", batch)
    }

    /// All rows that are there.
    private static func places(_ table: any Table, _ name: String) throws(FirnError) -> [RowPlace] {
        var places: [RowPlace] = []
        do throws(Damage) {
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                for row in 0..<segment.rowCount where segment.live?[row] ?? true { places.append(RowPlace(segment: index, row: row)) }
            }
        } catch { throw FirnError(error, in: name) }
        return places
    }
}

/// One side of a file of changes.
private struct ChangedSide {
    let table: any Table
    let name: String
    /// The type of the rows, and the embedded ones.
    let types: [TypeSchema]
    var type: TypeSchema { types[0] }

    init(_ side: String, _ table: any Table, _ name: String) {
        self.table = table
        self.name = name
        var types = [table.type] + table.schema.embedded(from: table.type)
        for i in types.indices {
            types[i].name = i == 0 ? side : "\(side).\(types[i].name)"
            types[i].envelope = nil
            for c in types[i].columns.indices {
                if let target = types[i].columns[c].type.target { types[i].columns[c].type.target = "\(side).\(target)" }
                types[i].columns[c].indexes = []
            }
        }
        self.types = types
    }

    func write(_ places: [RowPlace], _ write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        let reader = RowReader(table, name: name), schema = Schema(types)
        var start = 0
        while start < places.count {
            let end = min(places.count, start + segmentSize)
            var batch = Batch(type, in: schema)
            for column in type.columns.indices {
                for place in places[start..<end] {
                    let value = try reader.value(place, column)
                    guard batch.columns[column].append(value) else { throw FirnError(.unsupported, "objects of '\(type.columns[column].name)' nest too deeply", at: .init(file: name)) }
                }
            }
            batch.count = end - start
            try write(type.name, batch)
            start = end
        }
    }
}
