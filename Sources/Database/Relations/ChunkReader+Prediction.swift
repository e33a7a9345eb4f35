import FirnBytes
import FirnCodecs
import FirnTable

/// Rows of a chunk that stores differences from a prediction (`docs/format/model.md`, "Predicted numbers").
extension ChunkReader {
    /// Whether the rows are in the streams as they are: neither follow from another column, nor are predicted, nor have pieces of others.
    var isDirect: Bool { relation == nil && prediction == nil && pieces == nil }

    /// Opens the relation of a chunk with these streams, if it has one: a map or a copy, a prediction, or pieces of other columns.
    static func openRelation(
        _ found: [StreamKind: UnsafeRawBufferPointer], type: ColumnType, rowCount: Int, present: BooleansReader?, memory: MemoryScope,
        related: ((Relation) throws(Damage) -> RelationSource)?, predicted: ((Prediction) throws(Damage) -> [PredictionSource])?,
        pieced: ((Pieces) throws(Damage) -> [ChunkReader])?
    ) throws(Damage) -> (relation: RelationReader?, prediction: PredictionReader?, pieces: PiecesReader?) {
        guard let bytes = found[.relation] else { return (nil, nil, nil) }
        guard !type.isCollection, found[.lengths] == nil, let related else { throw Damage("a relation where none is allowed") }
        if Pieces.arePieces(bytes) { return (nil, nil, try openPieces(bytes, type: type, open: pieced)) }
        guard Prediction.isPrediction(bytes) else { return (try RelationReader(bytes, rowCount: rowCount, open: related), nil, nil) }
        guard let predicted else { throw Damage("a relation where none is allowed") }
        let prediction = try openPrediction(
            found, type: type, rowCount: rowCount, present: present, memory: memory, sources: predicted)
        return (nil, prediction, nil)
    }

    /// Opens the prediction of a chunk with these streams.
    private static func openPrediction(
        _ found: [StreamKind: UnsafeRawBufferPointer], type: ColumnType, rowCount: Int, present: BooleansReader?, memory: MemoryScope,
        sources: (Prediction) throws(Damage) -> [PredictionSource]
    ) throws(Damage) -> PredictionReader {
        guard let head = found[.relation], let differences = found[.words] else {
            throw Damage("the differences of a prediction are missing")
        }
        let hasReals = type.payload == [.reals]
        guard hasReals || type.payload == [.words] || type.payload == [.words, .extra] else {
            throw Damage("a prediction in a column of type \(type)")
        }
        let streams = PredictionReader.Streams(differences: differences, exceptions: found[.reals], present: present)
        let reader = try PredictionReader(head, streams, rowCount: rowCount, memory: memory, open: sources)
        guard (reader.prediction.form != nil) == hasReals else { throw Damage("a prediction with the wrong form of numbers") }
        return reader
    }

    /// Replaces the contents of `column` by the rows of a vector.
    func readPredicted(_ prediction: PredictionReader, vector: Int, count: Int, into column: inout Column) throws(Damage) {
        column.count = count
        column.present = try ChunkReader.bits(present, vector: vector, count: count)
        var numbers: [Int64] = []
        try prediction.decode(vector: vector, count: count, into: &numbers)
        if let form = prediction.prediction.form {
            column.reals = try prediction.doubles(numbers, form: form, vector: vector, count: count)
        } else {
            numbers.removeLast(numbers.count - count)
            column.words = numbers
        }
        if let extra { try ChunkReader.fill(&column.extra, count) { (out) throws(Damage) in try extra.decode(vector: vector, into: out) } }
    }

    /// Returns the value of a row that has one.
    func predictedValue(_ prediction: PredictionReader, at row: Int) throws(Damage) -> Value {
        var one = Column(rawType)
        one.count = 1
        if let form = prediction.prediction.form {
            one.reals = [try prediction.double(at: row, form: form)]
        } else {
            one.words = [try prediction.number(at: row)]
        }
        if let extra { one.extra = [try extra.value(at: row)] }
        return one.value(at: 0)
    }
}
