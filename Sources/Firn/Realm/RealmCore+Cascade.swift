import FirnBytes
import FirnModel

extension Realm {
    /// Deletes an object; cascading: also those that it leads to, directly or through others, and that nothing else leads to.
    public func delete(_ object: ObjectBase, cascading: Bool) {
        guard cascading else { return delete(object) }
        core.confinement.check()
        core.requireTransaction("delete objects")
        precondition(object._core === core, object._core == nil ? "Can only delete an object from the Realm it belongs to: this one is not managed." : "Can only delete an object from the Realm it belongs to.")
        guard let access = object._access, access.holds(object._rowID) else { preconditionFailure("Object has been deleted or invalidated.") }
        core.deleteCascading(Row(access.name, object._rowID))
    }

    struct Row: Hashable {
        var type: String
        var rowID: Int64
        init(_ type: String, _ rowID: Int64) {
            self.type = type
            self.rowID = rowID
        }
    }
}

extension RealmCore {
    fileprivate func deleteCascading(_ root: Realm.Row) {
        failing(()) { () throws(FirnError) in try flushCells() }
        var found: Set<Realm.Row> = [root], next = [root]
        while let row = next.popLast() {
            for linked in links(of: row) where found.insert(linked).inserted { next.append(linked) }
        }
        // What others lead to stays, and all that it leads to.
        var kept = referrersOutside(found, root).flatMap { _, targets in targets }
        while let row = kept.popLast() {
            guard row != root, found.remove(row) != nil else { continue }
            kept.append(contentsOf: links(of: row))
        }
        var byType: [String: [Int64]] = [:]
        for row in found where !(schema[row.type]?.isEmbedded ?? true) { byType[row.type, default: []].append(row.rowID) }
        for (type, rows) in byType { if let access = access(named: type) { delete(rows.sorted(), access) } }
    }

    private func links(of row: Realm.Row) -> [Realm.Row] {
        guard let access = access(named: row.type) else { return [] }
        var found: [Realm.Row] = []
        for (place, column) in access.type.columns.enumerated() where column.type.target != nil || column.type.kind == .any {
            forEachLink(of: row.rowID, access, place) { found.append($0) }
        }
        return found
    }

    /// Where a column of a row leads to; values of any type say by themselves which type that is.
    private func forEachLink(of rowID: Int64, _ access: TypeAccess, _ column: Int, _ body: (Realm.Row) -> Void) {
        let value = failing(.null) { () throws(FirnError) in try access.working.storedValue(rowID, column) }
        if let target = access.type.columns[column].type.target {
            value.forEachLink { body(Realm.Row(target, $0)) }
        } else {
            value.forEachTypedLink { body(Realm.Row($0, $1)) }
        }
    }

    /// Of the rows in `found`: those that rows outside lead to. One pass over the columns that may.
    private func referrersOutside(_ found: Set<Realm.Row>, _ root: Realm.Row) -> [Realm.Row: [Realm.Row]] {
        let types = Set(found.map(\.type))
        var outside: [Realm.Row: [Realm.Row]] = [:]
        for source in schema.types {
            for (place, column) in source.columns.enumerated() {
                guard column.type.kind == .any || column.type.target.map(types.contains) ?? false, let access = access(named: source.name) else { continue }
                for rowID in rowIDs(access) {
                    let row = Realm.Row(source.name, rowID)
                    if found.contains(row) { continue }
                    forEachLink(of: rowID, access, place) { linked in
                        if linked != root, found.contains(linked) { outside[row, default: []].append(linked) }
                    }
                }
            }
        }
        return outside
    }
}
