import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// What can be recovered of the rows of one type.
final class SalvagedType {
    /// Rows that can be read, and those of their columns that cannot.
    struct Part {
        /// Nil for sealed rows, which are opened again each time they are read.
        var tail: (columns: [Column], rowIDs: [Int64])?
        var entry: DirectoryEntry?
        var index = 0
        /// The columns whose values are lost.
        var lost: Set<Int> = []
        /// The columns whose values come from another source, and those of them that lack values.
        var substitutes: [Int: Substitute] = [:]
        var gaps: Set<Int> = []
        /// Set if the rows themselves are those of an older version.
        var older: OlderType?
    }

    private(set) var core: SnapshotCore
    let salvage: Salvage
    private(set) var type: Int
    let isProven: Bool
    /// The offset of the catalogue.
    private let foundAt: UInt64
    /// Whether rows without proof are recovered, and reported as such.
    let takesUnproven: Bool
    /// The number of rows that were left out because no hash proves them.
    private(set) var withheldRows = 0
    /// The same for the segment that is being checked.
    private var withheld = 0
    /// The versions before this one, newest first.
    let older: [OlderType]
    private(set) var parts: [Part] = []
    private(set) var losses: [Loss] = []
    var schema: TypeSchema { core.schema.types[type] }
    var state: Catalogue.TypeState { core.catalogue.types[type] }
    private var records: [(rowID: Int64, record: DeltaRecord)] = []
    private var directory: UnsafeRawBufferPointer?
    private var isDirectoryProven = true
    private var unprovenHeaders: Set<UInt64> = []

    init(_ version: SalvagedVersion, _ salvage: Salvage, type: Int, unproven: Bool = false, progress: (Int) -> Void) {
        core = version.core
        self.salvage = salvage
        self.type = type
        isProven = version.isProven
        foundAt = version.catalogueOffset
        takesUnproven = unproven
        older = version.older.types(core.schema.types[type].id, but: core.catalogue.types[type])
        readDirectory(ofVersion: version.version)
        readDelta()
        var last: Int64 = -1
        for index in 0..<(state.inner != nil || directory != nil ? state.segmentCount : 0) where !isBeyondMemory {
            guard let entry = entry(index) else { continue }
            guard entry.firstRowID > last else {
                lose(
                    nil, entry.firstRowID...entry.lastRowID, entry.rowCount - entry.deletedCount,
                    Damage("row ids do not ascend from the segment before"))
                continue
            }
            if let part = part(entry, index) {
                last = entry.lastRowID
                parts.append(part)
            }
            progress(entry.rowCount)
        }
        readTail(after: last)
        if !isProven { for part in parts { markUnproven(part) } }
    }

    private func markUnproven(_ part: Part) {
        let rows = part.tail.map { $0.rowIDs.first!...$0.rowIDs.last! } ?? part.entry.map { $0.firstRowID...$0.lastRowID }
        losses.append(
            Loss(
                type: schema.name, rows: rows, count: part.tail?.rowIDs.count ?? part.entry.map { $0.rowCount - $0.deletedCount },
                isUnproven: true,
                Damage("no hash proves that these rows are as they were written", inFileAt: foundAt)))
    }

    deinit { core.close() }

    /// Something was not checked for lack of memory, which ends the recovery.
    private var isBeyondMemory = false

    private func lose(_ column: Int?, _ rows: ClosedRange<Int64>?, _ count: Int?, from version: UInt64? = nil, _ damage: Damage) {
        losses.append(
            Loss(type: schema.name, column: column.map { schema.columns[$0].name }, rows: rows, count: count, takenFrom: version, damage))
        isBeyondMemory = isBeyondMemory || damage.isBeyondMemory
    }

    // MARK: Directory

