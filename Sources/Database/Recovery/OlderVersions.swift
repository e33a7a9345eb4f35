import FirnBytes
import FirnStore
import FirnTable

/// The versions before the recovered one that a damaged file still contains. They may have intact what the recovered version has lost. Only
/// bytes that match their hashes are used, and callers report which version they use.
final class OlderVersions {
    private let salvage: Salvage
    private var leads: [Salvage.Lead]
    private var cores: [(version: UInt64, core: SnapshotCore)] = []

    /// Leads without a version number are ignored.
    init(_ salvage: Salvage, _ leads: [Salvage.Lead]) {
        self.salvage = salvage
        self.leads = leads.filter { $0.version > 0 }.sorted { $0.version > $1.version }.reversed()
    }

    deinit { for (_, core) in cores { core.close() } }

    /// Returns the versions in which a type has other segments or another delta store than in `first`, newest first.
    func types(_ id: UInt32, but first: Catalogue.TypeState) -> [OlderType] {
        while let lead = leads.popLast() {
            if let core = try? SalvagedVersion.core(salvage, lead, provenOnly: true) { cores.append((lead.version, core)) }
        }
        var found: [OlderType] = [], seen: Set<[ExtentRef]> = [[first.directory, first.delta]]
        for (version, core) in cores {
            guard let type = core.schema.types.firstIndex(where: { $0.id == id }) else { continue }
            let state = core.catalogue.types[type]
            guard state.inner != nil || seen.insert([state.directory, state.delta]).inserted else { continue }
            found.append(OlderType(core: core, type: type, version: version))
        }
        return found
    }
}

/// The rows of one type in an older version.
struct OlderType {
    let core: SnapshotCore
    let type: Int
    let version: UInt64
    var schema: TypeSchema { core.schema.types[type] }
    var state: Catalogue.TypeState { core.catalogue.types[type] }

    /// Returns the rows of that version that may have ids in a range: the segments that overlap it, and the rows of the delta store.
    private func parts(_ range: ClosedRange<Int64>) throws(Damage) -> [any StoredRows] {
        var parts: [any StoredRows] = []
        for index in try core.firstSegment(type: type, endingAtOrAfter: range.lowerBound)..<state.segmentCount {
            guard try core.directoryEntry(type: type, index: index).firstRowID <= range.upperBound else { return parts }
            parts.append(try core.segment(type: type, index: index))
        }
        if let tail = try core.tail(type: type) { parts.append(tail) }
        return parts
    }

    /// Returns the ids of the live rows in a range.
    func rowIDs(_ range: ClosedRange<Int64>) throws(Damage) -> [Int64] {
        var ids: [Int64] = []
        for part in try parts(range) {
            for position in 0..<part.rowCount where part.live?[position] ?? true {
                let id = try part.rowID(at: position)
                if range.contains(id) { ids.append(id) }
            }
        }
        return ids
    }

    /// Returns the values of a column for ascending row ids, null for rows that do not exist. Returns nil if none of the rows exists, or
    /// the column is missing or has another type.
    func values(_ column: ColumnSchema, _ rowIDs: [Int64]) throws(Damage) -> (values: Column, missing: Int)? {
        guard let first = rowIDs.first, let last = rowIDs.last,
            let columnPosition = schema.index(ofID: column.id), schema.columns[columnPosition].type.stored == column.type.stored
        else { return nil }
        var values = Column(column.type.stored), missing = 0, next = 0
        func skip() {
            values.appendNull()
            missing += 1
            next += 1
        }
        for part in try parts(first...last) where part.rowCount > 0 {
            let end = try part.rowID(at: part.rowCount - 1)
            guard next < rowIDs.count, rowIDs[next] <= end else { continue }
            let all = try part.allRows(columnPosition)
            while next < rowIDs.count, rowIDs[next] <= end {
                if let position = try part.position(of: rowIDs[next]), part.live?[position] ?? true {
                    values.append(contentsOf: all, range: position..<(position + 1))
                    next += 1
                } else {
                    skip()
                }
            }
        }
        while next < rowIDs.count { skip() }
        return missing < rowIDs.count ? (values, missing) : nil
    }
}
