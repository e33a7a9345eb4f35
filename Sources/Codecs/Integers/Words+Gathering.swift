import FirnBytes

/// Reading some values of a vector without decoding the others, where the encoding allows it.
extension WordsReader {
    /// Writes the values at `rows`: ascending positions within the vector. `into` must have space for `rows.count` values.
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into: UnsafeMutablePointer<Int64>) throws(Damage) {
        let start = vector &* vectorLength
        trap(unless: vector >= 0 && start < count, "vector outside the stream: ask for 0 ..< (count + 1023) / 1024")
        let n = min(vectorLength, count &- start)
        guard isWithin(rows, n) else { trap("rows outside the vector, or not ascending") }
        if rows.count > 0 { try body.gather(rows, vector: vector, count: n, into: into) }
    }
}

extension RealsReader {
    /// Writes the values at `rows`: ascending positions within the vector. `into` must have space for `rows.count` values.
    package func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into: UnsafeMutablePointer<Double>) throws(Damage) {
        let start = vector &* vectorLength
        trap(unless: vector >= 0 && start < count, "vector outside the stream: ask for 0 ..< (count + 1023) / 1024")
        let n = min(vectorLength, count &- start)
        guard isWithin(rows, n) else { trap("rows outside the vector, or not ascending") }
        if rows.count > 0 { try body.gather(rows, vector: vector, count: n, into: into) }
    }
}

/// Returns whether all rows are in 0 ..< n and ascend.
private func isWithin(_ rows: UnsafeBufferPointer<Int32>, _ n: Int) -> Bool {
    var last: Int32 = -1, ascends = true
    for row in rows {
        ascends = ascends && row > last
        last = row
    }
    return ascends && Int(last) < n
}

extension WordsBody {
    /// Decodes the vector; for encodings without a faster method.
    func gatherDecoded(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage)
    {
        try withVectorScratch { (scratch) throws(Damage) in
            try decode(from: vector &* vectorLength, count: n, into: scratch)
            for j in 0..<rows.count { out[j] = scratch[Int(rows[j])] }
        }
    }
}

extension RealsBody {
    func gatherDecoded(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage)
    {
        var fault: Damage?
        withUnsafeTemporaryAllocation(of: Double.self, capacity: vectorLength) { scratch in
            do throws(Damage) { try decode(vector: vector, count: n, into: scratch.baseAddress!) } catch { fault = error }
            if fault == nil { for j in 0..<rows.count { out[j] = scratch[Int(rows[j])] } }
        }
        if let fault { throw fault }
    }
}