    /// Reads the directory. A damaged one still refers to headers, which have hashes of their own; nothing else in it is used.
    private func readDirectory(ofVersion version: UInt64) {
        guard state.segmentCount > 0, state.inner == nil else { return }
        do throws(Damage) { directory = try salvage.read(state.directory) } catch {
            if version == 1, let found = GatheredSegments.withDirectory(core, type: type, salvage),
                found.catalogue.types[type].segmentCount <= state.segmentCount
            {
                lose(
                    nil, nil, nil,
                    Damage(
                        "the directory is damaged (\(error.what)): \(found.catalogue.types[type].segmentCount) of \(state.segmentCount) segments have a valid proof",
                        at: Int(clamping: error.offset)))
                core = found
                directory = try? salvage.read(state.directory)
                return
            }
            directory = try? salvage.readBeginning(state.directory)
            isDirectoryProven = false
            if directory == nil, let other = older.first(where: { $0.schema == schema && $0.hasDirectory }) {
                lose(
                    nil, nil, nil, from: other.version,
                    Damage(
                        "the directory is damaged (\(error.what)): the rows are those of version \(other.version)",
                        at: Int(clamping: error.offset)))
                (core, type) = (other.core, other.type)
                directory = try? salvage.read(state.directory)
                isDirectoryProven = true
                return
            }
            let rest = directory.map {
                ": segments with intact headers are recovered, from \(min(state.segmentCount, $0.count / DirectoryEntry.size)) of \(state.segmentCount) entries"
            }
            lose(nil, nil, nil, Damage("the directory is damaged (\(error.what))\(rest ?? "")", at: Int(clamping: error.offset)))
        }
    }

    private func entry(_ index: Int) -> DirectoryEntry? {
        if let inner = state.inner { return inner.entry }
        let byteOffset = Int(clamping: state.directory.offset) &+ index &* DirectoryEntry.size
        do throws(Damage) {
            var entry = try DirectoryEntry(directory!, index)
            if !isDirectoryProven { entry = try proven(entry) }
            guard entry.lastRowID < state.nextRowID || !isProven else {
                throw Damage("a segment contains row ids that were never assigned")
            }
            return entry
        } catch {
            lose(nil, nil, nil, Damage("segment \(index): \(error.what)", at: byteOffset))
            return nil
        }
    }

    /// Returns an entry from what the header itself records, in place of one of a damaged directory.
    private func proven(_ entry: DirectoryEntry) throws(Damage) -> DirectoryEntry {
        let header: SegmentHeader
        do throws(Damage) { header = try SegmentHeader(try salvage.read(entry.header)) } catch {
            throw error.shifted(by: entry.header.offset)
        }
        let (last, overflow) = header.firstRowID.addingReportingOverflow(try header.decodeRowIDs()?.last ?? Int64(header.rowCount - 1))
        guard !overflow, last >= header.firstRowID else { throw Damage("row ids out of range", inFileAt: entry.header.offset) }
        return DirectoryEntry(
            firstRowID: header.firstRowID, lastRowID: last, rowCount: header.rowCount, deletedCount: try header.decodeDeletes()?.ones ?? 0,
            header: entry.header)
    }

    // MARK: Segments

    /// Finds out which columns of a segment can be read completely. Returns nil if none can.
    private func part(_ entry: DirectoryEntry, _ index: Int) -> Part? {
        let rows = entry.firstRowID...entry.lastRowID
        var part = Part(entry: entry, index: index)
        withheld = 0
        do throws(Damage) {
            let segment = try open(entry)
            for column in schema.columns.indices {
                do throws(Damage) { _ = try values(segment, column) } catch {
                    if error.isBeyondMemory || error.isUnknownID {
                        lose(column, rows, segment.liveCount, error)
                        return nil
                    }
                    if let (substitute, missing, what) = substitute(segment, column) {
                        part.substitutes[column] = substitute
                        if missing > 0 { part.gaps.insert(column) }
                        lose(
                            column, rows, segment.liveCount, from: substitute.version,
                            Damage("\(error.what); \(what)", at: Int(clamping: error.offset)))
                    } else {
                        part.lost.insert(column)
                        lose(column, rows, segment.liveCount, error)
                    }
                }
            }
            return schema.columns.isEmpty || part.lost.count < schema.columns.count ? part : nil
        } catch {
            for version in older {
                guard let found = try? self.rows(of: version, rows) else { continue }
                (part.older, part.lost, part.gaps) = (version, found.lost, found.gaps)
                lose(
                    nil, rows, entry.rowCount - entry.deletedCount, from: version.version,
                    Damage("\(error.what); the rows are those of version \(version.version)", at: Int(clamping: error.offset)))
                return part
            }
            withheldRows += withheld
            lose(nil, rows, entry.rowCount - entry.deletedCount, error)
            return nil
        }
    }

