import FirnBytes

/// Returns the position of the first byte that is not part of valid UTF-8; nil if there is none.
package func firstInvalidUTF8(_ memory: UnsafePointer<UInt8>, _ count: Int) -> Int? {
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
package enum TextCheck {
    /// Returns the position of the first text from `first` on that is not UTF-8; nil if all are.
    package static func firstInvalid(_ text: Text, from first: Int) -> Int? {
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
