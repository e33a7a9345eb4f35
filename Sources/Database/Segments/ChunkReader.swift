import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// The open streams of one chunk. The bytes of the chunk must outlive the reader.
final class ChunkReader: Sendable {
    let type: ColumnType
    let rowCount: Int
    let present: BooleansReader?
    /// If the chunk has shared validity: the position in the segment of the column to which it refers, and whether its own is nested in
    /// that.
    let sharedPresence: (column: Int, isNested: Bool)?
    /// The relation to another column; nil if there is none.
    let relation: RelationReader?
    /// The prediction that the differences in the chunk refer to; nil if there is none. The other streams of numbers are nil then.
    let prediction: PredictionReader?
    /// The pieces of other columns that belong into the text; nil if there are none.
    let pieces: PiecesReader?
    /// The decoded entries and their codes, after their first use.
    let decodedEntries = Mutex<Column?>(nil)
    let decodedCodes = Mutex<[Int64]?>(nil)
    let lengths: LengthsReader?
    let keys: TextReader?
    let elementPresent: BooleansReader?
    let words: IntegersReader?
    let extra: IntegersReader?
    let reals: FloatsReader?
    let text: TextReader?
    let tags: IntegersReader?
    /// The number of entries in the payload streams: rows, or elements of a collection.
    let elementCount: Int
    var storedBytes: Int { parts.reduce(0) { $0 + $1.length } }
    /// The kind, length in bytes and encoding of each stream, for `info`.
    var streams: [(kind: StreamKind, length: Int, encoding: String)] {
        parts.map { ($0.kind, $0.length, encoding($0.kind) ?? "unused") }
    }
    private let parts: [(kind: StreamKind, length: Int)]
    let memory: MemoryScope

    /// `presence` opens the validity to which a reference leads. Without it (chunk overlays), a reference is damage.
    init(
        _ bytes: UnsafeRawBufferPointer, type: ColumnType, rowCount: Int, sharedText: [SharedText], sharedKeys: [SharedText],
        memory: MemoryScope,
        presence: ((PresenceReference) throws(Damage) -> BooleansReader)? = nil,
        related: ((Relation) throws(Damage) -> RelationSource)? = nil,
        predicted: ((Prediction) throws(Damage) -> [PredictionSource])? = nil,
        pieced: ((Pieces) throws(Damage) -> [ChunkReader])? = nil
    ) throws(Damage) {
        self.type = type
        self.rowCount = rowCount
        self.memory = memory
        var found: [StreamKind: UnsafeRawBufferPointer] = [:]
        let parts = try Chunk.split(bytes)
        for part in parts { found[part.kind] = part.bytes }
        func need(_ kind: StreamKind) throws(Damage) -> UnsafeRawBufferPointer {
            guard let bytes = found[kind] else { throw Damage("a stream is missing (kind \(kind.rawValue))") }
            return bytes
        }
        func words(_ kind: StreamKind, _ count: Int) throws(Damage) -> IntegersReader? {
            type.payload.contains(kind) ? try IntegersReader(try need(kind), count: count) : nil
        }
        if let bytes = found[.presentLike] {
            guard found[.present] == nil, let presence else { throw Damage("a reference to shared validity where none is allowed") }
            let reference = try PresenceReference(bytes)
            present = try presence(reference)
            sharedPresence = (reference.column, reference.nested != nil)
        } else {
            present = try found[.present].map { (bytes) throws(Damage) in try BooleansReader(bytes, count: rowCount) }
            sharedPresence = nil
        }
        (relation, prediction, pieces) = try ChunkReader.openRelation(
            found, type: type, rowCount: rowCount, present: present, memory: memory, related: related, predicted: predicted, pieced: pieced)
        if type.isCollection {
            let reader = try LengthsReader(try need(.lengths), count: rowCount)
            lengths = reader
            elementCount = reader.total
            elementPresent = try found[.elementPresent].map { (bytes) throws(Damage) in try BooleansReader(bytes, count: reader.total) }
            keys = type.collection == .map ? try TextReader(try need(.keys), count: reader.total, shared: sharedKeys, memory: memory) : nil
        } else {
            lengths = nil
            let entries = relation?.relation.entries
            elementCount = entries ?? rowCount
            elementPresent = try entries.flatMap { (count) throws(Damage) in
                try found[.elementPresent].map { (bytes) throws(Damage) in try BooleansReader(bytes, count: count) }
            }
            keys = nil
        }
        self.words = prediction == nil ? try words(.words, elementCount) : nil
        extra = try words(.extra, elementCount)
        tags = try words(.tags, elementCount)
        reals = type.payload.contains(.reals) && prediction == nil ? try FloatsReader(try need(.reals), count: elementCount) : nil
        text = type.payload.contains(.text) ? try TextReader(try need(.text), count: elementCount, shared: sharedText, memory: memory) : nil
        self.parts = parts.map { ($0.kind, $0.bytes.count) }
    }

