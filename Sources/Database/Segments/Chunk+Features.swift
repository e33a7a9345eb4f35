import FirnBytes
import FirnCodecs

extension Chunk {
    /// Returns the reader features that the chunk of `rows` rows needs, from the ids in its streams.
    func features(rows: Int) -> EncodingFeatures {
        do throws(Damage) {
            var features: EncodingFeatures = [], elements = rows
            if let relation = streams.first(where: { $0.kind == .relation }) {
                if try Chunk.withBytes(relation.bytes, { (bytes) throws(Damage) in Pieces.arePieces(bytes) }) {
                    return try pieceFeatures(rows: rows)
                }
                let prediction = try Chunk.withBytes(relation.bytes) { (bytes) throws(Damage) -> Prediction? in
                    var positions = UnsafeRawBufferPointer(start: nil, count: 0)
                    if Prediction.isPrediction(bytes) { return try Prediction(bytes, rowCount: rows, positions: &positions) }
                    elements = try Relation(bytes, rowCount: rows, positions: &positions).entries
                    return nil
                }
                if let prediction { return try predictionFeatures(prediction, rows: rows) }
            }
            for (kind, bytes) in streams { features.formUnion(try Chunk.features(of: kind, bytes, rows, &elements)) }
            return features
        } catch { trap("an encoder must not write a stream that cannot be read: \(error)") }
    }

    /// Returns the features of a chunk that stores differences from a prediction.
    private func predictionFeatures(_ prediction: Prediction, rows: Int) throws(Damage) -> EncodingFeatures {
        var features: EncodingFeatures = prediction.isProduct ? .products : .predictions
        for (kind, bytes) in streams where kind != .relation {
            // Of doubles, only the exceptions are stored as such.
            var elements = kind == .reals ? prediction.exceptions : rows
            features.formUnion(try Chunk.features(of: kind, bytes, rows, &elements))
        }
        return features
    }

    /// Returns the features of a chunk of text with pieces of other columns.
    private func pieceFeatures(rows: Int) throws(Damage) -> EncodingFeatures {
        var features: EncodingFeatures = .pieces
        for (kind, bytes) in streams where kind != .relation {
            var elements = rows
            features.formUnion(try Chunk.features(of: kind, bytes, rows, &elements))
        }
        return features
    }

    /// `elements` is the number of entries of the payload streams, which follows from earlier streams.
    private static func features(of kind: StreamKind, _ bytes: [UInt8], _ rows: Int, _ elements: inout Int) throws(Damage)
        -> EncodingFeatures
    {
        let count = elements
        let (features, total) = try withBytes(bytes) { (bytes) throws(Damage) -> (EncodingFeatures, Int) in
            switch kind {
            case .present: return (try BooleansReader(bytes, count: rows).features, count)
            case .lengths:
                let lengths = try LengthsReader(bytes, count: rows)
                return (lengths.features, lengths.total)
            case .elementPresent: return (try BooleansReader(bytes, count: count).features, count)
            case .words, .extra, .tags: return (try IntegersReader(bytes, count: count).features, count)
            case .reals: return (try FloatsReader(bytes, count: count).features, count)
            case .keys, .text: return (try TextReader.features(of: bytes, count: count), count)
            case .presentLike:
                guard let nested = try PresenceReference(bytes).nested else { return ([], count) }
                let outer = try withBytes(BooleansEncoder.encode(Bits(repeating: true, count: rows), profile: .fast)) {
                    (outer) throws(Damage) in
                    try BooleansReader(nested, within: try BooleansReader(outer, count: rows)).features
                }
                return (outer, count)
            case .relation: return (.relations, count)
            }
        }
        elements = total
        return features
    }

    private static func withBytes<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Damage) -> R) throws(Damage) -> R {
        let result = bytes.withUnsafeBytes { pointer in Result { () throws(Damage) -> R in try body(pointer) } }
        return try result.get()
    }
}
