import FirnBytes
import FirnStore
import FirnTable

/// Comparing two versions of a segment, or segments of two files.
///
/// Equality is proven physically (`docs/format/model.md`, "Which values are the same"): the same chunks, chunk overlays, shared text and
/// validity decode to the same values. The logical hash is an untrusted claim and proves nothing; if both segments claim the same hash, the
/// values are decoded and compared.
extension StoredSegment {
    func rowsThatMayDiffer(from other: any StoredRows) throws(Damage) -> Bits? {
        if let other = other as? WorkingRows { return try other.rowsThatMayDiffer(from: self) }
        guard let other = other as? StoredSegment else { return nil }
        if self === other { return Bits(count: rowCount) }
        guard rowCount == other.rowCount, header.firstRowID == other.header.firstRowID, rowIDs == other.rowIDs,
            type.columns == other.type.columns
        else { return nil }
        var differing = Bits(count: rowCount)
        var open: [Int] = [], claimed = 0
        for (index, column) in type.columns.enumerated() {
            let mine = header.entryPosition(of: column.id, near: index), theirs = other.header.entryPosition(of: column.id, near: index)
            if try markDifferences(index, mine, other, theirs, in: &differing) { continue }
            open.append(index)
            if let mine, let theirs, let first = header.entries[mine].logicalHash, first == other.header.entries[theirs].logicalHash {
                claimed += 1
            }
        }
        // If few columns are open, or all of them claim equal hashes, reading them costs less than comparing whole rows.
        guard claimed == open.count || open.count * StoredSegment.fewColumns <= type.columns.count else { return nil }
        for index in open { try compare(index, other, in: &differing) }
        let here = live ?? Bits(repeating: true, count: rowCount), there = other.live ?? Bits(repeating: true, count: rowCount)
        for w in differing.words.indices { differing.words[w] |= here.words[w] ^ there.words[w] }
        return differing
    }

    func storesSame(_ index: Int, as other: any StoredRows, _ otherIndex: Int) throws(Damage) -> Bool {
        guard let other = other as? StoredSegment, rowCount == other.rowCount else { return false }
        let column = type.columns[index], otherColumn = other.type.columns[otherIndex]
        guard column.type == otherColumn.type, ![.link, .embedded, .any].contains(column.type.kind),
            let mine = header.entryPosition(of: column.id, near: index),
            let theirs = other.header.entryPosition(of: otherColumn.id, near: otherIndex),
            deltaPositions(index).isEmpty, other.deltaPositions(otherIndex).isEmpty
        else { return false }
        guard try isEncodedAlike(mine, other, theirs) else { return false }
        return try hasSameOverlay(mine, other, theirs)
    }

    /// One column in this many is read although its hashes claim nothing.
    private static let fewColumns = 4

    /// Marks the rows of a column that may differ. Returns false if nothing proves that the others are equal. `mine` and `theirs` are
    /// positions in the headers.
    private func markDifferences(_ index: Int, _ mine: Int?, _ other: StoredSegment, _ theirs: Int?, in differing: inout Bits)
        throws(Damage) -> Bool
    {
        var positions = [deltaPositions(index), other.deltaPositions(index)]
        if let mine, let theirs {
            guard try isEncodedAlike(mine, other, theirs) else { return false }
            // The same chunk with different overlays: those of `rawColumn` include the delta store.
            if try !hasSameOverlay(mine, other, theirs) {
                positions = [try overlaidPositions(index), try other.overlaidPositions(index)]
            }
        } else if mine != nil || theirs != nil {
            return false
        }
        for row in positions.joined() { differing[row] = true }
        return true
    }

    private func overlaidPositions(_ index: Int) throws(Damage) -> [Int] {
        ColumnOverlay.merged(try sealedColumn(index).overlay?.positions ?? [], deltaPositions(index))
    }

    private func hasSameOverlay(_ mine: Int, _ other: StoredSegment, _ theirs: Int) throws(Damage) -> Bool {
        guard let first = header.entries[mine].overlay, let second = other.header.entries[theirs].overlay else {
            return header.entries[mine].overlay == nil && other.header.entries[theirs].overlay == nil
        }
        return try source.holdsSame(first, as: second, of: other.source)
    }

