import FirnBytes
import FirnTable

/// A schema as classes of the Firn library, as Realm's model files declare them.
struct SchemaAsSwift {
    private let schema: Schema
    private var lines = ["import Firn", "import Foundation"]
    private var remarks: [String] = []
    /// The names of the classes, by type.
    private var classNames: [String: String] = [:]

    init(_ schema: Schema) {
        self.schema = schema
        var taken = SchemaAsSwift.reservedTypes
        for type in schema.types {
            classNames[type.name] = SchemaAsSwift.unique(SchemaAsSwift.identifier(type.name, isType: true), &taken)
        }
        for type in schema.types { add(type) }
    }

    var printed: (text: String, remarks: [String]) { (lines.map { $0 + "\n" }.joined(), remarks) }

    // MARK: Classes

    private mutating func add(_ type: TypeSchema) {
        let className = classNames[type.name] ?? type.name
        lines.append("")
        if type.key.count > 1 {
            let key = type.key.map { type.columns[$0].name }.joined(separator: ", ")
            lines.append(SchemaAsSwift.comment("The key consists of \(key). Keys of classes have one property."))
            remarks.append("the key of \"\(type.name)\" has several columns, and the class has none")
        }
        lines.append("class \(className): \(type.isEmbedded ? "EmbeddedObject" : "Object") {")
        var taken = SchemaAsSwift.reservedMembers, mapping: [(code: String, stored: String)] = []
        for (position, column) in type.columns.enumerated() {
            let name = SchemaAsSwift.unique(SchemaAsSwift.identifier(column.name, isType: false), &taken)
            if name != column.name { mapping.append((name, column.name)) }
            add(column, name, isKey: type.key == [position], of: type)
        }
        if className != type.name {
            lines.append("")
            lines.append("    override class func _realmObjectName() -> String? { \(SchemaAsSwift.quoted(type.name)) }")
        }
        if !mapping.isEmpty {
            lines.append("")
            lines.append("    override class func propertiesMapping() -> [String: String] {")
            lines.append("        [")
            for pair in mapping {
                let comma = mapping.count > 1 ? "," : ""
                lines.append("            \(SchemaAsSwift.quoted(pair.code)): \(SchemaAsSwift.quoted(pair.stored))\(comma)")
            }
            lines.append("        ]")
            lines.append("    }")
        }
        lines.append("}")
    }

    private mutating func add(_ column: ColumnSchema, _ name: String, isKey: Bool, of type: TypeSchema) {
        let code = SchemaAsSwift.keywords.contains(name) ? "`\(name)`" : name
        guard let swift = swiftType(column) else {
            lines.append("    " + SchemaAsSwift.comment("\(column.name): \(column.type.name), which classes cannot declare"))
            remarks.append("column \"\(type.name).\(column.name)\" is \(column.type.name), which classes cannot declare, and is left out")
            return
        }
        var option = ""
        if isKey {
            if [.int, .bool, .string, .uuid, .objectID].contains(column.type.kind) {
                option = "(primaryKey: true)"
            } else {
                remarks.append("the key of \"\(type.name)\" is \(column.type.name), which cannot be a key of a class")
            }
        } else if column.indexes.contains(.words) {
            option = "(indexed: .fullText)"
        } else if column.indexes.contains(.values), [.int, .bool, .string, .date, .uuid, .objectID, .any].contains(column.type.kind) {
            option = "(indexed: true)"
        }
        var notes: [String] = []
        if let logical = column.logical { notes.append("\(logical)") }
        if column.type.kind == .embedded || column.type.kind == .link, !column.type.isCollection, !column.type.isOptional {
            notes.append("never nil")
        }
        if column.type.isCollection, column.type.isOptional { notes.append("may be null in the file") }
        lines.append(
            "    @Persisted\(option) var \(code): \(swift)"
                + (notes.isEmpty ? "" : "  " + SchemaAsSwift.comment(notes.joined(separator: "; "))))
    }

