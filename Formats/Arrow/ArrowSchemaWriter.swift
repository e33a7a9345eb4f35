import FirnTable

/// Writes fields and messages as FlatBuffers.
enum ArrowSchemaWriter {
    static func schema(_ fields: [ArrowField], metadata: [MetadataEntry]) -> FlatBuilder {
        var out = FlatBuilder()
        out.set(1, .tables(fields.map(field)))
        out.set(2, entries(metadata))
        return out
    }

    private static func entries(_ metadata: [MetadataEntry]) -> FlatBuilder.Content? {
        guard !metadata.isEmpty else { return nil }
        return .tables(
            ArrowMetadata.written(metadata).map { entry in
                var pair = FlatBuilder()
                pair.set(0, .text(Array(entry.key.utf8)))
                pair.set(1, .text(entry.value))
                return pair
            })
    }

    private static func field(_ field: ArrowField) -> FlatBuilder {
        var out = FlatBuilder()
        out.set(0, .text(Array(field.name.utf8)))
        out.set(1, flag: field.isNullable)
        let (code, type) = type(field.type)
        out.set(2, .byte(code.rawValue))
        out.set(3, .table(type))
        out.set(5, .tables(field.children.map(self.field)))
        out.set(6, entries(field.metadata))
        return out
    }

    private static func type(_ type: ArrowType) -> (ArrowFormat.TypeCode, FlatBuilder) {
        var out = FlatBuilder()
        func unit(_ unit: TimeUnit) -> FlatBuilder.Content { .short(Int16(unit.digits / 3)) }
        switch type {
        case .null: return (.null, out)
        case .bool: return (.bool, out)
        case .int(let bits, let isSigned):
            out.set(0, .int(Int32(bits)))
            out.set(1, flag: isSigned)
            return (.int, out)
        case .float(let bits):
            out.set(0, .short(bits == 16 ? 0 : bits == 32 ? 1 : 2))
            return (.floatingPoint, out)
        case .decimal(let precision, let scale, let bits):
            out.set(0, .int(Int32(precision)))
            out.set(1, .int(Int32(scale)))
            out.set(2, .int(Int32(bits)))
            return (.decimal, out)
        case .date(let isDays):
            out.set(0, .short(isDays ? 0 : 1))
            return (.date, out)
        case .time(let time):
            out.set(0, unit(time))
            out.set(1, .int(time.digits <= 3 ? 32 : 64))
            return (.time, out)
        case .timestamp(let time, let zone):
            out.set(0, unit(time))
            out.set(1, zone.map { .text(Array($0.utf8)) })
            return (.timestamp, out)
        case .interval(let unit):
            out.set(0, .short(unit.rawValue))
            return (.interval, out)
        case .duration(let time):
            out.set(0, unit(time))
            return (.duration, out)
        case .bytes(let width): return (width == .small ? .binary : width == .large ? .largeBinary : .binaryView, out)
        case .text(let width): return (width == .small ? .utf8 : width == .large ? .largeUtf8 : .utf8View, out)
        case .fixedBytes(let count):
            out.set(0, .int(Int32(count)))
            return (.fixedSizeBinary, out)
        case .list(let width): return (width == .small ? .list : width == .large ? .largeList : .listView, out)
        case .largeListView: return (.largeListView, out)
        case .fixedList(let count):
            out.set(0, .int(Int32(count)))
            return (.fixedSizeList, out)
        case .structure: return (.structure, out)
        case .map(let isSorted):
            out.set(0, flag: isSorted)
            return (.map, out)
        case .union(let isDense, let ids):
            out.set(0, .short(isDense ? 1 : 0))
            out.set(1, .ints(ids))
            return (.union, out)
        case .runs: return (.runEndEncoded, out)
        }
    }

    /// Returns the metadata of a message with a body of some length.
    static func message(_ kind: ArrowFormat.Header, _ header: FlatBuilder, bodyLength: Int) -> [UInt8] {
        var out = FlatBuilder()
        out.set(0, .short(Int16(ArrowFormat.version5)))
        out.set(1, .byte(kind.rawValue))
        out.set(2, .table(header))
        out.set(3, .long(Int64(bodyLength)))
        return out.bytes
    }

    /// Returns the header of a batch: the numbers of values and nulls, and the starts and lengths of buffers.
    static func batch(rows: Int, nodes: [Int64], buffers: [Int64], codec: ArrowFormat.Codec?) -> FlatBuilder {
        var out = FlatBuilder()
        out.set(0, .long(Int64(rows)))
        out.set(1, .structures(nodes, width: 16))
        out.set(2, .structures(buffers, width: 16))
        if let codec {
            var compression = FlatBuilder()
            compression.set(0, .byte(UInt8(bitPattern: codec.rawValue)))
            out.set(3, .table(compression))
        }
        return out
    }

    /// Returns the footer of a file. A block is its offset, the length of its metadata, and that of its body.
    static func footer(_ schema: FlatBuilder, blocks: [Int64]) -> [UInt8] {
        var out = FlatBuilder()
        out.set(0, .short(Int16(ArrowFormat.version5)))
        out.set(1, .table(schema))
        out.set(2, .structures([], width: 24))
        out.set(3, .structures(blocks, width: 24))
        return out.bytes
    }
}
