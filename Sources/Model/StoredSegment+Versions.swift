import FirnBytes
import FirnStore

/// What two versions of a segment have in common, from their headers and the delta, and chunks that may share presence: no value is decoded.
extension StoredSegment {
    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits? {
        if let other = other as? WorkingRows { return try other.rowsThatMayDiffer(from: self) }
        guard let other = other as? StoredSegment else { return nil }
        if self === other { return Bits(count: rowCount) }
        guard rowCount == other.rowCount, header.firstRowID == other.header.firstRowID, rowIDs == other.rowIDs, type.columns == other.type.columns else { return nil }
        var differing = Bits(count: rowCount)
        for (index, column) in type.columns.enumerated() {
            guard try markDifferences(column, index, other, in: &differing) else { return nil }
        }
        let here = live ?? Bits(repeating: true, count: rowCount), there = other.live ?? Bits(repeating: true, count: rowCount)
        for w in differing.words.indices { differing.words[w] |= here.words[w] ^ there.words[w] }
        return differing
    }

    /// False if any row of the column may differ.
    private func markDifferences(_ column: ColumnSchema, _ index: Int, _ other: StoredSegment, in differing: inout Bits) throws(Damage) -> Bool {
        let mine = header.entries.firstIndex { $0.columnID == column.id }, theirs = other.header.entries.firstIndex { $0.columnID == column.id }
        if let mine, let theirs {
            if try !sealedAlike(mine, other, theirs) {
                guard try encodedAlike(mine, other, theirs) else { return false }
                // The same chunk under other patches: `rawColumn` has them with the delta laid over.
                for patch in [try rawColumn(index).patch, try other.rawColumn(index).patch] { for row in patch?.positions ?? [] { differing[row] = true } }
                return true
            }
        } else if mine != nil || theirs != nil {
            return false
        }
        for overlay in [overlay[index], other.overlay[index]] { for row in overlay?.positions ?? [] { differing[row] = true } }
        return true
    }

    /// The values under the delta are the same, patches included.
    private func sealedAlike(_ mine: Int, _ other: StoredSegment, _ theirs: Int) throws(Damage) -> Bool {
        let a = header.entries[mine], b = other.header.entries[theirs]
        if let first = a.logicalHash, let second = b.logicalHash { return first == second }
        guard a.patch == nil, b.patch == nil else { return false }
        return try encodedAlike(mine, other, theirs)
    }

    /// The chunks are the same, byte by byte or by hash, and so are the text that they share with other segments and the presence with other columns.
    private func encodedAlike(_ mine: Int, _ other: StoredSegment, _ theirs: Int) throws(Damage) -> Bool {
        let a = header.entries[mine], b = other.header.entries[theirs]
        let shared = header.shared.filter { $0.column == mine }, others = other.header.shared.filter { $0.column == theirs }
        guard shared.count == others.count, zip(shared, others).allSatisfy({
            $0.stream == $1.stream && $0.kind == $1.kind && $0.ref.hash == $1.ref.hash && $0.ref.length == $1.ref.length
        }) else { return false }
        if let first = a.chunk, let second = b.chunk {
            guard first.hash == second.hash, first.length == second.length else { return false }
        } else {
            guard a.packed != nil, b.packed != nil, try chunkBytes(mine).elementsEqual(try other.chunkBytes(theirs)) else { return false }
        }
        // Equal chunks refer to the same place, but what stands there may differ.
        guard let here = try outerPresence(of: mine) else { return true }
        guard let there = try other.outerPresence(of: theirs) else { return false }
        return here.elementsEqual(there)
    }
}
