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
        let prefix = prefix
        var writer = ByteWriter(reserving: TreeLimit.nodeBytes)
        writer.append(TreeLimit.mark)
        writer.append(UInt8(level))
        writer.append(UInt16(count))
        writer.append(UInt16(prefix))
        for _ in 0..<2 * count { writer.append(0 as UInt8) }
        if count > 0 { writer.append(contentsOf: UnsafeRawBufferPointer(rebasing: key(0)[..<prefix])) }
        for (index, entry) in entries.enumerated() {
            let at = writer.count
            trap(unless: at < TreeLimit.nodeBytes, "a tree node is longer than its maximum size")
            writer.bytes[6 + 2 * index] = UInt8(truncatingIfNeeded: at)
            writer.bytes[7 + 2 * index] = UInt8(truncatingIfNeeded: at >> 8)
            writer.appendVarint(Int(entry.keyCount) - prefix)
            writer.append(contentsOf: UnsafeRawBufferPointer(start: memory + Int(entry.key) + prefix, count: Int(entry.keyCount) - prefix))
            if level == 0 { writer.appendVarint(entry.isExtent ? 65 : 2 * Int(entry.valueCount)) }
            writer.append(contentsOf: valueBytes(entry))
        }
        trap(unless: writer.count <= TreeLimit.nodeBytes, "a tree node is longer than its maximum size")
        return writer.bytes
    }
}
