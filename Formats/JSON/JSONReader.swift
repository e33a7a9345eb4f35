import FirnBytes
import FirnExchange
import FirnTable

/// Reads JSON as rows of one type. The whole input is read once for its types and again for its values: types are never guessed from the
/// first rows.
///
/// In NDJSON, each line is a row; in a sequence of values, each value. A stream of any length is read in bounded memory. Documents are
/// parsed whole (at most 4 GB):
///
/// | document | rows |
/// |---|---|
/// | array of objects | its elements |
/// | object in which one array of objects prevails, at any depth of objects: see `RowsFinder` | that array's elements |
/// | object of objects that have keys in common | its members, with a leading column `key` |
/// | other array | its elements, in a column `value` |
/// | other object | one |
/// | one value | one, in a column `value` |
///
/// The `envelope` of the type records which case it was, so that `JSONWriter` writes the same document. Kept are: every value, null as
/// opposed to missing if a column has only one of them or the options are lossless, empty as opposed to missing collections, the order of rows and array elements. Not
/// kept are: the order of keys (columns are in the order of first appearance), the notation of a number (1e2, 100) in nested values unless a
/// whole column agrees, and all but the last value of repeated keys.
/// Errors have the line and the byte within it, both from 1.
///
/// With a schema (`JSONOptions.given`), each row is checked against it in the first reading. With `rejects`, the following are rejected,
/// and nothing is inferred from them: rows that do not fit, rows that are not objects if others are, and lines that are not JSON. A
/// document that is not JSON is still an error.
package final class JSONReader: BatchReader {
    package private(set) var schema: Schema
    package private(set) var remarks: [String]
    package let guesses: [String]
    /// The number of rows in the whole input, without rejected ones.
    package let rowCount: Int

    private let source: any JSONRows
    private let typeName: String
    private var current: (batch: Batch, used: Int)?
    private var isAtEnd = false
    /// The number of columns of the rows and of the objects embedded in them.
    private let columnCount: Int
    private let batchCells: Int

    package static let batchSize = 65_536
    /// The number of bytes from which a batch has fewer rows.
    private static let batchBytes = 8 << 20

    package init(_ input: Input, options: JSONOptions = JSONOptions(), progress: Progress? = nil) throws(FirnError) {
        typeName = options.given?.rows ?? options.typeName
        let given = try options.given.map { (schema) throws(FirnError) in try GivenRows(schema) }
        if let given, given.hasLinksToRows, options.rejects != nil {
            throw FirnError(
                .usage, "rows of \"\(typeName)\" link to each other by row number, and rejected rows change the numbers",
                at: .init(file: input.name),
                advice: "omit --rejects, or the columns with links from the schema")
        }
        let (source, remark) = try JSONReader.source(input, options, given: given, progress)
        self.source = source
        let names = options.given?.schema.types.map(\.name) ?? []
        // Given types keep their order; inferred types follow them.
        func rank(_ type: TypeSchema) -> Int { names.firstIndex(of: type.name) ?? names.count }
        let types = [source.rowType] + source.embedded
        var schema = Schema(types.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element))
        schema.otherAttributes = options.given?.schema.otherAttributes ?? []
        self.schema = schema
        batchCells = options.batchCells
        columnCount = schema.types.reduce(0) { $0 + $1.columns.count }
        let layout = [options.note, remark].compactMap(\.self)
        remarks = layout + source.remarks
        guesses = layout + source.guesses
        rowCount = source.rowCount
        if options.isLossless, let loss = source.losses.first {
            throw FirnError(.rejected, loss, at: .init(file: input.name), advice: "omit --lossless to accept it")
        }
    }

    /// Returns the rows, and a remark if the content is not what the name of the input stands for.
    private static func source(_ input: Input, _ options: JSONOptions, given: GivenRows?, _ progress: Progress?) throws(FirnError)
        -> (rows: any JSONRows, remark: String?)
    {
        guard options.findsLayout else { return (try rows(input, options, given: given, progress), nil) }
        let named = options.layout
        let first = try TextSource(input).peek(LayoutFinder.length)
        var found = LayoutFinder.find(
            first.text, isWhole: first.isWhole, named: named, setsAside: named == .lines && options.rejects != nil)
        found.isSequence = found.layout == .values || (found.layout == .lines && named == .document)
        var chosen = options
        chosen.layout = found.layout
        do throws(FirnError) { return (try rows(input, chosen, given: given, progress, found: found), remark(named, found)) } catch {
            guard found.layout == .document, found.isOpen, JSONReader.follows.contains(where: error.message.hasPrefix) else { throw error }
            // A first value of any length can be followed by others.
            try input.rewind()
            chosen.layout = .values
            (found.layout, found.isSequence) = (.values, true)
            return (try rows(input, chosen, given: given, progress, found: found), remark(named, found))
        }
    }

    private static func rows(
        _ input: Input, _ options: JSONOptions, given: GivenRows?, _ progress: Progress?, found: LayoutFinder.Finding? = nil
    ) throws(FirnError) -> any JSONRows {
        switch options.layout {
        case .lines, .values: try JSONLines(input, options, given, progress, found: found)
        case .document: try JSONWhole(input, options, given, progress)
        }
    }

    private static func remark(_ named: JSONOptions.Layout, _ found: LayoutFinder.Finding) -> String? {
        switch found.layout {
        case named: nil
        case .document: "the input is one JSON document, not one value per line, and was read as such"
        case .lines: "the input has one JSON value per line (NDJSON), and was read as such"
        case .values: "the input is a sequence of JSON values; each of them is a row"
        }
    }

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard let type = schema[typeName] else { return nil }
        var out: Batch?, bytes = 0
        while true {
            if let (batch, used) = current {
                let more = batch.columns.reduce(0) { $0 + $1.bytesInMemory } / max(batch.count, 1) * (batch.count - used)
                if let out, bytes + more > JSONReader.batchBytes { return (type.name, out) }
                bytes += more
                // Batches of many columns are returned unchanged: combined, columns without values would need memory for rows × columns.
                if isWide(batch.count + (out?.count ?? 0)), batch.count <= JSONReader.batchSize, used == 0 {
                    if let out { return (type.name, out) }
                    current = nil
                    return (type.name, batch)
                }
                let wanted = JSONReader.batchSize - (out?.count ?? 0)
                let count = min(wanted, batch.count - used)
                if out == nil, used == 0, count == batch.count {
                    out = batch
                } else {
                    if out == nil { out = Batch(columns: batch.columns.map(\.emptyCopy)) }
                    for index in batch.columns.indices {
                        out!.columns[index].append(contentsOf: batch.columns[index], range: used..<(used + count))
                    }
                    out!.count += count
                }
                current = used + count == batch.count ? nil : (batch, used + count)
                if out!.count == JSONReader.batchSize { return (type.name, out!) }
            }
            if current == nil {
                guard !isAtEnd, let more = try source.next() else {
                    isAtEnd = true
                    return out.flatMap { $0.count > 0 ? (type.name, $0) : nil }
                }
                if more.count > 0 { current = (more, 0) }
            }
        }
    }

    /// Whether this many rows have too many slots, in all columns of their type, to be combined in one batch.
    private func isWide(_ rows: Int) -> Bool { rows * columnCount > batchCells }
}

