import FirnBytes
import FirnExchange
import FirnTable
import Synchronization

/// The tables of a reader with several types in memory. Links between them can be followed. Usable from any thread.
final class HeldTables: Sendable {
    /// Links refer to rows by row id, which is the position of the row in its table.
    private let tables: Mutex<[String: MemoryTable]> = Mutex([:])

    /// Reads all rows.
    init(_ reader: any BatchReader) throws(FirnError) {
        var batches: [String: [Batch]] = [:]
        while let (type, batch) = try reader.next() { batches[type, default: []].append(batch) }
        let schema = reader.schema
        var made: [String: MemoryTable] = [:]
        for type in schema.roots {
            made[type.name] = MemoryTable(type, schema: schema, batches: batches[type.name] ?? []) { [weak self] in self?.table($0) }
        }
        let all = made
        tables.withLock { $0 = all }
    }

    /// Returns the table of a type that is not embedded; nil if there is none.
    func table(_ name: String) -> (any Table)? { tables.withLock { $0[name] } }
}

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
    var key: EncryptionKey? { source.key }
    func facts(ofColumn position: Int) -> ColumnFacts? { source.facts(ofColumn: position) }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let next = try source.next() {
            if next.type == type { return next }
        }
        return nil
    }
}