    /// Returns all values of a column, including deleted rows. Damage is reported with its offset in the file.
    private func values(_ segment: StoredSegment, _ column: Int) throws(Damage) -> Column {
        let stored = segment.entry(column)
        do throws(Damage) {
            let all = try segment.unlocatedRows(column)
            if !isProven, !segment.hasDelta(column), stored?.overlay == nil, let hash = stored?.logicalHash,
                hash != all.logicalHash
            {
                throw Damage("values do not match their logical hash")
            }
            return all
        } catch {
            let base = stored?.chunk?.offset ?? segment.headerRef.offset
            throw error.offset < base ? error.shifted(by: base) : error
        }
    }

    private func open(_ entry: DirectoryEntry) throws(Damage) -> StoredSegment {
        let (bytes, owner) = try header(entry)
        let header: SegmentHeader
        do throws(Damage) { header = try SegmentHeader(bytes) } catch { throw error.shifted(by: entry.header.offset) }
        let ofSegment = changes(entry.firstRowID...entry.lastRowID)
        return try StoredSegment.open(core, schema: schema, entry: entry, header: header, bytes: bytes, owner: owner, changes: ofSegment)
    }

    /// Returns the bytes of a segment's header. A damaged header still refers to chunks, which have hashes of their own. But only the
    /// header records which rows it has and which of them are deleted, so its rows are unproven, even if they agree with the directory.
    private func header(_ entry: DirectoryEntry) throws(Damage) -> (UnsafeRawBufferPointer, any AnyObject & Sendable) {
        if let inner = state.inner { return (inner.header.bytes, inner.header) }
        do throws(Damage) { return (try salvage.read(entry.header), salvage) } catch {
            guard isDirectoryProven, let bytes = try? salvage.readUnverified(entry.header), let header = try? SegmentHeader(bytes),
                header.entries.allSatisfy({ $0.packed == nil }),
                header.rowCount == entry.rowCount, header.firstRowID == entry.firstRowID,
                (try? header.decodeDeletes())?.ones ?? 0 == entry.deletedCount,
                (try? header.decodeRowIDs())?.last ?? Int64(entry.rowCount - 1) == entry.lastRowID - entry.firstRowID,
                !header.entries.contains(where: { entry in entry.chunk.map { (try? salvage.read($0)) == nil } ?? true }),
                hasOwnColumns(header)
            else { throw error }
            let rows = entry.rowCount - entry.deletedCount
            guard takesUnproven else {
                withheld = rows
                throw error
            }
            if unprovenHeaders.insert(entry.header.offset).inserted {
                losses.append(
                    Loss(
                        type: schema.name, rows: entry.firstRowID...entry.lastRowID, count: rows, isUnproven: true,
                        Damage(
                            "the header is damaged: no hash proves its rows, which may lack the last changes", inFileAt: entry.header.offset
                        )))
            }
            return (bytes, salvage)
        }
    }

    /// Returns whether the header has the columns of the type, each once and in order: an id with a flipped bit would assign a column's
    /// values to another.
    private func hasOwnColumns(_ header: SegmentHeader) -> Bool {
        let ids = header.entries.map(\.columnID), known = schema.columns.map(\.id)
        return ids == Array(known.prefix(ids.count)) && ids.count == known.count
    }

    // MARK: Delta

