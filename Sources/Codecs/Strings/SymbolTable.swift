import FirnBytes

/// Up to 4,096 symbols of 1 … 16 bytes, in slots of 16 bytes so that a symbol is copied with one store.
///
///     count u16 · count × length u8 · bytes
struct SymbolTable: Sendable {
    static let limit = 4096
    let slots: [SIMD16<UInt8>]
    let lengths: [UInt8]
    var count: Int { lengths.count }

    init(_ symbols: [[UInt8]]) {
        trap(
            unless: symbols.count <= Self.limit && symbols.allSatisfy { (1...16).contains($0.count) },
            "symbols must have 1 to 16 bytes, at most 4096 symbols")
        lengths = symbols.map { UInt8($0.count) }
        slots = symbols.map { symbol in
            var slot = SIMD16<UInt8>(repeating: 0)
            for (i, byte) in symbol.enumerated() { slot[i] = byte }
            return slot
        }
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let count = Int(try reader.read(UInt16.self))
        guard count <= Self.limit else { throw Damage("symbol table has too many symbols") }
        let sizes = try reader.read(count: count)
        var slots = [SIMD16<UInt8>](repeating: .zero, count: count)
        for (i, size) in sizes.enumerated() {
            guard size >= 1, size <= 16 else { throw Damage("symbol is not 1 to 16 bytes long") }
            let symbol = try reader.read(count: Int(size))
            withUnsafeMutableBytes(of: &slots[i]) { $0.copyMemory(from: symbol) }
        }
        guard reader.isAtEnd else { throw Damage("symbol table is followed by other bytes", at: reader.position) }
        self.slots = slots
        lengths = Array(sizes)
    }

    /// The bytes of one symbol.
    func bytes(_ code: Int) -> [UInt8] { (0..<Int(lengths[code])).map { slots[code][$0] } }

    func encoded() -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt16(count))
        out.append(contentsOf: lengths)
        for i in 0..<count { for k in 0..<Int(lengths[i]) { out.append(slots[i][k]) } }
        return out.bytes
    }
}
