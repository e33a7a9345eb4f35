import FirnBytes
import FirnExchange

/// Writes the values of a page in one of the encodings.
struct ValueEncoder {
    private let physical: ParquetFormat.Physical

    init(_ physical: ParquetFormat.Physical) { self.physical = physical }

    /// The encodings that values of the type can have, apart from dictionaries.
    var encodings: [ParquetFormat.Encoding] {
        switch physical {
        case .boolean: [.plain, .runs]
        case .int32, .int64: [.plain, .delta, .byteStreamSplit]
        case .float, .double: [.plain, .byteStreamSplit]
        case .byteArray: [.plain, .deltaLength, .deltaBytes]
        // DuckDB and polars read only this encoding of values of a fixed number of bytes.
        case .fixed, .int96: [.plain]
        }
    }

    func encode(_ values: LeafValues, _ range: Range<Int>, _ encoding: ParquetFormat.Encoding) -> [UInt8] {
        var out: [UInt8] = []
        switch encoding {
        case .delta: delta(values, range, &out)
        case .deltaLength: deltaLength(values.text, range, &out)
        case .deltaBytes: deltaBytes(values.text, range, &out)
        case .byteStreamSplit: split(values, range, &out)
        case .runs: runs(values, range, &out)
        default: plain(values, range, &out)
        }
        return out
    }

    private func plain(_ values: LeafValues, _ range: Range<Int>, _ out: inout [UInt8]) {
        if values.isBool {
            out = [UInt8](repeating: 0, count: (range.count + 7) / 8)
            for (i, at) in range.enumerated() { out[i >> 3] |= values.bits[at] << UInt8(i & 7) }
        } else if values.width > 0 {
            out = Array(values.fixed[range.lowerBound * values.width..<range.upperBound * values.width])
        } else {
            ValueEncoder.plain(values.text, range, &out)
        }
    }

    /// Appends texts, each after its length.
    static func plain(_ text: Text, _ range: Range<Int>, _ out: inout [UInt8]) {
        let size = text.offsets[range.upperBound] - text.offsets[range.lowerBound]
        out.grow(size + 4 * range.count + 16, zero: 0) { out in
            text.offsets.withUnsafeBufferPointer { offsets in
                text.bytes.withUnsafeBytes { bytes in
                    var to = UnsafeMutableRawPointer(out)
                    for i in range {
                        let start = offsets[i], length = offsets[i &+ 1] &- start
                        to.storeBytes(of: UInt32(truncatingIfNeeded: length).littleEndian, as: UInt32.self)
                        to += 4
                        if length > 0, let base = bytes.baseAddress {
                            copyShort(base + start, to: to, count: length, hasSlack: start &+ 16 <= bytes.count)
                        }
                        to += length
                    }
                }
            }
        }
        out.removeLast(16)
    }

    private func delta(_ values: LeafValues, _ range: Range<Int>, _ out: inout [UInt8]) {
        values.fixed.withUnsafeBytes { bytes in
            if physical == .int32 {
                DeltaEncoder.append(range.count, to: &out) {
                    bytes.loadUnaligned(fromByteOffset: (range.lowerBound &+ $0) &* 4, as: Int32.self)
                }
            } else {
                DeltaEncoder.append(range.count, to: &out) {
                    bytes.loadUnaligned(fromByteOffset: (range.lowerBound &+ $0) &* 8, as: Int64.self)
                }
            }
        }
    }

    private func deltaLength(_ text: Text, _ range: Range<Int>, _ out: inout [UInt8]) {
        text.offsets.withUnsafeBufferPointer { offsets in
            DeltaEncoder.append(range.count, to: &out) { i -> Int32 in
                Int32(truncatingIfNeeded: offsets[range.lowerBound &+ i &+ 1] &- offsets[range.lowerBound &+ i])
            }
        }
        out.append(contentsOf: text.bytes[text.offsets[range.lowerBound]..<text.offsets[range.upperBound]])
    }

    private func deltaBytes(_ text: Text, _ range: Range<Int>, _ out: inout [UInt8]) {
        var prefixes: [Int32] = [], suffixes: [Int32] = [], rest: [UInt8] = []
        prefixes.reserveCapacity(range.count)
        suffixes.reserveCapacity(range.count)
        text.bytes.withUnsafeBytes { bytes in
            var previous = 0..<0
            for i in range {
                let next = text.range(i)
                var common = 0
                let limit = min(previous.count, next.count)
                while common < limit, bytes[previous.lowerBound &+ common] == bytes[next.lowerBound &+ common] { common &+= 1 }
                prefixes.append(Int32(truncatingIfNeeded: common))
                suffixes.append(Int32(truncatingIfNeeded: next.count - common))
                rest.append(contentsOf: bytes[next.lowerBound + common..<next.upperBound])
                previous = next
            }
        }
        DeltaEncoder.append(prefixes.count, to: &out) { prefixes[$0] }
        DeltaEncoder.append(suffixes.count, to: &out) { suffixes[$0] }
        out += rest
    }

    private func split(_ values: LeafValues, _ range: Range<Int>, _ out: inout [UInt8]) {
        let width = values.width, count = range.count
        out.grow(count * width, zero: 0) { out in
            values.fixed.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                let from = base + range.lowerBound * width
                for byte in 0..<width {
                    let to = out + byte * count
                    for i in 0..<count { to[i] = from[i &* width &+ byte] }
                }
            }
        }
    }

    private func runs(_ values: LeafValues, _ range: Range<Int>, _ out: inout [UInt8]) {
        var runs = RunEncoder(width: 1)
        values.bits.withUnsafeBufferPointer { runs.append(UnsafeBufferPointer(rebasing: $0[range])) }
        withUnsafeBytes(of: UInt32(runs.bytes.count).littleEndian) { out.append(contentsOf: $0) }
        out += runs.bytes
    }
}
