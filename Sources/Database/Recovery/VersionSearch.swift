import FirnBytes
import FirnStore
import FirnTable

/// Searches a damaged file for the newest version whose catalogue and schema can be read.
struct VersionSearch {
    private let salvage: Salvage
    /// What leads to versions: roots and commit records, newest first.
    private var leads: [Salvage.Lead]
    /// All leads that were found, also those to other versions than the wanted one.
    private(set) var all: [Salvage.Lead]
    private(set) var found: (lead: Salvage.Lead, core: SnapshotCore)?
    /// False if no hash proves the version that was found.
    private(set) var isProven = true
    /// What is lost if the version consists of segments that were found without a directory.
    private(set) var losses: [Loss] = []
    /// The number of the newest version that the file names, and what is wrong with the first one that cannot be read.
    private(set) var newest: UInt64
    private(set) var wrong: Damage?

    /// `wanted` is a number or a tag, nil for the newest version. If `unproven`, and hashes prove no version, one without proof is used.
    init(_ salvage: Salvage, wanted: String?, unproven: Bool) throws(FirnError) {
        let (leads, tags) = salvage.leads()
        self.salvage = salvage
        self.leads = leads
        all = leads
        if let wanted {
            self.leads.removeAll { $0.version != UInt64(wanted) ?? tags[wanted] }
            guard !self.leads.isEmpty else {
                throw FirnError(.notFound, "no version \"\(wanted)\" is found", at: .init(file: salvage.path))
            }
        }
        newest = self.leads.first?.version ?? 0
        found = choose(self.leads, provenOnly: true)
        if wanted == nil, needsSearch { searchFile(unproven: unproven) }
    }

    private mutating func choose(_ leads: [Salvage.Lead], provenOnly: Bool) -> (lead: Salvage.Lead, core: SnapshotCore)? {
        for lead in leads {
            newest = max(newest, lead.origin == .inlineFile ? 0 : lead.version)
            do throws(Damage) { return (lead, try SalvagedVersion.core(salvage, lead, provenOnly: provenOnly)) } catch {
                if wrong == nil { wrong = error }
            }
        }
        return nil
    }

    /// Whether a newer version may be found than the leads name.
    private var needsSearch: Bool {
        guard let found, found.lead.version >= newest, !salvage.hasDamagedSlot else { return true }
        let lacksRoot = leads.contains { $0.origin == .root(isWhole: false) } || !leads.contains { $0.version > 1 }
        return lacksRoot || !leads.contains { $0.origin == .root(isWhole: true) }
    }

    /// Searches the whole file for commit records, then for segments.
    private mutating func searchFile(unproven: Bool) {
        // A lost root may have been that of the newest version: its commit record still exists, with the hash of its catalogue.
        let strays = salvage.strayLeads(), records = strays.filter { $0.origin != .inlineFile }
        all += records
        let known = found?.lead.version
        if let better = choose(records.filter { lead in known.map { lead.version > $0 } ?? true }, provenOnly: true) { found = better }
        if found == nil, let gathered = GatheredSegments(salvage) {
            found = (.bySearch(time: leads.first { $0.version == 1 }?.time ?? 0), gathered.core)
            losses = gathered.losses
        }
        guard found == nil, unproven else { return }
        // An intact root contains the hash of the catalogue. If the bytes do not match it, nothing is known about what is at that position.
        let places = strays.filter { $0.origin == .inlineFile && !leads.contains { $0.origin == .root(isWhole: true) } }
        found = choose(leads.filter { $0.origin != .root(isWhole: false) } + records + places + leads, provenOnly: false)
        isProven = found == nil
    }
}
