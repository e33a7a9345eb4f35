import FirnBytes
import FirnTable
import Synchronization

/// The inverse of the links of one column (the owners' column for embedded objects): for a row, the rows that link to it, in their order
/// and as often as they link to it. Built in one pass over the column, at the first use. Thread-safe.
final class Backlinks: Sendable {
    /// The table of the rows that link.
    let table: any Table
    let column: Int

    /// Links as pairs of rows, ascending by target.
    private struct Pairs {
        var targets: [Int64] = []
        var sources: [Int64] = []
        /// For dense targets: where the pairs of each row id begin, from the first target on, and the end. Empty if the targets are sparse.
        var starts: [Int32] = []
        var charge: MemoryCharge?

        /// Returns the range of a target's pairs.
        @inline(__always)
        func range(_ target: Int64) -> Range<Int> {
            guard let first = targets.first, target >= first, target <= targets[targets.count - 1] else { return 0..<0 }
            if !starts.isEmpty {
                let at = Int(target &- first)
                return Int(starts[at])..<Int(starts[at + 1])
            }
            let start = Backlinks.lowerBound(targets, target)
            var end = start
            while end < targets.count, targets[end] == target { end += 1 }
            return start..<end
        }

        mutating func index() {
            guard let first = targets.first, let last = targets.last, last &- first >= 0, last &- first < Int64(targets.count) * 8 + 1024
            else { return }
            starts.reserveCapacity(Int(last - first) + 2)
            for (i, target) in targets.enumerated() {
                while starts.count <= Int(target - first) { starts.append(Int32(truncatingIfNeeded: i)) }
            }
            starts.append(Int32(truncatingIfNeeded: targets.count))
        }
    }
    private let found: Mutex<Pairs?> = Mutex(nil)

    init(_ table: any Table, column: Int) {
        self.table = table
        self.column = column
    }

    /// Returns, for each link of `links`, the list of the rows that link to its target; an empty list for a null link.
    func sources(of links: Column) throws(Damage) -> Column {
        let pairs = try pairs()
        var out = Column(ColumnType(.link, collection: .list, target: table.type.name))
        out.count = links.count
        var count = 0
        for row in 0..<links.count where links.isPresent(row) { count += pairs.range(links.words[row]).count }
        try out.hold(memory, adding: count * 8)
        out.offsets.reserveCapacity(links.count + 1)
        for row in 0..<links.count {
            if links.isPresent(row) { out.children[0].words.append(contentsOf: pairs.sources[pairs.range(links.words[row])]) }
            out.offsets.append(out.children[0].words.count)
        }
        out.children[0].count = out.children[0].words.count
        return out
    }

    private var memory: MemoryScope { Backlinks.memory(table, column) }

    private static func memory(_ table: any Table, _ column: Int) -> MemoryScope {
        MemoryScope(table.memory, type: table.type.name, column: table.type.columns[column].name)
    }

    /// The approximate memory for each pair, including the index of the targets and spare capacity.
    private static let pairBytes = 40

    /// Adds to `counts` the number of links to the target of each link of `links`.
    func count(_ links: Column, into counts: inout [Int64]) throws(Damage) {
        let pairs = try pairs()
        for row in 0..<links.count where links.isPresent(row) { counts[row] += Int64(pairs.range(links.words[row]).count) }
    }

    private static func lowerBound(_ words: [Int64], _ wanted: Int64) -> Int {
        var low = 0, high = words.count
        while low < high {
            let middle = (low &+ high) >> 1
            if words[middle] < wanted { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    private func pairs() throws(Damage) -> Pairs {
        let table = table, column = column
        return try found.withLock { (found) throws(Damage) -> Pairs in
            if let found { return found }
            let pairs = try Backlinks.read(table, column)
            found = pairs
            return pairs
        }
    }

    private static func read(_ table: any Table, _ index: Int) throws(Damage) -> Pairs {
        var targets = Column(ColumnType(.link)), sources: [Int64] = []
        var type = table.type.columns[index].type
        type.kind = .link
        var scratch = Column(type)
        let charge = MemoryCharge(table.memory), memory = memory(table, index)
        for number in 0..<table.segmentCount {
            let segment = try table.segment(number), reader = try segment.storedColumn(index)
            guard reader.type.kind == .link else { throw Damage("column has type \(reader.type.name), but the schema has links") }
            if let zone = reader.zone(), zone.allNull { continue }
            for vector in 0..<segment.vectorCount {
                try reader.read(vector: vector, into: &scratch)
                let rows = segment.rows(ofVector: vector)
                guard scratch.count == rows.count else { throw Damage("vector length does not match its segment") }
                let links = scratch.type.isCollection ? scratch.children[scratch.children.count - 1] : scratch
                try charge.grow(to: (sources.count + links.count) * pairBytes, for: memory.name)
                for row in rows where segment.live?[row] ?? true {
                    let elements =
                        scratch.type.isCollection
                        ? scratch.offsets[row - rows.lowerBound]..<scratch.offsets[row - rows.lowerBound + 1]
                        : row - rows.lowerBound..<row - rows.lowerBound + 1
                    for i in elements where links.isPresent(i) {
                        targets.words.append(links.words[i])
                        sources.append(try segment.rowID(at: row))
                    }
                }
            }
        }
        targets.count = targets.words.count
        guard targets.count <= Int(Int32.max) else { throw Damage("more than 2,147,483,647 links, which is the limit for backlinks") }
        var order = (0..<targets.count).map { Int32(truncatingIfNeeded: $0) }
        Ordering.sort(&order, by: targets, ascending: true)
        var pairs = Pairs(targets: order.map { targets.words[Int($0)] }, sources: order.map { sources[Int($0)] })
        pairs.index()
        pairs.charge = charge
        return pairs
    }
}
