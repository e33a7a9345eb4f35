import FirnBytes
import FirnStore
import FirnTable

/// Moving extents towards the start of the file, and rewriting what refers to them: headers, directories, the catalogue.
extension DatabaseTransaction {
    /// The result of one step of moving.
    struct Moves {
        var bytes: UInt64 = 0
        /// Extents above the goal for which no free range below it is large enough.
        var stuck: [ExtentRef] = []
        /// Whether more extents remain to be moved.
        var isCutShort = false
        var hasChanged = false
    }

    /// Moves extents that reach beyond `goal`, and that no version up to `held` has, below it: the largest first, about `budget` bytes.
    func moveDown(to goal: UInt64, after held: UInt64, budget: UInt64) throws(FirnError) -> Moves {
        let live = try reading { () throws(Damage) in try base.liveExtents() }
        func isHigh(_ ref: ExtentRef) -> Bool { !ref.isNone && ref.range.upperBound > goal && ref.birth > held }
        return try move(live, isHigh, budget) { (ref) throws(FirnError) in try store.move(ref, below: goal) }
    }

    /// Moves the extents in `ranges` elsewhere, and writes nothing into these ranges.
    func evacuate(_ ranges: [Range<UInt64>], below end: UInt64) throws(FirnError) -> Moves {
        store.packLow(avoiding: ranges)
        let live = try reading { () throws(Damage) in try base.liveExtents() }
        func isInside(_ ref: ExtentRef) -> Bool { !ref.isNone && ranges.contains { ref.range.overlaps($0) } }
        return try move(live, isInside, .max) { (ref) throws(FirnError) in try store.move(ref, below: end) }
    }

    private func move(
        _ live: LiveExtents, _ isChosen: (ExtentRef) -> Bool, _ budget: UInt64, _ move: (ExtentRef) throws(FirnError) -> ExtentRef?
    ) throws(FirnError) -> Moves {
        var moves = Moves()
        func largestFirst(_ refs: some Sequence<ExtentRef>) -> [ExtentRef] {
            refs.filter(isChosen).sorted { ($0.length, $0.offset) > ($1.length, $1.offset) }
        }
        var moved = try self.move(largestFirst(live.parts), &moves, budget, move)
        // Headers that do not refer to moved extents are moved unchanged; the others are rewritten.
        let headers = live.types.flatMap { $0.segments.filter { !$0.header.refers(to: moved) }.map(\.entry.header) }
        moved.merge(try self.move(largestFirst(headers), &moves, budget, move)) { one, _ in one }
        try follow(live, moved, &moves, renews: isChosen)
        // Every commit rewrites the catalogue.
        if isChosen(store.base.catalogue) { moves.hasChanged = true }
        return moves
    }

    private func move(_ wanted: [ExtentRef], _ moves: inout Moves, _ budget: UInt64, _ move: (ExtentRef) throws(FirnError) -> ExtentRef?)
        throws(FirnError) -> [ExtentRef: ExtentRef]
    {
        var moved: [ExtentRef: ExtentRef] = [:]
        for ref in wanted {
            if moves.bytes >= budget {
                moves.isCutShort = true
                break
            }
            if let new = try move(ref) {
                moved[ref] = new
                moves.bytes += ref.length
            } else {
                moves.stuck.append(ref)
            }
        }
        return moved
    }

    /// Rewrites what refers to moved extents, and those directories, delta trees and schemas for which `renews` returns true.
    private func follow(_ live: LiveExtents, _ moved: [ExtentRef: ExtentRef], _ moves: inout Moves, renews: (ExtentRef) -> Bool)
        throws(FirnError)
    {
        for (type, extents) in live.types.enumerated() {
            var headers: [Int: ExtentRef] = [:]
            for (index, segment) in extents.segments.enumerated() {
                if let new = moved[segment.entry.header] {
                    headers[index] = new
                } else if segment.header.refers(to: moved) {
                    headers[index] = try write(segment.header.moved(moved).encoded)
                    store.free(segment.entry.header)
                }
            }
            var isChanged = !headers.isEmpty || renews(extents.directory)
            for index in states[type].indexes.indices {
                for run in states[type].indexes[index].runs.indices {
                    guard let new = moved[states[type].indexes[index].runs[run].ref] else { continue }
                    states[type].indexes[index].runs[run].ref = new
                    isChanged = true
                }
            }
            if extents.delta.contains(where: renews) {
                let tree = TreeWriter(root: states[type].delta, transaction: store)
                try tree.renew()
                states[type].delta = try tree.finish()
                forgetReadable()
                moves.hasChanged = true
            }
            guard isChanged else { continue }
            moves.hasChanged = true
            try directoryChange(type) { entries in for (index, header) in headers { entries[index].header = header } }
        }
        if renews(live.schema) {
            schemaIsNew = true
            moves.hasChanged = true
        }
    }
}

extension SegmentHeader {
    fileprivate func refers(to moved: [ExtentRef: ExtentRef]) -> Bool {
        if moved.isEmpty { return false }
        return entries.contains { $0.chunk.map { moved[$0] != nil } ?? false || $0.overlay.map { moved[$0] != nil } ?? false }
            || shared.contains { moved[$0.ref] != nil }
    }

    /// Returns the header with references to where the extents are now.
    fileprivate func moved(_ moved: [ExtentRef: ExtentRef]) -> SegmentHeader {
        var header = self
        for index in entries.indices {
            header.entries[index].chunk = entries[index].chunk.map { moved[$0] ?? $0 }
            header.entries[index].overlay = entries[index].overlay.map { moved[$0] ?? $0 }
        }
        for index in shared.indices { header.shared[index].ref = moved[shared[index].ref] ?? shared[index].ref }
        return header
    }
}
