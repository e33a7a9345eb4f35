import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnModel

/// One schema for several inputs that hold rows of one type.
///
/// Their columns have the same names, in any order. A column that may be null in one may be null in all. In CSV files a column that is
/// not of one type, or not written in one way, is a string: so that each file's text comes back.
struct SchemaUnion {
    private let files: [OpenedFile]

    init(_ files: [OpenedFile]) { self.files = files }

    /// The files opened so that their schemas agree up to the order of columns and to what may be null.
    func opened(options: ReadingOptions, progress: Progress) throws(FirnError) -> [OpenedFile] {
        let types = try files.map { (file) throws(FirnError) in try file.schema[file.typeName(nil)]! }
        var union = types[0], mustReopen = false
        for (file, type) in zip(files, types).dropFirst() {
            try checkNames(file, type, union)
            for i in union.columns.indices {
                let other = type.columns[type.index(of: union.columns[i].name)!]
                let merged = try merge(union.columns[i], other, file)
                if merged.type.kind != other.type.kind || merged.notation != other.notation || merged.type.kind != union.columns[i].type.kind
                    || merged.notation != union.columns[i].notation { mustReopen = true }
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
            throw FirnError(.schema, "it has no column \"\(missing.name)\", which \(first) has", at: .init(file: file.name),
                            advice: "only inputs with the same columns make one type: see firn schema, and --columns")
        }
        if let surplus = type.columns.first(where: { union.index(of: $0.name) == nil }) {
            throw FirnError(.schema, "it has a column \"\(surplus.name)\", which \(first) has not", at: .init(file: file.name),
                            advice: "only inputs with the same columns make one type: see firn schema, and --columns")
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
            throw FirnError(.schema, "column \"\(a.name)\" is \(b.type.name) here and \(a.type.name) in \(files[0].name)", at: .init(file: file.name),
                            advice: "convert each input by itself")
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

/// Several inputs of one type, one after the other, in the columns of the first.
final class JoinedReader: BatchReader {
    let schema: Schema
    private let readers: [any BatchReader]
    private let type: TypeSchema
    private var current = 0

    /// Each reader has one root type; they agree in their columns but for the order, and for what may be null.
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
