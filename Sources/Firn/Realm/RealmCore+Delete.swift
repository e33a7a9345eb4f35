import FirnBytes
import FirnTable

/// Deleting rows, and the rows and values that depend on them.
extension RealmCore {
    /// Deletes rows of a type and the embedded objects that belong to them. Links to them become nil, and they are removed from lists and
    /// sets. If `havingOwners`, rows of an embedded type are removed from their owners too; otherwise the caller has done this.
    func delete(_ rowIDs: [Int64], _ access: TypeAccess, havingOwners: Bool = false) {
        guard !rowIDs.isEmpty else { return }
        failing(()) { () throws(FirnError) in
            try flushCells()
            if havingOwners, schema.types[access.typeNumber].isEmbedded {
                try requiredTransaction.deleteLinks(to: access.name, rows: rowIDs)
            }
            try deleteRows(rowIDs, access)
        }
        noteChange()
        for access in allAccesses {
            access.forgetPositions()
            for cell in access.cells.values { cell.cell?.forget() }
        }
    }

    private func deleteRows(_ rowIDs: [Int64], _ access: TypeAccess) throws(FirnError) {
        let table = access.working
        for (index, column) in access.type.columns.enumerated() where column.type.kind == .embedded {
            guard let target = column.type.target, let embedded = self.access(named: target) else { continue }
            var owned: [Int64] = []
            for rowID in rowIDs { try table.storedValue(rowID, index).forEachLink { owned.append($0) } }
            if !owned.isEmpty { try deleteRows(owned, embedded) }
        }
        if !schema.types[access.typeNumber].isEmbedded { try requiredTransaction.deleteLinks(to: access.name, rows: rowIDs) }
        for rowID in rowIDs { try table.delete(rowID) }
    }
}

extension Value {
    func forEachLink(_ body: (Int64) -> Void) {
        switch self {
        case .link(let rowID): body(rowID)
        case .list(let values), .set(let values): for value in values { value.forEachLink(body) }
        case .map(let entries): for entry in entries { entry.value.forEachLink(body) }
        default: break
        }
    }
}
