import FirnBytes
import FirnExchange

/// How the values of a leaf compare, as the specification of each type defines it.
enum LeafOrder {
    case signed, unsigned, real
    /// Floating-point numbers of 16 bits.
    case half
    /// Signed big-endian numbers of one length.
    case signedBytes
    /// Byte strings. `isText`: in UTF-8, so that bounds are cut between characters.
    case bytes(isText: Bool)
    case bool
    /// The type has no order, so that there are no bounds.
    case none

    init(_ physical: ParquetFormat.Physical, _ logical: ParquetFormat.Logical?) {
        switch (physical, logical) {
        case (_, .interval), (_, .geometry), (_, .geography), (_, .null), (.int96, _): self = .none
        case (.boolean, _): self = .bool
        case (.int32, .uint), (.int64, .uint): self = .unsigned
        case (.int32, _), (.int64, _): self = .signed
        case (.float, _), (.double, _): self = .real
        case (.fixed, .float16): self = .half
        case (.fixed, .decimal): self = .signedBytes
        case (_, .string), (_, .enumeration), (_, .json): self = .bytes(isText: true)
        case (.byteArray, _), (.fixed, _): self = .bytes(isText: false)
        }
    }
}

/// The bounds of the values of a page or a chunk, and whether they are in order.
struct LeafBounds {
    /// The bounds as PLAIN stores them, without a length; nil if there is no value that can be compared.
    private(set) var minimum: [UInt8]?
    private(set) var maximum: [UInt8]?
    private var first: [UInt8]?
    private var last: [UInt8]?
    private(set) var nanCount = 0
    private(set) var isAscending = true
    private(set) var isDescending = true
    private let order: LeafOrder

    /// No values.
    init(_ order: LeafOrder) { self.order = order }

    init(_ values: LeafValues, _ order: LeafOrder) {
        self.order = order
        guard values.count > 0 else { return }
        switch order {
        case .none: isAscending = false
        case .bool: addBools(values.bits)
        case .signed:
            if values.width == 4 { add(values, Int32.self) } else { add(values, Int64.self) }
        case .unsigned:
            if values.width == 4 { add(values, UInt32.self) } else { add(values, UInt64.self) }
        case .real:
            if values.width == 4 { addReals(values, Float.self) } else { addReals(values, Double.self) }
        case .half: addHalves(values)
        case .signedBytes, .bytes: addBytes(values)
        }
        if case .none = order { isDescending = false }
    }

    private mutating func add<T: FixedWidthInteger & BitwiseCopyable>(_ values: LeafValues, _ type: T.Type) {
        let count = values.count, size = MemoryLayout<T>.size
        values.fixed.withUnsafeBytes { bytes in
            func value(_ i: Int) -> T { bytes.loadUnaligned(fromByteOffset: i &* size, as: T.self) }
            var low = value(0), high = low
            for i in 0..<count {
                let next = value(i)
                low = min(low, next)
                high = max(high, next)
            }
            isAscending = LeafBounds.holds(count) { value($0 &- 1) <= value($0) }
            isDescending = LeafBounds.holds(count) { value($0 &- 1) >= value($0) }
            minimum = LeafBounds.bytes(low)
            maximum = LeafBounds.bytes(high)
            first = LeafBounds.bytes(value(0))
            last = LeafBounds.bytes(value(count - 1))
        }
    }

    private static func bytes<T: BitwiseCopyable>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    /// Whether a condition holds for each value and the one before it.
    @inline(__always)
    private static func holds(_ count: Int, _ condition: (Int) -> Bool) -> Bool {
        for i in 1..<max(1, count) where !condition(i) { return false }
        return true
    }

