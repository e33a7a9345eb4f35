import CArrow
import FirnBytes
import FirnTable

/// Arrow's C data interface: schemas and arrays that a consumer in the same process releases by a call of their own function.
///
/// A structure refers to an object of the classes below, which owns its memory. Each child has an object of its own, so that a consumer
/// can keep a child and release the parent. Release functions can be called on any thread.
extension ArrowRows {
    /// Writes the schema: a struct with a child for each column. The consumer releases it.
    package func export(schema out: UnsafeMutablePointer<CArrow.ArrowSchema>) {
        let row = ArrowField("", .structure, nullable: false, children: fields, metadata: metadata)
        SchemaMemory.export(row, to: out)
    }
}

extension ArrowRecord {
    /// Writes the rows: a struct with a child for each column. The consumer releases it.
    package func export(to out: UnsafeMutablePointer<CArrow.ArrowArray>) {
        let children = zip(fields, parts).map { field, part in
            var cursor = ArrayCursor(part: part)
            return cursor.array(field)
        }
        out.initialize(to: ArrayMemory.array(length: count, nulls: 0, [.none], children, charge: nil))
    }
}

/// The memory of a schema without those of its children.
private final class SchemaMemory {
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private let children: ChildList<CArrow.ArrowSchema>
    /// The values of a dictionary, if the field has one.
    private let dictionary: ChildList<CArrow.ArrowSchema>

    private init(_ field: ArrowField) {
        children = ChildList(field.stored.map { SchemaMemory.schema($0) })
        dictionary = ChildList(field.dictionary.map { [SchemaMemory.schema($0.values)] } ?? [])
    }

    deinit { for text in texts { text.deallocate() } }

    static func export(_ field: ArrowField, to out: UnsafeMutablePointer<CArrow.ArrowSchema>) { out.initialize(to: schema(field)) }

    private func text(_ bytes: some Collection<UInt8>) -> UnsafePointer<CChar> {
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (i, byte) in bytes.enumerated() { memory[i] = CChar(bitPattern: byte) }
        memory[bytes.count] = 0
        texts.append(memory)
        return UnsafePointer(memory)
    }

    private static func schema(_ field: ArrowField) -> CArrow.ArrowSchema {
        let memory = SchemaMemory(field)
        var out = CArrow.ArrowSchema()
        out.format = memory.text((field.dictionary?.index ?? field.type).format.utf8)
        // A name ends at its first zero byte.
        out.name = memory.text(field.name.utf8.prefix { $0 != 0 })
        out.metadata = field.metadata.isEmpty ? nil : memory.text(SchemaMemory.bytes(field.metadata))
        out.flags = field.isNullable ? Int64(ARROW_FLAG_NULLABLE) : 0
        if case .map(true) = field.type { out.flags |= Int64(ARROW_FLAG_MAP_KEYS_SORTED) }
        out.n_children = Int64(memory.children.count)
        out.children = memory.children.pointers
        out.dictionary = memory.dictionary.pointers?.pointee
        out.private_data = Unmanaged.passRetained(memory).toOpaque()
        out.release = { schema in
            guard let schema, schema.pointee.release != nil, let data = schema.pointee.private_data else { return }
            schema.pointee.release = nil
            let memory = Unmanaged<SchemaMemory>.fromOpaque(data).takeRetainedValue()
            for list in [memory.children, memory.dictionary] { list.release { child in child.pointee.release?(child) } }
        }
        return out
    }

    /// The number of entries, then the length and the bytes of each key and value, in 32 bits of the machine's order.
    private static func bytes(_ metadata: [MetadataEntry]) -> [UInt8] {
        let metadata = ArrowMetadata.written(metadata)
        var out: [UInt8] = []
        func append(_ count: Int) { for i in 0..<4 { out.append(UInt8(truncatingIfNeeded: count >> (8 * i))) } }
        append(metadata.count)
        for entry in metadata {
            append(entry.key.utf8.count)
            out += entry.key.utf8
            append(entry.value.count)
            out += entry.value
        }
        return out
    }
}

/// The structures of children, each in memory of its own, and the list of pointers to them.
private final class ChildList<Structure> {
    let count: Int
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Structure>?>?

    init(_ structures: [Structure]) {
        count = structures.count
        pointers = structures.isEmpty ? nil : .allocate(capacity: structures.count)
        for (i, structure) in structures.enumerated() {
            let memory = UnsafeMutablePointer<Structure>.allocate(capacity: 1)
            memory.initialize(to: structure)
            pointers?.advanced(by: i).initialize(to: memory)
        }
    }

    /// Calls `body` for each child, which a consumer may have taken and marked as released.
    func release(_ body: (UnsafeMutablePointer<Structure>) -> Void) { for i in 0..<count { if let child = pointers?[i] { body(child) } } }

    deinit {
        for i in 0..<count { pointers?[i]?.deallocate() }
        pointers?.deallocate()
    }
}

