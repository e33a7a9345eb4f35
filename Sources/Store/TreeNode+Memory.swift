import FirnBytes

/// A node in memory, on its way to be changed. Keys and values lie end to end in one piece of memory: a commit of one row changes an entry of a node of a
/// hundred, and pays for one.
final class TreeNode {
    struct Entry {
        var key: Int32
        var keyCount: Int32
        /// Of a leaf, its value or the reference of an extent that holds it; else the child's reference.
        var value: Int32
        var valueCount: Int32
        /// The value is a reference.
        var isExtent: Bool
    }

    let level: Int
    @exclusivity(unchecked) var entries: ContiguousArray<Entry> = []
    /// Where what entries hold lies; bytes that no entry has any more among them, until it is full.
    @exclusivity(unchecked) var memory: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var used = 0
    /// Children in memory, as many as entries (none in leaves); those that are not there lie where their reference says.
    @exclusivity(unchecked) var nodes: ContiguousArray<TreeNode?> = []
    /// The extent that it was read from, which dies when the node is written anew.
    var origin: ExtentRef?
    var isDirty = false
    /// Bytes of all entries and their offsets, were there no prefix.
    @exclusivity(unchecked) var entryBytes = 0
    /// True if the last entry was the last inserted: a split then leaves the left part full.
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
        // A key or two, and a value, more.
        capacity = view.bytes.count + view.count * view.prefix.count + 512
        memory = .allocate(byteCount: capacity, alignment: 16)
        entries.reserveCapacity(view.count + 2)
        for index in 0..<view.count {
            var (rest, reader) = try view.entry(index)
            let isExtent: Bool, value: UnsafeRawBufferPointer
            if level == 0 {
                let tagged = try reader.readCount(limit: TreeLimit.nodeBytes * 2)
                isExtent = tagged & 1 == 1
                guard !isExtent || tagged == 65 else { throw Damage("tree value of an unknown kind", at: reader.position) }
                value = try reader.read(count: tagged >> 1)
            } else {
                isExtent = true
                value = try reader.read(count: ExtentRef.width)
            }
            // Entries of a hostile node may lie over each other, and so come to more than it has.
            need(view.prefix.count + rest.count + value.count)
            if isExtent {
                var check = ByteReader(value)
                _ = try ExtentRef(from: &check)
            }
            let entry = add(view.prefix, rest, value, isExtent: isExtent)
            entries.append(entry)
            entryBytes += bytes(of: entry)
            if index > 0, compare(key(index - 1), key(index)) >= 0 { throw Damage("tree keys out of order", at: 6 + 2 * index) }
        }
        if level > 0 { nodes = ContiguousArray(repeating: nil, count: view.count) }
    }

    deinit { memory.deallocate() }

    // MARK: Memory

    /// Sees to it that so many bytes have room, and leaves behind what no entry has any more.
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

    /// There is room.
    func add(_ prefix: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isExtent: Bool) -> Entry {
        let key = put(prefix)
        _ = put(rest)
        return Entry(key: key, keyCount: Int32(prefix.count + rest.count), value: put(value), valueCount: Int32(value.count), isExtent: isExtent)
    }

    /// An entry for bytes from elsewhere.
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

    /// For tests: bytes of memory, used or not.
    var roomInMemory: Int { capacity }

    // MARK: Asking

    /// Valid until the node changes.
    func key(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + Int(entries[index].key), count: Int(entries[index].keyCount))
    }

    func valueBytes(_ entry: Entry) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + Int(entry.value), count: Int(entry.valueCount)) }

    private func ref(_ index: Int) -> ExtentRef {
        var reader = ByteReader(valueBytes(entries[index]))
        guard let ref = try? ExtentRef(from: &reader) else { preconditionFailure("a reference has 32 bytes") }
        return ref
    }

    func value(_ index: Int) -> TreeValue { entries[index].isExtent ? .extent(ref(index)) : .inline(Array(valueBytes(entries[index]))) }

    /// Where a large value lies.
    func extent(_ index: Int) -> ExtentRef? { entries[index].isExtent ? ref(index) : nil }

    func child(_ index: Int) -> TreeChild { nodes[index].map(TreeChild.node) ?? .ref(ref(index)) }

    func loaded(_ index: Int) -> TreeNode? { nodes[index] }

    /// The children that are in memory.
    var loadedChildren: [TreeNode] { nodes.compactMap { $0 } }

    /// Whether entry `index` has this key.
    func has(_ key: [UInt8], at index: Int) -> Bool { index < count && key.withUnsafeBytes { compare(self.key(index), $0) == 0 } }

    /// Whether the key is smaller than all here.
    func isBelow(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { compare($0, self.key(0)) < 0 } }

    private func bytes(ofKey count: Int) -> Int { count + (count < 128 ? 3 : 4) }

    /// What the entry takes, offset and lengths included.
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

    /// An upper bound of the bytes it takes in the file.
    var bytes: Int {
        let prefix = prefix
        return 6 + entryBytes + prefix - prefix * count
    }

    /// What `bytes` would be after `append`: the shared prefix may be shorter than either's.
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
