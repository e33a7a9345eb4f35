import FirnBytes
import FirnDisk

/// Finds parts of a damaged file without any reference to them.
extension Salvage {
    /// Calls `body` for every unit of the file whose first four bytes match, with all bytes from there to the end of the file. `body`
    /// returns how many of them it used, or 0; the search continues after those. In an encrypted file nothing is found, because sealed
    /// bytes cannot be recognised.
    package func forEachUnit(beginningWith magic: (UInt32) -> Bool, _ body: (_ offset: UInt64, _ bytes: UnsafeRawBufferPointer) -> Int) {
        guard cipher == nil else { return }
        let end = min(length, UInt64(mapping.reach))
        var offset = Root.inlineOffset, dataEnd: UInt64 = 0
        while offset + 4 <= end {
            // Holes are skipped: there may be terabytes of them.
            if offset >= dataEnd {
                guard let data = file.data(from: offset), data.lowerBound < end else { return }
                offset = max(offset, data.lowerBound / 64 * 64)
                dataEnd = data.upperBound
                continue
            }
            var used = 0
            if magic(mapping.bytes(at: Int(offset), count: 4).loadUnaligned(as: UInt32.self).littleEndian) {
                used = body(offset, mapping.bytes(at: Int(offset), count: Int(end - offset)))
            }
            offset += ExtentRef.units(of: UInt64(used)) * 64
        }
    }

    /// The identities in the whole roots, or in the damaged ones if none is whole.
    package var identities: [Hash128] {
        let slots = Salvage.slots(mapping, length), whole = slots.compactMap(\.whole)
        var found: [Hash128] = []
        for root in whole.isEmpty ? slots.compactMap(\.torn) : whole where !found.contains(root.identity) { found.append(root.identity) }
        return found
    }

    /// The version of the newest whole root, and the length of the file in bytes that it requires.
    package var newestRoot: (version: UInt64, length: UInt64)? {
        Salvage.slots(mapping, length).compactMap(\.whole).max { $0.version < $1.version }.map { ($0.version, $0.end * 64) }
    }

    /// Whether the other slot than that of the newest whole root is neither a root nor vacant: it may have referred to a newer version.
    package var hasDamagedSlot: Bool {
        guard let root = Salvage.slots(mapping, length).compactMap(\.whole).max(by: { $0.version < $1.version }), root.version > 0,
            !root.isInlineFile
        else { return false }
        let offset = root.offset(of: root.version &+ 1), slot = bytes(at: offset, atMost: UInt64(Root.slotBytes))
        return !root.isVacant(slot) && (try? Root(slot: slot, at: offset)) == nil
    }

    /// Adds an extent in memory that was reconstructed from recovered data. Its reference can be read like those of the file.
    package func add(_ bytes: [UInt8]) -> ExtentRef {
        added.withLock { added in
            let after = (added.keys.map { $0.units.upperBound * 64 }.max() ?? 0)
            let ref = ExtentRef(offset: max(after, (length / 64 + 1) * 64), length: UInt64(bytes.count), birth: 1, hash: Hash128(of: bytes))
            added[ref] = FixedBytes(bytes)
            return ref
        }
    }
}

extension Salvage.Lead {
    /// Returns a lead to version 1, whose segments were found by a search.
    package static func bySearch(time: Int64) -> Salvage.Lead { Salvage.Lead(version: 1, time: time, catalogue: .none, origin: .search) }
}
