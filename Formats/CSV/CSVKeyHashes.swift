import FirnBytes
import FirnThreads

/// The hashes of the keys of records, in parts that are small enough for a core's cache. A key is the texts of some cells. Different keys can
/// have equal hashes.
struct CSVKeyHashes: Sendable {
    private var parts: [[UInt64]] = []
    private(set) var count = 0

    private static let partBits: UInt64 = 6

    /// Adds the keys of all records of an index, whose texts are in `memory`.
    mutating func add(_ index: CSVIndex, cells: [Int], memory: UnsafePointer<UInt8>) {
        if parts.isEmpty { parts = [[UInt64]](repeating: [], count: 1 << Int(CSVKeyHashes.partBits)) }
        let width = index.width
        for row in 0..<index.rows {
            var hash: UInt64 = 0
            for cell in cells {
                let entry = index.cells[row &* width &+ cell]
                let start = Int(entry & CSVIndex.startMask), end = Int(entry &>> 32)
                hash = mix(hash, hashBytes(UnsafeRawBufferPointer(start: memory + start, count: end &- start)))
            }
            parts[Int(hash &>> (64 &- CSVKeyHashes.partBits))].append(hash)
        }
        count += index.rows
    }

    mutating func merge(_ other: CSVKeyHashes) {
        if parts.isEmpty {
            self = other
            return
        }
        for (i, part) in other.parts.enumerated() { parts[i].append(contentsOf: part) }
        count += other.count
    }

    /// Whether no hash occurs twice among these together with those of any one of `others`.
    func areUnique(withEach others: [CSVKeyHashes], threads: Int) -> Bool {
        let counts = 0..<(1 << Int(CSVKeyHashes.partBits))
        return parallelMap(count: counts.count, threads: threads) { part in
            var known = HashSet(capacity: self.part(part).count)
            guard self.part(part).allSatisfy({ known.insert($0) }) else { return false }
            return others.allSatisfy { other in
                let more = other.part(part)
                var own = HashSet(capacity: more.count)
                return more.allSatisfy { !known.contains($0) && own.insert($0) }
            }
        }.allSatisfy { $0 }
    }

    private func part(_ index: Int) -> [UInt64] { parts.isEmpty ? [] : parts[index] }
}

/// A set of numbers that are hashes already.
private struct HashSet {
    private var slots: [UInt64]
    private let mask: Int
    private var hasZero = false

    /// At most `capacity` numbers are inserted.
    init(capacity: Int) {
        var size = 16
        while size < 2 * capacity { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        mask = size - 1
    }

    /// Returns whether the number was not in the set.
    mutating func insert(_ hash: UInt64) -> Bool {
        if hash == 0 {
            defer { hasZero = true }
            return !hasZero
        }
        var at = Int(truncatingIfNeeded: hash) & mask
        while slots[at] != 0 {
            if slots[at] == hash { return false }
            at = (at &+ 1) & mask
        }
        slots[at] = hash
        return true
    }

    func contains(_ hash: UInt64) -> Bool {
        if hash == 0 { return hasZero }
        var at = Int(truncatingIfNeeded: hash) & mask
        while slots[at] != 0 {
            if slots[at] == hash { return true }
            at = (at &+ 1) & mask
        }
        return false
    }
}
