import FirnBytes
import FirnTable

/// A column of one table with the column of the same name in another: how to hash and compare them.
struct ColumnPairing: Sendable {
    /// One of the two columns: its position, and the schema that defines its values.
    struct End: Sendable {
        var index: Int
        var column: ColumnSchema
        var schema: Schema

        init(_ name: String, in table: any Table) {
            index = table.type.index(of: name)!
            column = table.type.columns[index]
            schema = table.schema
        }

        /// Calls `body` with the rows of a segment: all together if they can only be decoded together, else vector by vector, with the
        /// position of the first one.
        func read(_ segment: any Segment, _ body: (Column, _ start: Int) throws(Damage) -> Void) throws(Damage) {
            let reader = try segment.column(index)
            if let all = try reader.wholeColumn() {
                guard all.count == segment.rowCount else { throw Damage("a column has \(all.count) rows of \(segment.rowCount)") }
                return try body(all, 0)
            }
            var values = Column(column, in: schema)
            for vector in 0..<segment.vectorCount {
                try reader.read(vector: vector, into: &values)
                try body(values, vector * vectorSize)
            }
        }

        func named(_ value: Value) -> Value { value.named(column.type, in: schema, unwraps: true) }
        func canonicalText(_ value: Value) -> String { FirnTable.canonicalText(value, notation: column.notation) }

        /// The text by which a value is compared with one of another kind.
        func text(_ value: Value, readsDates: Bool) -> String {
            guard readsDates else { return canonicalText(value) }
            switch value {
            case .date: return FirnTable.canonicalText(value)
            case .string(let text): return Timestamp(text: text).map { FirnTable.canonicalText(.date($0)) } ?? text
            default: return canonicalText(value)
            }
        }
    }

    var name: String
    var old: End
    var new: End
    var mode: ComparisonMode
    /// The tolerance of numbers; none for a key.
    var tolerance: Tolerance = 0
    /// The fields of objects that are not compared, each as the names that lead to it.
    var ignored: [ArraySlice<String>] = []

    /// Whether the values are dates on one side and texts on the other, which are read as dates.
    private let readsDates: Bool

    init(_ name: String, old: any Table, new: any Table) {
        self.name = name
        self.old = End(name, in: old)
        self.new = End(name, in: new)
        readsDates = Set([self.old.column.type.kind, self.new.column.type.kind]) == [.date, .string]
        mode = ComparisonMode(self.old.column.type, self.new.column.type)
    }

    func end(_ side: DifferenceSide) -> End { side == .old ? old : new }

    /// Returns a pairing of the column with itself, with the same hashes as this pairing.
    func within(_ side: DifferenceSide) -> ColumnPairing {
        var copy = self
        copy.old = end(side)
        copy.new = end(side)
        return copy
    }

    func same(_ a: Value, _ b: Value, tolerance: Tolerance) -> Bool {
        if a.isNull || b.isNull { return a.isNull && b.isNull }
        if a.number != nil, b.number != nil { return tolerance.equates(a, b) }
        guard case .canonicalText = mode else {
            return tolerance.equates(old.named(a).without(ignored), new.named(b).without(ignored))
        }
        return old.text(a, readsDates: readsDates).utf8.elementsEqual(new.text(b, readsDates: readsDates).utf8)
    }

    /// Combines the hashes of the first rows of a column with those in `out`, one for each row.
    func fold(_ column: Column, _ side: DifferenceSide, into out: UnsafeMutablePointer<UInt64>) {
        switch mode {
        case .words: column.words.withUnsafeBufferPointer { words in Self.fold(column, out) { mix(UInt64(bitPattern: words[$0]), 1) } }
        case .pairs:
            column.words.withUnsafeBufferPointer { words in
                column.extra.withUnsafeBufferPointer { extra in
                    Self.fold(column, out) { mix(UInt64(bitPattern: words[$0]), UInt64(bitPattern: extra[$0])) }
                }
            }
        case .reals: column.reals.withUnsafeBufferPointer { reals in Self.fold(column, out) { realHash(reals[$0]) } }
        case .text:
            column.text.offsets.withUnsafeBufferPointer { offsets in
                column.text.bytes.withUnsafeBytes { bytes in
                    Self.fold(column, out) { hashBytes(UnsafeRawBufferPointer(rebasing: bytes[offsets[$0]..<offsets[$0 &+ 1]])) }
                }
            }
        case .numbers:
            if column.type.kind == .int {
                column.words.withUnsafeBufferPointer { words in Self.fold(column, out) { numberHash(Double(words[$0])) } }
            } else {
                Self.fold(column, out) { numberHash(column.value(at: $0).number ?? .nan) }
            }
        case .canonicalText:
            let end = end(side), readsDates = readsDates
            Self.fold(column, out) { hashText(end.text(column.value(at: $0), readsDates: readsDates), seed: 3) }
        case .values: Self.fold(column, out) { column.value(at: $0).equivalenceHash }
        }
    }

    @inline(__always)
    static func fold(_ column: Column, _ out: UnsafeMutablePointer<UInt64>, _ hash: (Int) -> UInt64) {
        let count = column.count
        if let present = column.present {
            for i in 0..<count { out[i] = mix(out[i], present[i] ? hash(i) : nullHash) }
        } else {
            for i in 0..<count { out[i] = mix(out[i], hash(i)) }
        }
    }
}
