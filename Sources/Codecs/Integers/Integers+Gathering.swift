import FirnBytes

/// Reading some values of a vector without decoding the others, where the encoding allows it.
extension IntegersReader {
    /// Writes the values at `rows`: ascending positions within the vector. `into` must have space for `rows.count` values.
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into: UnsafeMutablePointer<Int64>) throws(Damage) {
        let n = length(ofVector: vector, in: count)
        check(rows, n)
        if rows.count > 0 { try body.gather(rows, vector: vector, count: n, into: into) }
    }
}

extension FloatsReader {
    /// Writes the values at `rows`: ascending positions within the vector. `into` must have space for `rows.count` values.
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into: UnsafeMutablePointer<Double>) throws(Damage) {
        let n = length(ofVector: vector, in: count)
        check(rows, n)
        if rows.count > 0 { try body.gather(rows, vector: vector, count: n, into: into) }
    }
}

/// Traps unless all rows are in 0 ..< n and ascend.
private func check(_ rows: UnsafeBufferPointer<Int32>, _ n: Int) {
    var last: Int32 = -1, ascends = true
    for row in rows {
        ascends = ascends && row > last
        last = row
    }
    trap(unless: ascends && Int(last) < n, "rows outside the vector, or not ascending")
}

extension IntegersBody {
    /// Decodes the vector; for encodings without a faster method.
    func gatherDecoded(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage)
    {
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try decode(from: vector &* vectorLength, count: n, into: scratch)
            for j in 0..<rows.count { out[j] = scratch[Int(rows[j])] }
        }
    }
}

extension FloatsBody {
    func gatherDecoded(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage)
    {
        try withScratch(of: Double.self, count: vectorLength) { (scratch) throws(Damage) in
            try decode(vector: vector, count: n, into: scratch)
            for j in 0..<rows.count { out[j] = scratch[Int(rows[j])] }
        }
    }
}
