import FirnBytes

/// A slot for each index below a count. Each slot is used by one thread at a time; the threads are joined before others read it.
package final class Slots<Element>: @unchecked Sendable {
    package let count: Int
    private let elements: UnsafeMutablePointer<Element?>

    package init(count: Int) {
        self.count = max(count, 0)
        elements = .allocate(capacity: max(count, 1))
        elements.initialize(repeating: nil, count: self.count)
    }

    /// Creates a slot for each element of an array.
    package convenience init(_ values: [Element]) {
        self.init(count: values.count)
        for (i, value) in values.enumerated() { elements[i] = value }
    }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    /// Empties a slot and returns its element; nil if it has none, or if there is no such slot.
    package func take(_ index: Int) -> Element? { (0..<count).contains(index) ? elements[index].take() : nil }

    package subscript(_ index: Int) -> Element? {
        get {
            trap(unless: index >= 0 && index < count, "a slot outside the count")
            return elements[index]
        }
        set {
            trap(unless: index >= 0 && index < count, "a slot outside the count")
            elements[index] = newValue
        }
    }
}
