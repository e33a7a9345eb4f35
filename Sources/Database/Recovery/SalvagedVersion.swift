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
        var (leads, tags) = salvage.leads()
        var all = leads
        if let wanted {
            leads.removeAll { $0.version != UInt64(wanted) ?? tags[wanted] }
            guard !leads.isEmpty else { throw FirnError(.notFound, "no version \"\(wanted)\" is found", at: .init(file: salvage.path)) }
        }
        var newest = leads.first?.version ?? 0, wrong: Damage?
        func choose(_ leads: [Salvage.Lead], provenOnly: Bool) -> (Salvage.Lead, SnapshotCore)? {
            for lead in leads {
                newest = max(newest, lead.origin == .inlineFile ? 0 : lead.version)
                do throws(Damage) { return (lead, try SalvagedVersion.core(salvage, lead, provenOnly: provenOnly)) } catch {
                    if wrong == nil { wrong = error }
                }
            }
            return nil
        }
        var found = choose(leads, provenOnly: true), isProven = true, gatheredLosses: [Loss] = []
        let needsSearch =
            wanted == nil
            && (!leads.contains { $0.origin == .root(isWhole: true) } || found == nil || found!.0.version < newest
                || SalvagedVersion.lacksRoot(leads) || salvage.hasDamagedSlot)
        if needsSearch {
            // A lost root may have been that of the newest version: its commit record still exists, with the hash of its catalogue.
            let strays = salvage.strayLeads()
            all += strays.filter { $0.origin != .inlineFile }
            let known = found?.0.version ?? 0
            if let better = choose(strays.filter { $0.origin != .inlineFile && (found == nil || $0.version > known) }, provenOnly: true) {
                found = better
            }
            if found == nil, let gathered = GatheredSegments(salvage) {
                found = (.bySearch(time: leads.first { $0.version == 1 }?.time ?? 0), gathered.core)
                gatheredLosses = gathered.losses
            }
            // An intact root contains the hash of the catalogue. If the bytes do not match it, nothing is known about what is at that
            // position.
            let places = strays.filter { $0.origin == .inlineFile && !leads.contains { $0.origin == .root(isWhole: true) } }
            if found == nil, unproven,
                let best = choose(
                    leads.filter { $0.origin != .root(isWhole: false) } + strays.filter { $0.origin != .inlineFile } + places + leads,
                    provenOnly: false)
            {
                found = best
                isProven = false
            }
        }
        guard let (lead, core) = found else {
            throw FirnError(
                .damaged, "nothing can be recovered: \(wrong?.what ?? "no version was found; the file may not be a .firn file")",
                at: .init(file: salvage.path, byte: wrong?.offset ?? 0))
        }
        self.core = core
        version = lead.version
        time = lead.time
        self.isProven = isProven
        catalogueOffset = lead.catalogue.offset
        older = OlderVersions(salvage, all.filter { $0.version < lead.version && isProven })
        losses += gatheredLosses
        if !isProven { losses.append(Loss(isUnproven: true, wrong ?? Damage("no hash proves the version that was found"))) }
        if wanted == nil, salvage.hasDamagedSlot, lead.origin == .root(isWhole: true) {
            remarks.append(
                "one of the two roots is damaged, and no version after \(lead.version) was found: if that root referred to a newer version, that version is lost"
            )
        }
        if lead.version < newest {
            losses.append(
                Loss(
                    Damage(
                        "version \(newest) cannot be read (\(wrong?.what ?? "damaged")): version \(lead.version) is recovered instead",
                        at: Int(clamping: wrong?.offset ?? 0))))
        }
        switch lead.origin {
        case .root(isWhole: true): break
        case .root(isWhole: false): remarks.append("a root is damaged; what it refers to is intact")
        case .record where wanted != nil: break
        case .record:
            remarks.append(
                "\(lead.version > 0 ? "version \(lead.version)" : "a version whose number is not known") was found by its commit record: no root refers to it"
            )
        case .search: break
        case .inlineFile: remarks.append("the root is damaged: no hash proves what was found")
        }
    }

    /// Returns whether one of the two roots is damaged or missing.
    private static func lacksRoot(_ leads: [Salvage.Lead]) -> Bool {
        leads.contains { $0.origin == .root(isWhole: false) } || !leads.contains { $0.version > 1 }
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
