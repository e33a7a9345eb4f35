import FirnBytes

/// The bytes of one buffer of a column. Values that have Arrow's layout already share the memory of their column; no platform of Firn is
/// big-endian.
enum ArrowBuffer: Sendable {
    /// No bytes: every row is valid.
    case none
    case bytes([UInt8])
    case words([Int64])
    case reals([Double])
    case bits(Bits)
    /// Some bytes of a buffer of a scan's pool.
    case pooled(PooledBuffer, Range<Int>)

    init(_ bits: Bits?) { self = bits.map { .bits($0) } ?? .none }

    /// The number of bytes.
    var count: Int {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .words(let words): words.count * 8
        case .reals(let reals): reals.count * 8
        case .bits(let bits): (bits.count + 7) / 8
        case .pooled(_, let bytes): bytes.count
        }
    }

    /// Calls `body` with the bytes. They stay at their address as long as a copy of this value exists and nothing changes it.
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        switch self {
        case .none: try body(UnsafeRawBufferPointer(start: nil, count: 0))
        case .bytes(let bytes): try bytes.withBytes(body)
        case .words(let words): try words.withBytes(body)
        case .reals(let reals): try reals.withBytes(body)
        case .pooled(let buffer, let bytes):
            try buffer.withValues(UInt8.self) { (all) throws(E) in
                try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(all)[bytes]))
            }
        case .bits(let bits):
            try bits.words.withBytes { (words) throws(E) in try body(UnsafeRawBufferPointer(rebasing: words[..<count])) }
        }
    }
}
