import FirnBytes
import FirnExchange
import FirnTable

/// The type of a field.
enum ArrowType: Equatable {
    enum Width { case small, large, view }

    case null, bool
    case int(bits: Int, isSigned: Bool)
    case float(bits: Int)
    case decimal(precision: Int, scale: Int, bits: Int)
    case date(isDays: Bool)
    case time(TimeUnit)
    case timestamp(TimeUnit, zone: String?)
    case interval(ArrowFormat.IntervalUnit)
    case duration(TimeUnit)
    case bytes(Width), text(Width)
    case fixedBytes(Int)
    case list(Width)
    case largeListView
    case fixedList(Int)
    case structure
    case map(isSorted: Bool)
    case union(isDense: Bool, ids: [Int32])
    case runs
}

/// A field of the schema.
final class ArrowField {
    var name: String
    var type: ArrowType
    var isNullable: Bool
    var children: [ArrowField]
    var metadata: [MetadataEntry]
    /// How the values are indexes into a dictionary; nil if they are not.
    var dictionary: Dictionary?
    /// The offset of the description in the file.
    let offset: Int
    /// The names from below the root to this field.
    private(set) var path: String

    /// The position of the field's node in a batch, and of its first buffer if no field before it has views.
    private(set) var node = 0
    private(set) var buffer = 0
    /// The number of fields with views before this one.
    private(set) var viewsBefore = 0

    final class Dictionary {
        let id: Int64
        let index: ArrowType
        let isOrdered: Bool
        /// The field of the values, which has a tree of its own.
        let values: ArrowField

        init(id: Int64, index: ArrowType, isOrdered: Bool, values: ArrowField) {
            self.id = id
            self.index = index
            self.isOrdered = isOrdered
            self.values = values
        }
    }

    init(
        _ name: String, _ type: ArrowType, nullable: Bool, children: [ArrowField] = [], metadata: [MetadataEntry] = [],
        offset: Int = 0, path: String = ""
    ) {
        self.name = name
        self.type = type
        isNullable = nullable
        self.children = children
        self.metadata = metadata
        self.offset = offset
        self.path = path.isEmpty ? name : path
    }

    func metadata(_ key: String) -> [UInt8]? { metadata.first { $0.key == key }?.value }

    var extensionName: String? { metadata(ArrowFormat.extensionName).map { String(decoding: $0, as: UTF8.self) } }

    /// The fields that are stored with this one in a batch.
    var stored: [ArrowField] { dictionary == nil ? children : [] }

    /// The positions that are assigned so far.
    struct Numbering {
        var node = 0
        var buffer = 0
        var views = 0
        /// Whether unions have a validity.
        var hasUnionValidity = false
    }

    /// Assigns the positions of this field, of those below it, and of the values of dictionaries.
    func number(_ next: inout Numbering) {
        (node, buffer, viewsBefore) = (next.node, next.buffer, next.views)
        next.node += 1
        if let dictionary {
            next.buffer += 2
            var own = Numbering(hasUnionValidity: next.hasUnionValidity)
            dictionary.values.number(&own)
            return
        }
        switch type {
        case .null, .runs: break
        case .bytes(.view), .text(.view):
            next.buffer += 2
            next.views += 1
        case .bytes, .text, .list(.view), .largeListView: next.buffer += 3
        case .structure, .fixedList: next.buffer += 1
        case .union(let isDense, _): next.buffer += (isDense ? 2 : 1) + (next.hasUnionValidity ? 1 : 0)
        default: next.buffer += 2
        }
        for child in children { child.number(&next) }
    }
}

/// The schema of a file or stream.
struct ArrowSchema {
    var fields: [ArrowField]
    var metadata: [MetadataEntry]
    /// The positions after those of all fields.
    var total = ArrowField.Numbering()

    /// The schema of a stream of this process.
    init(fields: [ArrowField], metadata: [MetadataEntry]) {
        self.fields = fields
        self.metadata = metadata
        for field in fields { field.number(&total) }
    }

    init(_ table: FlatTable, version: Int, size: Int) throws(ArrowFault) {
        let order = try table.scalar(0, 0 as Int16)
        guard order == 0 else {
            throw ArrowFault.unknown(
                "the numbers are big-endian, and only little-endian ones can be read", at: table.offset,
                advice: "write the file again on a little-endian machine, for example with pyarrow")
        }
        var parser = ArrowFieldParser(size: size)
        fields = try parser.fields(table, slot: 1, path: "", level: 0)
        metadata = try parser.metadata(table, slot: 2)
        total.hasUnionValidity = version < ArrowFormat.version5
        for field in fields { field.number(&total) }
    }
}

