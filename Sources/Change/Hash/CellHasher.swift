import FirnBytes
import FirnTable

/// Hashes values independently of their storage, a vector at a time; docs/format/content-hash.md defines every byte. Hashes are compared
/// across machines and versions of this program, so they never change.
struct CellHasher: Sendable {
    /// The rows that links refer to. Nil hashes links by row id.
    let linkedRows: LinkedRows?

    /// Returns the seed for the values of a column, which distinguishes names and kinds.
    static func seed(_ kind: ScalarKind, _ collection: CollectionKind, _ name: String) -> UInt64 {
        hash64([kind.rawValue, collection.rawValue] + Array(name.utf8))
    }

    private static func hash64(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { FirnBytes.hash64($0) } }

    /// Writes a hash for each row; 0 if the row has no value.
    func hashes(of column: Column, _ schema: ColumnSchema, in types: Schema, into out: UnsafeMutablePointer<UInt128>) throws(Damage) {
        let count = column.count
        if column.type.isCollection { try collections(column, schema, types, out) } else { try scalars(column, schema, types, out) }
        guard let present = column.present else { return }
        for row in 0..<count where !present[row] { out[row] = 0 }
    }

    private func hashes(of column: Column, _ schema: ColumnSchema, in types: Schema) throws(Damage) -> [UInt128] {
        let room = UnsafeMutablePointer<UInt128>.allocate(capacity: max(column.count, 1))
        defer { room.deallocate() }
        try hashes(of: column, schema, in: types, into: room)
        return Array(UnsafeBufferPointer(start: room, count: column.count))
    }

    private func scalars(_ column: Column, _ schema: ColumnSchema, _ types: Schema, _ out: UnsafeMutablePointer<UInt128>) throws(Damage) {
        let kind = column.type.kind, count = column.count, seed = CellHasher.seed(kind, .none, schema.name)
        switch kind {
        case .bool, .int: column.words.withUnsafeBytes { fixed($0, 8, count, seed, out) }
        case .float, .double: column.reals.map { CanonicalNumber.bits($0) }.withUnsafeBytes { fixed($0, 8, count, seed, out) }
        case .string, .data: column.text.hashes(seed: seed, into: out)
        case .date: zip(column.words, column.extra).map { SIMD2($0, $1) }.withUnsafeBytes { fixed($0, 16, count, seed, out) }
        case .uuid:
            zip(column.words, column.extra).map { CellHasher.bytes(Column.uuid($0, $1)) }.withUnsafeBytes {
                fixed($0, 16, count, seed, out)
            }
        case .objectID:
            for row in 0..<count { out[row] = CellHasher.hash(objectID: Column.objectID(column.words[row], column.extra[row]), seed) }
        case .decimal:
            for row in 0..<count {
                let value = Decimal(high: UInt64(bitPattern: column.words[row]), low: UInt64(bitPattern: column.extra[row]))
                out[row] = CellHasher.hash(CanonicalNumber(value), seed)
            }
        case .link:
            for row in 0..<count where column.isPresent(row) { out[row] = try link(column.words[row], column.type.target, seed) }
        case .embedded:
            let target = schema.type.target.flatMap { types[$0] }
            var sums = [UInt128](repeating: 0, count: count)
            for (field, child) in zip(target?.columns ?? [], column.children) {
                let cells = try hashes(of: child, field, in: types)
                for row in 0..<min(count, cells.count) { sums[row] &+= cells[row] }
            }
            sums.withUnsafeBytes { fixed($0, 16, count, seed, out) }
        case .any:
            for row in 0..<count { out[row] = try hash(column.value(at: row), schema.name) }
        }
    }

    /// Hashes cells of `width` bytes. There can be fewer than `count` cells if the others have no value; their hashes are 0.
    private func fixed(_ cells: UnsafeRawBufferPointer, _ width: Int, _ count: Int, _ seed: UInt64, _ out: UnsafeMutablePointer<UInt128>) {
        out.initialize(repeating: 0, count: count)
        guard let start = cells.baseAddress else { return }
        hashCells(start, width: width, count: min(count, cells.count / width), seed: seed, into: out)
    }

