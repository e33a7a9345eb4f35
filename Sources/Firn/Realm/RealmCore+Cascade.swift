import FirnBytes
import FirnDatabase
import FirnTable

extension Realm {
    /// Deletes an object. With `cascading`, also deletes the objects that it refers to, directly or indirectly, and that no other object
    /// refers to. Traps outside of a write transaction.
    public func delete(_ object: ObjectBase, cascading: Bool) {
        guard cascading else { return delete(object) }
        core.check()
        core.requireTransaction("delete objects")
        trap(
            unless: object._core === core,
            object._core == nil
                ? "Can only delete an object from the Realm it belongs to: this one is not managed."
                : "Can only delete an object from the Realm it belongs to.")
        guard let access = object._access, access.holds(object._rowID) else {
            trap("Object has been deleted or invalidated.")
        }
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
        flushCellsNotingErrors()
        var found: Set<Realm.Row> = [root], next = [root]
        while let row = next.popLast() {
            for linked in links(of: row) where found.insert(linked).inserted { next.append(linked) }
        }
        // Rows that other rows refer to are kept, with all rows that they refer to.
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
        for (index, column) in access.type.columns.enumerated() where column.type.target != nil || column.type.kind == .any {
            forEachLink(of: row.rowID, access, index) { found.append($0) }
        }
        return found
    }

    /// Calls `body` with each row that a column of a row links to. Values of any type store the type of the target.
    private func forEachLink(of rowID: Int64, _ access: TypeAccess, _ column: Int, _ body: (Realm.Row) -> Void) {
        let value = failing(.null) { () throws(FirnError) in try access.working.storedValue(rowID, column) }
        if let target = access.type.columns[column].type.target {
            value.forEachLink { body(Realm.Row(target, $0)) }
        } else {
            value.forEachTypedLink { body(Realm.Row($0, $1)) }
        }
    }

    /// Returns the rows in `found` that rows outside of it link to, by the linking row. Makes one pass over the columns that can contain
    /// such links.
    private func referrersOutside(_ found: Set<Realm.Row>, _ root: Realm.Row) -> [Realm.Row: [Realm.Row]] {
        let types = Set(found.map(\.type))
        var outside: [Realm.Row: [Realm.Row]] = [:]
        for source in schema.types {
            for (index, column) in source.columns.enumerated() {
                guard column.type.kind == .any || column.type.target.map(types.contains) ?? false, let access = access(named: source.name)
                else { continue }
                for rowID in rowIDs(access) {
                    let row = Realm.Row(source.name, rowID)
                    if found.contains(row) { continue }
                    forEachLink(of: rowID, access, index) { linked in
                        if linked != root, found.contains(linked) { outside[row, default: []].append(linked) }
                    }
                }
            }
        }
        return outside
    }
}