    private mutating func addReals<T: BinaryFloatingPoint & BitwiseCopyable>(_ values: LeafValues, _ type: T.Type) {
        let count = values.count, size = MemoryLayout<T>.size
        values.fixed.withUnsafeBytes { bytes in
            func value(_ i: Int) -> T { bytes.loadUnaligned(fromByteOffset: i &* size, as: T.self) }
            var low = T.infinity, high = -T.infinity, nans = 0
            for i in 0..<count {
                let next = value(i)
                nans &+= next.isNaN ? 1 : 0
                if next < low { low = next }
                if next > high { high = next }
            }
            nanCount = nans
            isAscending = nans == 0 && LeafBounds.holds(count) { value($0 &- 1) <= value($0) }
            isDescending = nans == 0 && LeafBounds.holds(count) { value($0 &- 1) >= value($0) }
            guard nans < count else { return }
            // Zero stands for both zeros.
            minimum = LeafBounds.bytes(low == 0 ? -T.zero : low)
            maximum = LeafBounds.bytes(high == 0 ? T.zero : high)
            first = LeafBounds.bytes(value(0))
            last = LeafBounds.bytes(value(count - 1))
        }
    }

    private mutating func addHalves(_ values: LeafValues) {
        var wide = LeafValues(.float, length: 0)
        values.fixed.withUnsafeBytes { bytes in
            wide.append(values.count, as: Float.self) { out in
                for i in 0..<values.count {
                    out[i] = Float(HalfPrecision.value(bytes.loadUnaligned(fromByteOffset: i &* 2, as: UInt16.self)))
                }
            }
        }
        addReals(wide, Float.self)
        func narrow(_ bytes: [UInt8]?) -> [UInt8]? {
            bytes.map { $0.withUnsafeBytes { LeafBounds.bytes(HalfPrecision.bits(Double($0.loadUnaligned(as: Float.self)))) } }
        }
        (minimum, maximum, first, last) = (narrow(minimum), narrow(maximum), narrow(first), narrow(last))
    }

    private mutating func addBools(_ bits: [UInt8]) {
        let low = bits.contains(0) ? 0 : 1 as UInt8, high = bits.contains(1) ? 1 : 0 as UInt8
        (minimum, maximum, first, last) = ([low], [high], [bits[0]], [bits[bits.count - 1]])
        isAscending = LeafBounds.holds(bits.count) { bits[$0 - 1] <= bits[$0] }
        isDescending = LeafBounds.holds(bits.count) { bits[$0 - 1] >= bits[$0] }
    }

    private mutating func addBytes(_ values: LeafValues) {
        let count = values.count, width = values.width
        let flips: Bool = if case .signedBytes = order { true } else { false }
        let source = width > 0 ? values.fixed : values.text.bytes
        source.withUnsafeBytes { bytes in
            values.text.offsets.withUnsafeBufferPointer { offsets in
                func value(_ i: Int) -> UnsafeRawBufferPointer {
                    UnsafeRawBufferPointer(rebasing: bytes[width > 0 ? i &* width..<(i &+ 1) &* width : offsets[i]..<offsets[i &+ 1]])
                }
                func precedes(_ a: Int, _ b: Int) -> Bool { LeafBounds.precedes(value(a), value(b), flips) }
                var low = 0, high = 0
                for i in 1..<max(1, count) {
                    if precedes(i, low) { low = i } else if precedes(high, i) { high = i }
                }
                isAscending = LeafBounds.holds(count) { !precedes($0, $0 &- 1) }
                isDescending = LeafBounds.holds(count) { !precedes($0 &- 1, $0) }
                (minimum, maximum, first, last) = (Array(value(low)), Array(value(high)), Array(value(0)), Array(value(count - 1)))
            }
        }
    }

