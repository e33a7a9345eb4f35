import FirnBytes
import FirnTable

/// Appends strings and binary data: short ones in blocks, medium ones end to end, long ones each in a node of its own.
extension RealmVersion {
    func appendStrings(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.array(ref)
        if array.hasRefs {
            // Each value ends with a zero byte. Formats up to 9 mark the present values, not the null ones.
            return try array.hasContext
                ? appendLong(array, column, rows, drops: 1, to: &out)
                : appendMedium(array, column, rows, drops: 1, inverted: isOld, to: &out)
        }
        if array.kind == .bits, let values = column.enumeration, array.width > 0 || array.count > 0 {
            return try appendEnumerated(array, values, column, rows, to: &out)
        }
        guard array.kind == .bytes || array.width == 0 else { throw Damage("this is not a node of strings", at: ref) }
        for row in rows {
            if let text = try array.shortString(row) {
                append(text, column, to: &out)
            } else if column.isNullable || array.width > 0 {
                appendNull(column, to: &out)
            } else {
                out.notePresent()
                out.text.appendEmpty()
            }
        }
    }

    func appendBinary(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.refs(ref, atLeast: 0, "a node of binary data")
        try array.hasContext
            ? appendLong(array, column, rows, drops: 0, to: &out) : appendMedium(array, column, rows, drops: 0, inverted: false, to: &out)
    }

    /// Appends a value; strings that are not UTF-8 are repaired.
    func append(_ value: UnsafeRawBufferPointer, _ column: RealmColumn, to out: inout Column) {
        out.notePresent()
        guard out.type.kind == .string, !RealmVersion.isText(value) else { return out.text.append(value) }
        findings.add(.text, column.path)
        out.text.append(String(decoding: value, as: UTF8.self))
    }

    /// Whether bytes are UTF-8.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var i = 0
        while i + 8 <= bytes.count, bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 { i += 8 }
        while i < bytes.count, bytes[i] < 0x80 { i += 1 }
        return i == bytes.count || String(validating: bytes[i...], as: UTF8.self) != nil
    }

    // MARK: Enumerated

    private func appendEnumerated(_ array: RealmArray, _ values: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column)
        throws(Damage)
    {
        if enumerations[values] == nil {
            var plain = column, known = Column(ColumnType(.string, optional: true))
            plain.enumeration = nil
            try RealmTree(bytes).forEachLeaf(values) { (leaf) throws(Damage) in try append(leaf, plain, isCluster: false, to: &known) }
            enumerations[values] = known
        }
        let known = enumerations[values]!
        for row in rows {
            guard array[row] >= 0, array[row] < Int64(known.count) else {
                throw Damage("value \(array[row]) of \(known.count) distinct ones", at: array.offset)
            }
            let value = Int(array[row])
            if known.isPresent(value) {
                out.notePresent()
                known.text.withBytes(value) { out.text.append($0) }
            } else {
                appendNull(column, to: &out)
            }
        }
    }

    // MARK: Medium

    private func appendMedium(
        _ array: RealmArray, _ column: RealmColumn, _ rows: [Int], drops: Int, inverted: Bool, to out: inout Column
    ) throws(Damage) {
        if rows.isEmpty { return }
        guard array.count >= 2, let endRef = try array.ref(0), let blobRef = try array.ref(1) else {
            throw Damage("a leaf of texts is incomplete", at: array.offset)
        }
        let ends = try bytes.integers(endRef, "lengths"), blob = try bytes.array(blobRef)
        let nulls = array.count > 2 ? try array.ref(2).map { (ref) throws(Damage) in try bytes.integers(ref, "null marks") } : nil
        guard !blob.hasRefs, blob.kind == .blob || blob.count == 0 else { throw Damage("this is not a node of bytes", at: blobRef) }
        guard nulls.map({ $0.count >= ends.count }) ?? true else { throw Damage("a leaf of texts lacks null marks", at: array.offset) }
        for row in rows {
            if let nulls, (nulls[row] != 0) != inverted {
                appendNull(column, to: &out)
                continue
            }
            let start = row == 0 ? 0 : ends[row - 1], end = ends[row]
            guard start >= 0, end >= start + Int64(drops), end <= Int64(blob.byteCount) else {
                throw Damage("a text from byte \(start) to \(end) of \(blob.byteCount)", at: array.offset)
            }
            append(blob.bytes(Int(start)..<Int(end) - drops), column, to: &out)
        }
    }

    // MARK: Long

    private func appendLong(_ array: RealmArray, _ column: RealmColumn, _ rows: [Int], drops: Int, to out: inout Column) throws(Damage) {
        for row in rows {
            guard let ref = try array.ref(row) else {
                appendNull(column, to: &out)
                continue
            }
            let blob = try bytes.array(ref)
            if blob.hasRefs {
                let whole = try joined(blob)
                guard whole.count >= drops else { throw Damage("a text without its last byte", at: ref) }
                whole.withBytes { append(UnsafeRawBufferPointer(rebasing: $0[..<(whole.count - drops)]), column, to: &out) }
                continue
            }
            guard blob.kind == .blob, blob.count >= drops else { throw Damage("this is not a node of bytes", at: ref) }
            try out.hold(MemoryScope(budget, type: "", column: column.path), adding: blob.count)
            append(blob.bytes(0..<blob.count - drops), column, to: &out)
        }
    }

    /// Returns the bytes of a value that is cut into several nodes.
    private func joined(_ array: RealmArray) throws(Damage) -> [UInt8] {
        var whole: [UInt8] = []
        for i in 0..<array.count {
            guard let ref = try array.ref(i) else { continue }
            try bytes.visit(ref)
            let blob = try bytes.array(ref)
            guard blob.kind == .blob, !blob.hasRefs else { throw Damage("this is not a node of bytes", at: ref) }
            try budget.scoped(whole.count + blob.count, for: "the file") { () throws(Damage) in
                whole.append(contentsOf: blob.bytes(0..<blob.count))
            }
        }
        return whole
    }
}
