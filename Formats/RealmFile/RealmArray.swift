import FirnBytes

/// A node of the file: a header of eight bytes and elements of one width. The extent was checked when it was opened. Valid as long as its
/// bytes are (`RealmBytes.release`).
struct RealmArray {
    enum Kind: UInt8 {
        /// `width` bits for each element.
        case bits = 0
        /// `width` bytes for each element.
        case bytes = 1
        /// The count is a number of bytes.
        case blob = 2
    }

    /// The offset of the header.
    let offset: Int
    /// The first byte after the header.
    private let base: UnsafeRawPointer
    let kind: Kind
    let width: Int
    let count: Int
    let isInner: Bool
    let hasRefs: Bool
    /// The context flag, whose meaning depends on the contents.
    let hasContext: Bool

    init(_ bytes: RealmBytes, _ ref: Int) throws(Damage) {
        guard ref >= RealmFileFormat.headerBytes, ref % 8 == 0, ref <= bytes.count - RealmFileFormat.nodeHeaderBytes else {
            throw Damage("the reference \(ref) does not lead to a node", at: max(0, ref))
        }
        let header = try bytes.pointer(ref, RealmFileFormat.nodeHeaderBytes)
        func byte(_ i: Int) -> Int { Int(header.load(fromByteOffset: i, as: UInt8.self)) }
        guard let kind = Kind(rawValue: UInt8(byte(4) >> 3 & 3)) else { throw Damage("a node of an unknown width type", at: ref) }
        offset = ref
        self.kind = kind
        width = (1 << (byte(4) & 7)) >> 1
        count = byte(5) << 16 | byte(6) << 8 | byte(7)
        isInner = byte(4) & 0x80 != 0
        hasRefs = byte(4) & 0x40 != 0 || isInner
        hasContext = byte(4) & 0x20 != 0
        let length =
            switch kind {
            case .bits: (count * width + 7) / 8
            case .bytes: count * width
            case .blob: count
            }
        guard length <= bytes.count - ref - RealmFileFormat.nodeHeaderBytes else {
            throw Damage("a node of \(length) bytes extends beyond the end of the file", at: ref)
        }
        guard !hasRefs || kind == .bits else { throw Damage("a node of references has the wrong width type", at: ref) }
        base = try bytes.pointer(ref + RealmFileFormat.nodeHeaderBytes, length)
    }

    // MARK: Integers

    /// Returns an element: up to four bits unsigned, otherwise signed.
    @inline(__always)
    subscript(_ i: Int) -> Int64 {
        // Elements without a width are zero, whatever they are.
        trap(unless: i >= 0 && i < count && (kind == .bits || width == 0), "check the count of a node before its elements")
        switch width {
        case 0: return 0
        case 1: return Int64(base.load(fromByteOffset: i >> 3, as: UInt8.self) >> UInt8(i & 7) & 1)
        case 2: return Int64(base.load(fromByteOffset: i >> 2, as: UInt8.self) >> UInt8((i & 3) * 2) & 3)
        case 4: return Int64(base.load(fromByteOffset: i >> 1, as: UInt8.self) >> UInt8((i & 1) * 4) & 15)
        case 8: return Int64(base.load(fromByteOffset: i, as: Int8.self))
        case 16: return Int64(Int16(littleEndian: base.loadUnaligned(fromByteOffset: i * 2, as: Int16.self)))
        case 32: return Int64(Int32(littleEndian: base.loadUnaligned(fromByteOffset: i * 4, as: Int32.self)))
        default: return Int64(littleEndian: base.loadUnaligned(fromByteOffset: i * 8, as: Int64.self))
        }
    }

    /// Returns an element as an unsigned number, as the keys of clusters and the offsets of trees are stored.
    func unsigned(_ i: Int) -> UInt64 {
        switch width {
        case 8: UInt64(UInt8(truncatingIfNeeded: self[i]))
        case 16: UInt64(UInt16(truncatingIfNeeded: self[i]))
        case 32: UInt64(UInt32(truncatingIfNeeded: self[i]))
        default: UInt64(bitPattern: self[i])
        }
    }

    // MARK: References

    /// Whether an element leads to a node.
    func isRef(_ i: Int) -> Bool { self[i] != 0 && self[i] & 1 == 0 }

    /// Returns the offset that an element leads to, or nil if it is null.
    /// - Throws: `Damage` if the element is a number or leads out of the file.
    func ref(_ i: Int) throws(Damage) -> Int? {
        let word = self[i]
        guard word & 1 == 0, word >= 0 else { throw Damage("element \(i) is not a reference", at: offset) }
        return word == 0 ? nil : Int(word)
    }

    /// Returns the number that an element of an array of references holds, or nil if it holds none.
    func tagged(_ i: Int) -> UInt64? { self[i] & 1 == 1 ? UInt64(bitPattern: self[i]) >> 1 : nil }

    // MARK: Bytes

    /// Returns bytes of the contents. The caller has checked that they are in it.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        trap(unless: range.lowerBound >= 0 && range.upperBound <= byteCount, "check the length of a node before its bytes")
        return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// The number of bytes of the contents.
    var byteCount: Int {
        switch kind {
        case .bits: (count * width + 7) / 8
        case .bytes: count * width
        case .blob: count
        }
    }

    /// Returns an element of a node of short strings: the text is followed by zeros and the number of these. Nil is null.
    func shortString(_ i: Int) throws(Damage) -> UnsafeRawBufferPointer? {
        trap(unless: i >= 0 && i < count, "check the count of a node before its elements")
        guard width > 0 else { return nil }
        let start = i * width, padding = Int(base.load(fromByteOffset: start + width - 1, as: UInt8.self))
        guard padding != width else { return nil }
        guard padding < width else { throw Damage("string \(i) has more padding than bytes", at: offset) }
        return bytes(start..<start + width - 1 - padding)
    }

    /// Returns the bits of a number of four or eight bytes.
    func bits32(_ i: Int) -> UInt32 { UInt32(littleEndian: bytes(i * 4..<i * 4 + 4).loadUnaligned(as: UInt32.self)) }
    func bits64(_ i: Int) -> UInt64 { UInt64(littleEndian: bytes(i * 8..<i * 8 + 8).loadUnaligned(as: UInt64.self)) }
}

extension RealmBytes {
    func array(_ ref: Int) throws(Damage) -> RealmArray { try RealmArray(self, ref) }

    /// Returns a node of references with at least `minimum` elements.
    func refs(_ ref: Int, atLeast minimum: Int, _ what: String) throws(Damage) -> RealmArray {
        let array = try array(ref)
        guard array.hasRefs, !array.isInner, array.count >= minimum else { throw Damage("this is not \(what)", at: ref) }
        return array
    }

    /// Returns a node of integers.
    func integers(_ ref: Int, _ what: String) throws(Damage) -> RealmArray {
        let array = try array(ref)
        guard !array.hasRefs, array.kind == .bits else { throw Damage("this is not a node of \(what)", at: ref) }
        return array
    }
}
