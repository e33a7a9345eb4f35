import FirnStore

/// What lies below a goal in the file, in the order of places: free ranges, extents that can be moved, and what stays.
struct Clearing {
    private enum Kind { case free, movable, fixed }
    private var cells: [(place: Range<UInt64>, kind: Kind)] = []

    /// `live`: what the newest version holds.
    init(_ map: SpaceMap, _ live: Set<ExtentRef>, goal: UInt64, held: UInt64) {
        let movable = live.filter { $0.birth > held }
        let known = (map.free.map { ($0, Kind.free) } + movable.map { ($0.place, Kind.movable) }).filter { $0.0.upperBound <= goal }.sorted { $0.0.lowerBound < $1.0.lowerBound }
        var reached: UInt64 = 0
        for (place, kind) in known where place.lowerBound >= reached {
            if place.lowerBound > reached { cells.append((reached..<place.lowerBound, .fixed)) }
            cells.append((place, kind))
            reached = place.upperBound
        }
    }

    /// Ranges of these sizes, none of which overlap, as far as there are any; the largest are sought first.
    func ranges(of sizes: [UInt64]) -> [Range<UInt64>] {
        var left = self, found: [Range<UInt64>] = []
        for size in sizes.sorted(by: >).prefix(Clearing.most) {
            guard let range = left.range(of: size) else { continue }
            found.append(range)
            for index in left.cells.indices where left.cells[index].place.overlaps(range) { left.cells[index].kind = .fixed }
        }
        return found
    }

    private static let most = 64

    /// Neighbouring cells of so many bytes at least, with the least to move among them; nil where that would be most of it.
    func range(of bytes: UInt64) -> Range<UInt64>? {
        var best: (place: Range<UInt64>, moved: UInt64)?, start = 0, moved: UInt64 = 0
        for end in cells.indices {
            if cells[end].kind == .fixed {
                (start, moved) = (end + 1, 0)
                continue
            }
            if cells[end].kind == .movable { moved += UInt64(cells[end].place.count) }
            // From the left as much as is not needed.
            while cells[end].place.upperBound - cells[start].place.lowerBound - UInt64(cells[start].place.count) >= bytes {
                if cells[start].kind == .movable { moved -= UInt64(cells[start].place.count) }
                start += 1
            }
            let place = cells[start].place.lowerBound..<cells[end].place.upperBound
            guard UInt64(place.count) >= bytes, moved > 0, moved * 4 <= UInt64(place.count) * 3 else { continue }
            if best.map({ moved < $0.moved }) ?? true { best = (place, moved) }
        }
        return best?.place
    }
}