    private func collections(_ column: Column, _ schema: ColumnSchema, _ types: Schema, _ out: UnsafeMutablePointer<UInt128>) throws(Damage)
    {
        let kind = column.type.kind, offsets = column.offsets, seed = CellHasher.seed(kind, column.type.collection, schema.name)
        var element = schema
        element.type = schema.type.element
        let cells = try hashes(of: column.children.last!, element, in: types)
        switch column.type.collection {
        case .map:
            let keys = try hashes(of: column.children[0], ColumnSchema(schema.name, ColumnType(.string)), in: types)
            for row in 0..<column.count {
                var sum: UInt128 = 0
                for i in offsets[row]..<offsets[row + 1] where cells[i] != 0 { sum &+= CellHasher.hash(keys[i], cells[i], seed) }
                out[row] = CellHasher.hash(sum, seed)
            }
        case .set:
            for row in 0..<column.count {
                var sum: UInt128 = 0
                for i in offsets[row]..<offsets[row + 1] { sum &+= CellHasher.hash(cells[i], seed) }
                out[row] = CellHasher.hash(sum, seed)
            }
        case .list, .none:
            cells.withUnsafeBytes { bytes in
                for row in 0..<column.count {
                    out[row] = hash128(UnsafeRawBufferPointer(rebasing: bytes[offsets[row] * 16..<offsets[row + 1] * 16]), seed: seed)
                }
            }
        }
    }

    /// Hashes a value of a column of type any.
    private func hash(_ value: Value, _ name: String) throws(Damage) -> UInt128 {
        func seed(_ kind: ScalarKind, _ collection: CollectionKind = .none) -> UInt64 { CellHasher.seed(kind, collection, name) }
        switch value {
        case .null: return 0
        case .bool(let x): return CellHasher.hash(x ? 1 as Int64 : 0, seed(.bool))
        case .int(let x): return CellHasher.hash(x, seed(.int))
        case .float(let x): return real(Double(x), name)
        case .double(let x): return real(x, name)
        case .decimal(let x):
            let number = CanonicalNumber(x)
            if let whole = number.whole { return CellHasher.hash(whole, seed(.int)) }
            if x.compare(x.double) == 0 { return real(x.double, name) }
            return CellHasher.hash(number, seed(.decimal))
        case .string(let x): return Array(x.utf8).withUnsafeBytes { hash128($0, seed: seed(.string)) }
        case .data(let x): return x.withUnsafeBytes { hash128($0, seed: seed(.data)) }
        case .date(let x): return withUnsafeBytes(of: SIMD2(x.seconds, Int64(x.nanoseconds))) { hash128($0, seed: seed(.date)) }
        case .uuid(let x): return withUnsafeBytes(of: CellHasher.bytes(x)) { hash128($0, seed: seed(.uuid)) }
        case .objectID(let x): return CellHasher.hash(objectID: x, seed(.objectID))
        case .link(let x): return try link(x, nil, seed(.link))
        case .list(let values):
            var bytes = ByteWriter()
            for element in values { bytes.append(try hash(element, name)) }
            return bytes.bytes.withUnsafeBytes { hash128($0, seed: seed(.any, .list)) }
        case .set(let values):
            var sum: UInt128 = 0
            for element in values { sum &+= CellHasher.hash(try hash(element, name), seed(.any, .set)) }
            return CellHasher.hash(sum, seed(.any, .set))
        case .map(let entries), .object(let entries):
            if let named = value.namedLink { return try link(named.row, named.type, seed(.link)) }
            var sum: UInt128 = 0
            for entry in entries where !entry.value.isNull {
                let key = Array(entry.key.utf8).withUnsafeBytes { hash128($0, seed: seed(.string)) }
                sum &+= CellHasher.hash(key, try hash(entry.value, name), seed(.any, .map))
            }
            return CellHasher.hash(sum, seed(.any, .map))
        }
    }

