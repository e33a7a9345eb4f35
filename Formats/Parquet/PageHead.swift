/// The head of a page.
struct PageHead {
    var type = -1
    var size = -1
    var storedSize = -1
    var checksum: UInt32?
    var count = 0
    var encoding = -1
    var definitionEncoding = 3
    var repetitionEncoding = 3
    var definitionSize = 0
    var repetitionSize = 0
    var isCompressed = true

    init(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: type = try reader.int(field)
            case 2: size = try reader.int(field)
            case 3: storedSize = try reader.int(field)
            case 4: checksum = UInt32(truncatingIfNeeded: try reader.int(field))
            case 5, 7, 8:
                try reader.enter(field)
                try readInner(&reader, field.id)
            default: try reader.skip(field)
            }
        }
    }

    private mutating func readInner(_ reader: inout ThriftReader, _ kind: Int16) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch (kind, field.id) {
            case (_, 1): count = try reader.int(field)
            case (5, 2), (7, 2), (8, 4): encoding = try reader.int(field)
            case (5, 3): definitionEncoding = try reader.int(field)
            case (5, 4): repetitionEncoding = try reader.int(field)
            case (8, 5): definitionSize = try reader.int(field)
            case (8, 6): repetitionSize = try reader.int(field)
            case (8, 7): isCompressed = try reader.bool(field)
            default: try reader.skip(field)
            }
        }
    }
}

/// What was read of pages, for `--explain`.
struct PageCounts {
    var read = 0
    var skipped = 0
    /// The bytes of the pages that were read, with their heads and those of dictionaries.
    var bytes = 0

    static func + (a: PageCounts, b: PageCounts) -> PageCounts {
        PageCounts(read: a.read + b.read, skipped: a.skipped + b.skipped, bytes: a.bytes + b.bytes)
    }
    static func - (a: PageCounts, b: PageCounts) -> PageCounts {
        PageCounts(read: a.read - b.read, skipped: a.skipped - b.skipped, bytes: a.bytes - b.bytes)
    }
}
