import FirnBytes
import FirnTable

/// Iterates over a collection as it was when the iteration began. Elements that are removed or deleted meanwhile are skipped; new ones are
/// not visited.
///
/// If the previous object is no longer referenced, strongly or weakly, when the next one is requested, it is reused: iterating over a
/// million objects then allocates one.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    private let source: _CollectionSource
    private let access: TypeAccess?
    private var walk: RowWalk?
    private var rows: [Int64] = []
    private var positions: RowPositions?
    private var values: [Element] = []
    private var index = 0
    private let end: Int
    /// The object that was returned last: `last` retains it, and `given` allows checks of its reference count without another reference.
    private var last: ObjectBase?
    private var given: Unmanaged<ObjectBase>?
    /// False if an object's collections would stay those of its first row.
    private let canReuse: Bool
    /// The realm, and the number of its invalidations when the iteration began.
    private let core: RealmCore?
    private let invalidationCount: Int
    @usableFromInline var run = RowRun()

    init(_ source: _CollectionSource) {
        self.source = source
        core = source.core
        invalidationCount = core?.invalidationCount ?? 0
        // Projections and custom types are created from objects but are not objects, so they are read as values.
        if Element.self is ObjectBase.Type, let access = source.elementAccess {
            self.access = access
            canReuse = !(access.schema?.hasOlderProperties ?? false)
            if source is TableSource {
                walk = RowWalk(access)
                end = 0
            } else {
                rows = source.isInvalidated ? [] : source.rowIDs()
                positions = RowPositions(access)
                end = rows.count
            }
            return
        }
        access = nil
        canReuse = false
        if let unmanaged = source as? UnmanagedSource<Element> {
            values = unmanaged.elements
        } else {
            source.prepareForAll()
            values = (0..<source.count).map { source.element(at: $0) }
        }
        end = values.count
    }

    /// Returns the next element; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
        if run.goesOn { return run.next() }
        return step()
    }

    /// Returns the next element, for all cases that the fast path in `next()` does not handle.
    @usableFromInline
    mutating func step() -> Element? {
        if let core, core.invalidationCount != invalidationCount { stopped() }
        if let access {
            if walk != nil {
                if run.state != nil { walk!.go(to: run.position, rowID: run.base &+ Int64(run.position)) }
                run = RowRun()
                guard walk!.advance() else { return nil }
                if canReuse, let (base, end) = walk!.run {
                    let object = object(access, walk!.rowID, walk!.segment, walk!.position)
                    run = RowRun(given!, access.state, position: walk!.position, end: end, base: base)
                    return object
                }
                return object(access, walk!.rowID, walk!.segment, walk!.position)
            }
            while index < end {
                index += 1
                if let row = positions!.position(of: rows[index - 1]) { return object(access, rows[index - 1], row.segment, row.position) }
            }
            return nil
        }
        guard index < end else { return nil }
        index += 1
        return values[index - 1]
    }

    @inline(never)
    private func stopped() -> Never {
        trap(
            "The realm was invalidated while a collection of \(Element.self) was iterated over: call invalidate() after the loop, or iterate over an Array of the values that you need."
        )
    }

    private mutating func object(_ access: TypeAccess, _ rowID: Int64, _ segment: Int, _ position: Int) -> Element {
        if canReuse, let given, ReferenceWord.isAlone(given) {
            given._withUnsafeGuaranteedRef {
                $0._rowID = rowID
                $0._segment = Int32(truncatingIfNeeded: segment)
                $0._position = Int32(truncatingIfNeeded: position)
                $0._generation = access.state.pointee.generation
            }
            return ReferenceWord.handOut(given, ReferenceWord.of(given.toOpaque()), shared: ReferenceWord.observed.shared)
        }
        let object = access.object(rowID, segment: segment, position: position)
        last = object
        given = Unmanaged.passUnretained(object)
        return unsafeBitCast(object, to: Element.self)
    }
}

/// Consecutive live rows of one vector whose row ids are consecutive. `next()` steps through them without any lookup, as long as the object
/// that was returned last is not referenced elsewhere.
@usableFromInline
struct RowRun {
    @usableFromInline var state: UnsafeMutablePointer<AccessState>?
    /// The object that was returned last. The iterator retains it.
    @usableFromInline var object: Unmanaged<ObjectBase>?
    /// See `ReferenceWord`.
    @usableFromInline var references: UnsafeMutablePointer<UInt>?
    @usableFromInline var alone: UInt = 0
    @usableFromInline var shared: UInt = 0
    @usableFromInline var generation: UInt32 = 0
    /// The position of the row that was returned last.
    @usableFromInline var position = 0
    @usableFromInline var end = 0
    /// The row id minus the position.
    @usableFromInline var base: Int64 = 0

    init() {}

