import FirnBytes
import FirnTable
import Synchronization

/// Decoded vectors of a type in a frozen realm, for many threads. Each thread uses one of a few sets, selected by its number. If another
/// thread is using that set, the value is read by itself instead of waiting.
final class FrozenWindows: Sendable {
    private static let count = 8

    private final class Slot: @unchecked Sendable {
        private let isTaken = Atomic<Bool>(false)
        // Belongs to the thread that took the slot. Created by the first one.
        @exclusivity(unchecked) var windows: Unmanaged<WindowSet>?

        deinit { windows?.release() }

        func take() -> Bool { isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged }
        func give() { isTaken.store(false, ordering: .releasing) }
    }

    // Retained manually: counting references to objects that several threads use would make the threads contend.
    private let slots: [Unmanaged<Slot>]
    private let types: [ColumnSchema]

    init(_ types: [ColumnSchema]) {
        self.types = types
        slots = (0..<FrozenWindows.count).map { _ in Unmanaged.passRetained(Slot()) }
    }

    deinit { for slot in slots { slot.release() } }

    /// The slot of this thread. Thread numbers are addresses with large distances, so they are hashed.
    private var slot: Unmanaged<Slot> {
        let thread = UInt64(currentThread()) &* 0x9E37_79B9_7F4A_7C15
        return slots[Int(thread >> 61)]
    }

    /// Returns what `body` finds in the decoded vector. Returns nil if another thread has the slot, or if the vector is not decoded for a
    /// single read.
    @inline(__always)
    private func within<R>(_ segment: Int, _ position: Int, _ column: Int, _ rows: any RowTable, _ body: (WindowSet, Int) -> R)
        throws(Damage) -> R?
    {
        try slot.lend { (slot) throws(Damage) -> R? in
            guard slot.take() else { return nil }
            defer { slot.give() }
            if slot.windows == nil { slot.windows = Unmanaged.passRetained(WindowSet(columns: types)) }
            return try slot.windows!.lend { (windows) throws(Damage) -> R? in
                try windows.load(segment, position >> 10, column, from: rows) ? body(windows, position & 1023) : nil
            }
        }
    }

    func word(_ segment: Int, _ position: Int, _ column: Int, _ rows: any RowTable) throws(Damage) -> Int64? {
        let found = try within(segment, position, column, rows) { windows, row in
            windows.pointers[column].isPresent(row) ? windows.pointers[column].words?[row] : nil
        }
        if let found { return found }
        return try rows.word(at: RowLocation(segment: segment, position: position), column)
    }

    func real(_ segment: Int, _ position: Int, _ column: Int, _ rows: any RowTable) throws(Damage) -> Double? {
        let found = try within(segment, position, column, rows) { windows, row in
            windows.pointers[column].isPresent(row) ? windows.pointers[column].reals?[row] : nil
        }
        if let found { return found }
        return try rows.real(at: RowLocation(segment: segment, position: position), column)
    }

    func value(_ segment: Int, _ position: Int, _ column: Int, _ rows: any RowTable) throws(Damage) -> Value {
        let found = try within(segment, position, column, rows) { windows, row in windows.value(row, column) }
        if let found { return found }
        return try rows.segment(segment).storedColumn(column).value(at: position)
    }
}
