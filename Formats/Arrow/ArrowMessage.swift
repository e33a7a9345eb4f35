import FirnBytes
import FirnExchange

/// The header of a message.
struct ArrowMessage {
    let version: Int
    let kind: ArrowFormat.Header
    let header: FlatTable
    let bodyLength: Int

    /// `base`: the offset of the metadata in the file.
    init(_ metadata: UnsafeRawBufferPointer, base: Int) throws(ArrowFault) {
        let root = try FlatTable(root: metadata, base: base)
        version = Int(try root.scalar(0, 0 as Int16))
        guard version >= ArrowFormat.minimumVersion else {
            throw ArrowFault.unknown(
                "the metadata has the version \(version + 1), which was used before Arrow 0.8", at: base,
                advice: "write the file again with a newer version of the program that wrote it")
        }
        guard version <= ArrowFormat.version5 else {
            throw ArrowFault.unknown(
                "the metadata has the version \(version + 1), which is not known", at: base, advice: "a newer version of Firn might read it"
            )
        }
        let code = try root.scalar(1, 0 as UInt8)
        guard let kind = ArrowFormat.Header(rawValue: code), kind != .none, let header = try root.table(2) else {
            throw ArrowFault.unknown("a message of the unknown kind \(code)", at: base)
        }
        guard kind != .tensor, kind != .sparseTensor else {
            throw ArrowFault.unknown("the data are a tensor, and not rows", at: base)
        }
        self.kind = kind
        self.header = header
        let length = try root.scalar(3, 0 as Int64)
        guard length >= 0, let fits = Int(exactly: length) else { throw ArrowFault("a message has a body of \(length) bytes", at: base) }
        bodyLength = fits
    }

    /// Reads the length at the start of a message: the number of bytes before the metadata, and of the metadata. 0: the end.
    static func prefix(_ bytes: UnsafeRawBufferPointer, base: Int) throws(ArrowFault) -> (prefix: Int, metadata: Int) {
        guard bytes.count >= 4 else { throw ArrowFault("a message is cut short", at: base) }
        let first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        guard first == ArrowFormat.continuation else {
            guard first <= UInt32(Int32.max) else { throw ArrowFault("a message has the length \(first)", at: base) }
            return (4, Int(first))
        }
        guard bytes.count >= 8 else { throw ArrowFault("a message is cut short", at: base) }
        let length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        guard length <= UInt32(Int32.max) else { throw ArrowFault("a message has the length \(length)", at: base) }
        return (8, Int(length))
    }

    /// The header of a batch: that of the message, or the one within a dictionary batch.
    func batch() throws(ArrowFault) -> FlatTable {
        guard kind == .dictionaryBatch else { return header }
        guard let data = try header.table(1) else { throw ArrowFault("a dictionary has no values", at: header.offset) }
        return data
    }

    var dictionary: (id: Int64, isDelta: Bool) {
        get throws(ArrowFault) { (try header.scalar(0, 0), try header.flag(2)) }
    }
}

/// The nodes and buffers of a batch, as its header lists them.
struct ArrowBatchHeader {
    let rowCount: Int
    let offset: Int
    let codec: ArrowFormat.Codec?
    /// Whether unions have a validity, as in files of version 4.
    let hasUnionValidity: Bool
    private let nodes: UnsafeRawBufferPointer
    let nodeCount: Int
    private let buffers: UnsafeRawBufferPointer
    let bufferCount: Int
    /// For each field with views, the number of its buffers of text; then summed up from the first.
    private let views: [Int]
    /// The nodes, if they are not part of a message.
    private let given: [(length: Int64, nulls: Int64)]?

    /// The header of a batch whose buffers are given: `views` has the number of buffers of text of each field with views.
    init(rows: Int, nodes: [(length: Int64, nulls: Int64)], bufferCount: Int, views: [Int]) {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        rowCount = rows
        offset = 0
        codec = nil
        hasUnionValidity = false
        (self.nodes, buffers) = (none, none)
        nodeCount = nodes.count
        self.bufferCount = bufferCount
        var sums = [0]
        for count in views { sums.append((sums.last ?? 0) + count) }
        self.views = sums
        given = nodes
    }

    init(_ table: FlatTable, _ total: ArrowField.Numbering) throws(ArrowFault) {
        offset = table.offset
        given = nil
        hasUnionValidity = total.hasUnionValidity
        let length = try table.scalar(0, 0 as Int64)
        guard length >= 0, length <= Int64(Int32.max) else { throw ArrowFault("a batch has \(length) rows", at: offset) }
        rowCount = Int(length)
        (nodes, nodeCount) = try table.structures(1, width: 16)
        (buffers, bufferCount) = try table.structures(2, width: 16)
        var sums = [0]
        let counts = try table.numbers(4, as: Int64.self)
        guard counts.count >= total.views else {
            throw ArrowFault("a batch has \(counts.count) columns of views, and the schema \(total.views)", at: offset)
        }
        for count in counts.prefix(total.views) {
            guard count >= 0, count <= Int64(bufferCount) else { throw ArrowFault("a column of views has \(count) buffers", at: offset) }
            sums.append((sums.last ?? 0) + Int(count))
        }
        views = sums
        guard nodeCount >= total.node else {
            throw ArrowFault("a batch has \(nodeCount) columns, and the schema \(total.node)", at: offset)
        }
        guard bufferCount >= total.buffer + (sums.last ?? 0) else {
            throw ArrowFault("a batch has \(bufferCount) buffers, and its columns \(total.buffer + (sums.last ?? 0))", at: offset)
        }
        guard let compression = try table.table(3) else {
            codec = nil
            return
        }
        let code = try compression.scalar(0, 0 as Int8), method = try compression.scalar(1, 0 as Int8)
        guard let known = ArrowFormat.Codec(rawValue: code), method == 0 else {
            throw ArrowFault.unknown("the batch is compressed by the codec \(code), which is not known", at: compression.offset)
        }
        codec = known
    }

