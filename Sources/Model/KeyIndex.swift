import FirnBytes
import FirnDisk
import FirnStore
import Synchronization

/// The rows of one type by their key, in memory: built when looking through the table has cost as much as building it would have, then kept up
/// to date by what changes. Nothing of it is in the file. Usable from any thread.
///
/// It holds (hash of key → row id) for every key that a row had in any version it covers, and perhaps in others: whoever asks looks at each
/// candidate in his own version. So deletions, cancelled transactions and older snapshots need no care; when most entries are stale, all is built anew.
final class KeyIndex: Sendable {
    fileprivate struct State {
        var shape: KeyShape
        /// Nil: not built.
        var entries: KeyEntries?
        /// Headers of segments, directories and nodes of delta trees of which every key is entered. They carry hashes of what they refer to:
        /// the same reference is the same rows.
        var headers: Set<ExtentRef> = []
        var directories: Set<ExtentRef> = []
        var nodes: Set<ExtentRef> = []
        /// The versions whose every row is entered, ascending.
        var versions: [ClosedRange<UInt64>] = []
        /// What was spent on looking through tables since the last building.
        var spent = 0
        var liveRows = 0
        /// Entries when it was built, which are not stale whatever the file says of its rows.
        var built = 0
        /// More rows than an index may hold: every look-up looks through the table.
        var isTooLarge = false
        /// There was no memory for the entries: the next attempt is due when look-ups have cost as much as building again.
        var isShortOfMemory = false
        /// For the entries.
        var charge: MemoryCharge?
    }

    /// Ranges of versions that are remembered.
    fileprivate static let mostVersions = 16
    fileprivate static let mostNodes = 1 << 16
    /// An entry takes up to three words, while the table grows even more: an index is at most about a quarter of the machine's memory. A few
    /// bytes of a file can stand for very many rows.
    fileprivate static let mostEntries = Machine.memory / 4 / entryBytes
    fileprivate static let entryBytes = 32
    /// Stale entries that are always allowed.
    static let spare = 4096

    let work: KeyWork
    private let mask: UInt64
    private let state: Mutex<State>

    init(_ shape: KeyShape, work: KeyWork) {
        self.work = work
        mask = shape.mask
        state = Mutex(State(shape: shape))
    }

    /// The rows that may have the key in a version of the type; nil if the index does not (and should not yet) know, so that the table is to be
    /// looked through. Brings the index up to that version if need be.
    func candidates(_ wanted: WantedKey, _ core: SnapshotCore, type: Int, version: UInt64) throws(Damage) -> KeyCandidates? {
        try state.withLock { (state) throws(Damage) -> KeyCandidates? in
            if !state.covers(version) {
                if state.isTooLarge { return nil }
                if state.entries == nil, state.spent <= KeyCost.building(core.catalogue.types[type], columns: state.shape.columns.count) { return nil }
                guard let shape = KeyShape(core.schema.types[type], mask: mask) else { return nil }
                do throws(Damage) { try state.cover(core, type: type, version: version, shape, work) } catch {
                    state.forget()
                    throw error
                }
                if state.isTooLarge || state.isShortOfMemory {
                    state.forget()
                    state.isShortOfMemory = false
                    return nil
                }
            }
            return state.entries!.candidates(wanted.hash)
        }
    }

    /// Notes what looking through the table cost.
    func spend(_ cost: Int) {
        state.withLock { if $0.entries == nil { $0.spent += cost } }
    }

    /// Enters what a transaction changed, before its commit: `core` is what it is about to commit, `base` the version it began from. True if
    /// the next version will be covered; then `cover(version:)` says that it is there. Entries of a commit that fails are candidates that nobody confirms.
    func settle(_ own: KeyEntries?, _ core: SnapshotCore, type: Int, base: UInt64) throws(Damage) -> Bool {
        try state.withLock { (state) throws(Damage) -> Bool in
            guard state.entries != nil, state.covers(base) else { return false }
            if let own { state.entries!.add(own) }
            // What the base had is entered, and so is what the transaction changed: nothing in the new nodes and segments is news.
            let type = core.catalogue.types[type]
            try TreeReader(root: type.delta, source: core.store).markKnown(&state.nodes)
            if !type.directory.isNone, !state.directories.contains(type.directory) {
                let bytes = try core.store.read(type.directory)
                for i in 0..<type.segmentCount { state.headers.insert(try DirectoryEntry(bytes, i).header) }
                state.directories.insert(type.directory)
            }
            state.liveRows = min(type.liveRows, 1 << 48)
            return true
        }
    }

    func cover(version: UInt64) {
        state.withLock { $0.note(version) }
    }

    /// For tests: how many entries there are; nil if the index is not built.
    var entryCount: Int? { state.withLock { $0.entries?.count } }
}

extension KeyIndex.State {
    func covers(_ version: UInt64) -> Bool {
        guard entries != nil, !isStale else { return false }
        return versions.last?.contains(version) ?? false || versions.contains { $0.contains(version) }
    }

    private var isStale: Bool { entries!.count / 2 > max(liveRows, built) + KeyIndex.spare / 2 }

