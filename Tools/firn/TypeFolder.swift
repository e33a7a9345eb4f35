import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable

/// A folder that `firn convert` wrote from an input of several types: one file for each type. It is read as these types, with the links
/// between them.
struct TypeFolder {
    let format: FormatName
    let reader: TypesReader
    /// The size of the files in bytes; nil if it is not known.
    let size: Int?

    /// Returns nil if the files were not written so: then they are one table.
    init?(_ paths: [String], _ options: ReadingOptions, progress: Progress) throws(FirnError) {
        guard let first = paths.first, let format = options.format ?? FormatName(extensionOf: first), format.keepsFolderTypes else {
            return nil
        }
        // All files are directly in the folder; those in folders of partitions need not be opened here.
        guard Set(paths.map { Paths.directory(of: $0) }).count == 1 else { return nil }
        var parts: [TypesReader.Part] = [], names: [String] = [], total: Int? = 0
        for path in paths {
            let input = try Input(path: path)
            guard try FormatName.detect(path: path, firstBytes: input.peek(8192)) == format else { return nil }
            let reader = try FormatShelf.reader(folderPart: input, format: format, options, progress: progress)
            guard let type = reader.schema.roots.first, !reader.folderTypes.isEmpty else { return nil }
            if parts.isEmpty { names = reader.folderTypes }
            guard names == reader.folderTypes, names.contains(type.name), !parts.contains(where: { $0.type == type.name }) else {
                return nil
            }
            parts.append(.init(type: type.name, path: path, reader: reader))
            total = total.flatMap { total in input.totalBytes.map { total + Int(clamping: $0) } }
        }
        parts.sort { names.firstIndex(of: $0.type) ?? 0 < names.firstIndex(of: $1.type) ?? 0 }
        guard let reader = TypesReader(parts) else { return nil }
        (self.format, self.reader, size) = (format, reader, total)
    }
}

extension FormatName {
    /// Whether files of the format state which types were written into their folder.
    var keepsFolderTypes: Bool { self == .parquet || self == .arrow }

    /// Whether links in files of the format are the positions of the rows that they lead to.
    var keepsLinks: Bool { self == .firn || keepsFolderTypes }
}

/// Reads the files of a folder as one input of several types.
final class TypesReader: BatchReader {
    struct Part {
        let type: String
        let path: String
        let reader: any BatchReader
    }

    let schema: Schema
    private let parts: [Part]
    private var position = 0
    private var chosen: String?

    /// Returns nil if two files have different types of one name.
    init?(_ parts: [Part]) {
        guard let first = parts.first else { return nil }
        var schema = first.reader.schema
        for type in parts.dropFirst().flatMap(\.reader.schema.types) {
            guard let known = schema[type.name] else {
                schema.types.append(type)
                continue
            }
            guard known == type else { return nil }
        }
        // Types of objects follow those of rows.
        schema.types = schema.roots + schema.types.filter(\.isEmbedded)
        (self.schema, self.parts) = (schema, parts)
    }

    /// Columns of kind any in Parquet and Arrow are from Firn.
    var hasLinks: Bool { schema.holds(.link) || schema.holds(.any) }
    var remarks: [String] { parts.flatMap { part in part.reader.remarks.map { "\(part.type): \($0)" } } }
    var guesses: [String] { parts.flatMap { part in part.reader.guesses.map { "\(part.type): \($0)" } } }

    func choose(_ type: String) { chosen = type }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while position < parts.count {
            if chosen == nil || chosen == parts[position].type, let next = try parts[position].reader.next() { return next }
            position += 1
        }
        return nil
    }

    /// Returns the rows of a type as a table that is read where it is needed; nil if its file was read as from a pipe.
    func table(_ type: String) -> (any Table)? { (parts.first { $0.type == type }?.reader as? any TableReader)?.table }
}
