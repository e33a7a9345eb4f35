/// Returns the position of the first byte that is not part of valid UTF-8; nil if there is none.
func firstInvalidUTF8(_ memory: UnsafePointer<UInt8>, _ count: Int) -> Int? {
    var at = 0
    let raw = UnsafeRawPointer(memory)
    while at < count {
        // Skips 16 ASCII bytes at a time; memory after the text may be read.
        while at &+ 16 <= count {
            let words = raw.loadUnaligned(fromByteOffset: at, as: SIMD2<UInt64>.self)
            if (words[0] | words[1]) & 0x8080_8080_8080_8080 != 0 { break }
            at &+= 16
        }
        while at < count, memory[at] < 0x80 { at &+= 1 }
        while at < count, memory[at] >= 0x80 {
            let lead = memory[at]
            let follow: Int
            var low: UInt8 = 0x80, high: UInt8 = 0xBF
            switch lead {
            case 0xC2...0xDF: follow = 1
            case 0xE0: (follow, low) = (2, 0xA0)
            case 0xED: (follow, high) = (2, 0x9F)
            case 0xE1...0xEF: follow = 2
            case 0xF0: (follow, low) = (3, 0x90)
            case 0xF4: (follow, high) = (3, 0x8F)
            case 0xF1...0xF3: follow = 3
            default: return at
            }
            if at &+ follow >= count { return at }
            if memory[at &+ 1] < low || memory[at &+ 1] > high { return at }
            if follow > 1, memory[at &+ 2] & 0xC0 != 0x80 { return at }
            if follow > 2, memory[at &+ 3] & 0xC0 != 0x80 { return at }
            at &+= follow &+ 1
        }
    }
    return nil
}
