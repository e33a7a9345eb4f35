import FirnBytes
import FirnStore
import FirnTable

extension DatabaseSnapshot {
    /// Reads every extent of this version, so that every hash is checked, and returns the defects. If `full`, also decodes every value, and
    /// checks counts, ascending row ids, the order within sets and maps, zones and indexes, and that links lead to row ids that were
    /// assigned. Whether keys are unique is not checked.
    package func verify(full: Bool, progress: (_ rows: Int) -> Void = { _ in }) -> [Defect] {
        core.verify(full: full, progress: progress)
    }
}

extension SnapshotCore {
    func verify(full: Bool, progress: (_ rows: Int) -> Void = { _ in }) -> [Defect] {
        var seen: Set<ExtentRef> = []
        return verify(full: full, passing: &seen, progress: progress)
    }

    /// `seen` contains the headers of segments that were already verified, with everything that they refer to.
    func verify<E: Error>(
        full: Bool, passing seen: inout Set<ExtentRef>, progress: (_ rows: Int) throws(E) -> Void
    ) throws(E) -> [Defect] {
        let verifier = Verifier(core: self, full: full, seen: seen)
        for type in schema.types.indices where !verifier.isBeyondMemory { try verifier.check(type, progress) }
        seen = verifier.seen
        return verifier.defects
    }
}

private final class Verifier {
    let core: SnapshotCore
    let full: Bool
    var seen: Set<ExtentRef>
    var defects: [Defect] = []
    /// Something was not checked for lack of memory; the rest need not be checked.
    private(set) var isBeyondMemory = false
    private var schema = TypeSchema("", columns: [])
    /// The delta store of the current type cannot be read as a whole.
    private var hasDeltaDefect = false

    /// What is being checked.
    private struct Location {
        var part: String
        var rows: ClosedRange<Int64>?
    }

    init(core: SnapshotCore, full: Bool, seen: Set<ExtentRef>) {
        self.core = core
        self.full = full
        self.seen = seen
    }

    private func note(_ location: Location, _ column: Int?, _ damage: Damage) {
        defects.append(
            Defect(type: schema.name, column: column.map { schema.columns[$0].name }, rows: location.rows, part: location.part, damage))
        isBeyondMemory = isBeyondMemory || damage.isBeyondMemory
    }

    /// `base` is the offset of the extent that is read. Damage within the extent is reported with its offset in the file.
    private func attempt<R>(_ location: Location, _ column: Int? = nil, base: UInt64 = 0, _ body: () throws(Damage) -> R) -> R? {
        do throws(Damage) { return try body() } catch {
            note(location, column, error.offset < base ? error.shifted(by: base) : error)
            return nil
        }
    }

    func check<E: Error>(_ type: Int, _ progress: (Int) throws(E) -> Void) throws(E) {
        schema = core.schema.types[type]
        let state = core.catalogue.types[type], before = defects.count
        let all: ClosedRange<Int64>? = state.nextRowID > 0 ? 0...state.nextRowID - 1 : nil
        var live = 0
        var last: Int64 = -1
        checkDelta(type, all)
        hasDeltaDefect = defects.count > before
        // A directory that cannot be read is one defect, not one for each segment that it lists.
        if state.segmentCount > 0, state.inner == nil,
            attempt(Location(part: "directory", rows: all), nil, { () throws(Damage) in try core.store.read(state.directory) }) == nil
        {
            return
        }
        for index in 0..<state.segmentCount {
            var location = Location(part: "segment \(index)")
            let entry = attempt(location, base: state.directory.offset) { () throws(Damage) in
                try core.directoryEntry(type: type, index: index)
            }
            guard let entry else { continue }
            location.rows = entry.firstRowID...entry.lastRowID
            if entry.firstRowID <= last {
                note(location, nil, Damage("row ids do not ascend from the segment before", at: Int(clamping: state.directory.offset)))
            }
            last = entry.lastRowID
            // A segment that another version shares, without new delta records about it, was checked there.
            if !entry.header.isNone, !state.touches(index), seen.contains(entry.header) {
                live += entry.rowCount - entry.deletedCount
                try progress(entry.rowCount)
                continue
            }
            guard let segment = open(type, index, entry, location) else { continue }
            live += segment.liveCount
            for column in schema.columns.indices where !isBeyondMemory { check(segment, column, location) }
            if isBeyondMemory { return }
            if !entry.header.isNone { seen.insert(entry.header) }
            try progress(segment.rowCount)
        }
        defects += core.verifyIndexes(type, full: full)
        // Read the file, not rows that versions share in memory.
        let tail = Location(part: "delta", rows: last + 1 < state.nextRowID ? last + 1...state.nextRowID - 1 : all)
        if state.deltaRows > 0, !hasDeltaDefect,
            let rows = attempt(tail, nil, base: state.delta.offset, { () throws(Damage) in try DeltaSegment(core, type: type) })
        {
            live += rows.rowCount
            for column in schema.columns.indices { checkValues(rows.values(column), column, tail) { try? rows.rowID(at: $0) } }
        }
        if live != state.liveRows, defects.count == before {
            note(
                Location(part: "catalogue", rows: all), nil, Damage("\(live) rows are present, but the catalogue records \(state.liveRows)")
            )
        }
    }