/// Reads the fields of a schema, and bounds how much it makes of them.
struct ArrowFieldParser {
    private static let maximumDepth = 64
    private let size: Int
    private var tables: Int
    private var texts: Int

    /// `size`: the number of bytes of the metadata.
    init(size: Int) {
        self.size = size
        // A table takes at least 8 bytes with the offset that leads to it. Writers can share texts, but rarely do.
        tables = size / 8 + 16
        texts = size * 16 + 1 << 16
    }

    mutating func fields(_ table: FlatTable, slot: Int, path: String, level: Int) throws(ArrowFault) -> [ArrowField] {
        guard level < ArrowFieldParser.maximumDepth else {
            throw ArrowFault.unknown("the schema nests deeper than \(ArrowFieldParser.maximumDepth) levels", at: table.offset)
        }
        var out: [ArrowField] = []
        for child in try table.tables(slot, maximum: tables) { out.append(try field(child, path: path, level: level)) }
        return out
    }

    private mutating func take(_ text: UnsafeRawBufferPointer?, at offset: Int) throws(ArrowFault) {
        texts -= text?.count ?? 0
        guard texts >= 0 else { throw ArrowFault("the metadata refers to the same texts again and again", at: offset) }
    }

    private mutating func field(_ table: FlatTable, path: String, level: Int) throws(ArrowFault) -> ArrowField {
        tables -= 1
        guard tables >= 0 else { throw ArrowFault("the metadata refers to the same tables again and again", at: table.offset) }
        try take(try table.text(0), at: table.offset)
        let name = try table.string(0) ?? "", path = path.isEmpty ? name : path + "." + name
        texts -= path.utf8.count
        let type = try self.type(table, path)
        let children = try fields(table, slot: 5, path: path, level: level + 1)
        let field = ArrowField(
            name, type, nullable: try table.flag(1), children: children, metadata: try metadata(table, slot: 6), offset: table.offset,
            path: path)
        try ArrowFieldParser.check(field)
        guard let dictionary = try table.table(4) else { return field }
        var index = ArrowType.int(bits: 32, isSigned: true)
        if let type = try dictionary.table(1) { index = try integer(type, path) }
        guard try dictionary.scalar(3, 0 as Int16) == 0 else {
            throw ArrowFault.unknown("column \"\(path)\" has a dictionary of an unknown kind", at: dictionary.offset)
        }
        let values = ArrowField(name, type, nullable: true, children: children, metadata: field.metadata, offset: field.offset, path: path)
        field.dictionary = .init(
            id: try dictionary.scalar(0, 0), index: index, isOrdered: try dictionary.flag(2), values: values)
        return field
    }

    mutating func metadata(_ table: FlatTable, slot: Int) throws(ArrowFault) -> [MetadataEntry] {
        var out: [MetadataEntry] = []
        for entry in try table.tables(slot, maximum: tables) {
            tables -= 1
            guard tables >= 0 else { throw ArrowFault("the metadata refers to the same tables again and again", at: table.offset) }
            let value = try entry.text(1)
            try take(value, at: entry.offset)
            try take(try entry.text(0), at: entry.offset)
            out.append(MetadataEntry(try entry.string(0) ?? "", Array(value ?? UnsafeRawBufferPointer(start: nil, count: 0))))
        }
        return out
    }

    private func integer(_ table: FlatTable, _ path: String) throws(ArrowFault) -> ArrowType {
        let bits = Int(try table.scalar(0, 0 as Int32))
        guard [8, 16, 32, 64].contains(bits) else {
            throw ArrowFault("column \"\(path)\" has integers of \(bits) bits", at: table.offset)
        }
        return .int(bits: bits, isSigned: try table.flag(1))
    }

    private func unit(_ table: FlatTable, _ preset: Int16, _ path: String) throws(ArrowFault) -> TimeUnit {
        let code = Int(try table.scalar(0, preset))
        guard TimeUnit.allCases.indices.contains(code) else {
            throw ArrowFault.unknown("column \"\(path)\" has the unknown unit of time \(code)", at: table.offset)
        }
        return TimeUnit.allCases[code]
    }

