import FirnBytes
import FirnDatabase
import FirnExchange
import FirnSQL
import FirnTable

/// The names of the tables of `firn sql`: the name of the type, or `FILE_Type` if several inputs have a type of that name. The only type of
/// a file is also a table with the name of the file.
struct SQLNames {
    /// The types of one input.
    private struct Source {
        let file: SQLFile
        let types: [String]
        /// The first part of a name that must be distinguished from others.
        let prefix: String
    }
    private let sources: [Source]

    /// `snapshots`: versions of files that a caller has open.
    init(_ files: [OpenedFile], snapshots: [DatabaseSnapshot] = []) throws(FirnError) {
        var sources = snapshots.map { snapshot in
            let tables = snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
            return Source(
                file: SQLFile(name: snapshot.path, tables: tables), types: tables.map(\.type.name), prefix: Address.stem(of: snapshot.path))
        }
        for opened in files {
            let tables = try opened.tables(), version = opened.address.version.map { "@\($0)" } ?? ""
            sources.append(
                Source(
                    file: SQLFile(name: opened.name, tables: tables), types: tables.map(\.type.name),
                    prefix: Address.stem(of: opened.address.path) + version))
        }
        self.sources = sources
    }

    /// Adds all types of all files to a connection, and returns the names of the tables.
    func add(to connection: SQLConnection) throws(FirnError) -> [String] {
        var names = NameTable(), given: [String] = []
        let counts = Dictionary(grouping: sources.flatMap(\.types), by: NameTable.folded).mapValues(\.count)
        for source in sources {
            for type in source.types {
                let isUnique = counts[NameTable.folded(type)] == 1
                let name = names.unique(isUnique ? type : "\(source.prefix)_\(type)")
                try connection.add(source.file, type: type, as: name)
                given.append(name)
            }
        }
        // The only type of a file has the name of the file too, if no type has it.
        let stems = Dictionary(grouping: sources.map(\.prefix), by: NameTable.folded).mapValues(\.count)
        for source in sources where source.types.count == 1 && stems[NameTable.folded(source.prefix)] == 1 {
            let known = Set(given.map(NameTable.folded)), prefix = NameTable.folded(source.prefix)
            guard !prefix.isEmpty, !known.contains(prefix), counts[prefix] == nil else { continue }
            try connection.add(source.file, type: source.types[0], as: source.prefix)
            given.append(source.prefix)
        }
        return given
    }

    /// Adds advice to errors about unknown tables and columns: the nearest name, or the names of all tables.
    static func advised<R>(_ names: [String], _ connection: SQLConnection, _ body: () throws(FirnError) -> R) throws(FirnError) -> R {
        do throws(FirnError) { return try body() } catch {
            var advised = error
            if let mark = "no such column: ".endIndex(in: advised.message) {
                let wanted = String(advised.message[mark...].split(separator: ".").last ?? "")
                advised.advice =
                    Suggestion.nearest(to: wanted, among: connection.columnNames).map { "did you mean \(SQLNames.written($0))?" }
                    ?? advised.advice
            } else if advised.advice == nil, let mark = "no such table: ".endIndex(in: advised.message) {
                let wanted = String(advised.message[mark...]), split = names.filter { $0.hasSuffix("_" + wanted) }
                let near = split.count > 1 ? nil : Suggestion.nearest(to: wanted, among: names)
                advised.advice =
                    near.map { "did you mean \(SQLNames.written($0))?" }
                    ?? (names.isEmpty
                        ? "no file was given, and there is no file of this name"
                        : "the tables are \(names.map(SQLNames.written).listed())")
            }
            throw advised
        }
    }

    /// Returns the name of the table that an error reports as missing; nil for other errors.
    static func missingTable(_ error: FirnError) -> String? {
        "no such table: ".endIndex(in: error.message).map { String(error.message[$0...]) }
    }

    /// Returns the name as SQL, in quotes if necessary.
    static func written(_ name: String) -> String {
        let isPlain = name.utf8.enumerated().allSatisfy { at, byte in
            byte | 32 >= 97 && byte | 32 <= 122 || byte == 95 || byte >= 48 && byte <= 57 && at > 0
        }
        return isPlain && !name.isEmpty ? name : SQLSpelling.name(name)
    }
}

extension String {
    /// Returns the end of the first occurrence of this string in `text`, or nil.
    fileprivate func endIndex(in text: String) -> String.Index? {
        guard let start = text.indices.first(where: { text[$0...].hasPrefix(self) }) else { return nil }
        return text.index(start, offsetBy: count)
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