    private func encoding(_ kind: StreamKind) -> String? {
        switch kind {
        case .present, .presentLike: present?.encodingName
        case .lengths: "lengths"
        case .keys: keys?.encodingName
        case .elementPresent: elementPresent?.encodingName
        case .words: words?.encodingName ?? prediction?.differences.encodingName
        case .extra: extra?.encodingName
        case .reals: reals?.encodingName
        case .text: text?.encodingName
        case .tags: tags?.encodingName
        case .relation: relation.map { "\($0.relation.kind)" } ?? prediction?.prediction.name ?? pieces.map { _ in "pieces" }
        }
    }

    /// Replaces the contents of `column` by the rows of a vector. Embedded objects stay row ids in `words`.
    func read(vector: Int, into column: inout Column) throws(Damage) {
        let first = vector * vectorSize
        let count = min(vectorSize, rowCount - first)
        trap(unless: first >= 0 && count > 0, "vector outside the segment")
        if let relation {
            try readRelated(relation, vector: vector, count: count, into: &column)
            return try memory.note(count * 8 + column.text.bytes.count)
        }
        if let prediction {
            try readPredicted(prediction, vector: vector, count: count, into: &column)
            return try memory.note(count * 8)
        }
        guard type.isCollection else {
            try readPayload(vector: vector, count: count, presence: present, into: &column)
            if let pieces { try pieces.resolve(&column.text, vector: vector, stored: storedBytes, memory: memory) }
            return try memory.note(count * 8 + column.text.bytes.count)
        }
        column.removeAll()
        column.count = count
        column.present = try ChunkReader.bits(present, vector: vector, count: count)
        column.offsets = try Array(count: count + 1) { (buffer) throws(Damage) in try lengths!.decode(vector: vector, into: buffer) }
        let elements = column.offsets[0]..<column.offsets[count]
        guard elements.lowerBound >= 0, elements.lowerBound <= elements.upperBound, elements.upperBound <= elementCount else {
            throw Damage("list bounds outside the elements")
        }
        var last = 0
        for i in column.offsets.indices {
            column.offsets[i] -= elements.lowerBound
            guard column.offsets[i] >= last, column.offsets[i] <= elements.count else { throw Damage("list bounds descend") }
            last = column.offsets[i]
        }
        try readElements(elements, into: &column)
    }

    /// The maximum number of elements in a vector, unless enough bytes are stored for more: a few bytes can claim any number of equal
    /// elements.
    private static let maximumElements = 1 << 25

    func checkCount(_ range: Range<Int>) throws(Damage) {
        guard range.count <= ChunkReader.maximumElements || range.count / 64 <= storedBytes else {
            throw Damage("more elements than their bytes can encode")
        }
    }

    /// Appends the elements `range` to the empty children of a collection column.
    private func readElements(_ range: Range<Int>, into column: inout Column) throws(Damage) {
        guard !range.isEmpty else { return }
        try checkCount(range)
        let last = column.children.count - 1
        // Charges numbers before they are decoded, and text while it is decoded.
        try column.children[last].text.reserve(range.count * width, memory)
        if keys != nil { try column.children[0].text.reserve(range.count * 8, memory) }
        var scratch = column.children[last].emptyCopy
        var names = Text()
        for vector in range.lowerBound / vectorSize...(range.upperBound - 1) / vectorSize {
            let first = vector * vectorSize
            let count = min(vectorSize, elementCount - first)
            let part = max(range.lowerBound, first) - first..<min(range.upperBound, first + count) - first
            try readPayload(vector: vector, count: count, presence: elementPresent, into: &scratch)
            if text != nil {
                let more = scratch.text.offsets[part.upperBound] - scratch.text.offsets[part.lowerBound]
                try column.children[last].text.reserve(range.count * width + column.children[last].text.bytes.count + more, memory)
            }
            column.children[last].append(contentsOf: scratch, range: part)
            if let keys {
                try keys.decode(vector: vector, into: &names)
                guard names.count == count else { throw Damage("a text vector of the wrong length") }
                let more = names.offsets[part.upperBound] - names.offsets[part.lowerBound]
                try column.children[0].text.reserve(range.count * 8 + column.children[0].text.bytes.count + more, memory)
                column.children[0].text.append(contentsOf: names, range: part)
                column.children[0].count += part.count
            }
        }
    }

