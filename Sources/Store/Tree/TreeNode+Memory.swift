import FirnBytes

/// A node in memory that is to be changed. Keys and values are stored contiguously in one allocation, so changing one entry of a node of a
/// hundred costs only that entry.
final class TreeNode {
    struct Entry {
        var key: Int32
        var keyCount: Int32
        /// In a leaf, the offset in `memory` of the value or of the reference of an extent that contains it; otherwise that of the child's
        /// reference.
        var value: Int32
        var valueCount: Int32
        /// Whether the value is a reference.
        var isExtent: Bool
    }

    let level: Int
    @exclusivity(unchecked) var entries: ContiguousArray<Entry> = []
    /// The bytes of keys and values. Bytes that no entry uses any more are removed when it is full.
    @exclusivity(unchecked) var memory: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var used = 0
    /// The children in memory, as many as entries (none in leaves); nil for children that are only in the file.
    @exclusivity(unchecked) var nodes: ContiguousArray<TreeNode?> = []
    /// The extent that the node was read from. It is freed when the node is written again.
    var origin: ExtentRef?
    var isDirty = false
    /// The length of all entries and their offsets in bytes, without a shared prefix.
    @exclusivity(unchecked) var entryBytes = 0
    /// Whether the last entry was inserted last: a split then leaves the left part full.
    var grewAtEnd = false

    var count: Int { entries.count }

    init(level: Int) {
        self.level = level
        capacity = 512
        memory = .allocate(byteCount: capacity, alignment: 16)
        isDirty = true
    }

    init(_ view: TreeNodeView, from ref: ExtentRef) throws(Damage) {
        level = view.level
        origin = ref
        // Space for one or two more keys and a value.
        capacity = view.bytes.count + view.count * view.prefix.count + 512
        memory = .allocate(byteCount: capacity, alignment: 16)
        entries.reserveCapacity(view.count + 2)
        guard let source = view.bytes.baseAddress, let prefix = view.prefix.baseAddress else { return }
        let shared = view.prefix.count
        for index in 0..<view.count {
            let (rest, value, isExtent) = try view.parts(index), keyCount = shared + rest.count
            // Entries of a hostile node may overlap, and so be longer in total than the node.
            if used + keyCount + value.count > capacity { need(keyCount + value.count) }
            if isExtent {
                var check = ByteReader(view.bytes, at: value.lowerBound)
                _ = try ExtentRef(from: &check)
            }
            let key = memory + used, end = used + keyCount
            key.copyMemory(from: prefix, byteCount: shared)
            (key + shared).copyMemory(from: source + rest.lowerBound, byteCount: rest.count)
            (key + keyCount).copyMemory(from: source + value.lowerBound, byteCount: value.count)
            let entry = Entry(
                key: Int32(used), keyCount: Int32(keyCount), value: Int32(end), valueCount: Int32(value.count), isExtent: isExtent)
            used = end + value.count
            // What overlaps the prefix could be longer than a node, and would be divided without an end.
            guard 6 + bytes(of: entry) <= TreeLimit.nodeBytes else { throw Damage("tree entry longer than a node", at: 6 + 2 * index) }
            entries.append(entry)
            entryBytes += bytes(of: entry)
            if index > 0, compare(self.key(index - 1), self.key(index)) >= 0 { throw Damage("tree keys out of order", at: 6 + 2 * index) }
        }
        if level > 0 { nodes = ContiguousArray(repeating: nil, count: view.count) }
    }

    deinit { memory.deallocate() }

    // MARK: Memory

    /// Ensures that so many more bytes fit, and removes bytes that no entry uses any more.
    func need(_ more: Int) {
        if used + more <= capacity { return }
        let live = entries.reduce(0) { $0 + Int($1.keyCount + $1.valueCount) }
        let old = memory
        capacity = 2 * (live + more)
        memory = .allocate(byteCount: capacity, alignment: 16)
        used = 0
        for index in entries.indices {
            let entry = entries[index]
            entries[index].key = put(UnsafeRawBufferPointer(start: old + Int(entry.key), count: Int(entry.keyCount)))
            entries[index].value = put(UnsafeRawBufferPointer(start: old + Int(entry.value), count: Int(entry.valueCount)))
        }
        old.deallocate()
    }

