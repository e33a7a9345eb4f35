import FirnBytes
import FirnCodecs

/// Reads an encoded stream with its codec. The input is kind u8 (if its two high bits are set, the count is multiplied by 2^30), count u16,
/// for kinds with two parts the length of the first as u16, then the bytes.
enum StreamsAttack {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 3, bytes.count <= 1 << 18 else { return }
        // In files, counts of elements are untrusted and can be any number.
        let count = (Int(bytes[1]) | Int(bytes[2]) << 8) << [0, 0, 0, 30][Int(bytes[0] >> 6)]
        let rest = UnsafeRawBufferPointer(rebasing: bytes[3...])
        switch bytes[0] & 63 % 8 {
        case 0: words(rest, count)
        case 1: reals(rest, count)
        case 2: exact(rest) { bytes in if let reader = try? BooleansReader(bytes, count: count) { bits(reader) } }
        case 3: lengths(rest, count)
        case 4: exact(rest) { text($0, count, []) }
        case 5: nested(rest, count)
        case 6: shared(.values, rest, count)
        default: shared(.trained, rest, count)
        }
    }

    /// Copies the bytes to a separate allocation, so that the address sanitizer detects reads past their end.
    private static func exact(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyMemory(from: bytes)
        body(UnsafeRawBufferPointer(copy))
    }

    private static func parts(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? {
        guard bytes.count >= 2 else { return nil }
        let first = min(Int(bytes[0]) | Int(bytes[1]) << 8, bytes.count - 2)
        return (UnsafeRawBufferPointer(rebasing: bytes[2..<(2 + first)]), UnsafeRawBufferPointer(rebasing: bytes[(2 + first)...]))
    }

    /// Returns the vectors to read: the first two, the middle and the last one.
    private static func vectors(_ count: Int) -> [Int] {
        let all = (count + 1023) / 1024
        return all <= 4 ? Array(0..<all) : [0, 1, all / 2, all - 1]
    }

    private static func positions(_ count: Int) -> [Int] {
        Set([0, 1, 63, 1023, 1024, count / 2, count - 2, count - 1]).filter { $0 >= 0 && $0 < count }.sorted()
    }

    private static func words(_ bytes: UnsafeRawBufferPointer, _ count: Int) {
        exact(bytes) { bytes in
            guard let reader = try? IntegersReader(bytes, count: count) else { return }
            _ = reader.bounds()
            var out = [Int64](repeating: 0, count: 1024), found = [UInt64](repeating: 0, count: 16)
            for vector in vectors(count) {
                _ = reader.bounds(ofVector: vector)
                out.withUnsafeMutableBufferPointer { _ = try? reader.decode(vector: vector, into: $0.baseAddress!) }
                for (low, high) in [(Int64(0), Int64(100)), (.min, .max), (5, 4), (-7, 1 << 50)] {
                    found.withUnsafeMutableBufferPointer { _ = try? reader.search(vector: vector, low, high, into: $0.baseAddress!) }
                }
                _ = try? reader.sum(vector: vector)
            }
            for position in positions(count) {
                _ = try? reader.value(at: position)
                let n = min(count - position, 130)
                out.withUnsafeMutableBufferPointer { _ = try? reader.decode(from: position, count: n, into: $0.baseAddress!) }
            }
        }
    }

    private static func reals(_ bytes: UnsafeRawBufferPointer, _ count: Int) {
        exact(bytes) { bytes in
            guard let reader = try? FloatsReader(bytes, count: count) else { return }
            _ = reader.bounds()
            var out = [Double](repeating: 0, count: 1024), found = [UInt64](repeating: 0, count: 16)
            for vector in vectors(count) {
                _ = reader.bounds(ofVector: vector)
                out.withUnsafeMutableBufferPointer { _ = try? reader.decode(vector: vector, into: $0.baseAddress!) }
                for (low, high) in [(0.0, 100.0), (-Double.infinity, .infinity), (0.1, 0.1)] {
                    found.withUnsafeMutableBufferPointer { _ = try? reader.search(vector: vector, low, high, into: $0.baseAddress!) }
                }
                _ = try? reader.sum(vector: vector)
            }
            for position in positions(count) { _ = try? reader.value(at: position) }
        }
    }

    private static func bits(_ reader: BooleansReader) {
        let count = reader.count
        _ = reader.isConstant
        var out = [UInt64](repeating: 0, count: 16)
        for vector in vectors(count) {
            _ = reader.ones(ofVector: vector)
            guard out.withUnsafeMutableBufferPointer({ try? reader.decode(vector: vector, into: $0.baseAddress!) }) != nil else { continue }
            let n = min(1024, count - vector * 1024)
            for i in n..<max(n, 1024) { trap(unless: out[i / 64] >> UInt64(i % 64) & 1 == 0, "a bit after the last one is set") }
        }
        for position in positions(count) { _ = try? reader.value(at: position) }
    }

    private static func nested(_ bytes: UnsafeRawBufferPointer, _ count: Int) {
        guard let (first, second) = parts(bytes) else { return }
        exact(first) { first in
            exact(second) { second in
                guard let outer = try? BooleansReader(first, count: count), let reader = try? BooleansReader(second, within: outer) else {
                    return
                }
                bits(reader)
            }
        }
    }

    private static func lengths(_ bytes: UnsafeRawBufferPointer, _ count: Int) {
        exact(bytes) { bytes in
            guard let reader = try? LengthsReader(bytes, count: count) else { return }
            var out = [Int](repeating: 0, count: 1025)
            for vector in vectors(count) {
                guard out.withUnsafeMutableBufferPointer({ try? reader.decode(vector: vector, into: $0.baseAddress!) }) != nil else {
                    continue
                }
                let n = min(1024, count - vector * 1024)
                for i in 0..<n { trap(unless: out[i] <= out[i + 1], "offsets of lists are not ascending") }
                trap(unless: out[0] >= 0 && out[n] <= reader.total, "offsets of lists are out of bounds")
            }
            for position in positions(count) {
                if let range = try? reader.range(at: position) {
                    trap(unless: range.lowerBound >= 0 && range.upperBound <= reader.total, "a list is out of bounds")
                }
            }
        }
    }

    private static func shared(_ kind: SharedBlob.Kind, _ bytes: UnsafeRawBufferPointer, _ count: Int) {
        guard let (first, second) = parts(bytes) else { return }
        exact(first) { first in
            exact(second) { second in
                guard let blob = try? SharedText(kind: kind, bytes: first) else { return }
                text(second, count, [blob])
            }
        }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ shared: [SharedText]) {
        guard let reader = try? TextReader(bytes, count: count, shared: shared) else { return }
        var out = Text(), codes = [Int64](repeating: 0, count: 1024), found = [UInt64](repeating: 0, count: 16)
        let values = try? reader.values
        for vector in vectors(count) {
            let n = min(1024, count - vector * 1024)
            if (try? reader.decode(vector: vector, into: &out)) != nil {
                trap(unless: out.count == n && out.offsets.last == out.bytes.count, "the shape of a vector of text is wrong")
            }
            if let values, codes.withUnsafeMutableBufferPointer({ try? reader.decodeCodes(vector: vector, into: $0.baseAddress!) }) != nil {
                found.withUnsafeMutableBufferPointer { _ = try? reader.searchCodes(vector: vector, 0, 3, into: $0.baseAddress!) }
                trap(unless: codes[..<n].allSatisfy { $0 >= 0 && $0 < values.count }, "a code is out of bounds")
            }
        }
        for position in positions(count) { _ = try? reader.withValue(at: position) { $0.reduce(0) { $0 &+ Int($1) } } }
    }
}