/// The memory of an array without those of its children. The pointers are to the memory of `buffers`, which nothing changes.
private final class ArrayMemory {
    private let buffers: [ArrowBuffer]
    private let charge: MemoryCharge?
    private let pointers: UnsafeMutablePointer<UnsafeRawPointer?>
    private let children: ChildList<CArrow.ArrowArray>
    /// The values of a dictionary, if the array has codes.
    private let dictionary: ChildList<CArrow.ArrowArray>

    private init(
        _ buffers: [ArrowBuffer], _ children: [CArrow.ArrowArray], dictionary: [CArrow.ArrowArray], _ charge: MemoryCharge?
    ) {
        self.buffers = buffers
        self.charge = charge
        self.children = ChildList(children)
        self.dictionary = ChildList(dictionary)
        pointers = .allocate(capacity: buffers.count)
        for (i, buffer) in buffers.enumerated() { (pointers + i).initialize(to: buffer.withBytes { $0.baseAddress }) }
    }

    deinit { pointers.deallocate() }

    static func array(
        length: Int, nulls: Int, _ buffers: [ArrowBuffer], _ children: [CArrow.ArrowArray], dictionary: [CArrow.ArrowArray] = [],
        charge: MemoryCharge?
    ) -> CArrow.ArrowArray {
        let memory = ArrayMemory(buffers, children, dictionary: dictionary, charge)
        var out = CArrow.ArrowArray()
        out.length = Int64(length)
        out.null_count = Int64(nulls)
        out.n_buffers = Int64(buffers.count)
        out.buffers = memory.pointers
        out.n_children = Int64(memory.children.count)
        out.children = memory.children.pointers
        out.dictionary = memory.dictionary.pointers?.pointee
        out.private_data = Unmanaged.passRetained(memory).toOpaque()
        out.release = { array in
            guard let array, array.pointee.release != nil, let data = array.pointee.private_data else { return }
            array.pointee.release = nil
            let memory = Unmanaged<ArrayMemory>.fromOpaque(data).takeRetainedValue()
            for list in [memory.children, memory.dictionary] { list.release { child in child.pointee.release?(child) } }
        }
        return out
    }
}

/// Takes the nodes and buffers of a column for its field and the fields below it.
private struct ArrayCursor {
    let part: ArrowRecord.Part
    private var node = 0, buffer = 0

    init(part: ArrowRecord.Part) { self.part = part }

    mutating func array(_ field: ArrowField) -> CArrow.ArrowArray {
        let length = Int(part.nodes[node]), nulls = Int(part.nodes[node + 1])
        node += 2
        if let dictionary = field.dictionary {
            let values = part.dictionary.map { part in
                var cursor = ArrayCursor(part: part)
                return cursor.array(dictionary.values)
            }
            buffer += 2
            return ArrayMemory.array(
                length: length, nulls: nulls, Array(part.buffers[buffer - 2..<buffer]), [], dictionary: values, charge: part.charge)
        }
        let count =
            switch field.type {
            case .structure, .fixedList: 1
            case .bytes(.view), .text(.view): 4
            case .bytes, .text: 3
            default: 2
            }
        let buffers = Array(part.buffers[buffer..<buffer + count])
        buffer += count
        var children: [CArrow.ArrowArray] = []
        for child in field.children { children.append(array(child)) }
        return ArrayMemory.array(length: length, nulls: nulls, buffers, children, charge: part.charge)
    }
}

extension ArrowType {
    /// The text of the C data interface.
    var format: String {
        func unit(_ unit: TimeUnit) -> String { ["s", "m", "u", "n"][unit.digits / 3] }
        return switch self {
        case .null: "n"
        case .bool: "b"
        case .int(8, let isSigned): isSigned ? "c" : "C"
        case .int(16, let isSigned): isSigned ? "s" : "S"
        case .int(32, let isSigned): isSigned ? "i" : "I"
        case .int(_, let isSigned): isSigned ? "l" : "L"
        case .float(16): "e"
        case .float(32): "f"
        case .float: "g"
        case .decimal(let precision, let scale, 128): "d:\(precision),\(scale)"
        case .decimal(let precision, let scale, let bits): "d:\(precision),\(scale),\(bits)"
        case .date(let isDays): isDays ? "tdD" : "tdm"
        case .time(let time): "tt" + unit(time)
        case .timestamp(let time, let zone): "ts\(unit(time)):\(zone ?? "")"
        case .interval(let interval): ["tiM", "tiD", "tin"][Int(interval.rawValue)]
        case .duration(let time): "tD" + unit(time)
        case .bytes(let width): width == .small ? "z" : width == .large ? "Z" : "vz"
        case .text(let width): width == .small ? "u" : width == .large ? "U" : "vu"
        case .fixedBytes(let count): "w:\(count)"
        case .list(let width): width == .small ? "+l" : width == .large ? "+L" : "+vl"
        case .largeListView: "+vL"
        case .fixedList(let count): "+w:\(count)"
        case .structure: "+s"
        case .map: "+m"
        case .union(let isDense, let ids): "+u\(isDense ? "d" : "s"):" + ids.map { "\($0)" }.joined(separator: ",")
        case .runs: "+r"
        }
    }
}
