import FirnBytes
import FirnTable

/// Appends the values of leaves to columns.
extension RealmVersion {
    /// Appends values of a leaf.
    /// - Parameters:
    ///   - rows: Their positions in the leaf; nil for all.
    ///   - expecting: The number of values that the leaf must have; nil if the leaf determines it.
    ///   - isCluster: Whether the leaf holds the values of objects, and not the elements of a collection.
    /// - Returns: The number of values of the leaf.
    @discardableResult
    func append(
        _ ref: Int, _ column: RealmColumn, _ rows: [Int]? = nil, expecting: Int? = nil, isCluster: Bool, to out: inout Column
    ) throws(Damage) -> Int {
        let count = try RealmLeaf.count(ref, column, bytes, isOld)
        guard expecting.map({ $0 == count }) ?? (count <= RealmFileFormat.maximumTreeNode) else {
            throw Damage(
                "column \"\(column.path)\" has \(count) values in a leaf\(expecting.map { " of \($0) objects" } ?? "")", at: ref)
        }
        let rows = rows ?? Array(0..<count)
        guard rows.allSatisfy({ $0 < count }) else { throw Damage("a row outside its leaf", at: ref) }
        if column.collection != .none {
            try appendCollections(ref, column, rows, to: &out)
        } else {
            switch column.kind {
            case .int: try appendIntegers(ref, column, rows, to: &out)
            case .bool: try appendBools(ref, column, rows, to: &out)
            case .link, .typedLink: try appendLinks(ref, column, rows, isCluster: isCluster, to: &out)
            case .float, .double: try appendFloats(ref, column, rows, to: &out)
            case .string: try appendStrings(ref, column, rows, to: &out)
            case .binary: try appendBinary(ref, column, rows, to: &out)
            case .timestamp: try appendDates(ref, column, rows, to: &out)
            case .decimal: try appendDecimals(ref, column, rows, to: &out)
            case .objectID, .uuid: try appendIdentifiers(ref, column, rows, to: &out)
            case .mixed: try appendMixed(ref, column, rows, to: &out)
            }
        }
        try out.hold(MemoryScope(budget, type: "", column: column.path))
        return count
    }

    /// Appends a null, or the zero value where the column allows no null.
    func appendNull(_ column: RealmColumn, to out: inout Column) {
        if out.type.isOptional || out.type.kind == .any || out.type.kind == .link { return out.appendNull() }
        findings.add(.null, column.path)
        out.appendAbsent()
    }

    // MARK: Numbers

    private func appendIntegers(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.integers(ref, "integers")
        guard RealmLeaf.hasSentinel(column, isOld) else {
            for row in rows {
                out.notePresent()
                out.words.append(array[row])
            }
            return
        }
        guard array.count > 0 else { return }
        let null = array[0]
        for row in rows {
            if array[row + 1] == null {
                appendNull(column, to: &out)
            } else {
                out.notePresent()
                out.words.append(array[row + 1])
            }
        }
    }

    private func appendBools(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.integers(ref, "booleans"), hasSentinel = RealmLeaf.hasSentinel(column, isOld)
        for row in rows {
            let word = array[hasSentinel ? row + 1 : row]
            if hasSentinel ? word == array[0] : word == 3 {
                appendNull(column, to: &out)
            } else {
                out.notePresent()
                out.words.append(word == 0 ? 0 : 1)
            }
        }
    }

    /// The bits that stand for null. Every other NaN is a value.
    private static let nullFloat: UInt32 = 0x7FC0_00AA, nullDouble: UInt64 = 0x7FF8_0000_0000_00AA

