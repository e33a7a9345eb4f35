import FirnBytes
import FirnExchange

/// The metadata at the end of a file.
struct ParquetFooter {
    var elements: [ParquetElement] = []
    var rowCount = 0
    var groups: [ParquetGroup] = []
    /// The application's metadata: keys, and values if there are any.
    var metadata: [(key: String, value: [UInt8]?)] = []
    var creator: String?
    /// For each leaf: whether the bounds of its statistics have the order of its type.
    var hasTypeOrder: [Bool]?
}

/// One node of the schema as it is stored.
struct ParquetElement {
    var name = ""
    var physical: Int?
    var length = 0
    var repetition: Int?
    var childCount = 0
    var converted: Int?
    var scale: Int?
    var precision: Int?
    var logical: ParquetFormat.Logical?
    /// The number of a logical type that is not known.
    var unknownLogical: Int?
    var offset = 0
}

/// The rows that are stored together.
struct ParquetGroup {
    var chunks: [ParquetChunk] = []
    var rowCount = 0
    /// The number of rows in the groups before it.
    var firstRow = 0
}

/// One column of a row group.
struct ParquetChunk {
    var physical = -1
    var codec = 0
    var valueCount = 0
    var compressedSize = 0
    var uncompressedSize = 0
    var dataOffset = 0
    var dictionaryOffset: Int?
    var statistics: ParquetStatistics?
    var bloomOffset: Int?
    var columnIndex: Range<Int>?
    var offsetIndex: Range<Int>?
    var isEncrypted = false
    var otherFile: String?
    var isComplete = false

    /// The offset of the first page.
    var start: Int {
        // Some writers set the offset of the dictionary to zero if there is none.
        guard let dictionaryOffset, dictionaryOffset > 0, dictionaryOffset < dataOffset else { return dataOffset }
        return dictionaryOffset
    }
}

/// Bounds of the values of a chunk or a page. Values are ranges of the file.
struct ParquetStatistics {
    var minimum: Range<Int>?
    var maximum: Range<Int>?
    /// The bounds of the older fields, which compare as signed numbers.
    var oldMinimum: Range<Int>?
    var oldMaximum: Range<Int>?
    var nullCount: Int?
    var nanCount: Int?
}

