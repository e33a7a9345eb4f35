import FirnBytes

/// The positions of each number in a sequence: a hash table with open addressing, and a chain for numbers that occur more than once.
struct OccurrenceIndex {
    private var numbers: [Int64]
    /// By slot: the first position; -1 if the slot is free; -2 if all its positions were taken.
    private var heads: [Int32]
    /// By position: the next one of the same number, or -1.
    let next: [Int32]
    private let mask: Int

    init(_ sequence: some RandomAccessCollection<Int64>) {
        var capacity = 16
        while capacity < sequence.count * 2 { capacity *= 2 }
        mask = capacity - 1
        var numbers = [Int64](repeating: 0, count: capacity), heads = [Int32](repeating: -1, count: capacity)
        var next = [Int32](repeating: -1, count: sequence.count)
        // Backwards, so that chains are ascending.
        var position = sequence.count
        for number in sequence.reversed() {
            position -= 1
            var slot = Self.slot(number, mask)
            while heads[slot] >= 0, numbers[slot] != number { slot = (slot + 1) & mask }
            next[position] = heads[slot]
            heads[slot] = Int32(position)
            numbers[slot] = number
        }
        self.numbers = numbers
        self.heads = heads
        self.next = next
    }

    private static func slot(_ number: Int64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: mix(UInt64(bitPattern: number), 7)) & mask
    }

    private func find(_ number: Int64) -> Int? {
        var slot = Self.slot(number, mask)
        while heads[slot] != -1 {
            if numbers[slot] == number { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Returns the first position of a number; -1 if there is none.
    func first(_ number: Int64) -> Int32 { find(number).map { heads[$0] } ?? -1 }

    /// Returns each position once, those of one number in ascending order.
    struct Cursor {
        private var index: OccurrenceIndex

        init(_ index: OccurrenceIndex) { self.index = index }

        mutating func takeFirst(_ number: Int64) -> Int? {
            guard let slot = index.find(number) else { return nil }
            let position = index.heads[slot]
            guard position >= 0 else { return nil }
            let following = index.next[Int(position)]
            index.heads[slot] = following < 0 ? -2 : following
            return Int(position)
        }
    }
}