    private func type(_ field: FlatTable, _ path: String) throws(ArrowFault) -> ArrowType {
        let code = try field.scalar(2, 0 as UInt8)
        guard let known = ArrowFormat.TypeCode(rawValue: code), known != .none else {
            throw ArrowFault.unknown(
                "column \"\(path)\" has the type \(code), which is not known", at: field.offset,
                advice: "a newer version of Firn might read it")
        }
        guard let table = try field.table(3) else { throw ArrowFault("column \"\(path)\" has no type", at: field.offset) }
        switch known {
        case .none, .null: return .null
        case .bool: return .bool
        case .int: return try integer(table, path)
        case .floatingPoint:
            let precision = Int(try table.scalar(0, 0 as Int16))
            guard (0...2).contains(precision) else {
                throw ArrowFault.unknown("column \"\(path)\" has the unknown precision \(precision)", at: table.offset)
            }
            return .float(bits: 16 << precision)
        case .binary: return .bytes(.small)
        case .utf8: return .text(.small)
        case .largeBinary: return .bytes(.large)
        case .largeUtf8: return .text(.large)
        case .binaryView: return .bytes(.view)
        case .utf8View: return .text(.view)
        case .list: return .list(.small)
        case .largeList: return .list(.large)
        case .listView: return .list(.view)
        case .largeListView: return .largeListView
        case .structure: return .structure
        case .runEndEncoded: return .runs
        case .map: return .map(isSorted: try table.flag(0))
        case .fixedSizeBinary, .fixedSizeList:
            let size = Int(try table.scalar(0, 0 as Int32))
            guard size >= 0 else { throw ArrowFault("column \"\(path)\" has values of \(size) elements", at: table.offset) }
            return known == .fixedSizeBinary ? .fixedBytes(size) : .fixedList(size)
        case .union:
            let mode = try table.scalar(0, 0 as Int16)
            guard mode == 0 || mode == 1 else {
                throw ArrowFault.unknown("column \"\(path)\" is a union of the unknown mode \(mode)", at: table.offset)
            }
            return .union(isDense: mode == 1, ids: try table.numbers(1, as: Int32.self))
        default: return try temporal(known, table, path)
        }
    }

    private func temporal(_ code: ArrowFormat.TypeCode, _ table: FlatTable, _ path: String) throws(ArrowFault) -> ArrowType {
        switch code {
        case .date:
            let unit = try table.scalar(0, 1 as Int16)
            guard unit == 0 || unit == 1 else {
                throw ArrowFault.unknown("column \"\(path)\" has dates of the unknown unit \(unit)", at: table.offset)
            }
            return .date(isDays: unit == 0)
        case .time:
            let unit = try unit(table, 1, path), bits = Int(try table.scalar(1, 32 as Int32))
            guard bits == (unit.digits <= 3 ? 32 : 64) else {
                throw ArrowFault("column \"\(path)\" has times of \(bits) bits in \(unit.rawValue)", at: table.offset)
            }
            return .time(unit)
        case .timestamp:
            let zone = try table.string(1)
            return .timestamp(try unit(table, 0, path), zone: zone == "" ? nil : zone)
        case .duration: return .duration(try unit(table, 1, path))
        case .interval:
            guard let unit = ArrowFormat.IntervalUnit(rawValue: try table.scalar(0, 0 as Int16)) else {
                throw ArrowFault.unknown("column \"\(path)\" has intervals of an unknown unit", at: table.offset)
            }
            return .interval(unit)
        default:
            let precision = Int(try table.scalar(0, 0 as Int32)), scale = Int(try table.scalar(1, 0 as Int32))
            let bits = Int(try table.scalar(2, 128 as Int32))
            guard [32, 64, 128, 256].contains(bits), precision > 0, precision <= 76, abs(scale) <= 512 else {
                throw ArrowFault(
                    "column \"\(path)\" is a decimal of \(bits) bits with the precision \(precision) and the scale \(scale)",
                    at: table.offset, code: .unsupported)
            }
            return .decimal(precision: precision, scale: scale, bits: bits)
        }
    }

    /// Checks the children of a field.
    static func check(_ field: ArrowField) throws(ArrowFault) {
        let count = field.children.count
        let expected: Int? =
            switch field.type {
            case .list, .largeListView, .fixedList, .map: 1
            case .runs: 2
            case .structure: nil
            case .union(_, let ids): ids.isEmpty ? nil : ids.count
            default: 0
            }
        guard expected == nil || expected == count else {
            throw ArrowFault("column \"\(field.path)\" has \(count) fields, and its type \(expected ?? 0)", at: field.offset)
        }
        switch field.type {
        case .map:
            guard field.children[0].type == .structure, field.children[0].children.count == 2, field.children[0].dictionary == nil else {
                throw ArrowFault("the entries of the map \"\(field.path)\" are not pairs", at: field.offset)
            }
        case .runs:
            guard case .int(let bits, true) = field.children[0].type, bits > 8, field.children[0].dictionary == nil else {
                throw ArrowFault("the run ends of \"\(field.path)\" are not integers", at: field.offset)
            }
        case .union(_, let ids):
            guard count <= 128, ids.allSatisfy({ (0..<128).contains($0) }), Set(ids).count == ids.count else {
                throw ArrowFault("the union \"\(field.path)\" has wrong type ids", at: field.offset)
            }
        default: break
        }
    }
}