    /// In columns of type any, numbers with equal values have equal hashes, whatever their kinds.
    private func real(_ x: Double, _ name: String) -> UInt128 {
        if let whole = Int64(exactly: x) { return CellHasher.hash(whole, CellHasher.seed(.int, .none, name)) }
        return withUnsafeBytes(of: CanonicalNumber.bits(x)) { hash128($0, seed: CellHasher.seed(.double, .none, name)) }
    }

    private func link(_ row: Int64, _ target: String?, _ seed: UInt64) throws(Damage) -> UInt128 {
        guard let linkedRows, let target, let table = try linkedRows.table(target) else { return CellHasher.hash(row, seed) }
        guard let identity = try table.identity(row) else { return 0 }
        return CellHasher.hash(identity, seed)
    }

    static func hash(_ word: Int64, _ seed: UInt64) -> UInt128 { withUnsafeBytes(of: word.littleEndian) { hash128($0, seed: seed) } }
    static func hash(_ number: UInt128, _ seed: UInt64) -> UInt128 { withUnsafeBytes(of: number.littleEndian) { hash128($0, seed: seed) } }
    static func hash(_ a: UInt128, _ b: UInt128, _ seed: UInt64) -> UInt128 {
        withUnsafeBytes(of: (a.littleEndian, b.littleEndian)) { hash128($0, seed: seed) }
    }
    private static func hash(_ number: CanonicalNumber, _ seed: UInt64) -> UInt128 {
        withUnsafeBytes(of: (number.digits.littleEndian, number.exponent.littleEndian)) {
            hash128(UnsafeRawBufferPointer(rebasing: $0[0..<20]), seed: seed)
        }
    }

    private static func hash(objectID x: Identifier, _ seed: UInt64) -> UInt128 {
        withUnsafeBytes(of: (x.high.bigEndian, UInt32(truncatingIfNeeded: x.low).bigEndian)) {
            hash128(UnsafeRawBufferPointer(rebasing: $0[0..<12]), seed: seed)
        }
    }

    private static func bytes(_ x: Identifier) -> SIMD2<UInt64> { SIMD2(x.high.bigEndian, x.low.bigEndian) }
}

/// The canonical form of a number, which is hashed.
struct CanonicalNumber {
    /// The digits with their sign, without trailing zeros; 0 if the number is not finite.
    let digits: Int128
    /// The power of ten. Values beyond those of all decimals represent infinity (by sign) and NaN.
    let exponent: Int32

    init(_ x: Decimal) {
        let isNegative = x.high >> 63 == 1
        if x.isNaN {
            (digits, exponent) = (0, .max)
        } else if x.high >> 59 & 0xF == 0xF {
            (digits, exponent) = (0, isNegative ? .min : .max - 1)
        } else if x.high >> 61 & 3 == 3 {
            (digits, exponent) = (0, 0)  // more than 34 digits, which represent zero
        } else {
            var rest = UInt128(x.high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(x.low), power = Int32(x.high >> 49 & 0x3FFF) - 6176
            if rest == 0 || rest >= 10_000_000_000_000_000_000_000_000_000_000_000 {
                (digits, exponent) = (0, 0)
                return
            }
            while rest % 10 == 0 {
                rest /= 10
                power += 1
            }
            (digits, exponent) = (isNegative ? -Int128(rest) : Int128(rest), power)
        }
    }

    /// The number as an integer, if it is whole and fits into 64 bits.
    var whole: Int64? {
        guard exponent >= 0, exponent <= 18 else { return nil }
        var number = digits
        for _ in 0..<exponent { number *= 10 }
        return Int64(exactly: number)
    }

    /// Returns the bits of a double, with one zero and one NaN.
    static func bits(_ x: Double) -> UInt64 { x.isNaN ? 0x7FF8_0000_0000_0000 : (x == 0 ? 0 : x.bitPattern.littleEndian) }
}