/// The source of a reader's rows. Its types are known when it is made; then it returns batches of any size in order.
protocol JSONRows: AnyObject {
    var rowType: TypeSchema { get }
    var embedded: [TypeSchema] { get }
    var remarks: [String] { get }
    /// Those of the remarks that state what was guessed about the layout of the input, and which values are not read.
    var guesses: [String] { get }
    var losses: [String] { get }
    var rowCount: Int { get }
    func next() throws(FirnError) -> Batch?
}

/// The row type that fits everything in a tree.
struct RowPlan {
    var fields: [ColumnPlan.Field]
    /// Whether rows are not objects and have one column, `value`.
    var isBare: Bool
    var embedded: [TypeSchema]
    var remarks: [String]
    /// Those of the remarks that state which values are not read.
    var omissions: [String]
    var losses: [String]

    /// - Parameters:
    ///   - given: The requested type, and whether its rows are bare.
    ///   - line: Returns the line, from 1, of a duplicate key.
    init(
        _ root: Shape.Node, options: JSONOptions, given: (rows: GivenRows, isBare: Bool)? = nil,
        line: @escaping (Shape.Duplicate) -> Int, keys: @escaping (UInt32) -> [UInt8]
    ) throws(FirnError) {
        let idle = try RowPlan.idlePath(root, options, keys: keys)
        MapFinder(keys: keys).convert(root, given: given?.rows.fields ?? [], isRow: options.column == nil)
        var types = JSONTypes(
            names: [options.typeName] + options.takenNames, keepsNulls: options.isLossless, keepsTexts: options.keepsTexts,
            given: given?.rows, omitsMissing: options.omitsMissing, line: line, keys: keys)
        if let (rows, isBare) = given {
            self.isBare = isBare
            if isBare {
                fields = rows.fields
                fields[0].writesNull = true
                embedded = []
                types.noteAllRepeated(root, "")
            } else {
                guard root.pointee.mapValue == nil else {
                    throw FirnError(
                        .unsupported, "the rows have more than \(ShapeTree.maximumColumns) different members, too many to be columns",
                        advice: "omit the schema")
                }
                fields = types.fields(root, path: rows.type.name, depth: 0, given: rows.fields)
            }
            let known = types.noted(rows)
            embedded = known + types.embedded
            remarks = RemarkGroups.condensed(types.remarks) + idle
            omissions = RemarkGroups.condensed(types.repeated)
            losses = types.losses
            return
        }
        let shape = root.pointee
        let others = shape.nulls + shape.bools + shape.ints + shape.doubles + shape.numberTexts + shape.strings + shape.arrays
        isBare = others > 0 || shape.mapValue != nil || shape.objects == 0 || options.column != nil
        if isBare {
            let path = options.typeName + (options.column.map { "_" + $0 } ?? "")
            if shape.mapValue != nil, options.column == nil { types.noteRowsAsMaps() }
            fields = [
                ColumnPlan.Field(
                    name: Array("value".utf8), column: "value",
                    plan: types.plan(root, path: path, shownPath: options.column ?? "", depth: 0),
                    isOptional: shape.nulls > 0, writesNull: true)
            ]
            fields[0].isOptional = fields[0].isOptional || fields[0].plan.hasTextsForNull
            JSONTypes.addCompanions(to: &fields)
        } else {
            fields = types.fields(root, path: options.typeName, depth: 0)
            JSONTypes.addCompanions(to: &fields)
        }
        embedded = types.embedded
        remarks = RemarkGroups.condensed(types.remarks) + idle
        omissions = RemarkGroups.condensed(types.repeated)
        losses = types.losses
    }

    /// Throws `.usage` if a requested map or object is at a path without objects. If the input may lack it, returns a remark.
    private static func idlePath(_ root: Shape.Node, _ options: JSONOptions, keys: (UInt32) -> [UInt8]) throws(FirnError) -> [String] {
        for (flag, paths) in [("map", options.maps), ("object", options.objects)] {
            guard let path = PathPins.idle(paths, in: root, keys) else { continue }
            let what = "--\(flag) names \"\(path)\", and there is no object at this path"
            if options.mayLackPaths { return [what] }
            throw FirnError(
                .usage, what,
                advice: "a path consists of names of members of the rows; * stands for the values of a map or the elements of a list")
        }
        return []
    }

    /// Returns the type of the rows, with the requested name and key.
    func type(_ options: JSONOptions, envelope: String?) -> TypeSchema {
        let given = options.given?.type
        var type = TypeSchema(given?.name ?? options.typeName, columns: JSONTypes.columns(fields), envelope: envelope)
        guard let given else { return type }
        type.otherAttributes = given.otherAttributes
        type.key = given.key.compactMap { type.index(of: given.columns[$0].name) }
        return type
    }
}