    mutating func note(_ version: UInt64) {
        if let last = versions.last, last.upperBound + 1 == version {
            versions[versions.count - 1] = last.lowerBound...version
            return
        }
        if versions.contains(where: { $0.contains(version) }) { return }
        versions.append(version...version)
        versions.sort { $0.lowerBound < $1.lowerBound }
        if versions.count > KeyIndex.mostVersions { versions.removeFirst() }
    }

    mutating func forget() {
        entries = nil
        charge = nil
        headers = []
        directories = []
        nodes = []
        versions = []
    }

    /// Enters every row of a version that is not known to be there.
    mutating func cover(_ core: SnapshotCore, type: Int, version: UInt64, _ shape: KeyShape, _ work: KeyWork) throws(Damage) {
        let state = core.catalogue.types[type], rows = min(state.liveRows, 1 << 48)
        // An older version with few rows makes no entry stale.
        liveRows = versions.last.map { $0.upperBound > version } ?? false ? max(liveRows, rows) : rows
        let isNew = entries == nil || isStale || shape != self.shape
        if isNew {
            forget()
            self.shape = shape
            entries = KeyEntries()
            spent = 0
            work.add(builds: 1)
        }
        if nodes.count > KeyIndex.mostNodes { nodes = [] }
        try enterSegments(core, type, work)
        if isTooLarge || isShortOfMemory { return }
        try enterDelta(core, type, work)
        if isNew { built = entries!.count }
        note(version)
    }

    /// Charges the table of so many entries, and the smaller one that it is made from.
    private mutating func hasMemory(for entries: Int, _ memory: MemoryBudget) -> Bool {
        if charge == nil { charge = MemoryCharge(memory) }
        let bytes = entries * KeyIndex.entryBytes
        return bytes <= charge!.bytes || charge!.take(bytes - charge!.bytes)
    }

    private mutating func enterSegments(_ core: SnapshotCore, _ type: Int, _ work: KeyWork) throws(Damage) {
        let state = core.catalogue.types[type]
        if directories.contains(state.directory) { return }
        var news: [Int] = [], here: Set<ExtentRef> = [], rows = 0
        for index in 0..<state.segmentCount {
            let entry = try core.directoryEntry(type: type, index: index)
            here.insert(entry.header)
            if headers.contains(entry.header) { continue }
            news.append(index)
            rows += entry.rowCount
        }
        guard entries!.count + rows <= KeyIndex.mostEntries else {
            isTooLarge = true
            return
        }
        guard hasMemory(for: entries!.count + rows, core.source.memory) else {
            isShortOfMemory = true
            return
        }
        entries!.reserve(rows, last: state.nextRowID)
        let shape = shape
        // A few segments at a time: hashes of all would be as large as the index.
        let step = max(Machine.cores, 1) * 4
        for start in stride(from: 0, to: news.count, by: step) {
            let part = Array(news[start..<min(start + step, news.count)])
            let hashed = try parallelMap(count: part.count) { (i) throws(Damage) in
                let segment = try core.segment(type: type, index: part[i])
                let (hashes, vectors) = try shape.hashes(of: segment)
                return (segment, hashes, try segment.header.decodeDeletes(), vectors)
            }
            for (segment, hashes, gone, vectors) in hashed {
                entries!.add(hashes, firstRowID: segment.header.firstRowID, rowIDs: segment.rowIDs) { gone?[$0] ?? false }
                work.add(vectors: vectors)
            }
        }
        if state.directory.isNone { return }   // all in the catalogue: no reference to know it by
        if headers.count > 4 * here.count + 1024 { headers.formIntersection(here) }
        headers.formUnion(here)
        if directories.count > 64 { directories = [] }
        directories.insert(state.directory)
    }

    private mutating func enterDelta(_ core: SnapshotCore, _ type: Int, _ work: KeyWork) throws(Damage) {
        let state = core.catalogue.types[type], schema = core.schema.types[type]
        let shape = shape
        let ids = shape.columns.map { schema.columns[$0].id }
        var changed: [Int64] = [], records = 0
        var entries = self.entries.take()!
        defer { self.entries = entries }
        func enter(_ key: [Value], _ rowID: Int64) throws(Damage) {
            guard let wanted = shape.wanted(key) else { throw Damage("a delta value of the wrong type") }
            entries.add(wanted.hash, rowID)
        }
        try TreeReader(root: state.delta, source: core.store).visitNews(since: &nodes) { (key, bytes) throws(Damage) in
            guard let rowID = Int64(exactly: key), rowID < state.nextRowID else { throw Damage("a delta record of a row that was never given") }
            let record = try DeltaRecord(bytes)
            records += 1
            switch record.kind {
            case .deletion: break
            case .row:
                var values: [Value] = []
                for (id, type) in zip(ids, shape.types) { values.append(record.value(of: id) ?? Column.absentValue(type)) }
                try enter(values, rowID)
            case .update: if record.values.contains(where: { ids.contains($0.column) }) { changed.append(rowID) }
            }
        }
        let table = StoredTable(core, type: type, keeper: nil)
        for rowID in changed {
            var values: [Value] = []
            for column in shape.columns { values.append(try table.value(rowID: rowID, column: column)) }
            try enter(values, rowID)
        }
        work.add(records: records)
    }
}

extension Optional {
    /// The value, leaving nil: what is changed in place must have one owner.
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