    private func readDelta() {
        guard !state.delta.isNone else { return }
        var taken: [(rowID: Int64, record: DeltaRecord)] = []
        var isDeltaWhole = true
        TreeReader(root: state.delta, source: salvage).salvage(salvage) { from, before, damage in
            let low = Int64(clamping: Self.number(from) ?? 0),
                high = Int64(clamping: Self.number(before).map { $0 == 0 ? 0 : $0 - 1 } ?? UInt64(max(state.nextRowID - 1, 0)))
            var what = "the values before them are used", source: UInt64?
            if let (version, found) = olderRecords(low...max(low, high)) {
                taken += found
                source = version
                what = "those of version \(version) are used"
            }
            isDeltaWhole = false
            lose(
                nil, low...max(low, high), nil, from: source,
                Damage("changes and new rows are lost, \(what) (\(damage.what))", at: Int(clamping: damage.offset)))
        } _: { key, value in
            guard let rowID = Self.number(key), let id = Int64(exactly: rowID), let record = try? DeltaRecord(value) else {
                return lose(
                    nil, Self.number(key).flatMap { Int64(exactly: $0) }.map { $0...$0 }, 1, Damage("a delta record cannot be read"))
            }
            records.append((id, record))
        }
        // The children of a damaged inner node may not be named any more: only the count shows that they are missing.
        let changes = records.count { $0.record.kind != .row }
        if isDeltaWhole, changes < state.deltaChanges {
            lose(
                nil, nil, state.deltaChanges - changes,
                Damage(
                    "\(state.deltaChanges - changes) of \(state.deltaChanges) changes in the delta store are missing",
                    at: Int(clamping: state.delta.offset)))
        }
        guard !taken.isEmpty else { return }
        let known = Set(records.map(\.rowID))
        var added: Set<Int64> = []
        records += taken.filter { !known.contains($0.rowID) && added.insert($0.rowID).inserted }
        records.sort { $0.rowID < $1.rowID }
    }

    private static func number(_ key: [UInt8]?) -> UInt64? {
        guard let key, key.count >= 8 else { return nil }
        return key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func changes(_ rows: ClosedRange<Int64>) -> [(rowID: Int64, record: DeltaRecord)] {
        var low = 0, high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].rowID < rows.lowerBound { low = middle + 1 } else { high = middle }
        }
        return Array(records[low...].prefix { $0.rowID <= rows.upperBound })
    }

    /// Reads the rows that exist only in the delta store.
    private func readTail(after last: Int64) {
        var columns = schema.columns.map { Column($0.type.stored) }, rowIDs: [Int64] = []
        for (rowID, record) in records where record.kind == .row {
            guard rowID > last, rowID < state.nextRowID else {
                lose(nil, rowID...rowID, 1, Damage("the row id of a new row is used by another row, or was never assigned"))
                continue
            }
            for (i, column) in schema.columns.enumerated() {
                if !columns[i].append(record.value(of: column.id) ?? Column.absentValue(column.type.stored)) {
                    lose(i, rowID...rowID, 1, Damage("a delta value of the wrong type"))
                    columns[i].appendNull()
                }
            }
            rowIDs.append(rowID)
        }
        let missing = state.deltaRows - rowIDs.count
        if missing > 0 {
            lose(
                nil, nil, missing,
                Damage("\(missing) of \(state.deltaRows) rows of the delta store are missing", at: Int(clamping: state.delta.offset)))
        }
        if !rowIDs.isEmpty { parts.append(Part(tail: (columns, rowIDs))) }
    }

    // MARK: Reading

    /// Returns the live rows of a part in stored form. Lost columns are null; the columns have the types of `columns`.
    func rows(_ part: Part, as columns: [ColumnSchema]) throws(Damage) -> (columns: [Column], rowIDs: [Int64]) {
        let all: [Column], rowIDs: [Int64]
        if let tail = part.tail {
            (all, rowIDs) = tail
        } else if let version = part.older {
            let found = try self.rows(of: version, part.entry!.firstRowID...part.entry!.lastRowID)
            (all, rowIDs) = (found.columns, found.rowIDs)
        } else {
            let segment = try open(part.entry!)
            var live: [Int] = []
            for row in 0..<segment.rowCount where segment.isLive(row) { live.append(row) }
            var found: [Column] = []
            for column in columns.indices {
                if part.lost.contains(column) {
                    found.append(Column(columns[column].type.stored))
                } else {
                    let values: Column
                    if let other = part.substitutes[column] {
                        values = try self.values(segment, column, of: other).values
                    } else {
                        values = try self.values(segment, column)
                    }
                    found.append(live.count == segment.rowCount ? values : values.gather(live))
                }
            }
            var ids: [Int64] = []
            for row in live { ids.append(try segment.rowID(at: row)) }
            (all, rowIDs) = (found, ids)
        }
        return (
            all.enumerated().map { index, column in
                var column = column
                column.type = columns[index].type.stored
                if part.lost.contains(index) {
                    column = Column(columns[index].type.stored)
                    for _ in rowIDs { column.appendNull() }
                }
                return column
            }, rowIDs
        )
    }
}
