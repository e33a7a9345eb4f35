import FirnBytes
import FirnCodecs
import FirnTable

/// The relation of a chunk to the chunk of another column of its segment (`docs/format/model.md`, "Relations"): the head of the stream of
/// kind 11.
///
///     relation u8 (1 map, 2 copy) · column varint · keys varint · exceptions e varint · [e > 0: positions: e integers, ascending, to the end]
struct Relation {
    /// How the value of a row follows from the other column. The raw values are written to files and never change.
    enum Kind: UInt8 {
        /// The entry of the other column's code.
        case map = 1
        /// The value of the other column.
        case copy = 2
    }

    var kind: Kind
    /// The position in the segment header of the column that it refers to.
    var column: Int
    /// The number of entries that are found by a code.
    var keys: Int
    /// The number of rows with an entry of their own.
    var exceptions: Int

    /// The maximum number of keys: one for each row, and one for rows without a value.
    static let maximumKeys = segmentSize + 1

    /// The number of entries in the payload streams.
    var entries: Int { keys + exceptions }

    func encoded(exceptions rows: [Int], profile: Profile) -> [UInt8] {
        var out = ByteWriter()
        out.append(kind.rawValue)
        out.appendVarint(column)
        out.appendVarint(keys)
        out.appendVarint(rows.count)
        if !rows.isEmpty {
            out.append(contentsOf: rows.map(Int64.init).withUnsafeBufferPointer { IntegersEncoder.encodeBasic($0, profile: profile) })
        }
        return out.bytes
    }

    /// Reads the head of the stream. `positions` are the bytes of the integer stream of exceptions; empty if there are none.
    init(_ bytes: UnsafeRawBufferPointer, rowCount: Int, positions: inout UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let id = try reader.read(UInt8.self)
        guard let kind = Kind(rawValue: id) else { throw Damage(unknown: "relation \(id)") }
        self.kind = kind
        column = try reader.readCount(limit: Int(UInt32.max))
        keys = try reader.readCount(limit: Relation.maximumKeys)
        exceptions = try reader.readCount(limit: rowCount)
        guard kind == .map ? keys > 0 : keys == 0 else { throw Damage("a relation with a wrong number of keys") }
        positions = try reader.read(count: reader.remaining)
        guard exceptions > 0 || positions.isEmpty else { throw Damage("a relation without exceptions lists some") }
    }

    init(kind: Kind, column: Int, keys: Int, exceptions: Int) {
        (self.kind, self.column, self.keys, self.exceptions) = (kind, column, keys, exceptions)
    }

    /// Returns the positions of the columns that a chunk refers to; none if it has no relation.
    static func sources(of chunk: UnsafeRawBufferPointer, rowCount: Int) throws(Damage) -> [Int] {
        guard let part = try Chunk.split(chunk).first(where: { $0.kind == .relation }) else { return [] }
        if Pieces.arePieces(part.bytes) { return try Pieces(part.bytes).sources }
        var positions = UnsafeRawBufferPointer(start: nil, count: 0)
        if Prediction.isPrediction(part.bytes) { return try Prediction(part.bytes, rowCount: rowCount, positions: &positions).sources }
        return [try Relation(part.bytes, rowCount: rowCount, positions: &positions).column]
    }
}

/// The column that a chunk refers to.
enum RelationSource {
    /// For a map: its codes and validity.
    case codes(IntegersReader, present: BooleansReader?)
    /// For a copy: its chunk.
    case chunk(ChunkReader)
}

/// Finds the entries of the rows of a chunk with a relation. Untrusted bytes lead to `Damage`.
final class RelationReader: Sendable {
    let relation: Relation
    private let rowCount: Int
    /// The codes of the other column; nil for a copy.
    private let codes: IntegersReader?
    private let present: BooleansReader?
    /// The chunk whose values are copied; nil for a map.
    let original: ChunkReader?
    private let exceptions: ExceptionRows

    /// `open` opens the column that the chunk refers to.
    init(_ bytes: UnsafeRawBufferPointer, rowCount: Int, open: (Relation) throws(Damage) -> RelationSource) throws(Damage) {
        var tail = UnsafeRawBufferPointer(start: nil, count: 0)
        relation = try Relation(bytes, rowCount: rowCount, positions: &tail)
        self.rowCount = rowCount
        exceptions = try ExceptionRows(tail, count: relation.exceptions, rowCount: rowCount)
        switch try open(relation) {
        case .codes(let codes, let present): (self.codes, self.present, original) = (codes, present, nil)
        case .chunk(let chunk): (codes, present, original) = (nil, nil, chunk)
        }
    }

    /// Returns the entry of a row, or nil if its value is a copy.
    func entry(at row: Int) throws(Damage) -> Int? {
        if let rank = try exceptions.index(of: row) { return relation.keys &+ rank }
        guard let codes else { return nil }
        if let present, !(try present.value(at: row)) { return relation.keys &- 1 }
        let code = try codes.value(at: row)
        guard code >= 0, code < relation.keys else { throw Damage("a relation has no entry for a code of the other column") }
        return Int(code)
    }

    /// Writes the entries of the rows of a vector; -1 for a row whose value is a copy. `out` has space for 1,024.
    func entries(ofVector vector: Int, count: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        let first = vector * vectorSize
        if let codes {
            try codes.decode(vector: vector, into: out)
            let keys = UInt64(relation.keys)
            for i in 0..<count { out[i] = UInt64(bitPattern: out[i]) < keys ? out[i] : -1 }
            if let bits = try ChunkReader.bits(present, vector: vector, count: count) {
                for i in 0..<count where !bits[i] { out[i] = Int64(relation.keys &- 1) }
            }
        } else {
            out.update(repeating: -1, count: count)
        }
        try exceptions.forEach(in: first..<first + count) { (row, rank) in out[row &- first] = Int64(relation.keys &+ rank) }
        guard codes != nil else { return }
        var signs: Int64 = 0
        for i in 0..<count { signs |= out[i] }
        guard signs >= 0 else { throw Damage("a relation has no entry for a code of the other column") }
    }
}
