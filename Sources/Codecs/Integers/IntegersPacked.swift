import FirnBytes

// packed   id 3 · mode (0 uniform, 1 widths, 2 widths and exceptions)
//          · low (zigzag varint) · span (varint, high − low)
//          · B (u8, 0…8: size of a vector's base) · O (u8, 0…8: size of a body's offset; mode 0: the width of every vector)
//          · one record for each vector: base − low (B bytes) [width (u8) · offset (O bytes)] [exceptions (u8) · exception width (u8)]
//          · bodies: packed values [· positions (u16 each, ascending) · high bits (exception width each, one bit string)]
// Offsets count from the first body. In mode 0, body k begins at 128·k·width. A value is base + packed bits + high bits · 2^width.

/// The encoding parameters of one vector.
struct PackedVector {
    var base: Int64 = 0, width = 0, exceptions = 0, exceptionWidth = 0
    func size(count: Int) -> Int { packedSize(count: count, width: width) &+ exceptions &* 2 &+ (exceptions &* exceptionWidth &+ 7) >> 3 }
}

/// Returns the cheapest width for values whose bit widths are counted in `histogram` (65 counts).
func choosePackedVector(base: Int64, count: Int, histogram: UnsafePointer<UInt32>) -> PackedVector {
    var full = 64
    while full > 0, histogram[full] == 0 { full &-= 1 }
    var best = PackedVector(base: base, width: full)
    let plain = best.size(count: count)
    var bestSize = plain, above = 0, width = full
    while width > 0 {
        above &+= Int(histogram[width])
        width &-= 1
        if !PackedVector.canHaveExceptions(above, of: count) { break }
        let candidate = PackedVector(base: base, width: width, exceptions: above, exceptionWidth: full &- width)
        let size = candidate.size(count: count)
        if size < bestSize, size &* 32 < plain &* 31 { (best, bestSize) = (candidate, size) }
    }
    return best
}

extension PackedVector {
    /// Whether so many of `count` values may be exceptions.
    @inline(__always)
    static func canHaveExceptions(_ exceptions: Int, of count: Int) -> Bool { exceptions <= 255 && exceptions &* 8 <= count }
}

/// Returns the number of bytes that a number needs.
func byteWidth(_ value: UInt64) -> Int { (bitWidth(value) &+ 7) >> 3 }

struct PackedPlan {
    var vectors: [PackedVector] = []
    var low: Int64 = 0, high: Int64 = 0

    /// Returns the exact size of the encoded stream in bytes.
    func size(count: Int) -> Int {
        var body = 0
        for (k, vector) in vectors.enumerated() { body &+= vector.size(count: min(vectorLength, count &- k &* vectorLength)) }
        let (mode, baseBytes, offsetBytes) = layout(bodySize: body)
        let record = baseBytes &+ (mode == 0 ? 0 : 1 &+ offsetBytes) &+ (mode == 2 ? 2 : 0)
        return 8 &+ byteWidth(UInt64(bitPattern: low)) &+ record &* vectors.count &+ body
    }

    func layout(bodySize: Int) -> (mode: UInt8, baseBytes: Int, offsetBytes: Int) {
        var widest: UInt64 = 0, uniform = true, exceptions = false
        for vector in vectors {
            widest = max(widest, UInt64(bitPattern: vector.base &- low))
            if vector.width != vectors[0].width { uniform = false }
            if vector.exceptions > 0 { exceptions = true }
        }
        let offsetBytes = vectors.count == 1 ? 0 : byteWidth(UInt64(bodySize))
        return (exceptions ? 2 : uniform ? 0 : 1, byteWidth(widest), offsetBytes)
    }