    private func appendFloats(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.array(ref), isFloat = column.kind == .float, width = isFloat ? 4 : 8
        // An array without elements, or of zeros that was never widened, has no width.
        guard !array.hasRefs, array.kind == .bytes && array.width == width || array.width == 0 else {
            throw Damage("this is not a node of floating-point numbers", at: ref)
        }
        for row in rows {
            if array.width == 0 {
                out.notePresent()
                out.reals.append(0)
                continue
            }
            let bits = isFloat ? UInt64(array.bits32(row)) : array.bits64(row)
            if column.isNullable, bits == (isFloat ? UInt64(RealmVersion.nullFloat) : RealmVersion.nullDouble) {
                appendNull(column, to: &out)
            } else {
                out.notePresent()
                out.reals.append(isFloat ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits))
            }
        }
    }

    // MARK: Dates

    private func appendDates(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let pair = try bytes.refs(ref, atLeast: 2, "a leaf of dates")
        guard let first = try pair.ref(0), let second = try pair.ref(1) else { throw Damage("a leaf of dates is incomplete", at: ref) }
        let seconds = try bytes.integers(first, "seconds"), nanoseconds = try bytes.integers(second, "nanoseconds")
        guard rows.allSatisfy({ $0 < nanoseconds.count }) else { throw Damage("a leaf of dates lacks nanoseconds", at: second) }
        for row in rows {
            let isNull = seconds[row + 1] == seconds[0]
            try append(seconds: isNull ? nil : seconds[row + 1], nanoseconds: nanoseconds[row], column, at: second, to: &out)
        }
    }

    func append(seconds: Int64?, nanoseconds: Int64, _ column: RealmColumn, at ref: Int, to out: inout Column) throws(Damage) {
        guard let seconds else { return appendNull(column, to: &out) }
        let date = try timestamp(seconds, nanoseconds, column, at: ref)
        out.notePresent()
        out.words.append(date.seconds)
        out.extra.append(Int64(date.nanoseconds))
    }

    /// Realm's nanoseconds have the sign of the seconds; those of Firn follow the second rounded down.
    func timestamp(_ seconds: Int64, _ nanoseconds: Int64, _ column: RealmColumn, at ref: Int) throws(Damage) -> Timestamp {
        guard abs(nanoseconds.magnitudeClamped) < 1_000_000_000 else { throw Damage("\(nanoseconds) nanoseconds of a date", at: ref) }
        guard nanoseconds < 0 else { return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)) }
        guard seconds > .min else {
            findings.add(.date, column.path)
            return Timestamp(seconds: seconds)
        }
        return Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000))
    }

    // MARK: Identifiers

    private func appendIdentifiers(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.array(ref), length = column.kind == .uuid ? 16 : 12, block = 8 * length + 1
        guard !array.hasRefs, array.byteCount >= array.count else {
            throw Damage("this is not a node of identifiers", at: ref)
        }
        for row in rows {
            let start = row / 8 * block, at = start + 1 + row % 8 * length
            guard at + length <= array.count else { throw Damage("a node of identifiers is cut short", at: ref) }
            let isNull = array.bytes(start..<start + 1)[0] >> UInt8(row % 8) & 1 == 1
            if isNull, column.isNullable {
                appendNull(column, to: &out)
                continue
            }
            let identifier = RealmVersion.identifier(array.bytes(at..<at + length))
            let pair = column.kind == .uuid ? Column.pair(uuid: identifier) : Column.pair(objectID: identifier)
            out.notePresent()
            out.words.append(pair.0)
            out.extra.append(pair.1)
        }
    }

    /// Returns 12 or 16 bytes as an identifier.
    static func identifier(_ bytes: UnsafeRawBufferPointer) -> Identifier {
        var high: UInt64 = 0, low: UInt64 = 0
        for i in 0..<8 { high = high << 8 | UInt64(bytes[i]) }
        for i in 8..<bytes.count { low = low << 8 | UInt64(bytes[i]) }
        return Identifier(high: high, low: low)
    }
}

extension Int64 {
    /// The number, or one of the same sign whose absolute value exists.
    var magnitudeClamped: Int64 { self == .min ? .max : self }
}

extension Column {
    /// Counts one more row with a value, whose parts the caller appends.
    @inline(__always)
    mutating func notePresent() {
        if present != nil { present!.append(true) }
        count += 1
    }
}
