import FirnBytes
import FirnStore
import FirnTable

/// The version of a damaged file that is recovered: the newest whose catalogue and schema can be read, however they are found.
struct SalvagedVersion {
    let core: SnapshotCore
    let version: UInt64
    let time: Int64
    /// False if the catalogue, or the whole content of an inline file, has no valid hash, so that nothing proves what was found.
    let isProven: Bool
    let catalogueOffset: UInt64
    private(set) var losses: [Loss] = []
    /// What was damaged without a loss.
    private(set) var remarks: [String] = []
    /// What the file still contains of versions before it.
    let older: OlderVersions

    /// `wanted` is a number or a tag, nil for the newest version. If `unproven`, and hashes prove no version, one without proof is used.
    init(_ salvage: Salvage, wanted: String? = nil, unproven: Bool = false) throws(FirnError) {
        let search = try VersionSearch(salvage, wanted: wanted, unproven: unproven), wrong = search.wrong
        guard let (lead, core) = search.found else {
            throw FirnError(
                .damaged, "nothing can be recovered: \(wrong?.what ?? "no version was found; the file may not be a .firn file")",
                at: .init(file: salvage.path, byte: wrong?.offset ?? 0))
        }
        self.core = core
        version = lead.version
        time = lead.time
        isProven = search.isProven
        catalogueOffset = lead.catalogue.offset
        older = OlderVersions(salvage, search.isProven ? search.all.filter { $0.version < lead.version } : [])
        losses += search.losses
        if !isProven { losses.append(Loss(isUnproven: true, wrong ?? Damage("no hash proves the version that was found"))) }
        if wanted == nil, salvage.hasDamagedSlot, lead.origin == .root(isWhole: true) {
            remarks.append(
                "one of the two roots is damaged, and no version after \(lead.version) was found: if that root referred to a newer version, that version is lost"
            )
        }
        if lead.version < search.newest {
            losses.append(
                Loss(
                    Damage(
                        "version \(search.newest) cannot be read (\(wrong?.what ?? "damaged")): version \(lead.version) is recovered instead",
                        at: Int(clamping: wrong?.offset ?? 0))))
        }
        if let remark = SalvagedVersion.remark(on: lead, isWanted: wanted != nil) { remarks.append(remark) }
    }

    /// Returns how the version was found, unless a whole root leads to it.
    private static func remark(on lead: Salvage.Lead, isWanted: Bool) -> String? {
        switch lead.origin {
        case .root(isWhole: true), .search: nil
        case .root(isWhole: false): "a root is damaged; what it refers to is intact"
        case .record where isWanted: nil
        case .record:
            "\(lead.version > 0 ? "version \(lead.version)" : "a version whose number is not known") was found by its commit record: no root refers to it"
        case .inlineFile: "the root is damaged: no hash proves what was found"
        }
    }

    /// If `provenOnly`, uses only bytes that match their hash. Otherwise a catalogue without proof is read too, for what it refers to: the
    /// schema, and everything that contains rows, must match the hashes in it.
    static func core(_ salvage: Salvage, _ lead: Salvage.Lead, provenOnly: Bool) throws(Damage) -> SnapshotCore {
        let bytes = try provenOnly ? salvage.read(lead.catalogue) : salvage.readBeginning(lead.catalogue)
        do throws(Damage) {
            if Catalogue.isInline(bytes) {
                // An inline file has no hashes inside. If the hash of the whole is known, it must match. If it was lost with the root, the
                // contents must be consistent.
                guard provenOnly || lead.origin == .inlineFile else { throw Damage("stored bytes differ from their hash") }
                let (catalogue, schema) = try Catalogue.decodeInline(bytes)
                let core = SnapshotCore(salvage, catalogue: catalogue, schema: schema)
                if !provenOnly, let defect = core.verify(full: true, progress: { _ in }).first { throw defect.damage }
                return core
            }
            guard lead.origin != .inlineFile else { throw Damage("not the catalogue of an inline file") }
            var catalogue = try Catalogue(bytes)
            var schema = catalogue.schemaRef == .none ? Schema() : try Schema(encoded: try salvage.read(catalogue.schemaRef))
            guard schema.types.count == catalogue.types.count else { throw Damage("schema and catalogue disagree") }
            catalogue.takeIndexes(&schema, salvage)
            return SnapshotCore(salvage, catalogue: catalogue, schema: schema)
        } catch { throw error.offset < lead.catalogue.offset ? error.shifted(by: lead.catalogue.offset) : error }
    }
}
