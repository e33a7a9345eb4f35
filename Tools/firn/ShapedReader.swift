import FirnBytes
import FirnExchange
import FirnTable

/// Passes batches on with selected columns, another type name, another key, and at most a given number of rows.
final class ShapedReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    /// The positions of the selected columns; nil for all.
    private let kept: [Int]?
    private let type: TypeSchema
    private let renamed: [String: String]
    private var left: Int
    private let isLimited: Bool

    /// - Throws: `.usage` if a name does not exist in the schema, or a type must be chosen.
    init(_ source: any BatchReader, columns: [String], name: String?, key: [String], limit: Int?) throws(FirnError) {
        self.source = source
        left = limit ?? .max
        isLimited = limit != nil
        var schema = source.schema
        let roots = schema.roots
        // The schema can also have types that are only targets of links.
        let named = roots.first { $0.name == name }
        guard let root = named ?? roots.first else { throw FirnError(.schema, "the input has no rows and no columns") }
        guard roots.count == 1 || named != nil || (columns.isEmpty && name == nil && key.isEmpty) else {
            throw FirnError(
                .usage, "the input has several types: \(roots.map(\.name).joined(separator: ", "))",
                advice: "choose one with FILE:Type")
        }
        var shaped = root, kept: [Int]?
        if !columns.isEmpty {
            let chosen = try columns.map { (column) throws(FirnError) in try root.position(of: column) }
            shaped.columns = chosen.map { root.columns[$0] }
            shaped.key = root.key.allSatisfy(chosen.contains) ? root.key.map { chosen.firstIndex(of: $0)! } : []
            kept = chosen
            // The envelope refers to positions of columns.
            shaped.envelope = nil
        }
        if let name { shaped.name = name }
        if !key.isEmpty {
            shaped.key = try key.map { (column) throws(FirnError) in
                if shaped.index(of: column) == nil, shaped.hasMember(column) {
                    throw FirnError(
                        .usage, "\"\(column)\" is a field of objects, and a primary key consists of whole columns",
                        advice: "choose a column; 'firn diff --key \(column)' compares by fields")
                }
                return try shaped.position(of: column)
            }
        }
        let newName = shaped.name
        shaped.name = root.name
        for i in schema.types.indices where schema.types[i].name == root.name { schema.types[i] = shaped }
        self.schema = schema.renaming(root.name, to: newName)
        self.kept = kept
        type = self.schema[newName] ?? shaped
        renamed = [root.name: newName]
    }

    var remarks: [String] { source.remarks }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard left > 0, let (name, rows) = try source.next() else { return nil }
        var batch = rows
        if let kept { batch.columns = kept.map { batch.columns[$0] } }
        if batch.count > left {
            batch.columns = batch.columns.map { $0.slice(0..<left) }
            batch.count = left
        }
        if isLimited { left -= batch.count }
        return (renamed[name] ?? name, batch)
    }
}

extension TypeSchema {
    /// Returns whether a path such as `birth.place` begins with a column of objects.
    fileprivate func hasMember(_ path: String) -> Bool { columns.contains { $0.type.kind == .embedded && path.hasPrefix($0.name + ".") } }

    /// Returns the position of a column. Throws `.usage`, with the nearest name, if there is none.
    func position(of column: String) throws(FirnError) -> Int {
        if let position = index(of: column) { return position }
        throw unknownColumn(column, of: self)
    }
}
