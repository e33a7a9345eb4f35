import FirnBytes
import FirnStore
import FirnTable

/// Replacements for what the recovered version has lost, from the same version or from an older one.
extension SalvagedType {
    /// The source of the values of a segment's column that cannot be read as usual.
    enum Substitute {
        case older(OlderType)
        /// The chunk without its overlay: the values before the last changes.
        case withoutOverlay

        var version: UInt64? {
            if case .older(let type) = self { type.version } else { nil }
        }
    }

    /// Returns the best source for a column of a segment, how many rows it lacks, and its description for the report.
    func substitute(_ segment: StoredSegment, _ column: Int) -> (Substitute, missing: Int, what: String)? {
        let entry = segment.entry(column)
        // Only the overlay is lost, and the chunk is not: versions from before the chunk cannot have newer values.
        let isWhole = (try? values(segment, column, of: .withoutOverlay)) != nil
        for version in older where !isWhole || version.version >= entry?.chunk?.birth ?? 0 {
            guard let (_, missing) = try? values(segment, column, of: .older(version)) else { continue }
            return (
                .older(version), missing,
                "the values are those of version \(version.version)\(missing > 0 ? ", which lacks \(missing) of the rows" : "")"
            )
        }
        return isWhole ? (.withoutOverlay, 0, "the values are those before the last changes") : nil
    }

    /// Returns every value of a column of a segment from another source, with the chunk overlay and the delta records of this version as
    /// far as they can be read.
    func values(_ segment: StoredSegment, _ column: Int, of source: Substitute) throws(Damage) -> (values: Column, missing: Int) {
        let type = schema.columns[column].type, entry = segment.entry(column)
        switch source {
        case .withoutOverlay:
            guard entry?.overlay != nil, let raw = try segment.rawColumn(column, overlaid: false) else {
                throw Damage("there is no chunk overlay")
            }
            return (try all(raw), 0)
        case .older(let version):
            var live: [Int] = [], rowIDs: [Int64] = []
            for position in 0..<segment.rowCount where segment.isLive(position) {
                live.append(position)
                rowIDs.append(try segment.rowID(at: position))
            }
            guard let (values, missing) = try version.values(schema.columns[column], rowIDs) else {
                throw Damage("an older version has none of the rows")
            }
            var overlay = ColumnOverlay(positions: live, values: values)
            let memory = segment.scope(column)
            if let ref = entry?.overlay, let bytes = try? salvage.read(ref),
                let later = try? ColumnOverlay(bytes, type: type, rowCount: segment.rowCount, memory: memory)
            {
                overlay = try overlay.overlaid(by: later, memory)
            }
            if let delta = segment.changes.overlays[column] { overlay = try overlay.overlaid(by: delta, memory) }
            // Splices are relative to the values that are lost.
            let spliced = Set(segment.splicedPositions(column)).intersection(live).count
            return (
                try all(
                    RawColumn(type: type, rowCount: segment.rowCount, chunk: nil, overlay: overlay, zone: nil, owner: nil, memory: memory)),
                missing + spliced
            )
        }
    }

    private func all(_ raw: RawColumn) throws(Damage) -> Column {
        var all = Column(raw.type), scratch = Column(raw.type)
        for vector in 0..<(raw.rowCount + vectorSize - 1) / vectorSize {
            try raw.read(vector: vector, into: &scratch)
            try all.hold(raw.memory, adding: scratch.footprint)
            all.append(contentsOf: scratch)
        }
        all.normalise()
        return all
    }

    /// Returns the rows of a range as an older version has them, with the current delta records. Columns that it cannot provide are lost.
    func rows(of version: OlderType, _ range: ClosedRange<Int64>) throws(Damage) -> (
        columns: [Column], rowIDs: [Int64], lost: Set<Int>, gaps: Set<Int>
    ) {
        let changes = changes(range), deleted = Set(changes.filter { $0.record.kind == .deletion }.map(\.rowID))
        let rowIDs = try version.rowIDs(range).filter { !deleted.contains($0) }
        guard !rowIDs.isEmpty else { throw Damage("an older version has none of the rows") }
        var columns: [Column] = [], lost: Set<Int> = [], gaps: Set<Int> = []
        for (index, column) in schema.columns.enumerated() {
            let type = column.type.stored
            var values = Column(type)
            if version.schema.index(ofID: column.id) == nil {
                for _ in rowIDs { values.appendAbsent() }
            } else if let (found, missing) = try? version.values(column, rowIDs) {
                values = found
                if missing > 0 { gaps.insert(index) }
            } else {
                lost.insert(index)
                columns.append(values)
                continue
            }
            var later = ColumnOverlay(positions: [], values: Column(type))
            for (rowID, record) in changes where record.kind == .update {
                if record.splices(of: column.id) != nil { gaps.insert(index) }
                guard let value = record.value(of: column.id), let position = SalvagedType.position(of: rowID, in: rowIDs) else { continue }
                if later.values.append(value) { later.positions.append(position) }
            }
            let memory = MemoryScope(core.source.memory, type: schema.name, column: column.name)
            let overlay = try ColumnOverlay(positions: Array(rowIDs.indices), values: values).overlaid(by: later, memory)
            columns.append(
                try all(
                    RawColumn(
                        type: column.type, rowCount: rowIDs.count, chunk: nil, overlay: overlay, zone: nil, owner: nil, memory: memory)))
        }
        guard schema.columns.isEmpty || lost.count < schema.columns.count else { throw Damage("an older version has none of the columns") }
        return (columns, rowIDs, lost, gaps)
    }

    private static func position(of rowID: Int64, in rowIDs: [Int64]) -> Int? {
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < rowID { low = middle + 1 } else { high = middle }
        }
        return low < rowIDs.count && rowIDs[low] == rowID ? low : nil
    }

    /// Returns the delta records of an older version about rows, if nothing was sealed since then: both versions have the same segments.
    func olderRecords(_ range: ClosedRange<Int64>) -> (UInt64, [(rowID: Int64, record: DeltaRecord)])? {
        for version in older
        where version.state.directory == state.directory && version.state.inner == nil && version.state.delta != state.delta {
            if let found = try? DeltaChanges(version.core, type: version.type, rows: range).records { return (version.version, found) }
        }
        return nil
    }

    /// Returns whether no two rows have the same key, as far as hashes distinguish them. Rows from older versions can have the keys of rows
    /// that were inserted later.
    func hasDistinctKeys(as columns: [ColumnSchema]) -> Bool {
        var seen: Set<UInt64> = []
        for part in parts {
            guard let (values, rowIDs) = try? rows(part, as: columns) else { return false }
            for row in rowIDs.indices {
                let hash = schema.key.reduce(0) { ($0 &* 31) ^ values[$1].value(at: row).equivalenceHash }
                if !seen.insert(hash).inserted { return false }
            }
        }
        return true
    }
}

extension OlderType {
    var hasDirectory: Bool { state.inner == nil && state.segmentCount > 0 && (try? core.store.read(state.directory)) != nil }
}
