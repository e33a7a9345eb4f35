import FirnBytes
import FirnTable

/// The chosen rows of a vector, sorted by group if there are few groups. Each group's rows are then added in registers.
final class GroupParts {
    static let maximumGroups = 16
    /// Group g has rows[starts[g] ..< starts[g + 1]], which ascend within each of four parts.
    let rows = UnsafeMutablePointer<Int32>.allocate(capacity: vectorSize + 16)
    let starts = UnsafeMutablePointer<Int>.allocate(capacity: GroupParts.maximumGroups + 1)
    private(set) var count = 0
    // Four parts of the rows, so that storing a row does not wait for the position of the previous one. Each part has spare capacity for
    // whole copy steps, which also keeps the parts in separate cache lines.
    private let shares = UnsafeMutablePointer<Int32>.allocate(capacity: 4 * GroupParts.maximumGroups * GroupParts.room + 16)
    private let ends = UnsafeMutablePointer<Int>.allocate(capacity: 4 * GroupParts.maximumGroups)
    private static let room = vectorSize / 4 + 16

    init() { rows.initialize(repeating: 0, count: vectorSize + 16) }

    deinit {
        rows.deallocate()
        starts.deallocate()
        shares.deallocate()
        ends.deallocate()
    }

    /// Returns whether sorting is worth its cost.
    static func pay(_ groups: Int, _ hits: Int) -> Bool { groups <= maximumGroups && hits >= groups &* 16 }

    /// Sorts `hits` rows by `groups`, each of which is below `count`.
    func sort(_ source: UnsafePointer<Int32>, _ groups: UnsafePointer<UInt32>, _ hits: Int, _ count: Int) {
        trap(unless: count <= GroupParts.maximumGroups && hits <= vectorSize, "too many groups to sort, or more rows than a vector has")
        self.count = count
        for share in 0..<4 {
            for group in 0..<count {
                ends[share &* GroupParts.maximumGroups &+ group] = (share &* GroupParts.maximumGroups &+ group) &* GroupParts.room
            }
        }
        let shares = shares, ends = ends
        @inline(__always)
        func put(_ j: Int, _ share: Int) {
            let slot = share &* GroupParts.maximumGroups &+ Int(groups[j]), at = ends[slot]
            shares[at] = source[j]
            ends[slot] = at &+ 1
        }
        var j = 0
        while j &+ 4 <= hits {
            put(j, 0)
            put(j &+ 1, 1)
            put(j &+ 2, 2)
            put(j &+ 3, 3)
            j &+= 4
        }
        while j < hits {
            put(j, j & 3)
            j &+= 1
        }
        join()
    }

    private func join() {
        var at = 0
        for group in 0..<count {
            starts[group] = at
            for share in 0..<4 {
                let slot = share &* GroupParts.maximumGroups &+ group, first = slot &* GroupParts.room, length = ends[slot] &- first
                let source = UnsafeRawPointer(shares + first), target = UnsafeMutableRawPointer(rows + at)
                var i = 0
                while i < length {
                    target.storeBytes(
                        of: source.loadUnaligned(fromByteOffset: i &* 4, as: SIMD4<Int32>.self), toByteOffset: i &* 4, as: SIMD4<Int32>.self
                    )
                    i &+= 4
                }
                at &+= length
            }
        }
        starts[count] = at
    }

    /// Adds each group's values to its sum.
    func add(_ values: UnsafePointer<Double>, to sums: UnsafeMutablePointer<Double>) {
        for group in 0..<count {
            var a = 0.0, b = 0.0, c = 0.0, d = 0.0, i = starts[group]
            let end = starts[group &+ 1]
            while i &+ 4 <= end {
                a += values[Int(rows[i])]
                b += values[Int(rows[i &+ 1])]
                c += values[Int(rows[i &+ 2])]
                d += values[Int(rows[i &+ 3])]
                i &+= 4
            }
            while i < end {
                a += values[Int(rows[i])]
                i &+= 1
            }
            sums[group] += (a + b) + (c + d)
        }
    }

    /// The same for integers whose sums stay within 64 bits.
    func add(_ values: UnsafePointer<Int64>, to sums: UnsafeMutablePointer<Int64>) {
        for group in 0..<count {
            var sum: Int64 = 0
            for i in starts[group]..<starts[group &+ 1] { sum &+= values[Int(rows[i])] }
            sums[group] &+= sum
        }
    }
}