extension ParquetFooter {
    /// Reads the footer of a file.
    static func read(_ file: FileBytes) throws(ParquetFault) -> ParquetFooter {
        let size = file.count
        guard size >= 12 else { throw ParquetFault("the file is cut short: it has \(size) bytes, too few for a Parquet file", at: size) }
        let bytes = file.bytes
        let first = UnsafeRawBufferPointer(rebasing: bytes[..<4]), last = UnsafeRawBufferPointer(rebasing: bytes[(size - 4)...])
        if last.elementsEqual(ParquetFormat.encryptedMagic) || first.elementsEqual(ParquetFormat.encryptedMagic) {
            throw ParquetFault(
                "the file is encrypted (Parquet modular encryption), which cannot be read", at: size - 4, code: .encrypted,
                advice: "decrypt it with the program that wrote it")
        }
        guard first.elementsEqual(ParquetFormat.magic) else {
            throw ParquetFault("the file does not begin with \"PAR1\"", at: 0, code: .notThisFormat)
        }
        guard last.elementsEqual(ParquetFormat.magic) else {
            throw ParquetFault(
                "the file does not end with \"PAR1\": it is cut short, or was not written completely", at: size - 4)
        }
        let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: size - 8, as: UInt32.self)))
        guard length <= size - 12 else {
            throw ParquetFault("the footer has \(length) bytes, more than the file", at: size - 8)
        }
        let start = size - 8 - length
        var reader = ThriftReader(UnsafeRawBufferPointer(rebasing: bytes[start..<size - 8]), origin: start)
        return try ParquetFooter(&reader)
    }

    private init(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 2:
                let (count, element) = try reader.list(field)
                elements.reserveCapacity(count)
                for _ in 0..<count {
                    try reader.enter(element)
                    elements.append(try ParquetElement(&reader))
                }
            case 3: rowCount = try reader.int(field)
            case 4:
                let (count, element) = try reader.list(field)
                groups.reserveCapacity(count)
                for _ in 0..<count {
                    try reader.enter(element)
                    groups.append(try ParquetGroup(&reader))
                }
            case 5:
                let (count, element) = try reader.list(field)
                for _ in 0..<count {
                    try reader.enter(element)
                    metadata.append(try ParquetFooter.pair(&reader))
                }
            case 6: creator = try reader.text(field)
            case 7:
                let (count, element) = try reader.list(field)
                var orders: [Bool] = []
                for _ in 0..<count {
                    try reader.enter(element)
                    orders.append(try ParquetFooter.hasTypeOrder(&reader))
                }
                hasTypeOrder = orders
            case 8:
                throw ParquetFault(
                    "the file is encrypted (Parquet modular encryption with a plain footer), which cannot be read", at: reader.origin,
                    code: .encrypted, advice: "decrypt it with the program that wrote it")
            default: try reader.skip(field)
            }
        }
        var first = 0
        for i in groups.indices {
            guard groups[i].rowCount >= 0 else { throw ParquetFault("row group \(i) has a negative number of rows", at: reader.origin) }
            groups[i].firstRow = first
            let (sum, overflow) = first.addingReportingOverflow(groups[i].rowCount)
            guard !overflow else { throw ParquetFault("the row groups have too many rows", at: reader.origin) }
            first = sum
        }
        guard first == rowCount else {
            throw ParquetFault("the footer counts \(rowCount) rows, and its row groups \(first)", at: reader.origin)
        }
    }

    private static func pair(_ reader: inout ThriftReader) throws(ParquetFault) -> (String, [UInt8]?) {
        var last: Int16 = 0, key = "", value: [UInt8]?
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: key = try reader.text(field)
            case 2: value = Array(reader.bytes[try reader.binary(field)])
            default: try reader.skip(field)
            }
        }
        return (key, value)
    }

    private static func hasTypeOrder(_ reader: inout ThriftReader) throws(ParquetFault) -> Bool {
        var last: Int16 = 0, result = false
        while let field = try reader.field(after: &last) {
            if field.id == 1 { result = true }
            try reader.skip(field)
        }
        return result
    }
}

