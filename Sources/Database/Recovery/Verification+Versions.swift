import FirnBytes
import FirnStore
import FirnTable

extension Database {
    /// Verifies everything in the file that can be read: the structure, the version `newest` and, if `others`, what the other kept and
    /// tagged versions do not share with it. If the newest version is damaged and an older one is read in its place, the damaged version is
    /// verified too, so that its defects are reported by name. An error of `progress` ends the verification.
    package func verify(
        _ newest: DatabaseSnapshot, full: Bool, others: Bool = true, progress: (_ rows: Int) throws(FirnError) -> Void = { _ in }
    )
        throws(FirnError) -> [Defect]
    {
        var defects = try verifyStructure().map { Defect(part: "structure", $0) }
        if newest.version == 0, defects.isEmpty {
            defects.append(Defect(part: "structure", Damage("the file contains no completed version")))
        }
        var seen: Set<ExtentRef> = [], reported: Set<Damage> = []
        func add(_ found: [Defect], version: UInt64?) {
            // A defect that versions share is reported for the newest of them.
            for var defect in found where version == nil || !reported.contains(defect.damage) {
                defect.version = version
                defects.append(defect)
            }
            for defect in found where defect.damage.offset > 0 { reported.insert(defect.damage) }
        }
        add(try newest.core.verify(full: full, passing: &seen, progress: progress), version: nil)
        guard others else { return defects }
        if let torn = try store.passedOver() {
            do throws(Damage) {
                add(
                    try SnapshotCore(torn.extents, catalogueRef: torn.catalogue).verify(full: full, passing: &seen, progress: { _ in }),
                    version: torn.version)
            } catch { defects.append(Defect(version: torn.version, part: "structure", error)) }
        }
        for version in otherVersions(than: newest.version) {
            let snapshot: DatabaseSnapshot
            do throws(FirnError) { snapshot = try self.snapshot(version: version) } catch {
                // The version may have been dropped meanwhile.
                if error.code == .damaged {
                    defects.append(
                        Defect(version: version, part: "structure", Damage(error.message, at: Int(clamping: error.location?.byte ?? 0))))
                }
                continue
            }
            add(try snapshot.core.verify(full: full, passing: &seen) { _ throws(FirnError) in try progress(0) }, version: version)
        }
        return defects
    }

    /// Returns the other versions that can be found, newest first. `verifyStructure` reports defects of the records that list them.
    private func otherVersions(than newest: UInt64) -> [UInt64] {
        let kept = (try? versions())?.map(\.version) ?? [], tagged = (try? tags())?.map(\.version) ?? []
        return Set(kept + tagged).filter { $0 != newest && $0 > 0 }.sorted(by: >)
    }
}
