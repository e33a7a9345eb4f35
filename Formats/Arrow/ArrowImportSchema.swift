import CArrow
import FirnBytes
import FirnExchange
import FirnTable

/// Fields of the C data interface.
extension ArrowField {
    private static let maximumDepth = 64

    /// Reads a field. `dictionaries` is the number of dictionaries so far, which get their ids from it.
    convenience init(_ schema: CArrow.ArrowSchema, dictionaries: inout Int64, path: String, level: Int) throws(ArrowFault) {
        guard level < ArrowField.maximumDepth else {
            throw ArrowFault.unknown("the schema nests deeper than \(ArrowField.maximumDepth) levels")
        }
        let name = schema.name.map { String(cString: $0) } ?? "", path = path.isEmpty ? name : path + "." + name
        guard let format = schema.format.map({ String(cString: $0) }), let type = ArrowType(format: format, flags: schema.flags) else {
            throw ArrowFault.unknown(
                "column \"\(path)\" has the type \"\(schema.format.map { String(cString: $0) } ?? "")\", which is not known",
                advice: "a newer version of Firn might read it")
        }
        guard schema.n_children >= 0, schema.n_children <= 1 << 24 else {
            throw ArrowFault("column \"\(path)\" has \(schema.n_children) fields", code: .rejected)
        }
        var children: [ArrowField] = []
        for i in 0..<Int(schema.n_children) {
            guard let child = schema.children?[i]?.pointee else { throw ArrowFault("a field of \"\(path)\" is NULL", code: .rejected) }
            children.append(try ArrowField(child, dictionaries: &dictionaries, path: path, level: level + 1))
        }
        let isNullable = schema.flags & Int64(ARROW_FLAG_NULLABLE) != 0, metadata = ArrowField.metadata(schema.metadata)
        guard let values = schema.dictionary else {
            self.init(name, type, nullable: isNullable, children: children, metadata: metadata, path: path)
            try ArrowFieldParser.check(self)
            return
        }
        guard case .int = type else { throw ArrowFault("the indexes of the dictionary of \"\(path)\" are no integers", code: .rejected) }
        let inner = try ArrowField(values.pointee, dictionaries: &dictionaries, path: path, level: level + 1)
        self.init(name, inner.type, nullable: isNullable, children: inner.children, metadata: metadata + inner.metadata, path: path)
        let named = ArrowField(
            name, inner.type, nullable: true, children: inner.children, metadata: metadata + inner.metadata, path: path)
        named.dictionary = inner.dictionary
        dictionaries += 1
        dictionary = Dictionary(
            id: dictionaries, index: type, isOrdered: schema.flags & Int64(ARROW_FLAG_DICTIONARY_ORDERED) != 0, values: named)
    }

    /// Reads the number of entries, then the length and the bytes of each key and value, in 32 bits of the machine's order.
    private static func metadata(_ bytes: UnsafePointer<CChar>?) -> [MetadataEntry] {
        guard let bytes else { return [] }
        var next = UnsafeRawPointer(bytes)
        func number() -> Int {
            defer { next += 4 }
            return Int(max(0, next.loadUnaligned(as: Int32.self)))
        }
        func text() -> [UInt8] {
            let count = number()
            defer { next += count }
            return Array(UnsafeRawBufferPointer(start: next, count: count))
        }
        var out: [MetadataEntry] = []
        for _ in 0..<number() {
            let key = text()
            out.append(MetadataEntry(String(decoding: key, as: UTF8.self), text()))
        }
        return out
    }
}

extension ArrowType {
    /// The types whose text is a name without numbers. Made once: a stream of one row has as many types as one of a million.
    private static let named: [String: ArrowType] = [
        "n": .null, "b": .bool, "c": .int(bits: 8, isSigned: true), "C": .int(bits: 8, isSigned: false),
        "s": .int(bits: 16, isSigned: true), "S": .int(bits: 16, isSigned: false), "i": .int(bits: 32, isSigned: true),
        "I": .int(bits: 32, isSigned: false), "l": .int(bits: 64, isSigned: true), "L": .int(bits: 64, isSigned: false),
        "e": .float(bits: 16), "f": .float(bits: 32), "g": .float(bits: 64), "z": .bytes(.small), "Z": .bytes(.large),
        "vz": .bytes(.view), "u": .text(.small), "U": .text(.large), "vu": .text(.view), "tdD": .date(isDays: true),
        "tdm": .date(isDays: false), "tiM": .interval(.months), "tiD": .interval(.days), "tin": .interval(.nanoseconds),
        "+l": .list(.small), "+L": .list(.large), "+vl": .list(.view), "+vL": .largeListView, "+s": .structure, "+r": .runs,
    ]

    /// Reads the text of the C data interface; nil if it is not known.
    init?(format: String, flags: Int64) {
        if let known = ArrowType.named[format] {
            self = known
            return
        }
        if format == "+m" {
            self = .map(isSorted: flags & Int64(ARROW_FLAG_MAP_KEYS_SORTED) != 0)
            return
        }
        let units: [Character: TimeUnit] = [
            "s": TimeUnit.allCases[0], "m": TimeUnit.allCases[1], "u": TimeUnit.allCases[2], "n": TimeUnit.allCases[3],
        ]
        let head = format.prefix { $0 != ":" }, rest = format.dropFirst(head.count + 1)
        let numbers = rest.split(separator: ",", omittingEmptySubsequences: true).map { Int($0) }
        let unit = head.last.flatMap { units[$0] }
        switch (String(head.dropLast()), unit) {
        case ("tt", let unit?): self = .time(unit)
        case ("tD", let unit?): self = .duration(unit)
        case ("ts", let unit?): self = .timestamp(unit, zone: rest.isEmpty ? nil : String(rest))
        default:
            switch (head, numbers.count, numbers.first ?? nil) {
            case ("w", 1, let width?) where width >= 0: self = .fixedBytes(width)
            case ("+w", 1, let count?) where count >= 0: self = .fixedList(count)
            case ("d", 2...3, let precision?):
                guard let scale = numbers[1], let bits = numbers.count == 3 ? numbers[2] : 128, [32, 64, 128, 256].contains(bits),
                    1...76 ~= precision, abs(scale) <= 512
                else { return nil }
                self = .decimal(precision: precision, scale: scale, bits: bits)
            case ("+ud", _, _), ("+us", _, _):
                guard !numbers.contains(where: { !(0..<128 ~= $0 ?? -1) }) else { return nil }
                self = .union(isDense: head == "+ud", ids: numbers.compactMap { $0.map { Int32($0) } })
            default: return nil
            }
        }
    }

    /// The number of bytes of a value, of types whose values have a fixed number of whole bytes.
    var byteWidth: Int {
        switch self {
        case .int(let bits, _), .float(let bits), .decimal(_, _, let bits): bits / 8
        case .date(let isDays): isDays ? 4 : 8
        case .time(let unit): unit.digits <= 3 ? 4 : 8
        case .timestamp, .duration: 8
        case .interval(let unit): unit.width
        case .fixedBytes(let count): count
        default: 0
        }
    }
}
