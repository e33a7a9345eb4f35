import FirnBytes
import FirnStore

/// One thing found wrong with a file, and what it belongs to.
package struct Defect: Sendable, CustomStringConvertible {
    /// The type, column and rows, as far as they are known.
    package var subject: String
    package var damage: Damage

    package init(subject: String, damage: Damage) {
        self.subject = subject
        self.damage = damage
    }

    package var description: String { "\(subject): \(damage.what) (byte \(damage.offset))" }
}

extension DatabaseSnapshot {
    /// Reads every extent of this version, so that every hash is checked; `full` also decodes every value and checks what values must
    /// obey: counts, ascending row ids, order within sets and maps, links that lead to rows, unique keys. Returns what is wrong.
    package func verify(full: Bool, progress: (_ rows: Int) -> Void = { _ in }) -> [Defect] {
        core.verify(full: full, progress: progress)
    }
}

extension SnapshotCore {
    func verify(full: Bool, progress: (_ rows: Int) -> Void) -> [Defect] {
        let verifier = Verifier(core: self, full: full)
        for type in schema.types.indices { verifier.check(type, progress) }
        return verifier.defects
    }
}

private final class Verifier {
    let core: SnapshotCore
    let full: Bool
    var defects: [Defect] = []

    init(core: SnapshotCore, full: Bool) {
        self.core = core
        self.full = full
    }

    func attempt<R>(_ subject: String, _ body: () throws(Damage) -> R) -> R? {
        do throws(Damage) { return try body() } catch {
            defects.append(Defect(subject: subject, damage: error))
            return nil
        }
    }

    func check(_ type: Int, _ progress: (Int) -> Void) {
        let state = core.catalogue.types[type], schema = core.schema.types[type]
        var live = 0
        var last: Int64 = -1
        // A directory that cannot be read is one defect, not one for each of the segments it is said to list.
        if state.segmentCount > 0, state.inner == nil, attempt("\(schema.name), directory", { () throws(Damage) in try core.store.read(state.directory) }) == nil { return }
        for index in 0..<state.segmentCount {
            let subject = "\(schema.name), segment \(index)"
            guard let entry = attempt(subject, { () throws(Damage) in try core.directoryEntry(type: type, index: index) }) else { continue }
            if entry.firstRowID <= last { defects.append(Defect(subject: subject, damage: Damage("row ids do not ascend from the segment before"))) }
            last = entry.lastRowID
            guard let segment = attempt(subject, { () throws(Damage) in try core.segment(type: type, index: index) }) else { continue }
            live += segment.liveCount
            for column in schema.columns.indices { check(segment, schema, column, subject) }
            progress(segment.rowCount)
        }
        defects += core.verifyIndexes(type, full: full)
        // From the file, whatever versions took over in memory.
        if state.deltaRows > 0, let tail = attempt("\(schema.name), delta", { () throws(Damage) in try DeltaSegment(core, type: type) }) {
            live += tail.rowCount
            for column in schema.columns.indices { checkValues(tail.values(column), schema.columns[column], "\(schema.name).\(schema.columns[column].name), delta") }
        }
        if live != state.liveRows, defects.isEmpty {
            defects.append(Defect(subject: schema.name, damage: Damage("\(live) rows are there, the catalogue says \(state.liveRows)")))
        }
    }

    private func check(_ segment: StoredSegment, _ schema: TypeSchema, _ column: Int, _ place: String) {
        let subject = "\(schema.name).\(schema.columns[column].name), \(place.drop { $0 != "," }.dropFirst(2))"
        guard let raw = attempt(subject, { () throws(Damage) in try segment.rawColumn(column) }), full else { return }
        guard let all = attempt(subject, { () throws(Damage) in try segment.allRows(column) }) else { return }
        checkValues(all, schema.columns[column], subject)
        let stored = segment.layout.entries.first { $0.columnID == schema.columns[column].id }
        if segment.live == nil, raw.patch == nil, let hash = stored?.logicalHash, hash != all.logicalHash {
            defects.append(Defect(subject: subject, damage: Damage("values do not have the hash that was taken when they were written")))
        }
        if raw.patch == nil, let zone = raw.zone, !zone.covers(all.zone) {
            defects.append(Defect(subject: subject, damage: Damage("values outside their zone")))
        }
    }

    private func checkValues(_ column: Column, _ schema: ColumnSchema, _ subject: String) {
        func fault(_ what: String, _ row: Int) { defects.append(Defect(subject: "\(subject), row \(row)", damage: Damage(what))) }
        if !schema.type.isOptional, schema.type.kind != .any, schema.type.kind != .link, schema.type.kind != .embedded, column.nullCount > 0 {
            fault("a null in a column that has none", 0)
        }
        if schema.type.collection == .set || schema.type.collection == .map {
            for row in 0..<column.count {
                let keys = column.children[0]
                for i in column.offsets[row]..<column.offsets[row + 1] where i > column.offsets[row] {
                    if Value.order(keys.value(at: i - 1), keys.value(at: i)) >= 0 {
                        fault("a \(schema.type.collection) out of order", row)
                        break
                    }
                }
            }
        }
        guard let target = schema.type.target, let index = core.schema.types.firstIndex(where: { $0.name == target }) else { return }
        let links = schema.type.isCollection ? column.children[column.children.count - 1] : column
        let end = core.catalogue.types[index].nextRowID
        for row in 0..<links.count where links.isPresent(row) && (links.words[row] < 0 || links.words[row] >= end) {
            return fault("a link to a row that was never there", row)
        }
    }
}

extension Zone {
    fileprivate func covers(_ other: Zone) -> Bool {
        if other.mayHaveNulls && !mayHaveNulls { return false }
        if allNull && !other.allNull { return false }
        switch (bounds, other.bounds) {
        case (.words(let a, let b), .words(let c, let d)): return a <= c && d <= b
        case (.reals(let a, let b), .reals(let c, let d)): return a <= c && d <= b
        default: return true
        }
    }
}