    /// Compares byte by byte. `flips`: the first byte has a sign.
    @inline(__always)
    private static func precedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ flips: Bool) -> Bool {
        let count = min(a.count, b.count), flip: UInt8 = flips ? 0x80 : 0
        guard count > 0, let x = a.baseAddress, let y = b.baseAddress else { return a.count < b.count }
        let p = x.load(as: UInt8.self) ^ flip, q = y.load(as: UInt8.self) ^ flip
        if p != q { return p < q }
        var at = 1
        while at &+ 8 <= count {
            let u = x.loadUnaligned(fromByteOffset: at, as: UInt64.self), v = y.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            if u != v { return u.bigEndian < v.bigEndian }
            at &+= 8
        }
        while at < count {
            let u = x.load(fromByteOffset: at, as: UInt8.self), v = y.load(fromByteOffset: at, as: UInt8.self)
            if u != v { return u < v }
            at &+= 1
        }
        return a.count < b.count
    }

    /// Whether a bound is below another one.
    func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.withUnsafeBytes { x in
            b.withUnsafeBytes { y in
                func load<T>(_ bytes: UnsafeRawBufferPointer, _ type: T.Type) -> T { bytes.loadUnaligned(as: type) }
                switch order {
                case .none: return false
                case .bool, .bytes: return LeafBounds.precedes(x, y, false)
                case .signedBytes: return LeafBounds.precedes(x, y, true)
                case .signed:
                    return x.count == 4 ? load(x, Int32.self) < load(y, Int32.self) : load(x, Int64.self) < load(y, Int64.self)
                case .unsigned:
                    return x.count == 4 ? load(x, UInt32.self) < load(y, UInt32.self) : load(x, UInt64.self) < load(y, UInt64.self)
                case .real:
                    return x.count == 4 ? load(x, Float.self) < load(y, Float.self) : load(x, Double.self) < load(y, Double.self)
                case .half: return HalfPrecision.value(load(x, UInt16.self)) < HalfPrecision.value(load(y, UInt16.self))
                }
            }
        }
    }

    /// Adds the values that follow.
    mutating func add(_ next: LeafBounds) {
        nanCount += next.nanCount
        if let low = next.minimum, minimum.map({ precedes(low, $0) }) ?? true { minimum = low }
        if let high = next.maximum, maximum.map({ precedes($0, high) }) ?? true { maximum = high }
        isAscending = isAscending && next.isAscending
        isDescending = isDescending && next.isDescending
        if let last, let first = next.first {
            if precedes(first, last) { isAscending = false }
            if precedes(last, first) { isDescending = false }
        }
        if first == nil { first = next.first }
        if next.last != nil { last = next.last }
    }

    // MARK: Long bounds

    /// The maximum length of a bound of texts and bytes: longer ones are cut.
    private static let maximumLength = 64
    /// The maximum length of an upper bound that cannot be cut.
    private static let maximumWhole = 4096

    /// The bounds that are written, and whether they are values of the leaf. Nil if there are none.
    var written: (minimum: [UInt8], maximum: [UInt8], minimumIsExact: Bool, maximumIsExact: Bool)? {
        guard let minimum, let maximum else { return nil }
        guard case .bytes(let isText) = order else { return (minimum, maximum, true, true) }
        let low = minimum.count > LeafBounds.maximumLength ? LeafBounds.start(of: minimum, isText) : minimum
        guard maximum.count > LeafBounds.maximumLength else { return (low, maximum, low.count == minimum.count, true) }
        guard let high = LeafBounds.bound(above: LeafBounds.start(of: maximum, isText), isText) else {
            guard maximum.count <= LeafBounds.maximumWhole else { return nil }
            return (low, maximum, low.count == minimum.count, true)
        }
        return (low, high, low.count == minimum.count, false)
    }

    private static func start(of value: [UInt8], _ isText: Bool) -> [UInt8] {
        var end = maximumLength
        while isText, end > 0, value[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(value[..<end])
    }

    /// Returns a string of at most the same length that is above all that begin with `value`; nil if there is none. A text stays UTF-8.
    private static func bound(above value: [UInt8], _ isText: Bool) -> [UInt8]? {
        var rest = value
        while let last = rest.last {
            if last < (isText ? 0x7E : 0xFF) {
                rest[rest.count - 1] = last + 1
                return rest
            }
            rest.removeLast()
        }
        return nil
    }
}
