import CLZ4
import CZstd
import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Options for writing Arrow.
package struct ArrowWriterOptions: Sendable {
    /// How buffers are compressed.
    package enum Compression: String, Sendable, CaseIterable {
        case none, lz4, zstd
    }

    /// Whether a stream is written, not a file.
    package var isStream = false
    package var compression = Compression.none
    /// The level of Zstandard.
    package var level = 3
    package var threads = 1

    /// The names of all types, if the file is one of a folder of a file for each type.
    package var folderTypes: [String] = []

    package init() {}
}

/// Writes rows of one type as an Arrow file or stream. Batches have at most 65,536 rows. What becomes of each column is described in
/// `docs/guide/arrow.md`; what only Firn has is written as metadata (`ArrowSchemaRecord`).
package final class ArrowWriter: BatchWriter {
    private let output: Output
    private let options: ArrowWriterOptions
    private var schema = Schema()
    private var type = TypeSchema("", columns: [])
    /// The positions of the columns that are written, and their fields.
    private var written: [Written] = []
    private var hasBegun = false

    /// A column and its field, which does not change after the schema was written.
    private struct Written: @unchecked Sendable {
        var position: Int
        var field: ArrowField
    }

    private var position = 0
    /// For each batch, its offset, the length before its body, and that of its body. The format has 32 bits and four zeros for the second.
    private var blocks: [Int64] = []
    private var pending: Batch?
    private var loss = ArrowLoss()

    /// Batches with at least as many rows are not united with others.
    private static let enoughRows = 16_384
    private static let maximumRows = 65_536
    private static let maximumBytes = 256 << 20

    package init(_ output: Output, options: ArrowWriterOptions = ArrowWriterOptions()) {
        self.output = output
        self.options = options
    }

    package var remarks: [String] { loss.remarks }

    package func begin(_ schema: Schema) throws(FirnError) {
        try schema.checkHasRows(for: "an Arrow file", at: output.name)
        let roots = schema.roots
        guard roots.count == 1 else {
            throw FirnError(
                .usage, "an Arrow file contains rows of one type, and there are \(roots.count)",
                advice: "choose one: FILE:\(roots.first?.name ?? "TYPE")")
        }
        self.schema = schema
        type = roots[0]
    }

    package func write(_ batch: Batch, type name: String) throws(FirnError) {
        guard name == type.name else { return }
        if pending == nil, batch.count >= ArrowWriter.enoughRows { return try add(batch) }
        guard var united = pending else {
            pending = batch
            return
        }
        pending = nil
        for i in united.columns.indices { united.columns[i].append(contentsOf: batch.columns[i]) }
        united.count += batch.count
        if united.count >= ArrowWriter.maximumRows / 2 || united.columns.reduce(0, { $0 + $1.footprint }) > 32 << 20 {
            try add(united)
        } else {
            pending = united
        }
    }

    /// Writes a batch in parts of bounded size.
    private func add(_ batch: Batch) throws(FirnError) {
        guard batch.count > 0 else { return }
        if !hasBegun { try start(batch) }
        let bytes = batch.columns.reduce(0) { $0 + $1.footprint }
        guard batch.count > 1, batch.count > ArrowWriter.maximumRows || bytes > ArrowWriter.maximumBytes else { return try write(batch) }
        let half = batch.count / 2
        for rows in [0..<half, half..<batch.count] {
            try add(Batch(count: rows.count, columns: batch.columns.map { $0.slice(rows) }))
        }
    }

    // MARK: Schema

    /// Writes the schema. The units of dates without a logical type are those that the first rows need.
    private func start(_ batch: Batch?) throws(FirnError) {
        hasBegun = true
        let mapping = ArrowMapping(schema), kept = Set(ArrowMapping.written(type))
        for position in type.columns.indices {
            let column = type.columns[position]
            guard kept.contains(position) else {
                loss.originalTexts.append(column.originalTextOf ?? column.name)
                continue
            }
            guard let field = mapping.field(column) else {
                loss.withoutFields.append(column.name)
                continue
            }
            if let batch { mapping.chooseUnits(field, batch.columns[position], column) }
            written.append(Written(position: position, field: field))
        }
        // Readers refuse rows without columns: any number of them takes no bytes.
        guard batch == nil || !written.isEmpty else {
            throw FirnError(
                .rejected, "Arrow needs a column, and the rows of \"\(type.name)\" have none", at: .init(file: output.name),
                advice: "write another format")
        }
        loss.links = mapping.links(from: type, except: options.folderTypes)
        if !options.isStream {
            try put(ArrowFormat.magic + [0, 0])
        }
        try message(.schema, description, body: [])
    }

    private var description: FlatBuilder {
        ArrowSchemaWriter.schema(
            written.map(\.field), metadata: ArrowMapping(schema).metadata(type, linked: options.folderTypes))
    }

    // MARK: Batches

    private func write(_ batch: Batch) throws(FirnError) {
        let written = written, type = type, schema = schema, options = options, name = output.name
        let encoded = try parallelMap(count: written.count, threads: options.threads) { (index) throws(FirnError) -> ArrowEncoded in
            let position = written[index].position, field = written[index].field
            var encoder = ArrowEncoder(schema)
            do throws(ArrowFault) {
                try encoder.append(field, batch.columns[position], type.columns[position], present: batch.columns[position].present)
                return try ArrowEncoded(encoder, options)
            } catch { throw error.error(in: name, "column \"\(type.columns[position].name)\"") }
        }
        var nodes: [Int64] = [], buffers: [Int64] = [], body: [ArrowBuffer] = [], end = 0
        for (column, part) in zip(written, encoded) {
            nodes += part.nodes
            loss.add(part.loss, column: type.columns[column.position].name)
            for buffer in part.buffers {
                buffers += [Int64(end), Int64(buffer.count)]
                end += (buffer.count + 63) / 64 * 64
                body.append(buffer)
            }
        }
        let codec: ArrowFormat.Codec? = options.compression == .none ? nil : options.compression == .lz4 ? .lz4 : .zstd
        let header = ArrowSchemaWriter.batch(rows: batch.count, nodes: nodes, buffers: buffers, codec: codec)
        let start = position
        let prefix = try message(.recordBatch, header, body: body)
        blocks += [Int64(start), Int64(prefix), Int64(end)]
    }

    /// Writes a message. Returns the number of bytes before its body, which begins at a multiple of 64.
    @discardableResult
    private func message(_ kind: ArrowFormat.Header, _ header: FlatBuilder, body: [ArrowBuffer]) throws(FirnError) -> Int {
        let length = body.reduce(0) { $0 + ($1.count + 63) / 64 * 64 }
        var metadata = ArrowSchemaWriter.message(kind, header, bodyLength: length)
        while (position + 8 + metadata.count) % 64 != 0 { metadata.append(0) }
        var out: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        for i in 0..<4 { out.append(UInt8(truncatingIfNeeded: metadata.count >> (i * 8))) }
        try put(out + metadata)
        let padding = [UInt8](repeating: 0, count: 64)
        for buffer in body {
            try buffer.withBytes { (bytes) throws(FirnError) in try output.write(bytes) }
            position += buffer.count
            if buffer.count % 64 != 0 { try put(Array(padding.prefix(64 - buffer.count % 64))) }
        }
        return out.count + metadata.count
    }

    private func put(_ bytes: [UInt8]) throws(FirnError) {
        try output.write(bytes)
        position += bytes.count
    }

    package func finish() throws(FirnError) {
        if let last = pending {
            pending = nil
            try add(last)
        }
        if !hasBegun { try start(nil) }
        try put([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        if !options.isStream {
            let footer = ArrowSchemaWriter.footer(description, blocks: blocks)
            try put(footer)
            var end: [UInt8] = []
            for i in 0..<4 { end.append(UInt8(truncatingIfNeeded: footer.count >> (i * 8))) }
            try put(end + ArrowFormat.magic)
        }
        try output.finish()
    }
}

/// The buffers of a column, compressed.
struct ArrowEncoded: Sendable {
    var nodes: [Int64]
    var buffers: [ArrowBuffer] = []
    var loss: ArrowLoss

    init(_ encoder: ArrowEncoder, _ options: ArrowWriterOptions) throws(ArrowFault) {
        nodes = encoder.nodes
        loss = encoder.loss
        guard options.compression != .none else {
            buffers = encoder.buffers
            return
        }
        for buffer in encoder.buffers { buffers.append(.bytes(try ArrowEncoded.pack(buffer, options))) }
    }

    private static func pack(_ buffer: ArrowBuffer, _ options: ArrowWriterOptions) throws(ArrowFault) -> [UInt8] {
        guard buffer.count > 0 else { return [] }
        let room = options.compression == .lz4 ? LZ4F_compressFrameBound(buffer.count, nil) : ZSTD_compressBound(buffer.count)
        var length = 0
        var out = [UInt8](unsafeUninitializedCapacity: room + 8) { out, filled in
            guard let base = out.baseAddress else { return }
            buffer.withBytes { from in
                length =
                    options.compression == .lz4
                    ? LZ4F_compressFrame(base + 8, room, from.baseAddress, from.count, nil)
                    : ZSTD_compress(base + 8, room, from.baseAddress, from.count, Int32(options.level))
            }
            let isError = options.compression == .lz4 ? LZ4F_isError(length) != 0 : ZSTD_isError(length) != 0
            if isError { length = room }
            for i in 0..<8 { base[i] = UInt8(truncatingIfNeeded: buffer.count >> (i * 8)) }
            filled = length + 8
        }
        // What does not get smaller is stored as it is.
        if length >= buffer.count {
            out = [UInt8](repeating: 0xFF, count: 8) + buffer.withBytes { Array($0) }
        }
        return out
    }
}

/// What could not be written, counted.
struct ArrowLoss: Sendable {
    var originalTexts: [String] = []
    var withoutFields: [String] = []
    var links: [String] = []
    /// For each column, the values that its Arrow type cannot express, and one of them.
    var misfits: [(column: String, type: String, count: Int, example: String)] = []
    /// Objects within objects of their own type that were too deep.
    var tooDeep = 0

    mutating func addMisfit(_ column: String, _ type: String, _ example: @autoclosure () -> String) {
        if let at = misfits.firstIndex(where: { $0.column == column && $0.type == type }) {
            misfits[at].count += 1
        } else {
            misfits.append((column, type, 1, example()))
        }
    }

    mutating func add(_ other: ArrowLoss, column: String) {
        tooDeep += other.tooDeep
        for misfit in other.misfits {
            let name = misfit.column
            if let at = misfits.firstIndex(where: { $0.column == name && $0.type == misfit.type }) {
                misfits[at].count += misfit.count
            } else {
                misfits.append((name, misfit.type, misfit.count, misfit.example))
            }
        }
    }

    var remarks: [String] {
        func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
        var out: [String] = []
        if !originalTexts.isEmpty { out.append("the original texts of \(list(originalTexts)) are left out: Arrow has only the values") }
        if !withoutFields.isEmpty { out.append("\(list(withoutFields)) are left out: their objects have no fields") }
        if !links.isEmpty { out.append("the links in \(list(links)) are written as row ids") }
        for misfit in misfits {
            out.append(
                "column \"\(misfit.column)\": \(misfit.count) values are written as null, because \(misfit.type) cannot express them (first: \"\(misfit.example)\")"
            )
        }
        if tooDeep > 0 { out.append("\(tooDeep) objects are more than \(Column.maximumNesting) levels deep, and are left out") }
        return out
    }
}
