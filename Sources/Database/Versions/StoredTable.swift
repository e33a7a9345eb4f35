import FirnBytes
import FirnDisk
import FirnStore
import FirnTable
import Synchronization

/// All rows of one type at one version of a file: the sealed segments, then the rows that exist only in the delta store.
package final class StoredTable: Table {
    package let type: TypeSchema
    let index: Int
    let core: SnapshotCore
    /// Keeps the snapshot open while a caller holds the table.
    let keeper: DatabaseSnapshot?
    /// Nil in a transaction, and if the type has no key.
    let keys: (index: KeyIndex, shape: KeyShape)?
    private let openedKeySegments = Mutex<KeySegments?>(nil)

    init(_ core: SnapshotCore, type index: Int, keeper: DatabaseSnapshot?) {
        self.core = core
        self.index = index
        self.keeper = keeper
        type = core.schema.types[index]
        keys = keeper?.keys.index(type)
    }

    /// Returns the key columns with which candidates are confirmed, or nil if the table has too many segments to keep all of them open.
    func keySegments(_ shape: KeyShape) throws(Damage) -> KeySegments? {
        if let known = openedKeySegments.withLock({ $0 }) { return known }
        guard core.catalogue.types[index].segmentCount <= KeySegments.maximumSegments else { return nil }
        let made = try core.keySegments(type: index, shape)
        openedKeySegments.withLock { $0 = made }
        return made
    }

    /// The path of the file, or an empty string if it is not known.
    var path: String { keeper?.path ?? "" }
    func rows(_ segment: Int) throws(Damage) -> any StoredRows { try core.rows(type: index, index: segment) }
    package var schema: Schema { core.schema }
    package var memory: MemoryBudget { core.source.memory }
    package var rowCount: Int { core.catalogue.types[index].liveRows }
    package var segmentCount: Int { core.catalogue.types[index].segmentCount + (core.catalogue.types[index].deltaRows > 0 ? 1 : 0) }

    /// Only for keys whose values are equal if their bytes are: links and numbers of several kinds can be equal in other ways.
    package var hasUniqueKeys: Bool {
        keeper != nil && !type.isEmbedded && !type.key.isEmpty
            && type.key.allSatisfy { position in
                let column = type.columns[position].type
                return !column.isCollection && [.bool, .int, .string, .data, .date, .uuid, .objectID].contains(column.kind)
            }
    }

    package func segment(_ position: Int) throws(Damage) -> any Segment {
        trap(unless: position >= 0 && position < segmentCount, "segment outside the table: ask segmentCount first")
        do throws(Damage) {
            let segment = try core.tableSegment(type: index, index: position)
            // Open readers do not ask for their extents again.
            MappedMemory.willRead(segment.rows.storedBytes)
            return segment
        } catch {
            guard position < core.catalogue.types[index].segmentCount else { throw error.naming("\(type.name), delta store") }
            let rows = (try? core.directoryEntry(type: index, index: position)).map { ", " + ($0.firstRowID...$0.lastRowID).rowsInWords }
            throw error.naming("\(type.name), segment \(position)\(rows ?? "")")
        }
    }

    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        guard rowID >= 0, rowID < core.catalogue.types[index].nextRowID else { return nil }
        let segment = try core.firstSegment(type: index, endingAtOrAfter: rowID)
        if segment < core.catalogue.types[index].segmentCount {
            return try core.directoryEntry(type: index, index: segment).firstRowID <= rowID ? segment : nil
        }
        return core.catalogue.types[index].deltaRows > 0 ? segment : nil
    }

    package func related(_ typeName: String) throws(Damage) -> (any Table)? {
        core.schema.types.firstIndex { $0.name == typeName }.map { StoredTable(core, type: $0, keeper: keeper) }
    }
}
