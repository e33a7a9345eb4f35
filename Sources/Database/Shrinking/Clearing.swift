import FirnStore
import FirnTable

/// The part of the file below a goal, in the order of offsets: free ranges, extents that can be moved, and extents that cannot.
struct Clearing {
    private enum Kind { case free, movable, fixed }
    private var cells: [(range: Range<UInt64>, kind: Kind)] = []

    /// `live` are the extents of the newest version. Those of version `held` and before cannot be moved.
    init(_ map: SpaceMap, _ live: Set<ExtentRef>, goal: UInt64, held: UInt64) {
        let movable = live.filter { $0.birth > held }
        let known = (map.free.map { ($0, Kind.free) } + movable.map { ($0.range, Kind.movable) }).filter { $0.0.upperBound <= goal }.sorted
        { $0.0.lowerBound < $1.0.lowerBound }
        var reached: UInt64 = 0
        for (range, kind) in known where range.lowerBound >= reached {
            if range.lowerBound > reached { cells.append((reached..<range.lowerBound, .fixed)) }
            cells.append((range, kind))
            reached = range.upperBound
        }
    }

    /// Returns ranges of these sizes that do not overlap, as far as there are any. The largest are searched for first.
    func ranges(of sizes: [UInt64]) -> [Range<UInt64>] {
        var left = self, found: [Range<UInt64>] = []
        for size in sizes.sorted(by: >).prefix(Clearing.maximumRanges) {
            guard let range = left.range(of: size) else { continue }
            found.append(range)
            for index in left.cells.indices where left.cells[index].range.overlaps(range) { left.cells[index].kind = .fixed }
        }
        return found
    }

    private static let maximumRanges = 64

    /// Returns adjacent cells of at least this many bytes, with the fewest bytes to move; nil if more than three quarters would have to be
    /// moved.
    func range(of bytes: UInt64) -> Range<UInt64>? {
        var best: (range: Range<UInt64>, moved: UInt64)?, start = 0, moved: UInt64 = 0
        for end in cells.indices {
            if cells[end].kind == .fixed {
                (start, moved) = (end + 1, 0)
                continue
            }
            if cells[end].kind == .movable { moved += UInt64(cells[end].range.count) }
            // Remove from the left what is not needed.
            while cells[end].range.upperBound - cells[start].range.lowerBound - UInt64(cells[start].range.count) >= bytes {
                if cells[start].kind == .movable { moved -= UInt64(cells[start].range.count) }
                start += 1
            }
            let range = cells[start].range.lowerBound..<cells[end].range.upperBound
            guard UInt64(range.count) >= bytes, moved > 0, moved * 4 <= UInt64(range.count) * 3 else { continue }
            if best.map({ moved < $0.moved }) ?? true { best = (range, moved) }
        }
        return best?.range
    }
}
