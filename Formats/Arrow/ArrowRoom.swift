import FirnBytes
import FirnTable

/// The memory of the values that are being decoded. It is charged in large steps.
final class ArrowRoom {
    let charge = MemoryCharge(.process)
    private var needed = 0
    private static let step = 1 << 20
    /// What is not charged: a vector needs less.
    private static let free = 1 << 18

    /// Charges `more` bytes that are about to be added.
    func reserve(_ more: Int) throws(ArrowFault) {
        let (sum, overflow) = needed.addingReportingOverflow(max(more, 0))
        guard !overflow else { throw ArrowFault.beyondMemory("a batch", more, charge.budget) }
        needed = sum
        guard sum > charge.bytes, sum > ArrowRoom.free else { return }
        let add = max(ArrowRoom.step, sum - charge.bytes)
        guard charge.take(add) else { throw ArrowFault.beyondMemory("a batch", add, charge.budget) }
    }

    /// Charges `count` times `width` bytes.
    func reserve(_ count: Int, times width: Int) throws(ArrowFault) {
        let (product, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow else { throw ArrowFault.beyondMemory("a batch", .max, charge.budget) }
        try reserve(product)
    }
}

extension Array where Element: BitwiseCopyable {
    /// Appends `count` elements, which `fill` writes.
    @inline(__always)
    mutating func grow<E: Error>(_ count: Int, zero: Element, _ fill: (UnsafeMutablePointer<Element>) throws(E) -> Void) throws(E) {
        guard count > 0 else { return }
        let start = self.count
        append(contentsOf: repeatElement(zero, count: count))
        try withUnsafeMutableBufferPointer { (all) throws(E) in
            if let base = all.baseAddress { try fill(base + start) }
        }
    }
}

extension Bits {
    /// Makes bits of a bitmap in memory, from the bit `start` on. The memory has them all.
    init(_ memory: UnsafeRawPointer, from start: Int, count: Int) {
        var words = [UInt64](repeating: 0, count: (count + 63) >> 6)
        let shift = UInt64(start & 7), end = (start + count + 7) >> 3
        for w in words.indices {
            let at = start >> 3 + w * 8
            if at + 9 <= end {
                var word = UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: at, as: UInt64.self)) >> shift
                if shift > 0 { word |= UInt64(memory.load(fromByteOffset: at + 8, as: UInt8.self)) << (64 - shift) }
                words[w] = word
            } else {
                for i in 0..<min(9, end - at) {
                    let byte = UInt64(memory.load(fromByteOffset: at + i, as: UInt8.self))
                    words[w] |= i == 0 ? byte >> shift : byte << (UInt64(i) * 8 - shift)
                }
            }
        }
        self.init(words: words, count: count)
    }

    /// Returns the bits that are set in both.
    static func both(_ a: Bits?, _ b: Bits?) -> Bits? {
        guard let a else { return b }
        guard let b else { return a }
        var out = a
        for i in out.words.indices { out.words[i] &= b.words[i] }
        return out
    }
}

/// Returns the position of the first byte that is not part of valid UTF-8; nil if there is none.
func firstInvalidUTF8(_ memory: UnsafePointer<UInt8>, _ count: Int) -> Int? {
    let raw = UnsafeRawPointer(memory)
    var at = 0
    while at < count {
        while at &+ 16 <= count {
            let words = raw.loadUnaligned(fromByteOffset: at, as: SIMD2<UInt64>.self)
            if (words[0] | words[1]) & 0x8080_8080_8080_8080 != 0 { break }
            at &+= 16
        }
        while at < count, memory[at] < 0x80 { at &+= 1 }
        while at < count, memory[at] >= 0x80 {
            guard let length = sequenceLength(memory + at, count &- at) else { return at }
            at &+= length
        }
    }
    return nil
}

/// Returns the length of the character that begins with a byte from 0x80 on; nil if it is not valid (Unicode, table 3-7).
@inline(__always)
private func sequenceLength(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int? {
    let lead = bytes[0]
    guard lead >= 0xC2, lead <= 0xF4 else { return nil }
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard count >= length else { return nil }
    let second = bytes[1]
    let low: UInt8 = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80, high: UInt8 = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF
    guard second >= low, second <= high else { return nil }
    if length > 2, bytes[2] & 0xC0 != 0x80 { return nil }
    if length > 3, bytes[3] & 0xC0 != 0x80 { return nil }
    return length
}

/// Checks texts that were appended to a column.
enum ArrowTextCheck {
    /// Returns the position of the first text from `first` on that is not UTF-8; nil if all are.
    static func firstInvalid(_ text: Text, from first: Int) -> Int? {
        let start = text.offsets[first], end = text.offsets[text.count]
        return text.bytes.withUnsafeBufferPointer { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            if let wrong = firstInvalidUTF8(base + start, end - start) {
                return (first..<text.count).first { text.offsets[$0 + 1] > start + wrong } ?? first
            }
            // A text that begins within a character follows one that ends within it.
            return text.offsets.withUnsafeBufferPointer { offsets in
                for i in first..<text.count where offsets[i + 1] > offsets[i] && base[offsets[i]] & 0xC0 == 0x80 { return i }
                return nil
            }
        }
    }
}
