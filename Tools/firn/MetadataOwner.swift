import FirnBytes
import FirnTable

/// What metadata belongs to, by position.
package enum MetadataOwner {
    case file
    case type(Int)
    case column(Int, Int)

    /// Finds a type, or a column as `Type.column`; nil is the file.
    /// - Throws: `.usage`, with the nearest name, if there is none.
    package init(_ name: String?, in schema: Schema, of file: String) throws(FirnError) {
        guard let name else {
            self = .file
            return
        }
        if let type = schema.types.firstIndex(where: { $0.name == name }) {
            self = .type(type)
            return
        }
        for (position, type) in schema.types.enumerated() where name.hasPrefix(type.name + ".") {
            if let column = type.index(of: String(name.dropFirst(type.name.count + 1))) {
                self = .column(position, column)
                return
            }
        }
        if let type = schema.types.filter({ name.hasPrefix($0.name + ".") }).max(by: { $0.name.count < $1.name.count }) {
            throw unknownColumn(String(name.dropFirst(type.name.count + 1)), of: type)
        }
        throw unknownType(String(name.prefix { $0 != "." }), in: schema, of: file)
    }

    package func metadata(in schema: Schema) -> [MetadataEntry] {
        switch self {
        case .file: schema.metadata
        case .type(let type): schema.types[type].metadata
        case .column(let type, let column): schema.types[type].columns[column].metadata
        }
    }

    /// Sets an entry; nil removes it.
    package func set(_ key: String, _ value: [UInt8]?, in schema: inout Schema) {
        switch self {
        case .file: schema.setMetadata(key, value)
        case .type(let type): schema.types[type].setMetadata(key, value)
        case .column(let type, let column): schema.types[type].columns[column].setMetadata(key, value)
        }
    }

    /// Sets entries one after the other; nil removes one.
    package func set(_ changes: [(key: String, value: [UInt8]?)], in schema: inout Schema) {
        switch self {
        case .file: schema.setMetadata(changes)
        case .type(let type): schema.types[type].setMetadata(changes)
        case .column(let type, let column): schema.types[type].columns[column].setMetadata(changes)
        }
    }
}
