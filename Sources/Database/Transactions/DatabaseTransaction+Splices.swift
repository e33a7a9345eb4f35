import FirnBytes
import FirnStore
import FirnTable

/// Writing the change of a large collection instead of its value.
extension DatabaseTransaction {
    /// What is written about a changed collection.
    private enum CollectionChange {
        case value
        case splices(CollectionSplices)
        /// The segment is changed directly, so that later changes are small again.
        case flush
    }

    /// Collections of fewer bytes (encoded, an estimate) are written whole.
    private static let splicedBytes = 4096
    /// The maximum number of bytes of splices, and a fraction of the collection that they do not exceed.
    private static let maximumSplices = 8192
    private static let splicesFraction = 4
    /// A segment is changed directly for one collection only if the column takes at most so many times its bytes.
    private static let flushFactor = 256
    /// A row of the delta store with more bytes is sealed when it is changed: later changes are splices.
    private static let largeRow = 16 << 10

    /// Returns the delta records of the changed rows of a sealed segment, in ascending order; nil if the segment is to be changed directly.
    func records(of rows: WorkingRows, _ type: Int, _ tree: TreeWriter) throws(FirnError) -> [(rowID: Int64, record: DeltaRecord)]? {
        var changes: [Int: DeltaRecord] = [:]
        for (index, column) in schema.types[type].columns.enumerated() {
            for position in rows.changedPositions(index) where rows.isLive(position) {
                if column.type.isCollection {
                    let change = try reading { () throws(Damage) in
                        try collectionChange(of: rows, at: position, column: index, id: column.id, tree)
                    }
                    if case .flush = change { return nil }
                    if case .splices(let splices) = change {
                        changes[position, default: DeltaRecord(.update)].splices.append((column.id, splices))
                        store.require(.splices)
                        continue
                    }
                }
                guard let value = rows.heldValue(at: position, index) else { continue }
                changes[position, default: DeltaRecord(.update)].values.append((column.id, value))
            }
        }
        for position in rows.deletedPositions { changes[position] = DeltaRecord(.deletion) }
        return try reading { () throws(Damage) in
            try changes.sorted { $0.key < $1.key }.mapTyped { (change) throws(Damage) in (try rows.rowID(at: change.key), change.value) }
        }
    }

    private func collectionChange(of rows: WorkingRows, at position: Int, column: Int, id: UInt32, _ tree: TreeWriter) throws(Damage)
        -> CollectionChange
    {
        guard let segment = rows.base as? StoredSegment, let new = rows.heldRow(at: position, column), new.isPresent(0),
            case let size = new.encodedEstimate, size >= DatabaseTransaction.splicedBytes
        else { return .value }
        let limit = min(DatabaseTransaction.maximumSplices, size / DatabaseTransaction.splicesFraction)
        let old = try tree.get(UInt64(try rows.rowID(at: position))).map { (bytes) throws(Damage) in try DeltaRecord(bytes) }
        let known = old?.splices(of: id), sealed = try segment.sealedRow(column, at: position)
        guard sealed.isPresent(0) else { return .value }
        // Splices that do not fit the value are not used: reading them fails, too.
        let isKnown = known.map { $0.baseCount == sealed.offsets[1] - sealed.offsets[0] } ?? false
        if let splices = CollectionDifference(from: sealed, to: new, after: isKnown ? known : nil).splices(limit: limit) {
            return .splices(splices)
        }
        // The change since the last version is small, but not that since the segment was written.
        let before: Column
        if let known {
            before = try known.applied(to: sealed, segment.scope(column))
        } else if let whole = old?.value(of: id), whole.isCollection {
            var one = Column(new.type)
            guard one.append(whole) else { return .value }
            before = one
        } else {
            return .value
        }
        guard CollectionDifference(from: before, to: new).splices(limit: limit) != nil,
            (segment.entry(column)?.chunk?.length ?? 0) / UInt64(DatabaseTransaction.flushFactor) <= UInt64(size)
        else { return .value }
        return .flush
    }

    /// Returns whether a changed row of the delta store is so large that the rows are sealed now.
    func hasLargeChange(_ tail: WorkingRows, _ type: Int, _ tree: TreeWriter) throws(FirnError) -> Bool {
        guard schema.types[type].columns.contains(where: \.type.isCollection) else { return false }
        return try reading { () throws(Damage) in
            var isLarge = false
            for position in tail.changedRows.setPositions where !isLarge && tail.isLive(position) {
                if let old = try tree.get(UInt64(try tail.rowID(at: position))) { isLarge = old.count >= DatabaseTransaction.largeRow }
            }
            return isLarge
        }
    }
}

extension Value {
    fileprivate var isCollection: Bool {
        switch self {
        case .list, .set, .map: true
        default: false
        }
    }
}

extension Bits {
    fileprivate var setPositions: [Int] {
        var positions: [Int] = []
        forEachSet { positions.append($0) }
        return positions
    }
}

extension Column {
    /// About how many bytes the collection in the only row takes in a delta record.
    fileprivate var encodedEstimate: Int {
        children.reduce(0) { sum, child in
            sum + child.count * (child.words.isEmpty ? 0 : 4) + child.extra.count * 4 + child.reals.count * 9
                + child.text.count * 2 + child.text.bytes.count
        }
    }
}