    func encode(_ values: UnsafeBufferPointer<Int64>) -> [UInt8] {
        var bodies: [UInt8] = [], offsets: [Int] = []
        bodies.reserveCapacity(values.count &* 2)
        for (k, vector) in vectors.enumerated() {
            offsets.append(bodies.count)
            let n = min(vectorLength, values.count &- k &* vectorLength)
            encodeBody(vector, values.baseAddress! + k &* vectorLength, count: n, to: &bodies)
        }
        let (mode, baseBytes, offsetBytes) = layout(bodySize: bodies.count)
        var out = ByteWriter(reserving: bodies.count &+ 32 &+ vectors.count &* 16)
        out.append(IntegersEncoding.packed.rawValue)
        out.append(mode)
        out.appendSignedVarint(low)
        out.appendVarint(UInt64(bitPattern: high &- low))
        out.append(UInt8(baseBytes))
        out.append(UInt8(mode == 0 ? vectors[0].width : offsetBytes))
        for (k, vector) in vectors.enumerated() {
            append(UInt64(bitPattern: vector.base &- low), bytes: baseBytes, to: &out)
            if mode != 0 {
                out.append(UInt8(vector.width))
                append(UInt64(offsets[k]), bytes: offsetBytes, to: &out)
            }
            if mode == 2 {
                out.append(UInt8(vector.exceptions))
                out.append(UInt8(vector.exceptionWidth))
            }
        }
        out.append(contentsOf: bodies)
        return out.bytes
    }

    private func append(_ value: UInt64, bytes: Int, to out: inout ByteWriter) {
        for i in 0..<bytes { out.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * i))) }
    }

    private func encodeBody(_ vector: PackedVector, _ values: UnsafePointer<Int64>, count: Int, to out: inout [UInt8]) {
        pack(values, count: count, base: vector.base, width: vector.width, to: &out)
        if vector.exceptions == 0 { return }
        var high = BitWriter()
        for i in 0..<count {
            let rest = UInt64(bitPattern: values[i] &- vector.base) >> UInt64(vector.width)
            if rest != 0 {
                out.append(UInt8(truncatingIfNeeded: i))
                out.append(UInt8(truncatingIfNeeded: i >> 8))
                high.write(rest, width: vector.exceptionWidth)
            }
        }
        high.align()
        out.append(contentsOf: high.bytes)
    }
}

