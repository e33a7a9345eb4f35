import FirnBytes
import FirnTable

extension Column {
    /// Gives equal values equal arrays: removes `present` if no value is absent, and clears the entries of absent values.
    mutating func normalise() {
        if present?.allSet ?? false { present = nil }
        for i in children.indices { children[i].normalise() }
        guard !type.isCollection else { return }
        clearUnusedText()
        if type.kind == .any {
            for row in 0..<count {
                if !AnyTag.uses(tags[row], .words) { words[row] = 0 }
                if !AnyTag.uses(tags[row], .extra) { extra[row] = 0 }
                if !AnyTag.uses(tags[row], .reals) { reals[row] = 0 }
            }
        }
        guard let bits = present else { return }
        for w in bits.words.indices {
            var missing = ~bits.words[w]
            while missing != 0 {
                let row = w &* 64 &+ missing.trailingZeroBitCount
                missing &= missing &- 1
                guard row < count else { break }
                if !words.isEmpty { words[row] = 0 }
                if !extra.isEmpty { extra[row] = 0 }
                if !reals.isEmpty { reals[row] = 0 }
                if !tags.isEmpty { tags[row] = AnyTag.null }
            }
        }
    }

    /// Empties the text of rows that have none: decoders leave arbitrary text there.
    private mutating func clearUnusedText() {
        guard text.count > 0, let used = presence(of: .text) else { return }
        var isClean = true
        for row in 0..<count where !used[row] && text.length(row) > 0 { isClean = false }
        if isClean { return }
        var clean = Text()
        clean.bytes.reserveCapacity(text.bytes.count)
        for row in 0..<count {
            if used[row] { clean.append(contentsOf: text, range: row..<(row + 1)) } else { clean.appendEmpty() }
        }
        text = clean
    }

    /// The entries of a payload array that contain a value: the validity; in `any` columns, the entries whose tag uses the array.
    func presence(of stream: StreamKind) -> Bits? {
        guard type.kind == .any else { return present }
        var bits = Bits(repeating: false, count: count)
        for row in 0..<count where AnyTag.uses(tags[row], stream) { bits[row] = true }
        return bits
    }

    /// The zone by which readers may skip the rows of this column.
    var zone: Zone {
        let nulls = nullCount
        var zone = Zone(mayHaveNulls: nulls > 0, allNull: nulls == count && count > 0, bounds: .none)
        guard !type.isCollection, type.kind != .any, nulls < count else { return zone }
        if !words.isEmpty, type.kind != .decimal, type.kind != .embedded {
            var low = Int64.max, high = Int64.min
            forEachPresent { row in
                low = min(low, words[row])
                high = max(high, words[row])
            }
            zone.bounds = .words(low, high)
        } else if !reals.isEmpty {
            var low = Double.infinity, high = -Double.infinity, ordered = true
            forEachPresent { row in
                let value = reals[row]
                if value.isNaN { ordered = false }
                low = value < low ? value : low
                high = value > high ? value : high
            }
            if ordered { zone.bounds = .reals(low, high) }
        } else if type.kind == .string || type.kind == .data, let bounds = TextBounds(text, present: present, count: count) {
            zone.bounds = .text(bounds)
        }
        return zone
    }

    @inline(__always)
    private func forEachPresent(_ body: (Int) -> Void) {
        if let present { present.forEachSet(body) } else { for row in 0..<count { body(row) } }
    }

    /// A hash of a normalised column, independent of its encoding (`docs/format/model.md`, "Logical hash").
    var logicalHash: Hash128 {
        var parts = ByteWriter()
        gatherHashes(into: &parts)
        return Hash128(of: parts.bytes)
    }

    private func gatherHashes(into out: inout ByteWriter) {
        out.append(UInt64(count))
        if let present { present.words.withUnsafeBytes { out.append(Hash128(of: $0)) } }
        if type.isCollection {
            let lengths = (0..<count).map { UInt32(truncatingIfNeeded: offsets[$0 + 1] - offsets[$0]) }
            lengths.withUnsafeBytes { out.append(Hash128(of: $0)) }
            for child in children { child.gatherHashes(into: &out) }
            return
        }
        if !words.isEmpty { words.withUnsafeBytes { out.append(Hash128(of: $0)) } }
        if !extra.isEmpty { extra.withUnsafeBytes { out.append(Hash128(of: $0)) } }
        if !reals.isEmpty { reals.withUnsafeBytes { out.append(Hash128(of: $0)) } }
        if !tags.isEmpty { tags.withUnsafeBytes { out.append(Hash128(of: $0)) } }
        if text.count > 0 {
            text.bytes.withUnsafeBytes { out.append(Hash128(of: $0)) }
            let lengths = (0..<text.count).map { UInt32(truncatingIfNeeded: text.length($0)) }
            lengths.withUnsafeBytes { out.append(Hash128(of: $0)) }
        }
    }
}

extension AnyTag {
    /// Whether a value with this tag is stored in the given stream.
    static func uses(_ tag: UInt8, _ stream: StreamKind) -> Bool {
        switch ScalarKind(rawValue: tag) {
        case .bool, .int, .link: stream == .words
        case .date, .decimal, .objectID, .uuid: stream == .words || stream == .extra
        case .float, .double: stream == .reals
        case .string, .data: stream == .text
        case .embedded, .any, nil: tag != null && stream == .text
        }
    }
}
