import FirnBytes
import FirnCodecs
import FirnTable

/// The content of a stream of a chunk. The raw values are written to files and never change.
enum StreamKind: UInt8, CaseIterable {
    /// Validity: one bit per row, set if the row has a value. Missing if all rows have one.
    case present = 1
    /// Collections: where the elements of each row begin and end.
    case lengths = 2
    /// Maps: the key of each element.
    case keys = 3
    /// One bit per element, clear if it is null. Missing if no element is null.
    case elementPresent = 4
    /// The arrays of `Column` with the same names: one entry per row, or per element of a collection.
    case words = 5, extra = 6, reals = 7, text = 8, tags = 9
    /// In place of `present`: a reference to the validity of an earlier column, which is the same or includes this one
    /// (`PresenceReference`;
    /// `docs/format/model.md`, "Shared validity").
    case presentLike = 10
    /// The relation to another column, from which the values of the rows follow (`Relation`). The payload streams then have entries, which
    /// are fewer than the rows.
    case relation = 11
}

/// One column of one segment, encoded (`docs/format/model.md`, "Chunk").
///
///     stream count u8 · for each stream: kind u8, length varint · the streams end to end, in that order
///
/// Kinds ascend. A codec of `FirnCodecs` encodes the bytes of each stream.
struct Chunk {
    var streams: [(kind: StreamKind, bytes: [UInt8])]

    var encoded: [UInt8] {
        var out = ByteWriter(reserving: streams.reduce(16) { $0 + $1.bytes.count + 8 })
        out.append(UInt8(streams.count))
        for stream in streams {
            out.append(stream.kind.rawValue)
            out.appendVarint(stream.bytes.count)
        }
        for stream in streams { out.append(contentsOf: stream.bytes) }
        return out.bytes
    }

    /// Kinds are distinct, and few.
    private static let maximumStreams = 32

    /// Returns the streams of a chunk with their kinds, as parts of `bytes`.
    static func split(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> [(kind: StreamKind, bytes: UnsafeRawBufferPointer)] {
        var reader = ByteReader(bytes)
        let count = Int(try reader.read(UInt8.self))
        guard count <= Chunk.maximumStreams else { throw Damage("too many streams") }
        var kinds: [(StreamKind, Int)] = []
        for _ in 0..<count {
            let offset = reader.position
            let id = try reader.read(UInt8.self)
            guard let kind = StreamKind(rawValue: id) else { throw Damage(unknown: "kind of stream \(id)", at: offset) }
            guard kinds.last.map({ $0.0.rawValue < kind.rawValue }) ?? true else { throw Damage("streams out of order", at: offset) }
            kinds.append((kind, try reader.readCount(limit: bytes.count)))
        }
        var streams: [(StreamKind, UnsafeRawBufferPointer)] = []
        for (kind, length) in kinds { streams.append((kind, try reader.read(count: length))) }
        guard reader.isAtEnd else { throw Damage("bytes after the last stream", at: reader.position) }
        return streams
    }
}

extension ColumnType {
    /// The streams of a column of this type, apart from validity, lengths and keys.
    var payload: [StreamKind] {
        switch kind {
        case .bool, .int, .link, .embedded: [.words]
        case .date, .decimal, .objectID, .uuid: [.words, .extra]
        case .float, .double: [.reals]
        case .string, .data: [.text]
        case .any: [.words, .extra, .reals, .text, .tags]
        }
    }
}
