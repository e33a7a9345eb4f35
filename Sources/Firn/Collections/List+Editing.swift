import FirnBytes
import Foundation

// The operations of Swift's mutable collections.
extension List: MutableCollection {
    /// A range of the list's elements.
    public typealias SubSequence = Slice<List>

    /// Removes the elements at the given positions. Traps if one is out of bounds.
    public func remove(atOffsets offsets: IndexSet) {
        if let last = offsets.last { trap(unless: last < count, "Index \(last) is out of bounds (must be less than \(count)).") }
        // From the end, so that the remaining offsets stay valid. Each range is removed in one step.
        for range in offsets.rangeView.reversed() { removeSubrange(range) }
    }

    /// Moves the elements at the given positions, in their order, to before the element that is now at `destination`. Traps if a position
    /// is out of bounds.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        let count = count
        if let last = offsets.last { trap(unless: last < count, "Index \(last) is out of bounds (must be less than \(count)).") }
        trap(unless: destination >= 0 && destination <= count, "Index \(destination) is out of bounds (must be less than \(count + 1)).")
        // Elements are moved one at a time with `move(from:to:)`, so that embedded objects keep their rows.
        var taken = 0
        for offset in offsets where offset < destination {
            move(from: offset - taken, to: destination - 1)
            taken += 1
        }
        var target = destination
        for offset in offsets where offset >= destination {
            move(from: offset, to: target)
            target += 1
        }
    }

    /// Sorts the elements by `areInIncreasingOrder`. The sort is stable, and embedded objects keep their rows.
    public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
        let elements = Array(self)
        let order = try elements.indices.sorted { a, b in
            if try areInIncreasingOrder(elements[a], elements[b]) { return true }
            return try a < b && !areInIncreasingOrder(elements[b], elements[a])
        }
        arrange(order)
    }

    /// Reverses the order of the elements.
    public func reverse() { arrange(Array((0..<count).reversed())) }

    /// Reorders the elements: the element at `order[i]` moves to `i`.
    private func arrange(_ order: [Int]) {
        switch storage {
        case .unmanaged(let elements): storage = .unmanaged(order.map { elements[$0] })
        case .managed(let cell):
            cell.core.requireTransaction("modify a List")
            let all = cell.elements.all
            cell.change("List") { $0.replaceAll(with: order.map { all[$0] }) }
        }
    }
}

extension List where Element: Comparable {
    /// Sorts the elements in ascending order.
    public func sort() { sort(by: <) }
}

// The names of Swift's own collections. List does not conform to `RangeReplaceableCollection`, because its `filter` and `+` would copy the
// elements into unmanaged lists.
extension List {
    /// Appends the elements of a sequence.
    public func append<S: Sequence>(contentsOf objects: S) where S.Element == Element { append(objectsIn: objects) }

    /// Inserts elements at an index. Traps if the index is out of bounds.
    public func insert<C: Collection>(contentsOf objects: C, at index: Int) where C.Element == Element {
        replaceSubrange(index..<index, with: objects)
    }

    /// Appends the elements of a sequence.
    public static func += <S: Sequence>(list: List, objects: S) where S.Element == Element { list.append(objectsIn: objects) }

    /// Removes the elements for which `isRemoved` returns true.
    public func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var positions = IndexSet()
        for (position, element) in Array(self).enumerated() where try isRemoved(element) { positions.insert(position) }
        remove(atOffsets: positions)
    }
}
