/// Where a row is in a table at one version: the index of its segment, and its position in the segment.
///
/// Locations of different versions must not be mixed: a row keeps its row id, but not its location.
package struct RowLocation: Sendable, Hashable, Comparable {
    package var segment: Int
    /// Counts physical rows, including deleted ones, as in `Segment`.
    package var position: Int

    @inlinable
    package init(segment: Int, position: Int) {
        self.segment = segment
        self.position = position
    }

    /// Table order.
    @inlinable
    package static func < (a: RowLocation, b: RowLocation) -> Bool {
        a.segment != b.segment ? a.segment < b.segment : a.position < b.position
    }
}
