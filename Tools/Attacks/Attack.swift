import FirnBytes

/// An interface that takes untrusted bytes. The raw values name folders of cases and never change.
package enum Attack: String, CaseIterable, Sendable {
    /// A `.firn` file with unchecked hashes: opened, read completely, queried, verified, written.
    case file
    /// A file of the store alone: roots, commit records, checkpoints, trees.
    case store
    /// A changes file, applied to rows that it names.
    case changes
    /// Encoded streams of integers, floats, booleans, offsets and text, read by the codecs.
    case streams
    /// Values, encoded by the codecs: decoding them must return the same values.
    case values
    case csv
    case json
    case lines
    /// A `.realm` file.
    case realm
    /// An Arrow file or stream.
    case arrow
    /// A Parquet file.
    case parquet
    /// An SQLite database.
    case sqlite
    /// The text of a query.
    case query

    /// Runs the attack. Returns if every guarantee held, and traps otherwise. `scratch` is the path of a scratch file. `part` restricts the
    /// attack `file` to one part; nil runs all parts.
    package func run(_ bytes: UnsafeRawBufferPointer, scratch: String, part: FileAttack.Part? = nil) {
        switch self {
        case .file: FileAttack(path: scratch).run(bytes, only: part)
        case .store: StoreAttack(path: scratch).run(bytes)
        case .changes: ChangesAttack(path: scratch).run(bytes)
        case .streams: StreamsAttack.run(bytes)
        case .values: ValuesAttack.run(bytes)
        case .csv: TextAttack.csv(Array(bytes))
        case .json: TextAttack.json(Array(bytes), .document)
        case .lines: TextAttack.json(Array(bytes), .lines)
        case .realm: RealmAttack.run(bytes)
        case .arrow: ArrowAttack.run(Array(bytes))
        case .parquet: ParquetAttack.run(Array(bytes))
        case .sqlite: SQLiteAttack(path: scratch).run(Array(bytes))
        case .query: QueryAttack.run(bytes)
        }
    }

    /// Whether hashes must be accepted unchecked while the attack runs, because a real attacker can compute them.
    package var knowsHashes: Bool { self == .file || self == .store || self == .changes }
}
