import FirnBytes
import FirnStore
import FirnTable

/// Version 1 of a file whose catalogue and directories are lost, rebuilt from the segment headers with a valid proof (`SegmentProof`),
/// which are those of the commit that created the file. Later commits write no proofs, so their changes are unknown here.
struct GatheredSegments {
    let core: SnapshotCore
    private(set) var losses: [Loss] = []

    /// Fails if nothing is found. Uses only bytes that match their hash: each header by its proof, the schema by the reference in the
    /// proofs.
    init?(_ salvage: Salvage) {
        let (found, isComplete) = GatheredSegments.search(salvage)
        guard let schema = GatheredSegments.schema(found.map(\.header.proof.schema), salvage) else { return nil }

        var losses: [Loss] = [], states: [Catalogue.TypeState] = [], segments = 0
        for type in schema.types {
            let entries = GatheredSegments.entries(found.filter { $0.header.proof.typeID == type.id }.map(\.ref), salvage)
            var state = Catalogue.TypeState(), directory = ByteWriter()
            for entry in entries {
                if entry.firstRowID > state.nextRowID {
                    losses.append(
                        Loss(
                            type: type.name, rows: state.nextRowID...entry.firstRowID - 1,
                            Damage("no segment with these rows is found", at: Int(clamping: entry.header.offset))))
                }
                state.nextRowID = entry.lastRowID + 1
                state.liveRows += entry.rowCount - entry.deletedCount
                entry.encode(into: &directory)
            }
            state.segmentCount = entries.count
            segments += entries.count
            if !entries.isEmpty { state.directory = salvage.add(directory.bytes) }
            losses.append(
                Loss(
                    type: type.name,
                    Damage("rows from row id \(state.nextRowID) on are lost, if there were any", at: Int(clamping: salvage.length))))
            states.append(state)
        }
        guard segments > 0 else { return nil }
        if !isComplete { losses.append(Loss(Damage("too much of the file looks like segment headers to check all of it"))) }
        if let root = salvage.newestRoot, root.version > 1 {
            losses.append(
                Loss(
                    Damage(
                        "the rows are those of version 1: all later changes, up to version \(root.version), are lost",
                        at: Int(clamping: salvage.length))))
        }
        self.losses =
            [
                Loss(
                    Damage(
                        "\(GatheredSegments.cut(salvage)): segments with a valid proof are recovered (\(segments))",
                        at: Int(clamping: salvage.length)))
            ] + losses
        // Links can lead to lost rows, whose row ids were assigned.
        let first = SnapshotCore(salvage, catalogue: Catalogue(schemaRef: .none, types: states), schema: schema)
        for (type, end) in GatheredSegments.linkEnds(first) { states[type].nextRowID = max(states[type].nextRowID, end) }
        first.close()
        core = SnapshotCore(salvage, catalogue: Catalogue(schemaRef: .none, types: states), schema: schema)
    }

    /// Returns for each type a row id that is greater than all to which links lead.
    private static func linkEnds(_ core: SnapshotCore) -> [Int: Int64] {
        var ends: [Int: Int64] = [:]
        for (type, schema) in core.schema.types.enumerated() {
            for (columnPosition, column) in schema.columns.enumerated() {
                guard let name = column.type.target, let target = core.schema.types.firstIndex(where: { $0.name == name }) else { continue }
                for index in 0..<core.catalogue.types[type].segmentCount {
                    guard let values = try? core.segment(type: type, index: index).allRows(columnPosition) else { continue }
                    let links = values.children.last ?? values
                    for row in 0..<links.count
                    where links.isPresent(row) && links.words[row] >= 0 && links.words[row] < Catalogue.maximumRowIDs - 2 {
                        ends[target] = max(ends[target] ?? 0, links.words[row] + 1)
                    }
                }
            }
        }
        return ends
    }

