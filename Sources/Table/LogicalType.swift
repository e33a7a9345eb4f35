import FirnBytes

/// What the values of a column are in formats that have more types than Firn stores (`docs/format/model.md`, "Logical types"). The storage
/// type of the column shows the same values to readers that do not know the logical type.
package enum LogicalType: Hashable, Sendable {
    /// An integer of 8, 16, 32 or 64 bits. Storage: int; decimal128 for unsigned 64-bit integers.
    case integer(bits: Int, isSigned: Bool)
    /// A floating-point number of 16 bits. Storage: float.
    case float16
    /// A number with `scale` digits after the point, and `precision` digits in all. Storage: double up to 15 digits, decimal128 up to 34,
    /// then string.
    case decimal(precision: Int, scale: Int)
    /// A day. Storage: date, at 00:00 UTC.
    case date
    /// A time of day. Storage: string, `HH:MM:SS` with the digits of the unit.
    case time(TimeUnit)
    /// A date and time, in UTC if there is a zone, in which outside formats show it. Without one, the date is a local one, stored as if it
    /// were UTC. Storage: date.
    case timestamp(TimeUnit, zone: String?)
    /// A span of time. Storage: int, a number of units.
    case duration(TimeUnit)
    /// Months, days and a time that are not added up. Storage: string, such as `P1M2DT3.5S`.
    case interval
    /// One of the given texts. Storage: string.
    case enumeration([String])
    /// A JSON text. Storage: string.
    case json
    /// A list of a fixed number of elements. Storage: list.
    case fixedList(Int)
    /// A shape as well-known binary (WKB), and the name of its reference system. Storage: data.
    case geometry(system: String?)

    /// Returns whether columns of the type can have this logical type.
    package func fits(_ type: ColumnType) -> Bool {
        if case .fixedList = self { return type.collection == .list }
        guard !type.isCollection else { return false }
        return switch self {
        case .integer(let bits, let isSigned): type.kind == (bits == 64 && !isSigned ? .decimal : .int)
        case .float16: type.kind == .float
        case .decimal(let precision, _):
            type.kind == (precision <= 15 ? .double : precision <= 34 ? .decimal : .string) || type.kind == .decimal
        case .date, .timestamp: type.kind == .date
        case .time, .interval, .enumeration, .json: type.kind == .string
        case .duration: type.kind == .int
        case .geometry: type.kind == .data
        case .fixedList: false
        }
    }
}

extension LogicalType {
    /// The notation in which values are written: decimals with all digits of their scale, days without a time, local times without a zone.
    package func notation(for type: ColumnType) -> Notation {
        switch self {
        case .decimal(_, let scale) where type.kind == .double && 1...22 ~= scale: .fixed(UInt8(scale))
        case .date: .dateOnly
        case .timestamp(_, zone: nil): .localDateTime
        default: .plain
        }
    }
}

