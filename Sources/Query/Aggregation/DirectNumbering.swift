import FirnBytes

/// Numbers words of a small range from 0, in the order of their first appearance: each word of the range has a slot.
struct DirectNumbering: Sendable {
    /// The words numbered 0, 1 …
    private(set) var keys: [Int64] = []
    /// The number of the word `low + i`; `.max` if it has none.
    private var slots: [UInt32] = []
    private var low: Int64 = 0

    /// A range is small if it has at most this many words, or eight for each word that has a number.
    private static let smallRange = 1 << 14
    private static let slotsForKey = 8

    /// The memory in use in bytes.
    var bytes: Int { keys.count &* 8 &+ slots.count &* 4 }

    init() {}

    /// Numbers the words in `known`, which are distinct, in their order. Returns nil if the range of these and of `more` is not small.
    init?(_ known: [Int64], and more: UnsafeBufferPointer<Int64>) {
        guard let bounds = known.withUnsafeBufferPointer(DirectNumbering.bounds),
            reserve(DirectNumbering.bounds(more).map { (min($0.low, bounds.low), max($0.high, bounds.high)) } ?? bounds, keys: known.count)
        else { return nil }
        keys = known
        for (number, key) in known.enumerated() { slots[Int(key - low)] = UInt32(truncatingIfNeeded: number) }
    }

    private static func bounds(_ words: UnsafeBufferPointer<Int64>) -> (low: Int64, high: Int64)? {
        guard var low = words.first else { return nil }
        var high = low
        for word in words {
            low = min(low, word)
            high = max(high, word)
        }
        return (low, high)
    }

    /// Makes slots for the words within bounds. Returns false, and changes nothing, if the range is then not small.
    private mutating func reserve(_ bounds: (low: Int64, high: Int64), keys count: Int) -> Bool {
        let isEmpty = slots.isEmpty, (above, isFar) = bounds.high.subtractingReportingOverflow(low)
        if !isEmpty, bounds.low >= low, !isFar, above < slots.count { return true }
        let first = isEmpty ? bounds.low : min(low, bounds.low)
        let last = isEmpty ? bounds.high : max(low + Int64(slots.count - 1), bounds.high)
        let (span, overflow) = last.subtractingReportingOverflow(first)
        let most = max(DirectNumbering.smallRange, DirectNumbering.slotsForKey * count)
        guard !overflow, span < most else { return false }
        // Room for as many words again, on the side on which the words move on: the slots are not copied each time.
        let room = min(most, max(Int(span) + 1, slots.count * 2)), spare = Int64(room - Int(span) - 1)
        let (start, underflow) = first.subtractingReportingOverflow(!isEmpty && first < low ? spare : 0)
        guard !underflow, !start.addingReportingOverflow(Int64(room - 1)).overflow else { return false }
        var wider = [UInt32](repeating: .max, count: room)
        if !isEmpty { wider.replaceSubrange(Int(low - start)..<Int(low - start) + slots.count, with: slots) }
        (slots, low) = (wider, start)
        return true
    }

    /// Returns the number of a word; nil if it has none.
    func number(ofKnown key: Int64) -> UInt32? {
        // The distance of two words can be beyond the largest Int64.
        let slot = UInt64(bitPattern: key &- low)
        guard key >= low, slot < UInt64(slots.count) else { return nil }
        let number = slots[Int(slot)]
        return number == .max ? nil : number
    }

    /// Writes the numbers of words, and gives numbers to new ones. Returns false, and changes nothing, if the range is not small.
    mutating func numbers(_ sought: UnsafeBufferPointer<Int64>, into out: UnsafeMutablePointer<UInt32>) -> Bool {
        guard let bounds = DirectNumbering.bounds(sought) else { return true }
        guard reserve(bounds, keys: keys.count) else { return false }
        let low = low, known = keys.count
        var new: [Int64] = []
        slots.withUnsafeMutableBufferPointer { slots in
            var lacks = false
            for j in sought.indices {
                let number = slots[Int(truncatingIfNeeded: sought[j] &- low)]
                out[j] = number
                lacks = lacks || number == .max
            }
            guard lacks else { return }
            for j in sought.indices where out[j] == .max {
                let slot = Int(truncatingIfNeeded: sought[j] &- low)
                if slots[slot] == .max {
                    slots[slot] = UInt32(truncatingIfNeeded: known + new.count)
                    new.append(sought[j])
                }
                out[j] = slots[slot]
            }
        }
        keys += new
        return true
    }
}
