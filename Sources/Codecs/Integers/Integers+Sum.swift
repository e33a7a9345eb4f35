import FirnBytes

/// Sums of the values of a vector, on the stored form where the encoding allows it.
extension IntegersReader {
    /// Returns the exact sum of a vector's values; it cannot overflow.
    package func sum(vector: Int) throws(Damage) -> Int128 {
        try body.sum(vector: vector, count: length(ofVector: vector, in: count))
    }
}

extension IntegersBody {
    /// Decodes the vector; for encodings without a faster method.
    func sumDecoded(vector: Int, count n: Int) throws(Damage) -> Int128 {
        var total: Int128 = 0
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try decode(from: vector &* vectorLength, count: n, into: scratch)
            total = sumIntegers(scratch, count: n)
        }
        return total
    }
}

/// Returns the sum of up to 1,024 integers.
func sumIntegers(_ values: UnsafePointer<Int64>, count: Int) -> Int128 {
    // The sum of values within ±2^52 fits into 64 bits. The union of their bits shows whether all are within that range.
    var sum: Int64 = 0, bits: UInt64 = 0
    for i in 0..<count {
        sum &+= values[i]
        bits |= UInt64(bitPattern: values[i] &+ 1 << 52)
    }
    if bits < 1 << 53 { return Int128(sum) }
    var total: Int128 = 0
    for i in 0..<count { total &+= Int128(values[i]) }
    return total
}

/// Returns the sum of the 1,024 values of a full body (`Packing.swift`) of at most 27 bits each; 32 of them fit into a lane.
func sumNarrow(_ body: UnsafeRawPointer, width: Int) -> UInt64 {
    let mask = SIMD16<UInt32>(repeating: UInt32(truncatingIfNeeded: lowMask(width)))
    var a = SIMD16<UInt32>(repeating: 0), b = a
    for row in 0..<32 {
        let start = row &* width, down = UInt32(truncatingIfNeeded: start & 31), source = body + (start >> 5) &* 128
        var x = source.loadUnaligned(as: SIMD16<UInt32>.self) &>> SIMD16(repeating: down)
        var y = source.loadUnaligned(fromByteOffset: 64, as: SIMD16<UInt32>.self) &>> SIMD16(repeating: down)
        if Int(down) &+ width > 32 {
            let up = SIMD16<UInt32>(repeating: 32 &- down)
            x |= source.loadUnaligned(fromByteOffset: 128, as: SIMD16<UInt32>.self) &<< up
            y |= source.loadUnaligned(fromByteOffset: 192, as: SIMD16<UInt32>.self) &<< up
        }
        a = a &+ (x & mask)
        b = b &+ (y & mask)
    }
    var total: UInt64 = 0
    for lane in 0..<16 { total &+= UInt64(a[lane]) &+ UInt64(b[lane]) }
    return total
}