    /// Returns the number of values of a field, and of its nulls (negative: unknown).
    func node(_ index: Int) throws(ArrowFault) -> (length: Int, nulls: Int) {
        let (length, nulls) =
            given?[index]
            ?? (
                Int64(littleEndian: nodes.loadUnaligned(fromByteOffset: index * 16, as: Int64.self)),
                Int64(littleEndian: nodes.loadUnaligned(fromByteOffset: index * 16 + 8, as: Int64.self))
            )
        guard length >= 0, nulls <= length, let fits = Int(exactly: length) else {
            throw ArrowFault("a column has \(length) values and \(nulls) nulls", at: offset)
        }
        return (fits, Int(max(nulls, -1)))
    }

    /// Returns the position of a buffer within the body.
    func range(_ index: Int) throws(ArrowFault) -> (start: Int64, count: Int64) {
        guard index >= 0, index < bufferCount else { throw ArrowFault("a batch has too few buffers", at: offset) }
        return (
            Int64(littleEndian: buffers.loadUnaligned(fromByteOffset: index * 16, as: Int64.self)),
            Int64(littleEndian: buffers.loadUnaligned(fromByteOffset: index * 16 + 8, as: Int64.self))
        )
    }

    /// The position of the first buffer of a field, and the number of its buffers of text, if it has views.
    func firstBuffer(of field: ArrowField) -> (index: Int, views: Int) {
        let before = views[min(field.viewsBefore, views.count - 1)], after = views[min(field.viewsBefore + 1, views.count - 1)]
        return (field.buffer + before, after - before)
    }
}

/// A range of a file in which a message is.
struct ArrowBlock {
    var offset: Int
    /// The number of bytes before the body.
    var prefixLength: Int
    var bodyLength: Int

    var end: Int { offset + prefixLength + bodyLength }
}

/// What the end of a file states.
struct ArrowFooter {
    let schema: ArrowSchema
    let dictionaries: [ArrowBlock]
    let batches: [ArrowBlock]
    let metadata: [MetadataPair]
    typealias MetadataPair = (key: String, value: [UInt8])

    init(_ file: FileBytes) throws(ArrowFault) {
        let count = file.count, magic = ArrowFormat.magic
        guard count >= 2 * magic.count + 6, file.bytes[(count - magic.count)...].elementsEqual(magic) else {
            throw ArrowFault(
                "the Arrow file does not end with \"ARROW1\": it is cut short, or not complete yet", at: max(0, count - magic.count),
                advice: "write or copy it again")
        }
        let lengthAt = count - magic.count - 4
        let length = Int(Int32(littleEndian: file.bytes.loadUnaligned(fromByteOffset: lengthAt, as: Int32.self)))
        guard length > 0, length <= lengthAt - ArrowFormat.fileStart else {
            throw ArrowFault("the footer has the length \(length)", at: lengthAt)
        }
        let start = lengthAt - length
        let root = try FlatTable(root: try file.slice(start, length, "the footer"), base: start)
        guard let table = try root.table(1) else { throw ArrowFault("the footer has no schema", at: start) }
        schema = try ArrowSchema(table, version: Int(try root.scalar(0, 0 as Int16)), size: length)
        dictionaries = try ArrowFooter.blocks(root, slot: 2, before: start)
        batches = try ArrowFooter.blocks(root, slot: 3, before: start)
        var pairs: [MetadataPair] = []
        for entry in try root.tables(4, maximum: length / 8) {
            pairs.append((try entry.string(0) ?? "", Array(try entry.text(1) ?? UnsafeRawBufferPointer(start: nil, count: 0))))
        }
        metadata = pairs
        // One batch that is listed often would stand for any number of rows.
        let sorted = (dictionaries + batches).sorted { $0.offset < $1.offset }
        for (a, b) in zip(sorted, sorted.dropFirst()) where b.offset < a.end {
            throw ArrowFault("two batches are in the same bytes", at: b.offset)
        }
    }

    private static func blocks(_ root: FlatTable, slot: Int, before end: Int) throws(ArrowFault) -> [ArrowBlock] {
        let (bytes, count) = try root.structures(slot, width: 24)
        var out: [ArrowBlock] = []
        out.reserveCapacity(count)
        for i in 0..<count {
            let offset = Int(Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: i * 24, as: Int64.self)))
            let prefix = Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: i * 24 + 8, as: Int32.self)))
            let body = Int(Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: i * 24 + 16, as: Int64.self)))
            guard offset >= 0, prefix >= 8, body >= 0, offset <= end, prefix <= end - offset, body <= end - offset - prefix else {
                throw ArrowFault("batch \(i) of the footer is outside the file", at: root.offset)
            }
            out.append(ArrowBlock(offset: offset, prefixLength: prefix, bodyLength: body))
        }
        return out
    }
}
