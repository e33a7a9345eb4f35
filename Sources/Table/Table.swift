import FirnBytes
import FirnDisk

/// All rows of one type at one version. Usable from any thread.
package protocol Table: AnyObject, Sendable {
    /// The type of the rows.
    var type: TypeSchema { get }
    /// The schema in which embedded and linked types are looked up.
    var schema: Schema { get }
    /// The number of live rows.
    var rowCount: Int { get }
    var segmentCount: Int { get }
    /// Returns the segment at an index from 0 up to `segmentCount`.
    func segment(_ index: Int) throws(Damage) -> any Segment
    /// Returns the index of the segment that contains (or would contain) a row id, or nil if the row id is outside every segment.
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int?
    /// Returns the table of another type (or of this one) at the same version, which links refer to, or nil if it is not available.
    func related(_ typeName: String) throws(Damage) -> (any Table)?
    /// The budget that is charged for data that is made from the rows.
    var memory: MemoryBudget { get }
    /// Whether no two rows have the same key, because the writers of the file ensure it.
    var hasUniqueKeys: Bool { get }
    /// Whether each column is best read from the first segment to the last by one thread: reading it in another order repeats work.
    var readsByColumn: Bool { get }
}

extension Table {
    package var readsByColumn: Bool { false }
    package var hasUniqueKeys: Bool { false }
    package var memory: MemoryBudget { .process }
    package func related(_ typeName: String) throws(Damage) -> (any Table)? { nil }
}