    /// Returns the headers with a valid proof, in the order of the file. `isComplete` is false if so many bytes look like headers that not
    /// all of them were checked.
    private static func search(_ salvage: Salvage) -> (found: [(ref: ExtentRef, header: FoundHeader)], isComplete: Bool) {
        let identities = salvage.identities
        guard !identities.isEmpty else { return ([], true) }
        var found: [(ref: ExtentRef, header: FoundHeader)] = []
        // Headers do not overlap. The limit bounds the work for hostile bytes that look like headers everywhere.
        var hashed = Int(clamping: salvage.length) &* 4
        salvage.forEachUnit(beginningWith: FoundHeader.isHeader) { offset, bytes in
            guard let header = FoundHeader(bytes, identities: identities, hashed: &hashed) else { return 0 }
            let hash = Hash128(of: UnsafeRawBufferPointer(rebasing: bytes[..<header.length]))
            found.append((ExtentRef(offset: offset, length: UInt64(header.length), birth: 1, hash: hash), header))
            return header.length
        }
        return (found, hashed >= 0)
    }

    /// Returns version 1 with the directory of a type rebuilt from segment headers, or nil if no segment of the type is found.
    static func withDirectory(_ core: SnapshotCore, type: Int, _ salvage: Salvage) -> SnapshotCore? {
        let id = core.schema.types[type].id
        let entries = GatheredSegments.entries(search(salvage).found.filter { $0.header.proof.typeID == id }.map(\.ref), salvage)
        guard !entries.isEmpty else { return nil }
        var directory = ByteWriter(), catalogue = core.catalogue
        for entry in entries { entry.encode(into: &directory) }
        catalogue.types[type].directory = salvage.add(directory.bytes)
        catalogue.types[type].segmentCount = entries.count
        return SnapshotCore(salvage, catalogue: catalogue, schema: core.schema)
    }

    private static func cut(_ salvage: Salvage) -> String {
        guard let root = salvage.newestRoot, root.length > salvage.length else { return "the catalogue is lost" }
        return "the file has lost its end, \(root.length - salvage.length) of \(root.length) bytes"
    }

    /// Returns the largest intact schema to which a proof refers: the commit may have extended its schema.
    private static func schema(_ refs: [ExtentRef], _ salvage: Salvage) -> Schema? {
        var seen: Set<ExtentRef> = [], best: Schema?
        for ref in refs where seen.insert(ref).inserted {
            guard let bytes = try? salvage.read(ref), let schema = try? Schema(encoded: bytes) else { continue }
            func columns(_ schema: Schema) -> Int { schema.types.reduce(schema.types.count) { $0 + $1.columns.count } }
            if best.map({ columns($0) < columns(schema) }) ?? true { best = schema }
        }
        return best
    }

    /// Returns the directory entries of a type, from headers in any order. If two cover the same range of rows, the first is used.
    private static func entries(_ refs: [ExtentRef], _ salvage: Salvage) -> [DirectoryEntry] {
        var entries: [DirectoryEntry] = []
        for ref in refs {
            guard let bytes = try? salvage.read(ref), let header = try? SegmentHeader(bytes),
                let ids = try? header.decodeRowIDs()?.last ?? Int64(header.rowCount - 1)
            else { continue }
            let (last, overflow) = header.firstRowID.addingReportingOverflow(ids)
            guard !overflow, last < Catalogue.maximumRowIDs - 1, let deleted = try? header.decodeDeletes()?.ones ?? 0 else { continue }
            entries.append(
                DirectoryEntry(
                    firstRowID: header.firstRowID, lastRowID: last, rowCount: header.rowCount, deletedCount: deleted, header: ref))
        }
        entries.sort { ($0.firstRowID, $0.header.offset) < ($1.firstRowID, $1.header.offset) }
        var end: Int64 = -1
        return entries.filter { entry in
            guard entry.firstRowID > end else { return false }
            end = entry.lastRowID
            return true
        }
    }
}
