import FirnBytes
import FirnTable

/// How Arrow lays out a column whose values Firn decodes as numbers of 64 bits: integers, the seconds of dates, and doubles.
package enum NumberLayout: Sendable, Equatable {
    /// As Firn does.
    case same
    /// Integers of fewer bits.
    case integers(bits: Int, isSigned: Bool)
    /// Doubles, as floats of 32 bits.
    case singles
    /// Seconds, as days.
    case days
    /// Seconds, in a smaller unit.
    case units(perSecond: Int64)
    /// Doubles with `scale` digits after the point, as decimals of 128 bits.
    case decimals(precision: Int, scale: Int)

    /// Fails if values of the kind are not decoded as numbers, or if Arrow's type has another form.
    init?(_ type: ArrowType, of kind: ScalarKind) {
        switch (type, kind) {
        case (.int(64, true), .int), (.duration, .int), (.float(64), .double), (.float(64), .float): self = .same
        case (.int(let bits, let isSigned), .int) where bits < 64: self = .integers(bits: bits, isSigned: isSigned)
        case (.float(32), .double), (.float(32), .float): self = .singles
        case (.date(isDays: true), .date): self = .days
        case (.timestamp(let unit, _), .date): self = .units(perSecond: unit.perSecond)
        case (.decimal(let precision, let scale, 128), .double): self = .decimals(precision: precision, scale: scale)
        default: return nil
        }
    }

    /// The number of bytes of a value.
    var width: Int {
        switch self {
        case .same, .units: 8
        case .integers(let bits, _): bits / 8
        case .singles, .days: 4
        case .decimals: 16
        }
    }

    /// Returns the first `count` numbers of a buffer in this layout; nil if it cannot express one of them.
    package func column(_ numbers: PooledBuffer, count: Int, _ pool: BufferPool, charge: MemoryCharge?) -> NumberColumn? {
        guard self != .same else { return NumberColumn(numbers, width: 8, count: count, charge: charge) }
        let out = pool.buffer(count * width)
        guard write(numbers, count, to: out) else { return nil }
        return NumberColumn(out, width: width, count: count, charge: charge)
    }

    private func write(_ numbers: PooledBuffer, _ count: Int, to out: PooledBuffer) -> Bool {
        func words<T: FixedWidthInteger & BitwiseCopyable>(
            _ type: T.Type, _ body: (UnsafeBufferPointer<Int64>, UnsafeMutableBufferPointer<T>) -> Bool
        ) -> Bool {
            numbers.withValues(Int64.self) { words in out.withValues(T.self) { body(UnsafeBufferPointer(rebasing: words[..<count]), $0) } }
        }
        switch self {
        case .same: return false
        case .integers(8, true): return words(Int8.self) { ArrowLeaf.narrow($0, to: $1) }
        case .integers(8, false): return words(UInt8.self) { ArrowLeaf.narrow($0, to: $1) }
        case .integers(16, true): return words(Int16.self) { ArrowLeaf.narrow($0, to: $1) }
        case .integers(16, false): return words(UInt16.self) { ArrowLeaf.narrow($0, to: $1) }
        case .integers(_, true): return words(Int32.self) { ArrowLeaf.narrow($0, to: $1) }
        case .integers: return words(UInt32.self) { ArrowLeaf.narrow($0, to: $1) }
        case .days: return words(Int32.self) { ArrowLeaf.days($0, to: $1) }
        case .units(let perSecond): return words(Int64.self) { ArrowLeaf.units($0, perSecond: perSecond, to: $1) }
        case .singles:
            numbers.withValues(Double.self) { reals in
                out.withValues(Float.self) { out in for i in 0..<count { out[i] = Float(reals[i]) } }
            }
            return true
        case .decimals(let precision, let scale):
            return numbers.withValues(Double.self) { reals in
                out.withValues(Int64.self) {
                    ArrowLeaf.decimals(UnsafeBufferPointer(rebasing: reals[..<count]), precision: precision, scale: scale, to: $0)
                }
            }
        }
    }
}

/// Values of a fixed width, of which none is null, in Arrow's layout.
package struct NumberColumn: Sendable {
    let buffer: PooledBuffer
    /// The number of bytes of a value.
    let width: Int
    /// The values of the buffer that are those of the rows.
    var rows: Range<Int>
    let charge: MemoryCharge?

    /// The first `count` values of a buffer.
    init(_ buffer: PooledBuffer, width: Int, count: Int, charge: MemoryCharge?) {
        self.buffer = buffer
        self.width = width
        rows = 0..<count
        self.charge = charge
    }
}