    /// The bytes of one element in memory, without its text.
    private var width: Int {
        (words == nil ? 0 : 8) + (extra == nil ? 0 : 8) + (reals == nil ? 0 : 8) + (text == nil ? 0 : 8) + (tags == nil ? 0 : 1)
    }

    func readPayload(vector: Int, count: Int, presence: BooleansReader?, into column: inout Column) throws(Damage) {
        column.count = count
        column.present = try ChunkReader.bits(presence, vector: vector, count: count)
        if let words { try ChunkReader.fill(&column.words, count) { (out) throws(Damage) in try words.decode(vector: vector, into: out) } }
        if let extra { try ChunkReader.fill(&column.extra, count) { (out) throws(Damage) in try extra.decode(vector: vector, into: out) } }
        if let reals { try ChunkReader.fill(&column.reals, count) { (out) throws(Damage) in try reals.decode(vector: vector, into: out) } }
        if let text {
            try text.decode(vector: vector, into: &column.text)
            guard column.text.count == count else { throw Damage("a text vector of the wrong length") }
            if let present = column.present { column.text.empty(where: present) }
        }
        if let tags {
            let decoded: [Int64] = try Array(count: count) { (out) throws(Damage) in try tags.decode(vector: vector, into: out) }
            column.tags = decoded.map { UInt8(truncatingIfNeeded: $0) }
            try checkNested(column)
        }
    }

    /// Throws if there is not enough memory for the nested values once they are decoded: they can take many times their bytes.
    private func checkNested(_ column: Column) throws(Damage) {
        for row in 0..<column.count where column.tags[row] >= AnyTag.list && column.text.length(row) > 1 << 16 {
            var total = 0, fault: Damage?
            column.text.withBytes(row) { bytes in
                var reader = ByteReader(bytes)
                do throws(Damage) { try Value.measure(&reader, &total) } catch { fault = error }
            }
            // Malformed values are handled when they are read.
            if fault == nil { try memory.scoped(total) {} }
        }
    }

    /// Resizes an array to `count` and lets `body` write every entry.
    static func fill<T: AdditiveArithmetic>(_ array: inout [T], _ count: Int, _ body: (UnsafeMutablePointer<T>) throws(Damage) -> Void)
        throws(Damage)
    {
        if array.count > count { array.removeLast(array.count - count) }
        if array.count < count { array.append(contentsOf: repeatElement(.zero, count: count - array.count)) }
        try array.withUnsafeMutableBufferPointer { (buffer) throws(Damage) in try body(buffer.baseAddress!) }
    }

    static func bits(_ reader: BooleansReader?, vector: Int, count: Int) throws(Damage) -> Bits? {
        guard let reader else { return nil }
        if reader.isConstant == true { return nil }
        let words: [UInt64] = try Array(count: vectorSize / 64) { (out) throws(Damage) in try reader.decode(vector: vector, into: out) }
        let bits = Bits(words: Array(words.prefix((count + 63) / 64)), count: count)
        return bits.allSet ? nil : bits
    }

    // MARK: One value

    /// Returns the value of one row. Embedded objects are returned as links.
    func value(at row: Int) throws(Damage) -> Value {
        trap(unless: row >= 0 && row < rowCount, "row outside the segment")
        if let present, !(try present.value(at: row)) { return .null }
        if let relation { return try relatedValue(relation, at: row) }
        if let prediction { return try predictedValue(prediction, at: row) }
        if let pieces, let text {
            let stored = try text.withValue(at: row) { Array($0) }
            return .string(String(decoding: try pieces.value(stored, at: row), as: UTF8.self))
        }
        guard let lengths else { return try scalar(at: row) }
        let range = try lengths.range(at: row)
        guard range.lowerBound >= 0, range.upperBound <= elementCount else { throw Damage("list bounds outside the elements") }
        if range.count > 64 { return try longCollection(at: row, range) }
        try memory.note(range.count * ChunkReader.valueBytes)
        if type.collection == .map {
            var entries: [Value.Entry] = []
            for i in range {
                let key = try keys!.withValue(at: i) { String(decoding: $0, as: UTF8.self) }
                entries.append(Value.Entry(key, try element(at: i)))
            }
            return .map(entries)
        }
        var values: [Value] = []
        for i in range { values.append(try element(at: i)) }
        return type.collection == .set ? .set(values) : .list(values)
    }

    /// Returns the value of one row of a bool, int or link column; nil if it is null.
    func word(at row: Int) throws(Damage) -> Int64? {
        trap(
            unless: row >= 0 && row < rowCount && (words != nil || prediction?.prediction.form == nil) && lengths == nil,
            "word(at:) needs a row of the segment, in a column with one integer per row")
        if let present, !(try present.value(at: row)) { return nil }
        if let prediction { return try prediction.number(at: row) }
        guard let relation else { return try words!.value(at: row) }
        guard let entry = try relation.entry(at: row) else { return try relation.original!.word(at: row) }
        if let elementPresent, !(try elementPresent.value(at: entry)) { return nil }
        return try words!.value(at: entry)
    }

