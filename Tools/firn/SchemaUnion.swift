import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// Builds one schema for several inputs with rows of one type.
///
/// The columns of the inputs must have the same names, in any order. A column that can be null in one input can be null in the result. In
/// CSV files, a column whose types or notations differ becomes a string (int and double in plain notation become double), so that the text
/// of each file round-trips.
struct SchemaUnion {
    private let files: [OpenedFile]

    init(_ files: [OpenedFile]) { self.files = files }

    /// Returns the files, opened again if necessary, so that their schemas differ only in the order of columns and in which ones can be
    /// null.
    func opened(options: ReadingOptions, progress: Progress) throws(FirnError) -> [OpenedFile] {
        let types = try files.map { (file) throws(FirnError) in try file.schema[file.typeName(nil)]! }
        var union = types[0], mustReopen = false
        for (file, type) in zip(files, types).dropFirst() {
            try checkNames(file, type, union)
            for i in union.columns.indices {
                let other = type.columns[type.index(of: union.columns[i].name)!]
                let merged = try merge(union.columns[i], other, file)
                if merged.type.kind != other.type.kind || merged.notation != other.notation
                    || merged.type.kind != union.columns[i].type.kind
                    || merged.notation != union.columns[i].notation
                {
                    mustReopen = true
                }
                union.columns[i] = merged
            }
        }
        guard mustReopen else { return files }
        var forced = options
        forced.forced = GivenSchema(Schema([union]), rows: union.name)
        return try files.map { (file) throws(FirnError) in
            guard file.address.path != "-" else {
                throw FirnError(.schema, "standard input and the other inputs differ in their types", advice: "save it to a file first")
            }
            return try OpenedFile(file.address.path, forced, progress: progress)
        }
    }

    private func checkNames(_ file: OpenedFile, _ type: TypeSchema, _ union: TypeSchema) throws(FirnError) {
        let names = Set(type.columns.map(\.name)), first = files[0].name
        if let missing = union.columns.first(where: { !names.contains($0.name) }) {
            throw FirnError(
                .schema, "the file has no column \"\(missing.name)\", which \(first) has", at: .init(file: file.name),
                advice: "only inputs with the same columns can be combined: see 'firn schema' and --columns")
        }
        if let surplus = type.columns.first(where: { union.index(of: $0.name) == nil }) {
            throw FirnError(
                .schema, "the file has a column \"\(surplus.name)\", which \(first) does not have", at: .init(file: file.name),
                advice: "only inputs with the same columns can be combined: see 'firn schema' and --columns")
        }
    }

    private func merge(_ a: ColumnSchema, _ b: ColumnSchema, _ file: OpenedFile) throws(FirnError) -> ColumnSchema {
        var merged = a
        merged.type.isOptional = a.type.isOptional || b.type.isOptional
        merged.type.elementIsOptional = a.type.elementIsOptional || b.type.elementIsOptional
        var same = b.type
        same.isOptional = merged.type.isOptional
        same.elementIsOptional = merged.type.elementIsOptional
        if same == merged.type, a.notation == b.notation { return merged }
        guard files.allSatisfy(\.isCSV) else {
            throw FirnError(
                .schema, "column \"\(a.name)\" is \(b.type.name) here and \(a.type.name) in \(files[0].name)", at: .init(file: file.name),
                advice: "convert each input separately")
        }
        if a.notation == .plain, b.notation == .plain, Set([a.type.kind, b.type.kind]) == [.int, .double] {
            merged.type.kind = .double
        } else {
            merged.type.kind = .string
            merged.notation = .plain
        }
        return merged
    }
}

/// Reads several inputs of one type, one after the other, with the columns of the first.
final class JoinedReader: BatchReader {
    let schema: Schema
    private let readers: [any BatchReader]
    private let type: TypeSchema
    private var current = 0

    /// Each reader has one root type. Their columns differ only in order and in which ones can be null.
    init(_ readers: [any BatchReader]) {
        self.readers = readers
        var schema = readers[0].schema
        var type = schema.roots[0]
        for other in readers.dropFirst().compactMap({ $0.schema.roots.first }) {
            for i in type.columns.indices {
                guard let same = other.index(of: type.columns[i].name).map({ other.columns[$0] }) else { continue }
                type.columns[i].type.isOptional = type.columns[i].type.isOptional || same.type.isOptional
                type.columns[i].type.elementIsOptional = type.columns[i].type.elementIsOptional || same.type.elementIsOptional
            }
        }
        for i in schema.types.indices where schema.types[i].name == type.name { schema.types[i] = type }
        self.schema = schema
        self.type = type
    }

    var remarks: [String] { readers.flatMap(\.remarks) }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while current < readers.count {
            guard let (name, batch) = try readers[current].next() else {
                current += 1
                continue
            }
            let source = readers[current].schema[name]!
            let columns = type.columns.map { column in
                var moved = batch.columns[source.index(of: column.name)!]
                moved.type = column.type
                return moved
            }
            return (type.name, Batch(count: batch.count, columns: columns))
        }
        return nil
    }
}
