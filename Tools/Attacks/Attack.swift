import FirnBytes

/// A way in for bytes that nobody vouches for. The raw values name folders of cases and never change.
package enum Attack: String, CaseIterable, Sendable {
    /// A `.firn` file, whatever its hashes say: opened, read whole, asked, verified, written.
    case file
    /// A file of plain extents: roots, commit records, checkpoints of space, trees.
    case store
    /// A file of changes, applied to rows that it speaks of.
    case changes
    /// Streams of numbers, bits, offsets and text, as codecs read them.
    case streams
    /// Values, as codecs write them: what is read back is the same.
    case values
    case csv
    case json
    case lines
    /// A query's text.
    case query

    /// Returns if every guarantee held, and traps otherwise. `scratch`: a path to write a file at, where one is needed.
    /// `part`: the only thing to do with a `file`; nil: everything.
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
        case .query: QueryAttack.run(bytes)
        }
    }

    /// Whether hashes are to be believed unseen while it runs: the attacker knows how to compute them.
    package var knowsHashes: Bool { self == .file || self == .store || self == .changes }
}