    /// Returns the value of one row of a float or double column; nil if it is null.
    func real(at row: Int) throws(Damage) -> Double? {
        trap(
            unless: row >= 0 && row < rowCount && (reals != nil || prediction?.prediction.form != nil) && lengths == nil,
            "real(at:) needs a row of the segment, in a column with one float per row")
        if let present, !(try present.value(at: row)) { return nil }
        if let prediction, let form = prediction.prediction.form { return try prediction.double(at: row, form: form) }
        guard let relation else { return try reals!.value(at: row) }
        guard let entry = try relation.entry(at: row) else { return try relation.original!.real(at: row) }
        if let elementPresent, !(try elementPresent.value(at: entry)) { return nil }
        return try reals!.value(at: entry)
    }

    /// Returns one row as a column, and charges its memory. Of a collection, only the vectors that contain its elements are decoded.
    func row(at row: Int) throws(Damage) -> Column {
        var one = Column(rawType)
        guard let lengths else {
            one.append(try value(at: row))
            return one
        }
        if let present, !(try present.value(at: row)) {
            one.appendNull()
            return one
        }
        let range = try lengths.range(at: row)
        guard range.lowerBound >= 0, range.upperBound <= elementCount else { throw Damage("list bounds outside the elements") }
        return try collection(range)
    }

    /// Returns a column of one row with these elements.
    private func collection(_ range: Range<Int>) throws(Damage) -> Column {
        var one = Column(rawType)
        one.count = 1
        one.offsets = [0, range.count]
        try readElements(range, into: &one)
        return one
    }

    private func longCollection(at row: Int, _ range: Range<Int>) throws(Damage) -> Value {
        let one = try collection(range)
        let bytes = one.footprint + range.count * ChunkReader.valueBytes
        return try memory.scoped(bytes) { () throws(Damage) in one.value(at: 0) }
    }

    /// An estimate of the memory for one element of a collection as a `Value`, including the overhead of text.
    private static let valueBytes = MemoryLayout<Value.Entry>.stride

    /// The type of the column as it is stored: embedded objects are links.
    var rawType: ColumnType {
        var raw = type
        if raw.kind == .embedded { raw.kind = .link }
        return raw
    }

    func element(at index: Int) throws(Damage) -> Value {
        if let elementPresent, !(try elementPresent.value(at: index)) { return .null }
        return try scalar(at: index)
    }

    private func scalar(at index: Int) throws(Damage) -> Value {
        switch type.kind {
        case .bool: return .bool(try words!.value(at: index) != 0)
        case .int: return .int(try words!.value(at: index))
        case .link, .embedded: return .link(try words!.value(at: index))
        case .double: return .double(try reals!.value(at: index))
        case .float: return .float(Float(try reals!.value(at: index)))
        case .string: return .string(try text!.withValue(at: index) { String(decoding: $0, as: UTF8.self) })
        case .data: return .data(try text!.withValue(at: index) { Array($0) })
        case .date, .decimal, .uuid, .objectID, .any:
            var one = Column(ColumnType(type.kind))
            one.count = 1
            one.words = [try words!.value(at: index)]
            one.extra = [try extra!.value(at: index)]
            if let tags, let reals, let text {
                one.tags = [UInt8(truncatingIfNeeded: try tags.value(at: index))]
                one.reals = [try reals.value(at: index)]
                one.text = Text()
                one.text.append(try text.withValue(at: index) { Array($0) })
                try checkNested(one)
            }
            return one.value(at: 0)
        }
    }
}

extension Array {
    /// Creates an array of `count` values that `body` writes in place.
    init(count: Int, _ body: (UnsafeMutablePointer<Element>) throws(Damage) -> Void) throws(Damage) where Element: BitwiseCopyable {
        try self.init(unsafeUninitializedCapacity: count) { (buffer, filled) throws(Damage) in
            try body(buffer.baseAddress!)
            filled = count
        }
    }
}

extension Text {
    /// Empties the strings whose bit is clear: the dictionary code of an absent value is arbitrary, but columns guarantee empty text there.
    mutating func empty(where present: Bits) {
        var end = offsets[0], start = end
        for row in 0..<count {
            let next = offsets[row + 1]
            if present[row] {
                if end != start { for i in 0..<(next - start) { bytes[end &+ i] = bytes[start &+ i] } }
                end += next - start
            }
            offsets[row + 1] = end
            start = next
        }
        bytes.removeLast(bytes.count - end)
    }
}