extension LogicalType: CustomStringConvertible {
    /// The text that is stored in files and shown to users, such as `decimal(15,2)`; `init(text:)` reads it.
    package var description: String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        return switch self {
        case .integer(let bits, let isSigned): (isSigned ? "int" : "uint") + "\(bits)"
        case .float16: "float16"
        case .decimal(let precision, let scale): "decimal(\(precision),\(scale))"
        case .date: "date"
        case .time(let unit): "time(\(unit.rawValue))"
        case .timestamp(let unit, let zone): "timestamp(\(unit.rawValue)" + (zone.map { "," + quoted($0) } ?? "") + ")"
        case .duration(let unit): "duration(\(unit.rawValue))"
        case .interval: "interval"
        case .enumeration(let texts): "enum" + (texts.isEmpty ? "" : "(" + texts.map(quoted).joined(separator: ",") + ")")
        case .json: "json"
        case .fixedList(let count): "fixed-list(\(count))"
        case .geometry(let system): "geometry" + (system.map { "(" + quoted($0) + ")" } ?? "")
        }
    }

    /// Returns nil if the text is not the description of a logical type.
    package init?(text: String) {
        guard let (name, parameters) = LogicalType.parts(of: text) else { return nil }
        let integers: [String: LogicalType] = [
            "int8": .integer(bits: 8, isSigned: true), "int16": .integer(bits: 16, isSigned: true),
            "int32": .integer(bits: 32, isSigned: true), "int64": .integer(bits: 64, isSigned: true),
            "uint8": .integer(bits: 8, isSigned: false), "uint16": .integer(bits: 16, isSigned: false),
            "uint32": .integer(bits: 32, isSigned: false), "uint64": .integer(bits: 64, isSigned: false),
        ]
        if parameters.isEmpty, let integer = integers[name] {
            self = integer
            return
        }
        func unit() -> TimeUnit? { parameters.first.flatMap(\.word).flatMap(TimeUnit.init(rawValue:)) }
        func number(_ i: Int) -> Int? { parameters.indices.contains(i) ? parameters[i].word.flatMap { Int($0) } : nil }
        switch (name, parameters.count) {
        case ("float16", 0): self = .float16
        case ("decimal", 2):
            guard let precision = number(0), let scale = number(1), 1...1_000_000 ~= precision, -1_000_000...1_000_000 ~= scale else {
                return nil
            }
            self = .decimal(precision: precision, scale: scale)
        case ("date", 0): self = .date
        case ("interval", 0): self = .interval
        case ("json", 0): self = .json
        case ("time", 1), ("duration", 1), ("timestamp", 1):
            guard let unit = unit() else { return nil }
            self = name == "time" ? .time(unit) : name == "duration" ? .duration(unit) : .timestamp(unit, zone: nil)
        case ("timestamp", 2):
            guard let unit = unit(), let zone = parameters[1].quoted else { return nil }
            self = .timestamp(unit, zone: zone)
        case ("enum", _):
            let texts = parameters.compactMap(\.quoted)
            guard texts.count == parameters.count else { return nil }
            self = .enumeration(texts)
        case ("fixed-list", 1):
            guard let count = number(0), count >= 0 else { return nil }
            self = .fixedList(count)
        case ("geometry", 0): self = .geometry(system: nil)
        case ("geometry", 1):
            guard let system = parameters[0].quoted else { return nil }
            self = .geometry(system: system)
        default: return nil
        }
    }

    /// A parameter as it is written: a word, or a text in quotes.
    private enum Parameter {
        case word(String), quoted(String)
        var word: String? { if case .word(let text) = self { text } else { nil } }
        var quoted: String? { if case .quoted(let text) = self { text } else { nil } }
    }

    /// Returns the name and the parameters; nil if the text has another form.
    private static func parts(of text: String) -> (name: String, parameters: [Parameter])? {
        guard let open = text.firstIndex(of: "(") else { return (text, []) }
        guard text.last == ")", text.index(after: open) < text.endIndex else { return nil }
        var rest = text[text.index(after: open)..<text.index(before: text.endIndex)], parameters: [Parameter] = []
        let name = String(text[..<open])
        while !rest.isEmpty {
            if rest.first == "\"" {
                var value = "", isEscaped = false, end: Substring.Index?
                for i in rest.indices.dropFirst() {
                    if isEscaped {
                        value.append(rest[i])
                        isEscaped = false
                    } else if rest[i] == "\\" {
                        isEscaped = true
                    } else if rest[i] == "\"" {
                        end = i
                        break
                    } else {
                        value.append(rest[i])
                    }
                }
                guard let end else { return nil }
                parameters.append(.quoted(value))
                rest = rest[rest.index(after: end)...]
            } else {
                let word = rest.prefix { $0 != "," }
                guard !word.isEmpty else { return nil }
                parameters.append(.word(String(word)))
                rest = rest[word.endIndex...]
            }
            guard rest.isEmpty || rest.first == "," else { return nil }
            if !rest.isEmpty {
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return nil }
            }
        }
        return (name, parameters)
    }
}

extension ColumnSchema {
    private static let logicalAttribute = "logical-type"

    /// The logical type of the column; nil if it has none, or one that this program does not know or that does not fit the storage type.
    /// Setting one also sets the notation that it implies, unless the column has another notation.
    package var logical: LogicalType? {
        get {
            guard let attribute = otherAttributes.first(where: { $0.name == ColumnSchema.logicalAttribute }),
                let logical = String(validating: attribute.value, as: UTF8.self).flatMap(LogicalType.init(text:)), logical.fits(type)
            else { return nil }
            return logical
        }
        set {
            var others = otherAttributes.filter { $0.name != ColumnSchema.logicalAttribute }
            if let newValue {
                trap(unless: newValue.fits(type), "a column of type \(type.name) cannot be \(newValue)")
                others.append(SchemaAttribute(ColumnSchema.logicalAttribute, Array("\(newValue)".utf8)))
                if notation == .plain { notation = newValue.notation(for: type) }
            }
            otherAttributes = others
        }
    }
}
