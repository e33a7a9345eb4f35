import FirnBytes
import FirnExchange
import FirnModel

/// Reads JSON as rows of one type. The whole input is read once for its types and again for its values: nothing is guessed from a beginning.
///
/// Lines (NDJSON): each is a row; a stream of any length in bounded memory. Documents are parsed whole (at most 4 GB):
///
/// | document | rows |
/// |---|---|
/// | array of objects | its elements |
/// | object with exactly one member that is an array of objects | that array's elements |
/// | object of objects | its members, with a leading column `key` |
/// | other array | its elements, in a column `value` |
/// | other object | one |
/// | one value | one, in a column `value` |
///
/// The type's `envelope` remembers which, so that `JSONWriter` writes the same document. Kept: every value, null against missing where a column
/// has only one of them, empty against missing collections, the order of rows and array elements. Not kept: the order of keys (columns stand in the order
/// of first appearance), how a number was written (1e2, 100) unless a whole column agrees, which of two equal keys' values came first (the last is taken).
/// Errors have the line and the byte within it, both from 1.
package final class JSONReader: BatchReader {
    package private(set) var schema: Schema
    package private(set) var remarks: [String]
    /// Rows of the whole input.
    package let rowCount: Int

    private let source: any JSONRows
    private let typeName: String
    private var current: (batch: Batch, used: Int)?
    private var isAtEnd = false

    package static let batchSize = 65_536

    package init(_ input: Input, options: JSONOptions = JSONOptions(), progress: Progress? = nil) throws(FirnError) {
        typeName = options.typeName
        let source: any JSONRows
        switch options.layout {
        case .lines: source = try JSONLines(input, options, progress)
        case .document: source = try JSONWhole(input, options, progress)
        }
        self.source = source
        schema = Schema([source.rowType] + source.embedded)
        remarks = source.remarks
        rowCount = source.rowCount
        if options.isLossless, let loss = source.losses.first {
            throw FirnError(.rejected, loss, at: .init(file: input.name), advice: "leave out --lossless to accept it")
        }
    }

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard let type = schema[typeName] else { return nil }
        var out: Batch?
        while true {
            if let (batch, used) = current {
                let wanted = JSONReader.batchSize - (out?.count ?? 0)
                let count = min(wanted, batch.count - used)
                if out == nil, used == 0, count == batch.count {
                    out = batch
                } else {
                    if out == nil { out = Batch(columns: batch.columns.map(\.emptyCopy)) }
                    for index in batch.columns.indices { out!.columns[index].append(contentsOf: batch.columns[index], range: used..<(used + count)) }
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
}

/// Where a reader's rows come from: typed when made, then batches of any size in order.
protocol JSONRows: AnyObject {
    var rowType: TypeSchema { get }
    var embedded: [TypeSchema] { get }
    var remarks: [String] { get }
    var losses: [String] { get }
    var rowCount: Int { get }
    func next() throws(FirnError) -> Batch?
}

/// The row type that fits what a tree saw.
struct RowPlan {
    var fields: [Plan.Field]
    /// Rows are not objects: one column `value`.
    var isBare: Bool
    var embedded: [TypeSchema]
    var remarks: [String]
    var losses: [String]

    init(_ root: Shape.Node, options: JSONOptions, keys: @escaping (UInt32) -> [UInt8]) {
        var types = JSONTypes(typeName: options.typeName, keys: keys)
        let shape = root.pointee
        let others = shape.nulls + shape.bools + shape.ints + shape.doubles + shape.numberTexts + shape.strings + shape.arrays
        isBare = others > 0 || shape.mapValue != nil || shape.objects == 0
        if isBare {
            fields = [Plan.Field(name: Array("value".utf8), column: "value", plan: types.plan(root, path: options.typeName, depth: 0), isOptional: shape.nulls > 0, writesNull: true)]
        } else {
            fields = types.fields(root, path: options.typeName, depth: 0)
        }
        embedded = types.embedded
        remarks = types.remarks
        losses = types.losses
    }

    func type(_ name: String, envelope: String?) -> TypeSchema { TypeSchema(name, columns: JSONTypes.columns(fields), envelope: envelope) }
}
