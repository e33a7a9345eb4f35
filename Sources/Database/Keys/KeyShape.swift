import FirnBytes
import FirnTable

/// A key that is searched for.
struct WantedKey {
    let values: [Value]
    let hash: UInt64
}

/// How the key of a type is hashed and compared. Values are equal as in `Value.areEquivalent` (0 = -0, NaN = NaN, 1.0 = 1.00, null = null).
/// It is a class because every look-up passes it on, and its arrays are then counted as one reference.
final class KeyShape: Equatable, Sendable {
    /// The positions of the key's columns in the type.
    let columns: [Int]
    let types: [ColumnType]
    /// The kinds of `types`, nil for collections. They are stored separately because access to a `ColumnType` counts references.
    private let kinds: [ScalarKind?]
    /// A mask that is applied to every hash: all ones, except in tests. Fewer bits cause more candidates, never another result.
    let mask: UInt64

    static func == (a: KeyShape, b: KeyShape) -> Bool { a === b || a.columns == b.columns && a.types == b.types && a.mask == b.mask }

    /// Fails if no key identifies rows of the type: it has none, it is embedded, or its key contains embedded objects.
    init?(_ type: TypeSchema, mask: UInt64) {
        guard !type.key.isEmpty, !type.isEmbedded, !type.key.contains(where: { type.columns[$0].type.kind == .embedded }) else {
            return nil
        }
        columns = type.key
        types = type.key.map { type.columns[$0].type }
        kinds = types.map { $0.isCollection ? nil : $0.kind }
        self.mask = mask
    }

    /// Returns the key as rows store it, with its hash. Returns nil if a value does not have the type of its column, so that no row can
    /// have this key.
    func wanted(_ key: [Value]) -> WantedKey? {
        trap(unless: key.count == types.count, "give a value for each column of the key")
        var hash: UInt64 = 0, kept: [Value]?
        for i in key.indices {
            if let value = KeyShape.kept(key[i], kinds[i]) {
                if kept == nil { kept = key }
                kept![i] = value
            }
            guard let one = KeyShape.hash(kept?[i] ?? key[i], kinds[i]) else { return nil }
            hash = mix(hash, one)
        }
        return WantedKey(values: kept ?? key, hash: hash & mask)
    }

    /// Converts a number of another kind to the kind of its column. Returns nil if the value stays as it is.
    private static func kept(_ value: Value, _ kind: ScalarKind?) -> Value? {
        switch (kind, value) {
        case (.double, .int(let x)): .double(Double(x))
        case (.double, .float(let x)): .double(Double(x))
        case (.float, .int(let x)): .float(Float(x))
        case (.decimal, .int(let x)): .decimal(Decimal(x))
        default: nil
        }
    }

    func same(_ key: [Value], _ other: [Value]) -> Bool { key.indices.allSatisfy { same(key[$0], other[$0]) } }

    @inline(__always)
    func same(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): x == y
        case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        default: Value.areEquivalent(a, b, tolerance: 0)
        }
    }

    /// Returns the hash that `fold` computes for the value in a column of this kind (nil: a collection), or nil if the column cannot hold
    /// the value.
    static func hash(_ value: Value, _ kind: ScalarKind?) -> UInt64? {
        if case .null = value { return nullHash }
        guard let kind else {
            switch value {
            case .list, .set, .map, .object: return value.equivalenceHash
            default: return nil
            }
        }
        switch (kind, value) {
        case (.bool, .bool(let x)): return mix(x ? 1 : 0, 1)
        case (.int, .int(let x)), (.link, .link(let x)): return mix(UInt64(bitPattern: x), 1)
        case (.date, .date(let x)): return pairHash((x.seconds, Int64(x.nanoseconds)))
        case (.uuid, .uuid(let x)): return pairHash(Column.pair(uuid: x))
        case (.objectID, .objectID(let x)): return pairHash(Column.pair(objectID: x))
        case (.float, .float(let x)): return realHash(Double(x))
        case (.double, .double(let x)): return realHash(x)
        case (.decimal, .decimal(let x)): return realHash(x.double)
        case (.string, .string(let x)):
            var text = x
            return text.withUTF8 { hashBytes(UnsafeRawBufferPointer($0)) }
        case (.data, .data(let x)): return x.withUnsafeBytes { hashBytes($0) }
        case (.any, _): return value.equivalenceHash
        default: return nil
        }
    }

    @inline(__always)
    private static func pairHash(_ pair: (Int64, Int64)) -> UInt64 { mix(UInt64(bitPattern: pair.0), UInt64(bitPattern: pair.1)) }

    /// Folds the hashes of a column of the key into `out`, one per row. If `dictionary` is given, the column contains codes into it.
    static func fold(_ column: Column, dictionary: [UInt64]?, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        if let dictionary {
            for code in column.words where code < 0 || code >= Int64(dictionary.count) { throw Damage("a code outside its dictionary") }
            return column.words.withUnsafeBufferPointer { words in fold(column, out) { dictionary[Int(truncatingIfNeeded: words[$0])] } }
        }
        if column.type.isCollection || column.type.kind == .any { return fold(column, out) { column.value(at: $0).equivalenceHash } }
        switch column.type.kind {
        case .bool: fold(column, out) { mix(column.words[$0] == 0 ? 0 : 1, 1) }
        case .int, .link: column.words.withUnsafeBufferPointer { words in fold(column, out) { mix(UInt64(bitPattern: words[$0]), 1) } }
        case .date, .uuid, .objectID:
            column.words.withUnsafeBufferPointer { words in
                column.extra.withUnsafeBufferPointer { extra in fold(column, out) { pairHash((words[$0], extra[$0])) } }
            }
        case .float, .double: column.reals.withUnsafeBufferPointer { reals in fold(column, out) { realHash(reals[$0]) } }
        case .decimal:
            fold(column, out) {
                realHash(Decimal(high: UInt64(bitPattern: column.words[$0]), low: UInt64(bitPattern: column.extra[$0])).double)
            }
        case .string, .data:
            column.text.offsets.withUnsafeBufferPointer { offsets in
                column.text.bytes.withUnsafeBytes { bytes in
                    fold(column, out) { hashBytes(UnsafeRawBufferPointer(rebasing: bytes[offsets[$0]..<offsets[$0 &+ 1]])) }
                }
            }
        case .any, .embedded: trap("embedded objects cannot be keys: KeyShape rejects them")
        }
    }

    @inline(__always)
    private static func fold(_ column: Column, _ out: UnsafeMutablePointer<UInt64>, _ hash: (Int) -> UInt64) {
        if let present = column.present {
            for i in 0..<column.count { out[i] = mix(out[i], present[i] ? hash(i) : nullHash) }
        } else {
            for i in 0..<column.count { out[i] = mix(out[i], hash(i)) }
        }
    }
}