    /// Checks each node of the delta store separately, and reports the rows about which a damaged node may have records.
    private func checkDelta(_ type: Int, _ all: ClosedRange<Int64>?) {
        let state = core.catalogue.types[type]
        TreeReader(root: state.delta, source: core.store).verify { from, before, damage in
            let low = from.flatMap(Int64.init(treeKey:)) ?? 0,
                high = before.flatMap(Int64.init(treeKey:)).map { $0 - 1 } ?? state.nextRowID - 1
            note(Location(part: "delta", rows: max(low, 0)...max(low, high, 0)), nil, damage)
        }
    }

    /// Opens a segment with its delta records or, if the delta store is damaged, without them.
    private func open(_ type: Int, _ index: Int, _ entry: DirectoryEntry, _ location: Location) -> StoredSegment? {
        do throws(Damage) { return try core.segment(type: type, index: index) } catch {
            guard core.catalogue.types[type].touches(index), let (bytes, owner) = try? core.header(type: type, entry),
                let header = try? SegmentHeader(bytes),
                let bare = try? StoredSegment.open(
                    core, schema: schema, entry: entry, header: header, bytes: bytes, owner: owner, changes: [])
            else {
                note(location, nil, error.offset < entry.header.offset ? error.shifted(by: entry.header.offset) : error)
                return nil
            }
            // The segment itself is intact: the defect is in the delta store, and was reported when its nodes and values were read one by
            // one, unless they contradict the segment.
            if !hasDeltaDefect {
                note(Location(part: "delta", rows: location.rows), nil, error.shifted(by: core.catalogue.types[type].delta.offset))
            }
            return bare
        }
    }

    private func check(_ segment: StoredSegment, _ column: Int, _ location: Location) {
        let stored = segment.entry(column)
        let base = stored?.chunk?.offset ?? segment.headerRef.offset
        guard attempt(location, column, base: base, { () throws(Damage) in try segment.rawColumn(column) }) != nil, full else { return }
        guard let all = attempt(location, column, base: base, { () throws(Damage) in try segment.unlocatedRows(column) }) else { return }
        checkValues(all, column, location) { try? segment.rowID(at: $0) }
        if segment.live == nil, !segment.hasDelta(column), let hash = stored?.logicalHash, hash != all.logicalHash {
            note(location, column, Damage("values do not match their logical hash", at: Int(clamping: base)))
        }
        // The zone of the header covers the chunk with its overlay. Changes in the delta store are not in it, and readers that apply them
        // use no zone, but the zone is widened from this one when they are sealed.
        guard let zone = stored?.zone else { return }
        let sealed =
            !segment.hasDelta(column)
            ? all : attempt(location, column, base: base, { () throws(Damage) in try segment.sealedRows(column) })
        if let sealed, !zone.covers(sealed.zone) {
            note(location, column, Damage("values outside their zone", at: Int(clamping: segment.headerRef.offset)))
        }
    }

    private func checkValues(_ values: Column, _ column: Int, _ location: Location, _ rowID: (Int) -> Int64?) {
        func fault(_ what: String, _ row: Int) {
            note(Location(part: location.part, rows: rowID(row).map { $0...$0 } ?? location.rows), column, Damage(what))
        }
        let type = schema.columns[column].type
        if !type.isOptional, type.kind != .any, type.kind != .link, type.kind != .embedded, values.nullCount > 0 {
            fault("a null in a column that is not optional", (0..<values.count).first { !values.isPresent($0) } ?? 0)
        }
        if type.collection == .set || type.collection == .map {
            for row in 0..<values.count {
                let keys = values.children[0]
                for i in values.offsets[row]..<values.offsets[row + 1] where i > values.offsets[row] {
                    if Value.order(keys.value(at: i - 1), keys.value(at: i)) >= 0 {
                        fault("a \(type.collection) out of order", row)
                        break
                    }
                }
            }
        }
        guard let target = type.target, let index = core.schema.types.firstIndex(where: { $0.name == target }) else { return }
        let links = type.isCollection ? values.children[values.children.count - 1] : values
        let end = core.catalogue.types[index].nextRowID
        for element in 0..<links.count where links.isPresent(element) && (links.words[element] < 0 || links.words[element] >= end) {
            // The row of an element is the first one whose elements end after it.
            return fault(
                "a link to a row that never existed", type.isCollection ? (values.offsets.firstIndex { $0 > element } ?? 1) - 1 : element)
        }
    }
}

extension Int64 {
    /// A row id from a key of the delta store. Keys of damaged nodes can contain anything.
    init?(treeKey key: [UInt8]) {
        guard key.count >= 8 else { return nil }
        self.init(exactly: key.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

extension Zone {
    fileprivate func covers(_ other: Zone) -> Bool {
        if other.mayHaveNulls && !mayHaveNulls { return false }
        if allNull && !other.allNull { return false }
        switch (bounds, other.bounds) {
        case (.words(let a, let b), .words(let c, let d)): return a <= c && d <= b
        case (.reals(let a, let b), .reals(let c, let d)): return a <= c && d <= b
        case (.text(let mine), .text(let theirs)): return mine.covers(theirs)
        default: return true
        }
    }
}
