import FirnBytes
import Synchronization

/// A version or a transaction, which provides the other tables that a segment's columns refer to.
package protocol TableHome: AnyObject, Sendable {
    var schema: Schema { get }
    /// Returns the table that a column of embedded objects refers to.
    func embeddedTable(of column: ColumnSchema) throws(Damage) -> any Table
    /// Whether its rows never change: true for a version, false for a transaction.
    var isFixed: Bool { get }
    var counts: ReadCounts { get }
}

/// Counters of what a database has read so far. Tests check with them what a change may cost.
package final class ReadCounts: Sendable {
    private let records = Atomic<Int>(0), vectors = Atomic<Int>(0), segments = Atomic<Int>(0), vectorsOfObjects = Atomic<Int>(0),
        valuesOfObjects = Atomic<Int>(0)

    package init() {}

    /// The number of decoded delta records.
    package var deltaRecords: Int { records.load(ordering: .relaxed) }
    /// The number of vectors that were decoded to be changed, each of one column.
    package var changedVectors: Int { vectors.load(ordering: .relaxed) }
    /// The number of sealed segments whose headers were opened.
    package var openedSegments: Int { segments.load(ordering: .relaxed) }

    /// The number of vectors of stored columns that were decoded for fields of embedded objects.
    package var objectVectors: Int { vectorsOfObjects.load(ordering: .relaxed) }
    /// The number of values that were read one by one for fields of embedded objects.
    package var objectValues: Int { valuesOfObjects.load(ordering: .relaxed) }

    package func addDeltaRecords(_ count: Int) { records.add(count, ordering: .relaxed) }
    package func addChangedVector() { vectors.add(1, ordering: .relaxed) }
    package func addObjectVector() { vectorsOfObjects.add(1, ordering: .relaxed) }
    package func addObjectValue() { valuesOfObjects.add(1, ordering: .relaxed) }
    package func addOpenedSegment() { segments.add(1, ordering: .relaxed) }
}