final class IntegersPacked: IntegersBody, @unchecked Sendable {
    private let mode: UInt8, low: Int64, high: Int64, baseBytes: Int, offsetBytes: Int, stride: Int
    private let records: UnsafeRawBufferPointer, bodies: UnsafeRawBufferPointer

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        mode = try reader.read()
        low = try reader.readSignedVarint()
        high = low &+ Int64(bitPattern: try reader.readVarint())
        baseBytes = Int(try reader.read(UInt8.self))
        offsetBytes = Int(try reader.read(UInt8.self))
        guard mode <= 2, baseBytes <= 8, offsetBytes <= (mode == 0 ? 64 : 8) else { throw Damage("packed integers have an invalid header") }
        stride = baseBytes &+ (mode == 0 ? 0 : 1 &+ offsetBytes) &+ (mode == 2 ? 2 : 0)
        let vectors = (count &+ vectorLength &- 1) / vectorLength
        records = try reader.read(count: vectors &* stride)
        bodies = reader.readRest()
        if mode == 0, count > 0 {
            let width = offsetBytes, tail = count &- (vectors &- 1) &* vectorLength
            guard (vectors &- 1) &* 128 &* width &+ packedSize(count: tail, width: width) <= bodies.count else {
                throw Damage("packed integers cut short")
            }
        }
        super.init(count: count)
    }

    override var name: String { mode == 2 ? "PFOR" : "FOR" }
    override var bounds: (Int64, Int64)? { low <= high ? (low, high) : nil }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        guard let all = bounds, let (record, _) = try? self.record(vector) else { return nil }
        let widest = lowMask(record.width &+ record.exceptionWidth), room = UInt64(bitPattern: high &- record.base)
        guard record.base >= low, record.base <= high else { return all }
        return (record.base, widest < room ? record.base &+ Int64(bitPattern: widest) : high)
    }

    /// Returns a vector's record and the beginning of its body. The whole body is within bounds.
    @inline(__always)
    private func record(_ k: Int) throws(Damage) -> (PackedVector, Int) {
        var vector = PackedVector(base: low)
        var at = k &* stride
        if baseBytes > 0 {
            vector.base =
                low &+ Int64(bitPattern: readBits(records.baseAddress!, limit: records.count, position: at &* 8, width: baseBytes &* 8))
            at &+= baseBytes
        }
        if mode == 0 {
            vector.width = offsetBytes
            return (vector, k &* 128 &* offsetBytes)
        }
        vector.width = Int(records[at])
        let offset = readBits(records.baseAddress!, limit: records.count, position: (at &+ 1) &* 8, width: offsetBytes &* 8)
        if mode == 2 {
            vector.exceptions = Int(records[at &+ 1 &+ offsetBytes])
            vector.exceptionWidth = Int(records[at &+ 2 &+ offsetBytes])
        }
        guard vector.width &+ vector.exceptionWidth <= 64, offset <= UInt64(bodies.count) else {
            throw Damage("vector outside the stream", at: at)
        }
        let size = vector.size(count: min(vectorLength, count &- k &* vectorLength))
        guard size <= bodies.count &- Int(offset) else { throw Damage("vector outside the stream", at: at) }
        return (vector, Int(offset))
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        let k = index / vectorLength, (record, offset) = try record(k)
        if record.width == 0, record.exceptions == 0 { return record.base }
        return value(record, offset, count: min(vectorLength, count &- k &* vectorLength), index: index & (vectorLength &- 1))
    }

    @inline(__always)
    private func value(_ record: PackedVector, _ offset: Int, count n: Int, index: Int) -> Int64 {
        guard let start = bodies.baseAddress else { return record.base }
        let body = start + offset, limit = bodies.count &- offset
        let value = unpackOne(body, limit: limit, count: n, index: index, base: record.base, width: record.width)
        if record.exceptions == 0 { return value }
        let positions = packedSize(count: n, width: record.width)
        for e in 0..<record.exceptions where Int(body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self)) == index {
            return value &+ exception(body, limit, record, positions, e)
        }
        return value
    }

    @inline(__always)
    private func exception(_ body: UnsafeRawPointer, _ limit: Int, _ record: PackedVector, _ positions: Int, _ e: Int) -> Int64 {
        let start = positions &+ record.exceptions &* 2
        let high = readBits(body + start, limit: limit &- start, position: e &* record.exceptionWidth, width: record.exceptionWidth)
        return Int64(bitPattern: high << UInt64(record.width))
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        var at = start
        let end = start &+ n
        while at < end {
            let k = at / vectorLength, first = k &* vectorLength, whole = min(vectorLength, count &- first)
            let stop = min(end, first &+ whole), target = out + (at &- start)
            let (record, offset) = try record(k)
            if at == first, stop == first &+ whole {
                try decodeWhole(record, offset, count: whole, into: target)
            } else if whole == vectorLength, record.width > 0, record.width <= 32, stop &- at > 4, stop &- at <= 512 {
                decodeRows(record, offset, from: at &- first, to: stop &- first, into: target)
            } else if stop &- at <= 64 {
                for i in at..<stop { target[i &- at] = value(record, offset, count: whole, index: i &- first) }
            } else {
                try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
                    try decodeWhole(record, offset, count: whole, into: scratch)
                    target.update(from: scratch + (at &- first), count: stop &- at)
                }
            }
            at = stop
        }
    }

    /// Decodes the values from..<to of a full narrow vector; unpacks only the rows of 32 that contain them.
    private func decodeRows(_ record: PackedVector, _ offset: Int, from: Int, to: Int, into out: UnsafeMutablePointer<Int64>) {
        let body = bodies.baseAddress! + offset, limit = bodies.count &- offset
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: 32) { row in
            for r in (from >> 5)...((to &- 1) >> 5) {
                let first = r &* 32, a = max(from, first), b = min(to, first &+ 32)
                if b &- a == 32 {
                    unpackRow(body, row: r, base: record.base, width: record.width, to: out + (a &- from))
                } else {
                    unpackRow(body, row: r, base: record.base, width: record.width, to: row.baseAddress!)
                    (out + (a &- from)).update(from: row.baseAddress! + (a &- first), count: b &- a)
                }
            }
        }
        if record.exceptions == 0 { return }
        let positions = packedSize(count: vectorLength, width: record.width)
        for e in 0..<record.exceptions {
            let index = Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self)))
            if index >= from, index < to { out[index &- from] &+= exception(body, limit, record, positions, e) }
        }
    }

    private func decodeWhole(_ record: PackedVector, _ offset: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        guard let start = bodies.baseAddress else { return out.update(repeating: record.base, count: n) }
        let body = start + offset, limit = bodies.count &- offset
        unpack(body, limit: limit, count: n, base: record.base, width: record.width, to: out)
        if record.exceptions == 0 { return }
        let positions = packedSize(count: n, width: record.width)
        for e in 0..<record.exceptions {
            let index = Int(body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self))
            guard index < n else { throw Damage("exception outside its vector", at: offset) }
            out[index] &+= exception(body, limit, record, positions, e)
        }
    }

    override func search(vector k: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let (record, offset) = try record(k)
        let (top, overflow) = record.base.addingReportingOverflow(Int64(truncatingIfNeeded: lowMask(min(record.width, 32))))
        guard n == vectorLength, record.width <= 32, !overflow, low <= high, let start = bodies.baseAddress else {
            return try searchDecoded(vector: k, count: n, low, high, into: out)
        }
        let body = start + offset
        if high < record.base || low > top {
            RangeBits.fill(out, count: n, false)
        } else if low <= record.base, high >= top {
            RangeBits.fill(out, count: n, true)
        } else {
            searchNarrow(
                body, width: record.width, first: low <= record.base ? 0 : UInt32(low &- record.base),
                last: UInt32(min(high, top) &- record.base), into: out)
        }
        if record.exceptions == 0 { return }
        let positions = packedSize(count: n, width: record.width), limit = bodies.count &- offset
        for e in 0..<record.exceptions {
            let index = Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self)))
            guard index < n else { throw Damage("exception outside its vector", at: offset) }
            let value =
                unpackOne(body, limit: limit, count: n, index: index, base: record.base, width: record.width)
                &+ exception(body, limit, record, positions, e)
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index & 63)
            if low <= value, value <= high { out[index >> 6] |= bit } else { out[index >> 6] &= ~bit }
        }
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector k: Int, count n: Int, into out: UnsafeMutablePointer<Int64>)
        throws(Damage)
    {
        guard rows.count <= 256, let start = bodies.baseAddress else { return try gatherDecoded(rows, vector: k, count: n, into: out) }
        let (record, offset) = try record(k), body = start + offset, limit = bodies.count &- offset
        for j in 0..<rows.count {
            out[j] = unpackOne(body, limit: limit, count: n, index: Int(rows[j]), base: record.base, width: record.width)
        }
        if record.exceptions == 0 { return }
        // `rows` and the positions of exceptions both ascend.
        let positions = packedSize(count: n, width: record.width)
        var j = 0
        for e in 0..<record.exceptions {
            let index = Int32(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self)))
            while j < rows.count, rows[j] < index { j &+= 1 }
            if j == rows.count { break }
            if rows[j] == index { out[j] &+= exception(body, limit, record, positions, e) }
        }
    }

    override func sum(vector k: Int, count n: Int) throws(Damage) -> Int128 {
        let (record, offset) = try record(k)
        let (_, overflow) = record.base.addingReportingOverflow(Int64(truncatingIfNeeded: lowMask(min(record.width, 32))))
        guard n == vectorLength, record.width <= 27, !overflow, let start = bodies.baseAddress else {
            return try sumDecoded(vector: k, count: n)
        }
        let body = start + offset
        var total = Int128(record.base) &* Int128(n) &+ Int128(record.width == 0 ? 0 : sumNarrow(body, width: record.width))
        if record.exceptions == 0 { return total }
        let positions = packedSize(count: n, width: record.width), limit = bodies.count &- offset
        for e in 0..<record.exceptions {
            let index = Int(UInt16(littleEndian: body.loadUnaligned(fromByteOffset: positions &+ e &* 2, as: UInt16.self)))
            guard index < n else { throw Damage("exception outside its vector", at: offset) }
            let low = unpackOne(body, limit: limit, count: n, index: index, base: record.base, width: record.width)
            // Added as in decoding, where the sum wraps to 64 bits.
            total = total &- Int128(low) &+ Int128(low &+ exception(body, limit, record, positions, e))
        }
        return total
    }
}
