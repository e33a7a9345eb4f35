import FirnBytes
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads
import Synchronization

/// An index of one type's rows by key, in memory. It is built when searches of the table have cost as much as building it, and is then
/// maintained from changes only. It is not stored in the file. Usable from any thread.
///
/// It contains (hash of key → row id) for every key that a row had in any version that it covers, and may contain more. Callers check each
/// candidate in their own version, so deletions, cancelled transactions and older snapshots require no maintenance. When most entries are
/// stale, the index is rebuilt.
final class KeyIndex: Sendable {
    fileprivate struct State {
        var shape: KeyShape
        /// Nil if the index is not built.
        var entries: KeyEntries?
        /// References of the segment headers, directories and nodes of delta trees whose keys are all entered. References contain hashes,
        /// so an equal reference means equal rows.
        var headers: Set<ExtentRef> = []
        var directories: Set<ExtentRef> = []
        var nodes: Set<ExtentRef> = []
        /// The versions whose rows are all entered, ascending.
        var versions: [ClosedRange<UInt64>] = []
        /// The cost of searches of the table since the index was last built.
        var spent = 0
        var liveRows = 0
        /// The number of entries when the index was built. These do not count as stale, whatever number of rows the file claims.
        var built = 0
        /// The type has more rows than an index may contain, so every look-up searches the table.
        var isTooLarge = false
        /// There was not enough memory for the entries. The next attempt is made when look-ups have again cost as much as building the
        /// index.
        var isShortOfMemory = false
        /// The memory charge of the entries.
        var charge: MemoryCharge?
    }

    /// The maximum number of version ranges that are remembered.
    fileprivate static let maximumVersions = 16
    fileprivate static let maximumNodes = 1 << 16
    /// The maximum number of entries, which limits an index to about a quarter of the machine's memory: an entry takes up to three words,
    /// and more while the table grows. A few bytes of a file can represent very many rows.
    fileprivate static let maximumEntries = Machine.memory / 4 / entryBytes
    fileprivate static let entryBytes = 32
    /// The number of stale entries that is always tolerated.
    static let spare = 4096

    let work: KeyWork
    private let mask: UInt64
    private let state: Mutex<State>

    init(_ shape: KeyShape, work: KeyWork) {
        self.work = work
        mask = shape.mask
        state = Mutex(State(shape: shape))
    }

    /// Returns the rows that may have the key in a version of the type, or nil if the caller must search the table instead. Extends the
    /// index to that version if necessary.
    func candidates(_ wanted: WantedKey, _ core: SnapshotCore, type: Int, version: UInt64) throws(Damage) -> KeyCandidates? {
        try state.withLock { (state) throws(Damage) -> KeyCandidates? in
            guard try extend(&state, to: version, core, type: type) else { return nil }
            return state.entries!.candidates(wanted.hash)
        }
    }

    /// Returns, for the hash of each key, the row that may have the key, as above; -1 if no row or more than one has that hash. Returns nil
    /// if searching the table for all of them is expected to cost less than building the index.
    func candidates(_ hashes: [UInt64], _ core: SnapshotCore, type: Int, version: UInt64) throws(Damage) -> [Int64]? {
        try state.withLock { (state) throws(Damage) -> [Int64]? in
            let cost = hashes.count * state.shape.columns.count * KeyCost.vector
            guard try extend(&state, to: version, core, type: type, expecting: cost), let entries = state.entries else { return nil }
            return hashes.map { entries.candidates($0).only ?? -1 }
        }
    }

    /// Extends the index to a version if necessary. Returns false if the caller must search the table instead, which is expected to cost
    /// `cost` in addition to what searches have cost.
    private func extend(_ state: inout State, to version: UInt64, _ core: SnapshotCore, type: Int, expecting cost: Int = 0) throws(Damage)
        -> Bool
    {
        if state.covers(version) { return true }
        if state.isTooLarge { return false }
        let building = KeyCost.building(core.catalogue.types[type], columns: state.shape.columns.count)
        if state.entries == nil, state.spent + cost <= building { return false }
        guard let shape = KeyShape(core.schema.types[type], mask: mask) else { return false }
        do throws(Damage) { try state.cover(core, type: type, version: version, shape, work) } catch {
            state.forget()
            throw error
        }
        if state.isTooLarge || state.isShortOfMemory {
            state.forget()
            state.isShortOfMemory = false
            return false
        }
        return true
    }

    /// Records the cost of a search of the table.
    func spend(_ cost: Int) {
        state.withLock { if $0.entries == nil { $0.spent += cost } }
    }

    /// Enters the changes of a transaction before its commit. `core` is the state that is about to be committed; `base` is the version that
    /// the transaction began from. Returns true if the next version will be covered; after the commit, the caller then calls
    /// `cover(version:)`. Entries of a commit that fails are harmless: no reader confirms them.
    func settle(_ own: KeyEntries?, _ core: SnapshotCore, type: Int, base: UInt64) throws(Damage) -> Bool {
        try state.withLock { (state) throws(Damage) -> Bool in
            guard state.entries != nil, state.covers(base) else { return false }
            if let own { state.entries!.add(own) }
            // The base is covered and the transaction's own changes are entered, so the new nodes and segments contain nothing new.
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

    /// The number of entries, or nil if the index is not built. For tests.
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
        if versions.count > KeyIndex.maximumVersions { versions.removeFirst() }
    }

    mutating func forget() {
        entries = nil
        charge = nil
        headers = []
        directories = []
        nodes = []
        versions = []
    }

    /// Enters every row of a version that is not known to be entered.
    mutating func cover(_ core: SnapshotCore, type: Int, version: UInt64, _ shape: KeyShape, _ work: KeyWork) throws(Damage) {
        let state = core.catalogue.types[type], rows = min(state.liveRows, 1 << 48)
        // An older version with fewer rows does not make entries stale.
        liveRows = versions.last.map { $0.upperBound > version } ?? false ? max(liveRows, rows) : rows
        let isNew = entries == nil || isStale || shape != self.shape
        if isNew {
            forget()
            self.shape = shape
            entries = KeyEntries()
            spent = 0
            work.add(builds: 1)
        }
        if nodes.count > KeyIndex.maximumNodes { nodes = [] }
        try enterSegments(core, type, work)
        if isTooLarge || isShortOfMemory { return }
        try enterDelta(core, type, work)
        if isNew { built = entries!.count }
        note(version)
    }

    /// Charges memory for a table of `entries` entries and for the smaller table that it is built from. Returns false if the budget does
    /// not allow it.
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
        guard entries!.count + rows <= KeyIndex.maximumEntries else {
            isTooLarge = true
            return
        }
        guard hasMemory(for: entries!.count + rows, core.source.memory) else {
            isShortOfMemory = true
            return
        }
        entries!.reserve(rows, last: state.nextRowID)
        let shape = shape
        // Process a few segments at a time: the hashes of all segments would be as large as the index.
        let step = max(Processors.count, 1) * 4
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
        if state.directory.isNone { return }  // stored in the catalogue: there is no reference to remember
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
            guard let rowID = Int64(exactly: key), rowID < state.nextRowID else {
                throw Damage("a delta record of a row id that was never assigned")
            }
            let record = try DeltaRecord(bytes)
            records += 1
            switch record.kind {
            case .deletion: break
            case .row:
                var values: [Value] = []
                for (id, type) in zip(ids, shape.types) { values.append(record.value(of: id) ?? Column.absentValue(type)) }
                try enter(values, rowID)
            case .update: if ids.contains(where: record.updates) { changed.append(rowID) }
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
    /// Returns the value and sets this to nil, so that a value that is changed in place has one owner.
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
