import FirnBytes
import FirnStore

/// The version of a damaged file that is got out: the newest whose catalogue and schema can be read, by whatever way they are found.
struct SalvagedVersion {
    let core: SnapshotCore
    let version: UInt64
    let time: Int64
    /// False: names and kinds, or what types have, are as they were found, and nothing vouches for them.
    let isVouchedFor: Bool
    private(set) var losses: [Loss] = []
    /// What was wrong and did no harm.
    private(set) var remarks: [String] = []
    /// What there is of versions before it.
    let older: OlderVersions

    /// `wanted`: a number or a tag; nil: the newest.
    init(_ salvage: Salvage, wanted: String? = nil) throws(FirnError) {
        var (leads, tags) = salvage.leads()
        var all = leads
        if let wanted {
            leads.removeAll { $0.version != UInt64(wanted) ?? tags[wanted] }
            guard !leads.isEmpty else { throw FirnError(.notFound, "nothing leads to a version \(wanted)", at: .init(file: salvage.path)) }
        }
        var newest = leads.first?.version ?? 0, wrong: Damage?
        func choose(_ leads: [Salvage.Lead], believing: Bool) -> (Salvage.Lead, SnapshotCore)? {
            for lead in leads {
                newest = max(newest, lead.origin == .place ? 0 : lead.version)
                do throws(Damage) { return (lead, try SalvagedVersion.core(salvage, lead, believing: believing)) } catch { if wrong == nil { wrong = error } }
            }
            return nil
        }
        var found = choose(leads, believing: false), isVouchedFor = true
        let needsSearch = wanted == nil && (!leads.contains { $0.origin == .root(isWhole: true) } || found == nil || found!.0.version < newest || SalvagedVersion.lacksRoot(leads))
        if needsSearch {
            // A root that is gone may have been the newest: its record is still there, and its catalogue vouches for it.
            let strays = salvage.strayLeads()
            all += strays.filter { $0.origin != .place }
            let known = found?.0.version ?? 0
            if let better = choose(strays.filter { $0.origin != .place && $0.version > known }, believing: false) { found = better }
            if found == nil, let best = choose(leads.filter { $0.origin != .root(isWhole: false) } + strays + leads, believing: true) {
                found = best
                isVouchedFor = false
            }
        }
        guard let (lead, core) = found else {
            throw FirnError(.damaged, "nothing can be recovered: \(wrong?.what ?? "no version is found")", at: .init(file: salvage.path, byte: wrong?.offset ?? 0))
        }
        self.core = core
        version = lead.version
        time = lead.time
        self.isVouchedFor = isVouchedFor
        older = OlderVersions(salvage, all.filter { $0.version < lead.version && isVouchedFor })
        if !isVouchedFor { losses.append(Loss(wrong ?? Damage("the schema cannot be vouched for"))) }
        if lead.version < newest {
            losses.append(Loss(Damage("version \(newest) cannot be read (\(wrong?.what ?? "damaged")): version \(lead.version) is", at: Int(clamping: wrong?.offset ?? 0))))
        }
        switch lead.origin {
        case .root(isWhole: true): break
        case .root(isWhole: false): remarks.append("a root is damaged; what it led to is whole")
        case .record where wanted != nil: break
        case .record: remarks.append("version \(lead.version) was found by its commit record: no root leads to it")
        case .place: remarks.append("the root is damaged: nothing vouches for what was found")
        }
    }

    /// Whether one of the two roots is not whole.
    private static func lacksRoot(_ leads: [Salvage.Lead]) -> Bool { leads.contains { $0.origin == .root(isWhole: false) } || !leads.contains { $0.version > 1 } }

    /// `believing`: bytes that do not hash right are taken as they are.
    static func core(_ salvage: Salvage, _ lead: Salvage.Lead, believing: Bool) throws(Damage) -> SnapshotCore {
        func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
            // Of that no hash is known, and it may be all of the file.
            if believing, lead.origin == .place, ref == lead.catalogue { return try salvage.readBeginning(ref) }
            do throws(Damage) { return try salvage.read(ref) } catch {
                guard believing else { throw error }
                return try salvage.readBeginning(ref)
            }
        }
        let bytes = try read(lead.catalogue)
        do throws(Damage) {
            if Catalogue.isAlone(bytes) {
                // All is in it, and nothing in it has a hash of its own: it is good or not. Where the hash went with the root, its contents must agree with themselves.
                guard !believing || lead.origin == .place else { throw Damage("stored bytes differ from their hash") }
                let (catalogue, schema) = try Catalogue.decodeAlone(bytes)
                let core = SnapshotCore(salvage, catalogue: catalogue, schema: schema)
                if believing, let defect = core.verify(full: true, progress: { _ in }).first { throw defect.damage }
                return core
            }
            var catalogue = try Catalogue(bytes)
            var schema = catalogue.schemaRef == .none ? Schema() : try Schema(encoded: try read(catalogue.schemaRef))
            guard schema.types.count == catalogue.types.count else { throw Damage("schema and catalogue disagree") }
            catalogue.takeIndexes(&schema, salvage)
            return SnapshotCore(salvage, catalogue: catalogue, schema: schema)
        } catch { throw error.offset < lead.catalogue.offset ? error.shifted(by: lead.catalogue.offset) : error }
    }
}
