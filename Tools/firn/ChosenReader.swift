import FirnBytes
import FirnExchange
import FirnTable

/// Passes on the rows of one type of a reader, with the types that it needs.
final class ChosenReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    private let type: String

    init(_ source: any BatchReader, _ type: String) {
        source.choose(type)
        self.source = source
        self.type = type
        schema = source.schema.reachable(from: type)
    }

    var remarks: [String] { source.remarks }
    var guesses: [String] { source.guesses }
    var textReasons: [(column: String, reason: String)] { source.textReasons }
    var key: EncryptionKey? { source.key }
    func facts(ofColumn position: Int) -> ColumnFacts? { source.facts(ofColumn: position) }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let next = try source.next() {
            if next.type == type { return next }
        }
        return nil
    }
}
