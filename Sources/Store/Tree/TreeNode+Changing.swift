import FirnBytes

extension TreeNode {
    private func insert(_ entry: Entry, at index: Int) {
        entries.insert(entry, at: index)
        entryBytes += bytes(of: entry)
    }

    private func set(_ entry: Entry, at index: Int) {
        entryBytes += bytes(of: entry) - bytes(of: entries[index])
        entries[index] = entry
    }

    func insert(_ index: Int, _ key: [UInt8], _ value: TreeValue) {
        grewAtEnd = index == count
        insert(key.withUnsafeBytes { make($0, value) }, at: index)
    }

    func replace(_ index: Int, _ value: TreeValue) {
        let key = Array(key(index))
        set(key.withUnsafeBytes { make($0, value) }, at: index)
    }

    func replaceKey(_ index: Int, _ key: [UInt8]) {
        key.withUnsafeBytes { need($0.count) }
        var entry = entries[index]
        entry.key = key.withUnsafeBytes { put($0) }
        entry.keyCount = Int32(key.count)
        set(entry, at: index)
    }

    /// Stores a child that is now in memory.
    func hold(_ child: TreeNode, at index: Int) { nodes[index] = child }

    /// Records the reference that the child in memory was written to.
    func settle(_ index: Int, _ ref: ExtentRef) {
        let at = memory + Int(entries[index].value)
        TreeNode.withBytes(of: ref) { at.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        nodes[index] = nil
    }

    func remove(_ index: Int) {
        entryBytes -= bytes(of: entries[index])
        entries.remove(at: index)
        if level > 0 {
            nodes.remove(at: index)
            isDirty = true
        }
    }

    private func insertChild(_ index: Int, _ key: [UInt8], _ child: TreeNode) {
        insert(key.withUnsafeBytes { make($0, .extent(.none)) }, at: index)
        nodes.insert(child, at: index)
    }

    /// Replaces child `index`, which was split: the first piece keeps its separator, the others bring their own.
    func replaceChild(_ index: Int, _ pieces: [TreeNode]) {
        nodes[index] = pieces[0]
        for (step, piece) in pieces.enumerated().dropFirst() {
            let last = pieces[step - 1]
            insertChild(
                index + step, piece.level == 0 ? TreeNode.separator(last.key(last.count - 1), piece.key(0)) : Array(piece.key(0)), piece)
        }
        grewAtEnd = index + pieces.count == count
    }

    /// Makes this node the parent of `pieces`, which are in order.
    func take(_ pieces: [TreeNode]) {
        insertChild(0, Array(pieces[0].key(0)), pieces[0])
        replaceChild(0, pieces)
    }

    /// Adds all entries of the node to the right of this one.
    func append(_ other: TreeNode) {
        move(other, from: 0)
        isDirty = true
    }

    private func move(_ other: TreeNode, from start: Int) {
        for entry in other.entries[start...] {
            let key = UnsafeRawBufferPointer(start: other.memory + Int(entry.key), count: Int(entry.keyCount))
            insert(make(key, other.valueBytes(entry), isExtent: entry.isExtent), at: count)
        }
        if level > 0 { nodes += other.nodes[start...] }
    }

    /// Returns the shortest key that is greater than `left` and not greater than `right`. It is valid between leaves only: an inner node
    /// has keys that are greater than its last separator.
    private static func separator(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> [UInt8] {
        Array(right[..<min(shared(left, right) + 1, right.count)])
    }

    /// Returns this node, or as many nodes as its entries need.
    func split() -> [TreeNode] {
        guard bytes > TreeLimit.nodeBytes else { return [self] }
        let half = entryBytes / 2
        var at = 0, sum = 0
        if grewAtEnd {
            at = count - 1
        } else {
            while at < count - 1, sum < half || at == 0 {
                sum += bytes(of: entries[at])
                at += 1
            }
        }
        let right = TreeNode(level: level)
        right.move(self, from: at)
        entries.removeLast(count - at)
        if level > 0 { nodes.removeLast(nodes.count - at) }
        entryBytes -= right.entryBytes
        grewAtEnd = false
        isDirty = true
        return split() + right.split()
    }

    /// Returns the bytes of the extent. The children must have been written.
    func encoded() -> [UInt8] {
        trap(unless: loadedChildren.isEmpty, "children must be written before their parent")
        let prefix = prefix, count = count
        // A length has at most two bytes.
        let room = TreeLimit.nodeBytes + 4
        trap(unless: 6 + 2 * count + prefix <= TreeLimit.nodeBytes, "a tree node is longer than its maximum size")
        return [UInt8](unsafeUninitializedCapacity: room) { out, written in
            guard let start = UnsafeMutableRawBufferPointer(out).baseAddress else { return }
            var at = 6 + 2 * count
            /// Appends bytes that are in memory from `offset` on.
            func put(from offset: Int32, count: Int) {
                (start + at).copyMemory(from: memory + Int(offset), byteCount: count)
                at += count
            }
            func put(length: Int) {
                if length >= 128 {
                    out[at] = UInt8(length & 127) | 128
                    at += 1
                }
                out[at] = UInt8(length < 128 ? length : length >> 7)
                at += 1
            }
            out[0] = TreeLimit.mark
            out[1] = UInt8(level)
            start.storeBytes(of: UInt16(count).littleEndian, toByteOffset: 2, as: UInt16.self)
            start.storeBytes(of: UInt16(prefix).littleEndian, toByteOffset: 4, as: UInt16.self)
            if prefix > 0 { put(from: entries[0].key, count: prefix) }
            for index in 0..<count {
                let entry = entries[index], rest = Int(entry.keyCount) - prefix, value = Int(entry.valueCount)
                trap(unless: at + rest + value < TreeLimit.nodeBytes, "a tree node is longer than its maximum size")
                start.storeBytes(of: UInt16(at).littleEndian, toByteOffset: 6 + 2 * index, as: UInt16.self)
                put(length: rest)
                put(from: entry.key + Int32(prefix), count: rest)
                if level == 0 { put(length: entry.isExtent ? TreeLimit.extentTag : 2 * value) }
                put(from: entry.value, count: value)
            }
            trap(unless: at <= TreeLimit.nodeBytes, "a tree node is longer than its maximum size")
            written = at
        }
    }
}