    init(_ object: Unmanaged<ObjectBase>, _ state: UnsafeMutablePointer<AccessState>, position: Int, end: Int, base: Int64) {
        self.state = state
        self.object = object
        references = ReferenceWord.of(object.toOpaque())
        alone = ReferenceWord.observed.alone
        shared = ReferenceWord.observed.shared
        generation = state.pointee.generation
        self.position = position
        self.end = ReferenceWord.observed.isKnown ? end : position
        self.base = base
    }

    /// Whether there is another row, no row has moved since, and the object can be reused.
    @inlinable @inline(__always)
    var goesOn: Bool {
        position &+ 1 < end && state.unsafelyUnwrapped.pointee.generation == generation && references.unsafelyUnwrapped.pointee == alone
    }

    @inlinable @inline(__always)
    mutating func next<Element>() -> Element {
        position &+= 1
        let object = object.unsafelyUnwrapped
        object._withUnsafeGuaranteedRef {
            $0._rowID = base &+ Int64(truncatingIfNeeded: position)
            $0._position = Int32(truncatingIfNeeded: position)
        }
        return ReferenceWord.handOut(object, references.unsafelyUnwrapped, shared: shared)
    }
}

/// Walks the live rows of a type in table order.
struct RowWalk {
    private let access: TypeAccess
    private let endRowID: Int64
    private var segmentCount: Int
    private(set) var segment = -1
    private(set) var position = 0
    private(set) var rowID: Int64 = -1
    /// In the current vector: the row id minus the position, if row ids are consecutive.
    private var base: Int64?
    private var rowIDs: [Int64] = []
    private var vectorEnd = 0
    private var rowCount = 0
    private var current: (any Segment)?
    private var live: Bits?
    private var generation: UInt32

    init(_ access: TypeAccess) {
        self.access = access
        generation = access.state.pointee.generation
        segmentCount = access.table.segmentCount
        let table = access.table
        endRowID = access.core.reading(-1) { () throws(Damage) in
            guard table.segmentCount > 0 else { return -1 }
            let final = try table.segment(table.segmentCount - 1)
            return final.rowCount == 0 ? Int64.max : try final.rowID(at: final.rowCount - 1)
        }
    }

    /// The rest of the current vector, if all its rows are live and their ids consecutive.
    var run: (base: Int64, end: Int)? {
        guard live == nil, let base else { return nil }
        return (base, Int(min(Int64(vectorEnd), endRowID &- base &+ 1)))
    }

    /// Records that the rows of the run up to this one were returned.
    mutating func go(to position: Int, rowID: Int64) {
        self.position = position
        self.rowID = rowID
    }

    mutating func advance() -> Bool {
        if generation != access.state.pointee.generation { find() }
        while true {
            position += 1
            if position >= vectorEnd, !enter() { return false }
            if let live, !live[position] { continue }
            if let base { rowID = base &+ Int64(position) } else { rowID = rowIDs[position & (vectorSize - 1)] }
            return rowID <= endRowID
        }
    }

    /// Enters the vector of `position`, or the next segment; false at the end.
    private mutating func enter() -> Bool {
        while position >= rowCount {
            segment += 1
            let index = segment
            guard index < segmentCount else { return false }
            let next = access.core.reading(nil) { () throws(Damage) in try access.table.segment(index) }
            guard let next else { return false }
            current = next
            live = next.live
            rowCount = next.rowCount
            position = 0
        }
        vectorEnd = min(rowCount, (position / vectorSize + 1) * vectorSize)
        let first = position, last = vectorEnd - 1, segment = current!
        return access.core.reading(false) { () throws(Damage) in
            let start = try segment.rowID(at: first)
            base = try segment.rowID(at: last) - start == Int64(last - first) ? start - Int64(first) : nil
            if base == nil {
                let vector = position / vectorSize * vectorSize
                rowIDs = Array(repeating: 0, count: vectorSize)
                for i in first...last { rowIDs[i - vector] = try segment.rowID(at: i) }
            }
            return true
        }
    }

    /// Finds the last row again after rows have moved.
    private mutating func find() {
        generation = access.state.pointee.generation
        segmentCount = access.table.segmentCount
        let row = rowID
        guard row >= 0 else { return }
        let found = access.core.reading(nil) { () throws(Damage) -> (Int, Int, any Segment)? in
            guard let index = try access.table.segmentIndex(of: row) else { return nil }
            let segment = try access.table.segment(index)
            return try segment.position(of: row).map { (index, $0, segment) }
        }
        guard let (index, newPosition, segment) = found else {
            // The row was removed with its segment. The next segment continues after it.
            position = rowCount
            return
        }
        self.segment = index
        position = newPosition
        current = segment
        live = segment.live
        rowCount = segment.rowCount
        vectorEnd = 0
        if position + 1 < rowCount {
            position += 1
            _ = enter()
            position -= 1
        } else {
            vectorEnd = rowCount
        }
    }
}