    /// Returns the type of a property; nil if classes have no such properties.
    private func swiftType(_ column: ColumnSchema) -> String? {
        let type = column.type, isObject = type.kind == .link || type.kind == .embedded
        if isObject, type.target.flatMap({ classNames[$0] }) == nil { return nil }
        let isOptional = type.isCollection ? type.elementIsOptional : type.isOptional
        let value = scalar(column)
        switch type.collection {
        case .none: return isObject ? value + "?" : type.kind == .any ? value : value + (isOptional ? "?" : "")
        case .list: return "List<\(value)\(isOptional && !isObject && type.kind != .any ? "?" : "")>"
        case .set: return type.kind == .embedded ? nil : "MutableSet<\(value)\(isOptional && !isObject && type.kind != .any ? "?" : "")>"
        case .map: return "Map<String, \(value)\(isObject || isOptional && type.kind != .any ? "?" : "")>"
        }
    }

    private func scalar(_ column: ColumnSchema) -> String {
        switch column.type.kind {
        case .bool: return "Bool"
        case .int:
            guard case .integer(let bits, true)? = column.logical, bits < 64 else { return "Int" }
            return "Int\(bits)"
        case .float: return "Float"
        case .double: return "Double"
        case .string: return "String"
        case .data: return "Data"
        case .date: return "Date"
        case .decimal: return "Decimal128"
        case .objectID: return "ObjectId"
        case .uuid: return "UUID"
        case .any: return "AnyRealmValue"
        case .link, .embedded: return column.type.target.flatMap { classNames[$0] } ?? ""
        }
    }

    // MARK: Names

    private static func comment(_ text: String) -> String { "// " + String(text.map { $0.isNewline ? " " : $0 }) }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where scalar.value < 32 || scalar.value == 127 || scalar.properties.isWhitespace && scalar != " ":
                out += "\\u{\(String(scalar.value, radix: 16))}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }

    /// Returns an identifier with the letters and digits of a name. Other characters are left out, and the next letter is a capital.
    private static func identifier(_ name: String, isType: Bool) -> String {
        var out = "", isBoundary = false
        for scalar in name.unicodeScalars {
            let isLetter = scalar.isASCII ? scalar == "_" || scalar.properties.isAlphabetic : scalar.properties.isXIDContinue
            guard isLetter || "0"..."9" ~= scalar else {
                isBoundary = !out.isEmpty
                continue
            }
            if out.isEmpty, scalar.isASCII ? "0"..."9" ~= scalar : !scalar.properties.isXIDStart { out = "_" }
            out += isBoundary ? String(scalar).uppercased() : String(scalar)
            isBoundary = false
        }
        return out.isEmpty ? isType ? "Unnamed" : "unnamed" : out == "_" ? "__" : out
    }

    private static func unique(_ name: String, _ taken: inout Set<String>) -> String {
        var candidate = name, number = 2
        while !taken.insert(candidate).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// Words that are names only in back-quotes.
    private static let keywords: Set<String> = [
        "Any", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
        "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
    /// Names that properties cannot have, because objects have members with these names.
    private static let reservedMembers: Set<String> = [
        "self", "init", "Type", "Self", "Protocol", "className", "description", "freeze", "hash", "hashValue", "isFrozen", "isInvalidated",
        "isSameObject", "observe", "objectSchema", "realm", "thaw", "dynamicList", "dynamicMutableSet", "dynamicMap",
        "indexedProperties", "ignoredProperties", "primaryKey", "propertiesMapping", "shouldIncludeInDefaultSchema", "lastAccessedNames",
        "debugDescription", "keyPaths", "linkingObjects", "objectWillChange", "detached", "encode", "isEqual",
    ]
    /// Names that classes cannot have: types that the classes use.
    private static let reservedTypes: Set<String> = [
        "Any", "AnyObject", "AnyRealmValue", "Array", "Bool", "Data", "Date", "Decimal128", "Dictionary", "Double", "EmbeddedObject",
        "Float",
        "Int", "Int8", "Int16", "Int32", "Int64", "List", "Map", "MutableSet", "Object", "ObjectId", "ObjectBase", "Optional", "Persisted",
        "Protocol", "Realm", "Self", "Set", "String", "Type", "UUID", "Void", "Firn", "Foundation",
    ]
}
