import FirnBytes
import FirnModel

/// Which of the two tables.
package enum DifferenceSide: Sendable, Hashable { case old, new }

/// What a difference is asked for.
package struct DifferenceOptions: Sendable {
    /// What to do with a key that stands in more than one row of a table.
    package enum Duplicates: Sendable {
        /// `FirnError(.duplicateKey)` naming the side, the keys and the rows.
        case refuse
        /// The first row stands for the key; the others are left out and counted in `TableDifference.leftOut`.
        case takeFirst
    }

    /// Names of the columns that identify a row. Empty: the key of the new table's type, or the old one's.
    package var key: [String] = []
    /// The columns to compare; empty: all that both tables have.
    package var columns: [String] = []
    /// Columns not to compare.
    package var ignore: [String] = []
    /// Numbers that differ by at most this much are equal (not in keys).
    package var tolerance = 0.0
    /// The kinds of entries looked for. Cells are compared only if `.changed` is among them.
    package var kinds: Set<DifferenceEntry.Kind> = [.added, .removed, .changed]
    package var duplicates = Duplicates.refuse
    /// How messages name the tables: file names.
    package var oldName = "old"
    package var newName = "new"
    /// The rows of a segment to look at (nil: all). Rows outside are treated as not there, on either side.
    package var rows: (@Sendable (_ side: DifferenceSide, _ table: any Table, _ segment: Int) throws(FirnError) -> Bits?)?
    /// Calls the body with 0 ..< count, on `threads` threads or one after the other, and returns when all are done.
    package var parallel: @Sendable (_ count: Int, _ body: @Sendable (Int) -> Void) -> Void = { count, body in
        for i in 0..<count { body(i) }
    }
    package var threads = 1
    /// For tests: which bits of a key's hash are used. Fewer bits mean more collisions, never another answer.
    package var hashMask = UInt64.max

    /// Rows that need no comparison because both tables hold the very same.
    var shared = SharedRows()

    package init() {}
}

extension DifferenceOptions {
    func name(_ side: DifferenceSide) -> String { side == .old ? oldName : newName }

    /// Runs the body for 0 ..< count and returns what it gave, in order. Throws the error of the lowest index.
    func each<T: Sendable>(_ count: Int, _ body: @Sendable (Int) throws(FirnError) -> T) throws(FirnError) -> [T] {
        let slots = Slots<T>(count)
        parallel(count) { i in
            do throws(FirnError) { slots.values[i] = .success(try body(i)) } catch { slots.values[i] = .failure(error) }
        }
        var out: [T] = []
        out.reserveCapacity(count)
        for i in 0..<count {
            switch slots.values[i] {
            case .success(let value): out.append(value)
            case .failure(let error): throw error
            case nil: preconditionFailure("DifferenceOptions.parallel must call its body for every index before it returns")
            }
        }
        return out
    }

    /// One place for each index, so that no two threads write the same.
    private final class Slots<T: Sendable>: @unchecked Sendable {
        let values: UnsafeMutableBufferPointer<Result<T, FirnError>?>
        init(_ count: Int) {
            values = .allocate(capacity: count)
            values.initialize(repeating: nil)
        }
        deinit {
            values.deinitialize()
            values.deallocate()
        }
    }
}