    /// Returns whether the chunks are the same, byte by byte or by reference, and also the text that they share with other segments and the
    /// validity that they share with other columns.
    private func isEncodedAlike(_ mine: Int, _ other: StoredSegment, _ theirs: Int, depth: Int = 0) throws(Damage) -> Bool {
        let a = header.entries[mine], b = other.header.entries[theirs]
        let shared = (sharedIndices[mine] ?? []).map { header.shared[$0] },
            others = (other.sharedIndices[theirs] ?? []).map { other.header.shared[$0] }
        guard shared.count == others.count else { return false }
        for (one, another) in zip(shared, others) {
            guard one.code == another.code, try source.holdsSame(one.ref, as: another.ref, of: other.source)
            else { return false }
        }
        if let first = a.chunk, let second = b.chunk {
            guard try source.holdsSame(first, as: second, of: other.source) else { return false }
        } else {
            guard a.packed != nil, b.packed != nil, try chunkBytes(mine).elementsEqual(try other.chunkBytes(theirs)) else { return false }
        }
        // Equal chunks follow from the columns at the same positions, which must be the same too.
        for from in try relationSources(of: mine) {
            guard from != mine, from < header.entries.count, from < other.header.entries.count, depth < StoredSegment.maximumReferences,
                try isEncodedAlike(from, other, from, depth: depth + 1)
            else { return false }
        }
        // Equal chunks refer to the same position, but the validity stream there may differ.
        guard let here = try outerPresence(of: mine) else { return true }
        guard let there = try other.outerPresence(of: theirs) else { return false }
        return here.elementsEqual(there)
    }

    /// A prediction leads to a map, and a map to a column without a relation.
    private static let maximumReferences = 2

    /// Reads a column of both segments and marks the rows whose values differ.
    private func compare(_ index: Int, _ other: StoredSegment, in differing: inout Bits) throws(Damage) {
        let mine = try rawColumn(index), theirs = try other.rawColumn(index)
        var here = Column(mine.type), there = Column(theirs.type)
        for vector in 0..<vectorCount {
            try mine.read(vector: vector, into: &here)
            try theirs.read(vector: vector, into: &there)
            here.normalise()
            there.normalise()
            if here.isStoredAs(there) { continue }
            for (i, row) in rows(ofVector: vector).enumerated() where here.value(at: i) != there.value(at: i) {
                differing[row] = true
            }
        }
    }
}

extension SegmentSource {
    /// Returns whether two references lead to the same bytes. Equal hashes and lengths prove this, also for two files. Unless both are the
    /// same reference of one file, both extents are read, because a damaged extent is an error and not a match. In an encrypted file, the
    /// tag that replaces the hash also depends on the position, the birth version and the file.
    func holdsSame(_ ref: ExtentRef, as other: ExtentRef, of source: SegmentSource) throws(Damage) -> Bool {
        switch (origin, source.origin) {
        case (.plain(let path), .plain(let otherPath)):
            guard ref.hash == other.hash, ref.length == other.length else { return false }
            if let path, path == otherPath, ref == other { return true }
            _ = try store.read(ref)
            _ = try source.store.read(other)
            return true
        case (.encrypted(let file, let path), .encrypted(let otherFile, let otherPath)):
            guard file == otherFile, ref == other else { return false }
            if path == otherPath { return true }
            _ = try store.read(ref)
            _ = try source.store.read(other)
            return true
        default: return false
        }
    }

    private enum Origin {
        /// `path` is nil if it is not known.
        case plain(path: String?)
        case encrypted(file: Hash128, path: String)
    }

    private var origin: Origin {
        let file: Store? =
            switch store {
            case let extents as FileExtents: extents.store
            case let snapshot as StoreSnapshot: snapshot.store
            case let transaction as StoreTransaction: transaction.store
            default: nil
            }
        guard let file, file.isEncrypted else { return .plain(path: file?.absolutePath) }
        return .encrypted(file: file.identity, path: file.absolutePath)
    }
}

extension Column {
    /// Returns whether both have the same arrays. Both must be normalised. If so, they have the same values; different arrays can still
    /// represent the same values.
    func isStoredAs(_ other: Column) -> Bool {
        guard type == other.type, count == other.count, present?.words == other.present?.words, words == other.words, extra == other.extra,
            tags == other.tags,
            offsets == other.offsets, text.offsets == other.text.offsets, text.bytes == other.text.bytes,
            children.count == other.children.count, reals.count == other.reals.count
        else { return false }
        for i in reals.indices where reals[i].bitPattern != other.reals[i].bitPattern { return false }
        for i in children.indices where !children[i].isStoredAs(other.children[i]) { return false }
        return true
    }
}
