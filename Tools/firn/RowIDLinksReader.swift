import FirnBytes
import FirnExchange
import FirnTable

/// Passes on rows whose links to types that are not written whole are row ids.
final class RowIDLinksReader: BatchReader {
    private let source: any BatchReader
    private let links: RowIDLinks

    /// `whole` are the types all of whose rows are written. Returns nil if no links lead to other types.
    init?(_ source: any BatchReader, whole: Set<String>) {
        guard let links = RowIDLinks(source.schema, whole: whole) else { return nil }
        (self.source, self.links) = (source, links)
    }

    var schema: Schema { links.schema }
    var remarks: [String] { source.remarks + links.remarks }
    var guesses: [String] { source.guesses }
    var unreproduced: [String] { source.unreproduced }
    var key: EncryptionKey? { source.key }
    func facts(ofColumn position: Int) -> ColumnFacts? { source.facts(ofColumn: position) }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard var (name, batch) = try source.next() else { return nil }
        links.apply(to: &batch)
        return (name, batch)
    }
}
