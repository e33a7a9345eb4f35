import CArrow
import FirnBytes
import FirnExchange
import FirnTable

/// The batches of a stream of Arrow's C stream interface: of another library in this process. Its pointers and lengths are trusted, as the
/// interface requires; its values are checked as those of files.
final class ArrowImport: ArrowSource {
    let layout: ArrowLayout
    let remarks: [String]
    private let stream: StreamOwner
    private let fields: [ArrowField]
    private var count = 0
    private var isEnded = false
    /// The first batch, until it is used.
    private var first: ArrayOwner?

    /// The number of rows of the first batch; 0 if there is none.
    var firstRows: Int { Int(first?.array.length ?? 0) }

    /// Takes the stream over, also if it fails.
    init(_ stream: UnsafeMutablePointer<ArrowArrayStream>, named name: String, _ options: ArrowOptions) throws(FirnError) {
        self.stream = StreamOwner(stream, name)
        let schema: ArrowSchema
        do throws(ArrowFault) {
            schema = try self.stream.schema()
            fields = schema.fields
            first = try self.stream.next()
            isEnded = first == nil
        } catch { throw error.error(in: name) }
        layout = try ArrowLayout(schema, named: name, options)
        remarks = layout.remarks
    }

    func next() throws(FirnError) -> ArrowBatch? {
        guard !isEnded else { return nil }
        do throws(ArrowFault) {
            let known = first
            first = nil
            guard let owner = try known == nil ? stream.next() : known else {
                isEnded = true
                return nil
            }
            count += 1
            return try batch(owner)
        } catch { throw error.error(in: layout.name, "batch \(count)") }
    }

    private func batch(_ owner: ArrayOwner) throws(ArrowFault) -> ArrowBatch {
        let root = owner.array
        guard root.n_children == Int64(fields.count), root.length >= 0, root.length <= Int64(Int32.max), root.offset >= 0 else {
            throw ArrowFault("a batch has \(root.n_children) columns and \(root.length) rows", code: .rejected)
        }
        if root.null_count > 0 { throw ArrowFault("rows of a batch are null", code: .rejected) }
        var list = ImportedBuffers()
        for (i, field) in fields.enumerated() {
            guard let child = root.children?[i] else { throw ArrowFault("a column of a batch is NULL", code: .rejected) }
            try list.add(field, child.pointee, ImportedRange(start: Int(root.offset), count: Int(root.length)))
        }
        var dictionaries = ArrowDictionaries()
        // Those that others refer to come first.
        for (id, field, array) in list.dictionaries where layout.dictionaries.plans[id] != nil {
            var values = ImportedBuffers()
            try values.add(field, array, ImportedRange(start: 0, count: Int(array.length)))
            let batch = values.batch(rows: Int(array.length), index: count, owner, dictionaries)
            try dictionaries.add(id, batch, isDelta: false, layout.dictionaries)
        }
        return list.batch(rows: Int(root.length), index: count, owner, dictionaries)
    }
}

/// A stream, which is released with this object.
private final class StreamOwner {
    private var stream: ArrowArrayStream
    private let name: String

    init(_ stream: UnsafeMutablePointer<ArrowArrayStream>, _ name: String) {
        // A structure is moved by copying it and marking the source as released.
        self.stream = stream.pointee
        self.name = name
        stream.pointee.release = nil
    }

    deinit { stream.release?(&stream) }

    private func fault(_ code: Int32) -> ArrowFault {
        let text = stream.get_last_error?(&stream).map { String(cString: $0) }
        return ArrowFault(
            "the stream reports: \(text ?? "error \(code)")", code: code == 12 ? .outOfMemory : .rejected)
    }

    func schema() throws(ArrowFault) -> ArrowSchema {
        guard stream.release != nil, let get = stream.get_schema else { throw ArrowFault("the stream was released", code: .usage) }
        var schema = CArrow.ArrowSchema()
        let code = get(&stream, &schema)
        guard code == 0 else { throw fault(code) }
        defer { schema.release?(&schema) }
        var ids: Int64 = 0
        let root = try ArrowField(schema, dictionaries: &ids, path: "", level: 0)
        guard root.type == .structure else { throw ArrowFault("the stream does not have rows, but \(root.typeName)", code: .rejected) }
        return ArrowSchema(fields: root.children, metadata: root.metadata)
    }

    func next() throws(ArrowFault) -> ArrayOwner? {
        guard let get = stream.get_next else { throw ArrowFault("the stream was released", code: .usage) }
        var array = CArrow.ArrowArray()
        let code = get(&stream, &array)
        guard code == 0 else { throw fault(code) }
        return array.release == nil ? nil : ArrayOwner(array)
    }
}

/// An array, which is released with this object.
final class ArrayOwner: @unchecked Sendable {
    private(set) var array: CArrow.ArrowArray

    init(_ array: CArrow.ArrowArray) { self.array = array }

    deinit { array.release?(&array) }
}
