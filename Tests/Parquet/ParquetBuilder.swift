import FirnBytes
import FirnExchange
import FirnKit
import FirnTable

@testable import FirnParquet

/// Writes structures in Thrift's compact protocol.
struct ThriftWriter {
    private(set) var bytes: [UInt8] = []
    private var last: Int16 = 0

    private mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    private mutating func head(_ id: Int16, _ kind: UInt8) {
        if id > last, id - last < 16 {
            bytes.append(UInt8(id - last) << 4 | kind)
        } else {
            bytes.append(kind)
            varint(UInt64(bitPattern: Int64(id) << 1))
        }
        last = id
    }

    mutating func int(_ id: Int16, _ value: Int?) {
        guard let value else { return }
        head(id, 6)
        varint(UInt64(bitPattern: Int64(value << 1) ^ Int64(value >> 63)))
    }

    mutating func bool(_ id: Int16, _ value: Bool) { head(id, value ? 1 : 2) }

    mutating func text(_ id: Int16, _ value: String) { binary(id, Array(value.utf8)) }

    mutating func binary(_ id: Int16, _ value: [UInt8]) {
        head(id, 8)
        varint(UInt64(value.count))
        bytes += value
    }

    mutating func structure(_ id: Int16, _ fill: (inout ThriftWriter) -> Void) {
        head(id, 12)
        var inner = ThriftWriter()
        fill(&inner)
        bytes += inner.bytes + [0]
    }

    mutating func list(_ id: Int16, _ elements: [[UInt8]]) {
        head(id, 9)
        bytes.append(0xFC)
        varint(UInt64(elements.count))
        for element in elements { bytes += element + [0] }
    }

    static func bytes(_ fill: (inout ThriftWriter) -> Void) -> [UInt8] {
        var writer = ThriftWriter()
        fill(&writer)
        return writer.bytes
    }
}

/// A Parquet file of one row group, made for a test.
struct ParquetBuilder {
    struct Node {
        var name: String
        var physical: Int?
        var repetition: Int? = 1
        var children = 0
        var length: Int?
        var converted: Int?
        var scale: Int?
        var precision: Int?
        /// The number of the logical type, and what is in its structure.
        var logical: (Int16, (inout ThriftWriter) -> Void)?
    }

    struct Chunk {
        var physical: Int
        var pages: [UInt8]
        var values: Int
        var codec = 0
        var isEncrypted = false
        var otherFile: String?
    }

    var nodes: [Node]
    var chunks: [Chunk]
    var rows: Int
    var footerExtra: (inout ThriftWriter) -> Void = { _ in }
    var metadata: [(String, String)] = []

    init(_ nodes: [Node], _ chunks: [Chunk], rows: Int) {
        self.nodes = nodes
        self.chunks = chunks
        self.rows = rows
    }

    /// A data page of version 1.
    static func page(
        _ body: [UInt8], count: Int, encoding: Int = 0, levels: Int = 3, size: Int? = nil, checksum: Int? = nil
    ) -> [UInt8] {
        ThriftWriter.bytes { page in
            page.int(1, 0)
            page.int(2, size ?? body.count)
            page.int(3, body.count)
            page.int(4, checksum)
            page.structure(5) { head in
                head.int(1, count)
                head.int(2, encoding)
                head.int(3, levels)
                head.int(4, levels)
            }
        } + [0] + body
    }

    static func dictionary(_ body: [UInt8], count: Int) -> [UInt8] {
        ThriftWriter.bytes { page in
            page.int(1, 2)
            page.int(2, body.count)
            page.int(3, body.count)
            page.structure(7) { head in
                head.int(1, count)
                head.int(2, 0)
            }
        } + [0] + body
    }

    /// Levels as runs of one value each, after their length.
    static func levels(_ values: [UInt8]) -> [UInt8] {
        let runs = values.flatMap { [2, $0] as [UInt8] }
        return little(UInt32(runs.count)) + runs
    }

    static func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    static func text(_ value: String) -> [UInt8] { little(UInt32(value.utf8.count)) + Array(value.utf8) }

    var bytes: [UInt8] {
        var out = Array("PAR1".utf8), columns: [[UInt8]] = []
        for chunk in chunks {
            let offset = out.count
            out += chunk.pages
            columns.append(
                ThriftWriter.bytes { column in
                    if let other = chunk.otherFile { column.text(1, other) }
                    column.int(2, offset)
                    column.structure(3) { data in
                        data.int(1, chunk.physical)
                        data.int(4, chunk.codec)
                        data.int(5, chunk.values)
                        data.int(6, chunk.pages.count)
                        data.int(7, chunk.pages.count)
                        data.int(9, offset)
                    }
                    if chunk.isEncrypted { column.structure(8) { _ in } }
                })
        }
        let schema = [Node(name: "schema", repetition: nil, children: topCount)] + nodes
        let footer =
            ThriftWriter.bytes { footer in
                footer.int(1, 2)
                footer.list(2, schema.map(ParquetBuilder.element))
                footer.int(3, rows)
                footer.list(
                    4,
                    [
                        ThriftWriter.bytes { group in
                            group.list(1, columns)
                            group.int(2, 0)
                            group.int(3, rows)
                        }
                    ])
                footer.list(
                    5,
                    metadata.map { pair in
                        ThriftWriter.bytes {
                            $0.text(1, pair.0)
                            $0.text(2, pair.1)
                        }
                    })
                footerExtra(&footer)
            } + [0]
        return out + footer + ParquetBuilder.little(UInt32(footer.count)) + Array("PAR1".utf8)
    }

    /// The number of nodes directly below the root.
    private var topCount: Int {
        var count = 0, at = 0
        func skip() {
            let children = nodes[at].children
            at += 1
            for _ in 0..<children { skip() }
        }
        while at < nodes.count {
            skip()
            count += 1
        }
        return count
    }

    private static func element(_ node: Node) -> [UInt8] {
        ThriftWriter.bytes { element in
            element.int(1, node.physical)
            element.int(2, node.length)
            element.int(3, node.repetition)
            element.text(4, node.name)
            if node.physical == nil { element.int(5, node.children) }
            element.int(6, node.converted)
            element.int(7, node.scale)
            element.int(8, node.precision)
            if let logical = node.logical { element.structure(10) { $0.structure(logical.0, logical.1) } }
        }
    }
}

/// What was read of a file.
struct ReadFile {
    var schema: Schema
    var rows: [String] = []
    var remarks: [String]

    init(_ bytes: [UInt8], threads: Int = 1, batchRows: Int = 65_536, columns: [String]? = nil) throws {
        var options = ParquetOptions(typeName: "t")
        options.threads = threads
        options.batchRows = batchRows
        options.columns = columns
        options.staysOffDisk = true
        let reader = try ParquetReader(Input(bytes: bytes, name: "t.parquet"), options: options)
        schema = reader.schema
        let type = reader.schema.types[0]
        while let (_, batch) = try reader.next() {
            for column in batch.columns { precondition(column.count == batch.count) }
            for row in 0..<batch.count {
                rows.append(
                    zip(type.columns, batch.columns).map { nestedText($1.value(at: row), notation: $0.notation) }.joined(separator: " "))
            }
        }
        remarks = reader.remarks
    }

    /// The types of the columns, with their logical types.
    var types: [String] {
        schema.types[0].columns.map { "\($0.name) \($0.type.name)" + ($0.logical.map { " \($0)" } ?? "") }
    }
}
