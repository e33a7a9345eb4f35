import FirnBytes

/// Encodes segments as 12-bit codes into a symbol table. `SymbolReader` describes the layout.
struct SymbolEncoder {
    private let matcher: SymbolMatcher

    init(_ table: SymbolTable) {
        matcher = SymbolMatcher(table)
    }

    func encode(_ text: Text, training: PageEncoder.Training, profile: Profile) -> [UInt8] {
        let (starts, codes) = parse(text)
        var out = ByteWriter(reserving: codes.count * 3 / 2 + text.count)
        out.append(TextEncoding.symbols.rawValue)
        switch training {
        case .none: trap("symbol-table text needs its table")
        case .inline(let blob):
            out.append(UInt8(2))
            out.append(lengthPrefixed: blob)
        case .shared(let index):
            out.append(UInt8(4))
            out.append(UInt8(index))
        }
        // Readers need the starts before anything else, so they are entropy-coded only in the profile that minimizes size.
        let startsProfile = profile.isSmall ? profile : Profile.fast
        out.append(lengthPrefixed: starts.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: startsProfile) })
        var i = 0
        while i + 1 < codes.count {
            out.append(UInt8(truncatingIfNeeded: codes[i]))
            out.append(UInt8(codes[i] >> 8) | UInt8(truncatingIfNeeded: codes[i + 1] << 4))
            out.append(UInt8(truncatingIfNeeded: codes[i + 1] >> 4))
            i += 2
        }
        if i < codes.count {
            out.append(UInt8(truncatingIfNeeded: codes[i]))
            out.append(UInt8(codes[i] >> 8))
        }
        return out.bytes
    }

    /// Returns where the codes of each string begin (count + 1 offsets), and all codes.
    private func parse(_ text: Text) -> (starts: [Int], codes: [UInt16]) {
        var starts = [0], total = 0
        starts.reserveCapacity(text.count + 1)
        let padded = text.bytes + [UInt8](repeating: 0, count: 16)
        let codes = [UInt16](unsafeUninitializedCapacity: text.bytes.count) { codes, filled in
            matcher.parse(text, padded, rows: 0..<text.count) { code in
                codes[total] = UInt16(truncatingIfNeeded: code)
                total &+= 1
            } end: {
                starts.append(total)
            }
            filled = total
        }
        return (starts, codes)
    }

    /// Returns the number of codes that some rows take.
    func codeCount(_ text: Text, rows: [Range<Int>]) -> Int {
        var total = 0
        let padded = text.bytes + [UInt8](repeating: 0, count: 16)
        for range in rows { matcher.parse(text, padded, rows: range) { _ in total &+= 1 } }
        return total
    }
}
