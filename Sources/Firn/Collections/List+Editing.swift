import Foundation

// What Swift's own collections can do.
extension List: MutableCollection {
    public typealias SubSequence = Slice<List>

    /// Removes the elements at the given places.
    public func remove(atOffsets offsets: IndexSet) {
        if let last = offsets.last { precondition(last < count, "Index \(last) is out of bounds (must be less than \(count)).") }
        // From the end: places before are still what they were. What is neighbouring goes at once.
        for range in offsets.rangeView.reversed() { removeSubrange(range) }
    }

    /// Moves the elements at the given places, in their order, to before the element that stands at `destination` now.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        let count = count
        if let last = offsets.last { precondition(last < count, "Index \(last) is out of bounds (must be less than \(count)).") }
        precondition(destination >= 0 && destination <= count, "Index \(destination) is out of bounds (must be less than \(count + 1)).")
        // One by one, by what `move(from:to:)` does: embedded objects stay the same rows.
        var taken = 0
        for offset in offsets where offset < destination {
            move(from: offset - taken, to: destination - 1)
            taken += 1
        }
        var placed = destination
        for offset in offsets where offset >= destination {
            move(from: offset, to: placed)
            placed += 1
        }
    }

    /// Puts the elements in the order of `areInIncreasingOrder`; equal ones keep theirs. They are moved, so that embedded objects stay the same rows.
    public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
        let elements = Array(self)
        let order = try elements.indices.sorted { a, b in
            if try areInIncreasingOrder(elements[a], elements[b]) { return true }
            return try a < b && !areInIncreasingOrder(elements[b], elements[a])
        }
        arrange(order)
    }

    /// Puts the elements in the opposite order.
    public func reverse() { arrange(Array((0..<count).reversed())) }

    /// The element that stood at `order[i]` comes to stand at `i`.
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
    /// Puts the elements in ascending order.
    public func sort() { sort(by: <) }
}

// The names that Swift's own collections have. A list is no `RangeReplaceableCollection`: `filter` and `+` would copy its elements into lists that
// belong to no realm.
extension List {
    public func append<S: Sequence>(contentsOf objects: S) where S.Element == Element { append(objectsIn: objects) }

    public func insert<C: Collection>(contentsOf objects: C, at index: Int) where C.Element == Element { replaceSubrange(index..<index, with: objects) }

    public static func += <S: Sequence>(list: List, objects: S) where S.Element == Element { list.append(objectsIn: objects) }

    /// Removes the elements that `isRemoved` holds for.
    public func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var places = IndexSet()
        for (place, element) in Array(self).enumerated() where try isRemoved(element) { places.insert(place) }
        remove(atOffsets: places)
    }
}