extension ParquetElement {
    init(_ reader: inout ThriftReader) throws(ParquetFault) {
        offset = reader.origin + reader.position
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: physical = try reader.int(field)
            case 2: length = try reader.int(field)
            case 3: repetition = try reader.int(field)
            case 4: name = try reader.name(field)
            case 5: childCount = try reader.int(field)
            case 6: converted = try reader.int(field)
            case 7: scale = try reader.int(field)
            case 8: precision = try reader.int(field)
            case 10:
                try reader.enter(field)
                try readLogical(&reader)
            default: try reader.skip(field)
            }
        }
    }

    private mutating func readLogical(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            try reader.enter(field)
            switch field.id {
            case 1: logical = .string
            case 2: logical = .map
            case 3: logical = .list
            case 4: logical = .enumeration
            case 5:
                let numbers = try ParquetElement.numbers(&reader)
                logical = .decimal(precision: numbers[2] ?? 0, scale: numbers[1] ?? 0)
                continue
            case 6: logical = .date
            case 7, 8:
                let (unit, utc) = try ParquetElement.unit(&reader)
                logical = field.id == 7 ? .time(unit, utc: utc) : .timestamp(unit, utc: utc)
                continue
            case 10:
                let numbers = try ParquetElement.numbers(&reader), width = numbers[1] ?? 0
                guard [8, 16, 32, 64].contains(width) else { throw reader.fault("\"\(name)\" is an integer of \(width) bits") }
                logical = numbers[2] == 0 ? .uint(width) : .int(width)
                continue
            case 11: logical = .null
            case 12: logical = .json
            case 13: logical = .bson
            case 14: logical = .uuid
            case 15: logical = .float16
            case 16: logical = .variant
            case 17, 18:
                let system = try ParquetElement.firstText(&reader)
                logical = field.id == 17 ? .geometry(system) : .geography(system)
                continue
            default: unknownLogical = Int(field.id)
            }
            try reader.skip(field)
        }
    }

    /// Reads a structure of small numbers; true is 1.
    private static func numbers(_ reader: inout ThriftReader) throws(ParquetFault) -> [Int16: Int] {
        var last: Int16 = 0, out: [Int16: Int] = [:]
        while let field = try reader.field(after: &last) {
            switch field.kind {
            case .yes: out[field.id] = 1
            case .no: out[field.id] = 0
            case .byte, .int16, .int32, .int64: out[field.id] = try reader.int(field)
            default: try reader.skip(field)
            }
        }
        return out
    }

    /// Reads a structure whose first field can be a text.
    private static func firstText(_ reader: inout ThriftReader) throws(ParquetFault) -> String? {
        var last: Int16 = 0, text: String?
        while let field = try reader.field(after: &last) {
            if field.id == 1 { text = try reader.text(field) } else { try reader.skip(field) }
        }
        return text
    }

    private static func unit(_ reader: inout ThriftReader) throws(ParquetFault) -> (ParquetFormat.Unit, Bool) {
        var last: Int16 = 0, unit: ParquetFormat.Unit?, utc = false
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: utc = try reader.bool(field)
            case 2:
                try reader.enter(field)
                var inner: Int16 = 0
                while let chosen = try reader.field(after: &inner) {
                    unit = ParquetFormat.Unit(rawValue: Int(chosen.id))
                    try reader.skip(chosen)
                }
            default: try reader.skip(field)
            }
        }
        guard let unit else { throw reader.fault("a time has an unknown unit") }
        return (unit, utc)
    }
}

extension ParquetGroup {
    init(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1:
                let (count, element) = try reader.list(field)
                chunks.reserveCapacity(count)
                for _ in 0..<count {
                    try reader.enter(element)
                    chunks.append(try ParquetChunk(&reader))
                }
            case 3: rowCount = try reader.int(field)
            default: try reader.skip(field)
            }
        }
    }
}

extension ParquetChunk {
    init(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0, offsets: [Int16: Int] = [:]
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: otherFile = try reader.text(field)
            case 3:
                try reader.enter(field)
                try readMetadata(&reader)
                isComplete = true
            case 4, 5, 6, 7: offsets[field.id] = try reader.int(field)
            case 8:
                isEncrypted = true
                try reader.skip(field)
            default: try reader.skip(field)
            }
        }
        func range(_ start: Int16, _ length: Int16) -> Range<Int>? {
            guard let from = offsets[start], let count = offsets[length], from >= 0, count > 0, from <= Int.max - count else { return nil }
            return from..<from + count
        }
        offsetIndex = range(4, 5)
        columnIndex = range(6, 7)
    }

    private mutating func readMetadata(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: physical = try reader.int(field)
            case 4: codec = try reader.int(field)
            case 5: valueCount = try reader.int(field)
            case 6: uncompressedSize = try reader.int(field)
            case 7: compressedSize = try reader.int(field)
            case 9: dataOffset = try reader.int(field)
            case 11: dictionaryOffset = try reader.int(field)
            case 12:
                try reader.enter(field)
                statistics = try ParquetStatistics(&reader)
            case 14: bloomOffset = try reader.int(field)
            default: try reader.skip(field)
            }
        }
    }
}

extension ParquetStatistics {
    init(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            switch field.id {
            case 1: oldMaximum = try reader.placed(field)
            case 2: oldMinimum = try reader.placed(field)
            case 3: nullCount = try reader.int(field)
            case 5: maximum = try reader.placed(field)
            case 6: minimum = try reader.placed(field)
            case 9: nanCount = try reader.int(field)
            default: try reader.skip(field)
            }
        }
    }
}
