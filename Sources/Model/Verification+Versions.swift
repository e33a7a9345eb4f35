import FirnBytes
import FirnStore

extension Database {
    /// Everything that can be read in the file: what carries the versions, `newest`, and the other versions that are kept or tagged, as far as they have what
    /// it has not (unless they are not asked for). Where the newest version does not hold and an older one is read, that one too: what of it is damaged is told by name.
    package func verify(_ newest: DatabaseSnapshot, full: Bool, others: Bool = true, progress: (_ rows: Int) -> Void = { _ in }) throws(FirnError) -> [Defect] {
        var defects = try verifyStructure().map { Defect(part: "structure", $0) }
        if newest.version == 0, defects.isEmpty { defects.append(Defect(part: "structure", Damage("no version was ever completed in this file"))) }
        var seen: Set<ExtentRef> = [], told: Set<Damage> = []
        func add(_ found: [Defect], version: UInt64?) {
            // What versions share is told of the newest of them.
            for var defect in found where version == nil || !told.contains(defect.damage) {
                defect.version = version
                defects.append(defect)
            }
            for defect in found where defect.damage.offset > 0 { told.insert(defect.damage) }
        }
        add(newest.core.verify(full: full, passing: &seen, progress: progress), version: nil)
        guard others else { return defects }
        if let torn = try store.passedOver() {
            do throws(Damage) {
                add(try SnapshotCore(torn.extents, catalogueRef: torn.catalogue).verify(full: full, passing: &seen, progress: { _ in }), version: torn.version)
            } catch { defects.append(Defect(version: torn.version, part: "structure", error)) }
        }
        for version in otherVersions(than: newest.version) {
            let snapshot: DatabaseSnapshot
            do throws(FirnError) { snapshot = try self.snapshot(version: version) } catch {
                // It may have been dropped meanwhile.
                if error.code == .damaged { defects.append(Defect(version: version, part: "structure", Damage(error.message, at: Int(clamping: error.place?.byte ?? 0)))) }
                continue
            }
            add(snapshot.core.verify(full: full, passing: &seen, progress: { _ in }), version: version)
        }
        return defects
    }

    /// Newest first; as many as can be found: what is wrong with the records that list them is told by `verifyStructure`.
    private func otherVersions(than newest: UInt64) -> [UInt64] {
        let kept = (try? versions())?.map(\.version) ?? [], tagged = (try? tags())?.map(\.version) ?? []
        return Set(kept + tagged).filter { $0 != newest && $0 > 0 }.sorted(by: >)
    }
}
