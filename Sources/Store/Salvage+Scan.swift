import FirnBytes
import FirnDisk

/// What can be found in a damaged file without any reference to it.
extension Salvage {
    /// Calls `body` for every unit of the file that begins with these four bytes, with all bytes from there to the end of the file. `body` returns how many of them it used, or 0:
    /// the search goes on after those. Of an encrypted file nothing is found: sealed bytes look like nothing.
    package func forEachUnit(beginningWith magic: (UInt32) -> Bool, _ body: (_ offset: UInt64, _ bytes: UnsafeRawBufferPointer) -> Int) {
        guard cipher == nil else { return }
        let end = min(length, UInt64(mapping.reach))
        var offset = Root.aloneOffset, dataEnd: UInt64 = 0
        while offset + 4 <= end {
            // Holes are passed over: there may be terabytes of them.
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

    /// The identities that roots name: of the whole ones, or, where none is whole, of what is left of others.
    package var identities: [Hash128] {
        let slots = Salvage.slots(mapping, length), whole = slots.compactMap(\.whole)
        var found: [Hash128] = []
        for root in whole.isEmpty ? slots.compactMap(\.torn) : whole where !found.contains(root.identity) { found.append(root.identity) }
        return found
    }

    /// What the newest whole root says: its version, and how many bytes the file had with it.
    package var newestRoot: (version: UInt64, length: UInt64)? {
        Salvage.slots(mapping, length).compactMap(\.whole).max { $0.version < $1.version }.map { ($0.version, $0.end * 64) }
    }

    /// Whether the slot next to the newest whole root holds neither a root nor what a vacant slot holds: it may have led to a newer version.
    package var hasDamagedSlot: Bool {
        guard let root = Salvage.slots(mapping, length).compactMap(\.whole).max(by: { $0.version < $1.version }), root.version > 0, !root.isAlone else { return false }
        let offset = root.offset(of: root.version &+ 1), slot = bytes(at: offset, atMost: UInt64(Root.slotBytes))
        return !root.isVacant(slot) && (try? Root(slot: slot, at: offset)) == nil
    }

    /// Adds an extent that was made of what was found; its reference is read like those of the file.
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
    /// To version 1, whose segments were found by a search.
    package static func bySearch(time: Int64) -> Salvage.Lead { Salvage.Lead(version: 1, time: time, catalogue: .none, origin: .search) }
}
