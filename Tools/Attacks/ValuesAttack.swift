import FirnBytes
import FirnCodecs

/// Encodes arbitrary values. Decoding by vector and by value must return the same values, and searches must find them.
/// The input is kind u8, profile u8, width u8, then the values.
enum ValuesAttack {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 3, bytes.count <= 1 << 15 else { return }
        let profile: Profile = [.fast, .standard, .small][Int(bytes[1]) % 3], width = Int(bytes[2]) % 8 + 1
        let rest = UnsafeRawBufferPointer(rebasing: bytes[3...])
        switch bytes[0] % 5 {
        case 0: words(numbers(rest, width), profile)
        case 1: reals(numbers(rest, 8).map { Double(bitPattern: UInt64(bitPattern: $0)) }, profile)
        case 2: reals(numbers(rest, width).map { Double($0) / [1, 10, 100, 8][Int(bytes[1]) / 3 % 4] }, profile)
        case 3: bits(rest, profile)
        default: text(rest, profile)
        }
    }

    /// Splits the bytes into signed numbers of `width` bytes.
    private static func numbers(_ bytes: UnsafeRawBufferPointer, _ width: Int) -> [Int64] {
        stride(from: 0, through: bytes.count - width, by: width).map { at in
            var number: UInt64 = 0
            for i in 0..<width { number |= UInt64(bytes[at + i]) << UInt64(8 * i) }
            let shift = UInt64(64 - 8 * width)
            return Int64(bitPattern: number << shift) >> Int64(shift)
        }
    }

    private static func expect(_ holds: Bool, _ what: String) { trap(unless: holds, what) }

    private static func words(_ values: [Int64], _ profile: Profile) {
        guard !values.isEmpty else { return }
        let stream = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }
        stream.withUnsafeBytes { bytes in
            guard let reader = try? IntegersReader(bytes, count: values.count) else { return expect(false, "integers cannot be decoded") }
            var out = [Int64](repeating: 0, count: 1024), found = [UInt64](repeating: 0, count: 16)
            if let (low, high) = reader.bounds() {
                expect(values.allSatisfy { low <= $0 && $0 <= high }, "integers are outside of their bounds")
            }
            for vector in 0..<((values.count + 1023) / 1024) {
                let part = values[(vector * 1024)..<min(values.count, vector * 1024 + 1024)]
                expect(
                    out.withUnsafeMutableBufferPointer { (try? reader.decode(vector: vector, into: $0.baseAddress!)) != nil },
                    "a vector cannot be decoded")
                expect(out[..<part.count] == ArraySlice(part), "decoded integers differ")
                if let (low, high) = reader.bounds(ofVector: vector) {
                    expect(part.allSatisfy { low <= $0 && $0 <= high }, "integers are outside of the bounds of their vector")
                }
                if let sum = try? reader.sum(vector: vector) {
                    expect(sum == part.reduce(Int128(0)) { $0 + Int128($1) }, "a sum is wrong")
                } else {
                    expect(false, "a sum fails")
                }
                let some = part[part.startIndex + part.count / 2], other = part[part.startIndex + part.count / 3]
                for (low, high) in [(min(some, other), max(some, other)), (some, some), (.min, some), (0, .max)] {
                    expect(
                        found.withUnsafeMutableBufferPointer {
                            (try? reader.search(vector: vector, low, high, into: $0.baseAddress!)) != nil
                        }, "a search fails")
                    for (i, value) in part.enumerated() {
                        expect(
                            (found[i / 64] >> UInt64(i % 64) & 1 == 1) == (low <= value && value <= high), "a search finds wrong integers")
                    }
                }
            }
            for i in stride(from: 0, to: values.count, by: 1 + values.count / 40) {
                expect((try? reader.value(at: i)) == values[i], "a decoded integer differs")
            }
        }
    }

    private static func reals(_ values: [Double], _ profile: Profile) {
        guard !values.isEmpty else { return }
        let stream = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: false, profile: profile) }
        stream.withUnsafeBytes { bytes in
            guard let reader = try? FloatsReader(bytes, count: values.count) else { return expect(false, "floats cannot be decoded") }
            var out = [Double](repeating: 0, count: 1024), found = [UInt64](repeating: 0, count: 16)
            for vector in 0..<((values.count + 1023) / 1024) {
                let part = Array(values[(vector * 1024)..<min(values.count, vector * 1024 + 1024)])
                expect(
                    out.withUnsafeMutableBufferPointer { (try? reader.decode(vector: vector, into: $0.baseAddress!)) != nil },
                    "a vector of floats cannot be decoded")
                for i in part.indices { expect(out[i].bitPattern == part[i].bitPattern, "a decoded float differs") }
                for (low, high) in [(0.0, 1000.0), (part[0], part[0])] where !low.isNaN {
                    expect(
                        found.withUnsafeMutableBufferPointer {
                            (try? reader.search(vector: vector, low, high, into: $0.baseAddress!)) != nil
                        }, "a search fails")
                    for i in part.indices {
                        expect(
                            (found[i / 64] >> UInt64(i % 64) & 1 == 1) == (low <= part[i] && part[i] <= high), "a search finds wrong floats"
                        )
                    }
                }
            }
            for i in stride(from: 0, to: values.count, by: 1 + values.count / 40) {
                expect((try? reader.value(at: i))?.bitPattern == values[i].bitPattern, "a decoded float differs")
            }
        }
    }

    private static func bits(_ bytes: UnsafeRawBufferPointer, _ profile: Profile) {
        var bits = Bits(repeating: false, count: bytes.count * 8)
        for i in 0..<bits.count { bits[i] = bytes[i / 8] >> UInt8(i % 8) & 1 == 1 }
        BooleansEncoder.encode(bits, profile: profile).withUnsafeBytes { stream in
            guard let reader = try? BooleansReader(stream, count: bits.count) else { return expect(false, "booleans cannot be decoded") }
            var out = [UInt64](repeating: 0, count: 16)
            for vector in 0..<((bits.count + 1023) / 1024) {
                expect(
                    out.withUnsafeMutableBufferPointer { (try? reader.decode(vector: vector, into: $0.baseAddress!)) != nil },
                    "a vector of booleans cannot be decoded")
                var ones = 0
                for i in 0..<min(1024, bits.count - vector * 1024) {
                    expect((out[i / 64] >> UInt64(i % 64) & 1 == 1) == bits[vector * 1024 + i], "a decoded boolean differs")
                    ones += bits[vector * 1024 + i] ? 1 : 0
                }
                if let said = reader.ones(ofVector: vector) { expect(said == ones, "the count of true booleans is wrong") }
            }
        }
    }

    /// Zero bytes separate the strings, and 0xFF begins another segment of the group.
    private static func text(_ bytes: UnsafeRawBufferPointer, _ profile: Profile) {
        var segments: [Text] = [Text()], value: [UInt8] = []
        func end() { value.withUnsafeBytes { segments[segments.count - 1].append($0) } }
        for byte in bytes {
            if byte == 0 || byte == 0xFF { end(); value = [] } else { value.append(byte) }
            if byte == 0xFF, segments.count < 5 { segments.append(Text()) }
        }
        end()
        let encoder = TextGroupEncoder(profile: profile)
        for segment in segments { encoder.add(segment, present: nil) }
        var streams = [[UInt8]](repeating: [], count: segments.count)
        for (index, stream) in encoder.takeReady() { streams[index] = stream }
        let (shared, rest) = encoder.finish()
        for (index, stream) in rest { streams[index] = stream }
        let blobs = shared.map { blob in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: blob.bytes.count, alignment: 16)
            copy.copyBytes(from: blob.bytes)
            return (blob.kind, copy)
        }
        defer { for blob in blobs { blob.1.deallocate() } }
        var opened: [SharedText] = []
        for blob in blobs { if let text = try? SharedText(kind: blob.0, bytes: UnsafeRawBufferPointer(blob.1)) { opened.append(text) } }
        expect(opened.count == shared.count, "shared text cannot be opened")
        for (segment, stream) in zip(segments, streams) {
            stream.withUnsafeBytes { bytes in
                guard let reader = try? TextReader(bytes, count: segment.count, shared: opened) else {
                    return expect(false, "text cannot be decoded")
                }
                var out = Text()
                for vector in 0..<((segment.count + 1023) / 1024) {
                    expect((try? reader.decode(vector: vector, into: &out)) != nil, "a vector of text cannot be decoded")
                    for i in 0..<out.count {
                        expect(
                            out.withBytes(i) { Array($0) } == segment.withBytes(vector * 1024 + i) { Array($0) }, "a decoded text differs")
                    }
                }
                for i in stride(from: 0, to: segment.count, by: 1 + segment.count / 40) {
                    expect((try? reader.withValue(at: i) { Array($0) }) == segment.withBytes(i) { Array($0) }, "a decoded text differs")
                }
            }
        }
    }
}