    func put(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        let at = used
        if bytes.count > 0 { (memory + at).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count) }
        used += bytes.count
        return Int32(at)
    }

    /// Adds an entry. The caller has ensured that it fits.
    func add(_ prefix: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isExtent: Bool) -> Entry {
        let key = put(prefix)
        _ = put(rest)
        return Entry(
            key: key, keyCount: Int32(prefix.count + rest.count), value: put(value), valueCount: Int32(value.count), isExtent: isExtent)
    }

    /// Adds an entry with bytes from outside the node.
    func make(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isExtent: Bool) -> Entry {
        need(key.count + value.count)
        return add(UnsafeRawBufferPointer(start: nil, count: 0), key, value, isExtent: isExtent)
    }

    func make(_ key: UnsafeRawBufferPointer, _ value: TreeValue) -> Entry {
        switch value {
        case .inline(let bytes): bytes.withUnsafeBytes { make(key, $0, isExtent: false) }
        case .extent(let ref): TreeNode.withBytes(of: ref) { make(key, $0, isExtent: true) }
        }
    }

    static func withBytes<R>(of ref: ExtentRef, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        var writer = ByteWriter(reserving: ExtentRef.width)
        ref.encode(to: &writer)
        return writer.bytes.withUnsafeBytes(body)
    }

    /// The capacity of the memory in bytes, for tests.
    var roomInMemory: Int { capacity }

    // MARK: Asking

    /// Returns the key of an entry. It is valid until the node changes.
    func key(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + Int(entries[index].key), count: Int(entries[index].keyCount))
    }

    func valueBytes(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + Int(entry.value), count: Int(entry.valueCount))
    }

    private func ref(_ index: Int) -> ExtentRef {
        var reader = ByteReader(valueBytes(entries[index]))
        guard let ref = try? ExtentRef(from: &reader) else { trap("a reference has 32 bytes") }
        return ref
    }

    func value(_ index: Int) -> TreeValue { entries[index].isExtent ? .extent(ref(index)) : .inline(Array(valueBytes(entries[index]))) }

    /// Returns the reference of a value that is stored in an extent of its own.
    func extent(_ index: Int) -> ExtentRef? { entries[index].isExtent ? ref(index) : nil }

    func child(_ index: Int) -> TreeChild { nodes[index].map(TreeChild.node) ?? .ref(ref(index)) }

    func loaded(_ index: Int) -> TreeNode? { nodes[index] }

    /// The children that are in memory.
    var loadedChildren: [TreeNode] { nodes.compactMap { $0 } }

    /// Returns whether entry `index` has this key.
    func has(_ key: [UInt8], at index: Int) -> Bool { index < count && key.withUnsafeBytes { compare(self.key(index), $0) == 0 } }

    /// Returns whether the key is smaller than all keys of the node.
    func isBelow(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { compare($0, self.key(0)) < 0 } }

    private func bytes(ofKey count: Int) -> Int { count + (count < 128 ? 3 : 4) }

    /// Returns the length of an entry in bytes, including its offset and lengths.
    func bytes(of entry: Entry) -> Int {
        bytes(ofKey: Int(entry.keyCount)) + Int(entry.valueCount) + (level > 0 ? 0 : entry.isExtent || entry.valueCount < 64 ? 1 : 2)
    }

    static func shared(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
        var length = 0
        let limit = min(one.count, other.count)
        while length < limit, one[length] == other[length] { length += 1 }
        return length
    }

    var prefix: Int { count == 0 ? 0 : TreeNode.shared(key(0), key(count - 1)) }

    /// An upper bound of the length of the node in the file, in bytes.
    var bytes: Int {
        let prefix = prefix
        return 6 + entryBytes + prefix - prefix * count
    }

    /// Returns what `bytes` would be after `append`: the shared prefix may be shorter than that of either node.
    func bytes(with other: TreeNode) -> Int {
        let prefix = TreeNode.shared(key(0), other.key(other.count - 1))
        return 6 + entryBytes + other.entryBytes + prefix - prefix * (count + other.count)
    }

    func rank(_ key: [UInt8], inclusive: Bool = false) -> Int {
        key.withUnsafeBytes { key in
            var low = 0, high = count
            while low < high {
                let middle = (low &+ high) >> 1
                let order = compare(self.key(middle), key)
                if order < 0 || (inclusive && order == 0) { low = middle &+ 1 } else { high = middle }
            }
            return low
        }
    }
}

enum TreeValue {
    case inline([UInt8])
    case extent(ExtentRef)
}

enum TreeChild {
    case ref(ExtentRef)
    case node(TreeNode)
}
