import FirnBytes
import FirnExchange

/// The values of a leaf that are present, in the form in which Parquet stores them.
struct LeafValues: Sendable {
    /// Values of a fixed number of bytes, one after the other, as PLAIN stores them.
    var fixed: [UInt8] = []
    /// The number of bytes of a value in `fixed`; 0 for the other forms.
    let width: Int
    /// Values of any length.
    var text = Text()
    /// Booleans, a byte each.
    var bits: [UInt8] = []
    private(set) var isBool: Bool

    init(_ physical: ParquetFormat.Physical, length: Int) {
        isBool = physical == .boolean
        width =
            switch physical {
            case .boolean, .byteArray: 0
            case .int32, .float: 4
            case .int64, .double: 8
            case .int96: 12
            case .fixed: length
            }
    }

    var count: Int { isBool ? bits.count : width > 0 ? fixed.count / width : text.count }

    /// The number of bytes of the values, without lengths.
    var byteCount: Int { fixed.count + text.bytes.count + bits.count }

    /// Appends values of a type of fixed size.
    @inline(__always)
    mutating func append<T: BitwiseCopyable>(_ count: Int, as type: T.Type, _ fill: (UnsafeMutablePointer<T>) -> Void) {
        fixed.grow(count * MemoryLayout<T>.size, zero: 0) { out in
            // The bytes of an array are aligned like its elements only.
            if UInt(bitPattern: out) % UInt(MemoryLayout<T>.alignment) == 0 {
                fill(UnsafeMutableRawPointer(out).bindMemory(to: T.self, capacity: count))
            } else {
                withUnsafeTemporaryAllocation(of: T.self, capacity: count) { room in
                    guard let base = room.baseAddress else { return }
                    fill(base)
                    UnsafeMutableRawPointer(out).copyMemory(from: base, byteCount: count * MemoryLayout<T>.size)
                }
            }
        }
    }
}
