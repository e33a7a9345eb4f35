import FirnBytes
import FirnExchange
import FirnSQL
import FirnTable

/// The names of the tables of `firn sql`: the name of the type, or `FILE_Type` if several inputs have a type of that name.
struct SQLNames {
    private let files: [OpenedFile]

    init(_ files: [OpenedFile]) { self.files = files }

    /// Adds all types of all files to a connection, and returns the names of the tables.
    func add(to connection: SQLConnection) throws(FirnError) -> [String] {
        var types: [(file: SQLFile, opened: OpenedFile, name: String)] = []
        for opened in files {
            let tables = try opened.tables(), file = SQLFile(name: opened.name, tables: tables)
            for table in tables { types.append((file, opened, table.type.name)) }
        }
        var names = NameTable(), given: [String] = []
        let counts = Dictionary(grouping: types, by: { NameTable.folded($0.name) }).mapValues(\.count)
        for type in types {
            let version = type.opened.address.version.map { "@\($0)" } ?? ""
            let isUnique = counts[NameTable.folded(type.name)] == 1
            let name = names.unique(isUnique ? type.name : "\(Address.stem(of: type.opened.address.path))\(version)_\(type.name)")
            try connection.add(type.file, type: type.name, as: name)
            given.append(name)
        }
        return given
    }

    /// Returns the name as SQL, in quotes if necessary.
    static func written(_ name: String) -> String {
        let isPlain = name.utf8.enumerated().allSatisfy { at, byte in
            byte | 32 >= 97 && byte | 32 <= 122 || byte == 95 || byte >= 48 && byte <= 57 && at > 0
        }
        return isPlain && !name.isEmpty ? name : SQLSpelling.name(name)
    }
}

extension OpenedFile {
    /// Returns all types with their rows, or the type that the operand names. Rows of other formats are read completely, and kept in memory
    /// or in a temporary file.
    func tables() throws(FirnError) -> [any Table] {
        switch content {
        case .stored(_, let snapshot):
            if let name = address.type { return [try table(name)] }
            return snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
        case .stream(let reader) where hasObjects && union == nil && !streamsTypes:
            if let name = address.type { return [try table(name)] }
            let all = try allTables(reader)
            return reader.schema.roots.compactMap { all[$0.name] }
        case .stream(let reader):
            let collected = CollectedTables(reader.schema, of: name, isSecret: isSecret, threads: threads)
            try collected.add(reader)
            let all = try collected.tables()
            return reader.schema.roots.compactMap { all[$0.name] }
        }
    }
}
