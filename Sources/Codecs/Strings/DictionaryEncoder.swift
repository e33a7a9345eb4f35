import FirnBytes

/// Encodes segments as codes into the sorted values of a table. `DictionaryReader` describes the layout.
struct DictionaryEncoder {
    let blob: [UInt8]
    private let profile: Profile
    private let valueCount: Int
    /// Maps the table's value numbers to positions in byte order.
    private let rank: [UInt32]

    /// `isQuick`: see `TextGroupEncoder`.
    init(table: ValueTable, profile: Profile, isQuick: Bool = false) {
        self.profile = profile
        let order = table.sortedOrder()
        var rank = [UInt32](repeating: 0, count: order.count)
        for (position, index) in order.enumerated() { rank[Int(index)] = UInt32(position) }
        self.rank = rank
        valueCount = order.count
        let level =
            switch profile {
            case .fast: 1
            case .standard, .derived: table.valueBytes < 32 << 10 && !isQuick ? 19 : 9
            case .small, .modelled: 19
            }
        blob = DictionaryValues.encode(count: order.count, level: level) { table.value(Int(order[$0])) }
    }

    func encode(_ segment: CodedSegment, inline: Bool) -> [UInt8] {
        let codes = segment.mapped(rank)
        let plain = stream(codes, segment, remap: nil, inline: inline)
        guard !inline, valueCount >= 256 || segment.isCoded, let remap = remap(codes, segment) else { return plain }
        let remapped = stream(codes.map { remap.position[Int($0)] }, segment, remap: remap.codes, inline: false)
        return segment.isCoded || remapped.count < plain.count ? remapped : plain
    }

    private func stream(_ codes: [Int64], _ segment: CodedSegment, remap: [Int64]?, inline: Bool) -> [UInt8] {
        var out = ByteWriter()
        out.append(TextEncoding.dictionary.rawValue)
        out.append(UInt8((inline ? 0 : 1) | (remap == nil ? 0 : 2)))
        if inline { out.append(lengthPrefixed: blob) } else { out.append(UInt8(0)) }
        if let remap {
            out.appendVarint(remap.count)
            out.append(lengthPrefixed: remap.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) })
        }
        out.append(contentsOf: codes.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: segment.present, profile: profile) })
        return out.bytes
    }

    /// Returns the codes that occur, ascending, and the position of each code among them; nil if remapping cannot make the stream smaller.
    private func remap(_ codes: [Int64], _ segment: CodedSegment) -> (codes: [Int64], position: [Int64])? {
        var position = [Int64](repeating: -1, count: valueCount)
        if let present = segment.present {
            for (row, code) in codes.enumerated() where present[row] { position[Int(code)] = 0 }
            // Slots of absent rows also hold codes, and those must be mapped as well.
            for (row, code) in codes.enumerated() where !present[row] && position[Int(code)] < 0 { position[Int(code)] = 0 }
        } else {
            for code in codes { position[Int(code)] = 0 }
        }
        var used: [Int64] = []
        for code in 0..<valueCount where position[code] == 0 {
            position[code] = Int64(used.count)
            used.append(Int64(code))
        }
        // If the segment uses more than 3/4 of the values, remapping saves less than half a bit per code.
        return (segment.isCoded ? used.count < valueCount : used.count * 4 <= valueCount * 3) ? (used, position) : nil
    }
}
