import FirnDatabase
import FirnTable

/// Distinct elements in the order of insertion, found by hash.
struct UnmanagedSet<Element: RealmCollectionValue> {
    private(set) var elements: [Element] = []
    /// The insertion number of each element, in ascending order.
    private var stamps: [Int] = []
    private var stampOf: [SetKey<Element>: Int] = [:]
    private var next = 0
    /// The number of inserted objects that were unmanaged at that time and can be managed now.
    private var unmanagedCount = 0

    init() {}

    init(_ elements: some Sequence<Element>) {
        for element in elements { insert(element) }
    }

    var count: Int { elements.count }

    private func stamp(of element: Element) -> Int? {
        if let stamp = stampOf[SetKey(element)] { return stamp }
        guard unmanagedCount > 0, let object = element._firnObject, object._state != nil else { return nil }
        if let stamp = stampOf[SetKey(identity: object)] { return stamp }
        return elements.firstIndex(of: element).map { stamps[$0] }
    }

    func contains(_ element: Element) -> Bool { stamp(of: element) != nil }

    mutating func insert(_ element: Element) {
        guard stamp(of: element) == nil else { return }
        if let object = element._firnObject, object._state == nil { unmanagedCount += 1 }
        stampOf[SetKey(element)] = next
        stamps.append(next)
        elements.append(element)
        next += 1
    }

    mutating func remove(_ element: Element) {
        guard let stamp = stamp(of: element) else { return }
        var low = 0, high = stamps.count
        while low < high {
            let middle = (low + high) / 2
            if stamps[middle] < stamp { low = middle + 1 } else { high = middle }
        }
        let key = SetKey(elements[low])
        if stampOf.removeValue(forKey: key) == nil, let object = elements[low]._firnObject { stampOf[SetKey(identity: object)] = nil }
        stamps.remove(at: low)
        elements.remove(at: low)
    }
}

/// The identity of an element. An object keeps the key that it had when it was inserted.
private struct SetKey<Element: RealmCollectionValue>: Hashable {
    private var value: Element?
    private var file: UInt = 0
    private var type = 0
    private var row: Int64 = 0

    init(_ element: Element) {
        if let object = element._firnObject {
            self.init(object)
        } else {
            self.init(value: element)
        }
    }

    private init(value: Element?) { self.value = value }

    private init(_ object: ObjectBase) {
        guard let access = object._access else {
            self.init(identity: object)
            return
        }
        // The same for all versions of an object.
        self.init(value: nil)
        file = UInt(bitPattern: ObjectIdentifier(access.core.file))
        type = access.typeNumber
        row = object._rowID
    }

    init(identity object: ObjectBase) {
        self.init(value: nil)
        row = Int64(Int(bitPattern: ObjectIdentifier(object)))
    }
}
