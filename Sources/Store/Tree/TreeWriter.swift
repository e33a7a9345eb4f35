import FirnBytes

/// Changes a tree inside a transaction. Nodes are read into memory when they are first needed and written once, by `finish`. Unchanged
/// nodes are shared with earlier versions. A writer is used by one thread at a time.
package final class TreeWriter {
    private let transaction: StoreTransaction
    private let start: ExtentRef
    private var root: TreeNode?
    private var hasChanged = false

    /// Creates a writer for the tree `root`; `.none` for an empty tree.
    package init(root: ExtentRef, transaction: StoreTransaction) {
        start = root
        self.transaction = transaction
    }

    private func load(_ ref: ExtentRef, level: Int? = nil) throws(Damage) -> TreeNode {
        let bytes = try transaction.read(ref)
        do throws(Damage) { return try TreeNode(try TreeNodeView(bytes, level: level), from: ref) } catch {
            throw error.shifted(by: ref.offset)
        }
    }

    private func loadedRoot() throws(Damage) -> TreeNode {
        if let root { return root }
        let node = start.isNone ? TreeNode(level: 0) : try load(start)
        root = node
        return node
    }

    // MARK: Reading what is being changed

    /// Returns the value of `key`, including changes of this writer.
    package func get(_ key: [UInt8]) throws(Damage) -> [UInt8]? {
        var node = try loadedRoot()
        while node.level > 0 {
            let index = max(node.rank(key, inclusive: true) - 1, 0)
            if case .ref(let ref) = node.child(index) {
                let rest = TreeReader(root: ref, source: transaction)
                return try rest.get(key).map { Array($0) }
            }
            node = node.loaded(index)!
        }
        let index = node.rank(key)
        guard node.has(key, at: index) else { return nil }
        switch node.value(index) {
        case .inline(let bytes): return bytes
        case .extent(let ref): return Array(try transaction.read(ref))
        }
    }

    package func get(_ key: UInt64) throws(Damage) -> [UInt8]? { try get(TreeKey.bytes(key)) }

    // MARK: Changing

    /// Sets the value of `key` (at most 512 bytes).
    /// - Throws: `.damaged` if the tree is damaged; the system's error if a large value cannot be written.
    package func put(_ key: [UInt8], _ value: [UInt8]) throws(FirnError) {
        trap(unless: key.count <= TreeLimit.keyBytes, "tree keys are at most 512 bytes: hash longer ones")
        let stored: TreeValue = value.count <= TreeLimit.inlineBytes ? .inline(value) : .extent(try transaction.write(value))
        try checked { () throws(Damage) in
            hasChanged = true
            let top = try loadedRoot()
            let pieces = try put(top, key, stored)
            if pieces.count > 1 { grow(pieces) }
        }
    }

    package func put(_ key: UInt64, _ value: [UInt8]) throws(FirnError) { try put(TreeKey.bytes(key), value) }

    /// Removes `key`. Returns false if it is not present.
    @discardableResult
    package func delete(_ key: [UInt8]) throws(FirnError) -> Bool {
        try checked { () throws(Damage) in
            let found = try delete(try loadedRoot(), key)
            if found { hasChanged = true }
            return found
        }
    }

    @discardableResult
    package func delete(_ key: UInt64) throws(FirnError) -> Bool { try delete(TreeKey.bytes(key)) }

    /// Writes the changed nodes and returns the new root: `.none` if no entry is left, the old root if nothing changed. The writer cannot
    /// be used afterwards.
    package func finish() throws(FirnError) -> ExtentRef {
        guard hasChanged, var top = root else { return start }
        try checked { () throws(Damage) in try merge(top) }
        while top.level > 0, top.count == 1 {
            let only = try checked { () throws(Damage) in try child(top, 0) }
            release(top)
            top = only
        }
        if top.count == 0 {
            release(top)
            return .none
        }
        var pieces = [top]
        while true {
            pieces = pieces.flatMap { $0.split() }
            if pieces.count == 1 { break }
            let parent = TreeNode(level: pieces[0].level + 1)
            parent.take(pieces)
            pieces = [parent]
        }
        return try write(pieces[0])
    }

    /// Rewrites every node, and every value that has an extent of its own, so that the whole tree moves.
    package func renew() throws(FirnError) {
        guard !start.isNone || root != nil else { return }
        hasChanged = true
        try renew(try checked { () throws(Damage) in try loadedRoot() })
    }

    private func renew(_ node: TreeNode) throws(FirnError) {
        node.isDirty = true
        for index in 0..<node.count {
            if node.level > 0 {
                try renew(try checked { () throws(Damage) in try child(node, index) })
            } else if let old = node.extent(index) {
                let bytes = try checked { () throws(Damage) in try transaction.read(old) }
                node.replace(index, .extent(try transaction.write(bytes)))
                transaction.free(old)
            }
        }
    }

    private func checked<R>(_ body: () throws(Damage) -> R) throws(FirnError) -> R {
        do throws(Damage) { return try body() } catch { throw FirnError(error, in: transaction.store.path) }
    }

    /// Returns the child as a node in memory, which its parent keeps.
    private func child(_ node: TreeNode, _ index: Int) throws(Damage) -> TreeNode {
        switch node.child(index) {
        case .node(let child): return child
        case .ref(let ref):
            let child = try load(ref, level: node.level - 1)
            node.hold(child, at: index)
            node.isDirty = true
            return child
        }
    }

    private func put(_ node: TreeNode, _ key: [UInt8], _ value: TreeValue) throws(Damage) -> [TreeNode] {
        node.isDirty = true
        if node.level == 0 {
            let index = node.rank(key)
            if node.has(key, at: index) {
                if let old = node.extent(index) { transaction.free(old) }
                node.replace(index, value)
            } else {
                node.insert(index, key, value)
            }
        } else {
            let index = max(node.rank(key, inclusive: true) - 1, 0)
            if index == 0, node.isBelow(key) { node.replaceKey(0, key) }
            let pieces = try put(try child(node, index), key, value)
            if pieces.count > 1 { node.replaceChild(index, pieces) }
        }
        return node.split()
    }

    private func delete(_ node: TreeNode, _ key: [UInt8]) throws(Damage) -> Bool {
        if node.level == 0 {
            let index = node.rank(key)
            guard node.has(key, at: index) else { return false }
            if let old = node.extent(index) { transaction.free(old) }
            node.remove(index)
            node.isDirty = true
            return true
        }
        let index = max(node.rank(key, inclusive: true) - 1, 0)
        // Reading a path that does not contain the key must not make it dirty, so the key is searched first.
        if case .ref(let ref) = node.child(index) {
            guard try TreeReader(root: ref, source: transaction).get(key) != nil else { return false }
        }
        let found = try delete(try child(node, index), key)
        if found { node.isDirty = true }
        return found
    }

    private func grow(_ pieces: [TreeNode]) {
        var pieces = pieces
        while pieces.count > 1 {
            let parent = TreeNode(level: pieces[0].level + 1)
            parent.take(pieces)
            pieces = parent.split()
        }
        root = pieces[0]
    }

    /// The maximum length of a merged node. A node is never shorter with the entries of another one, so a longer neighbour is not merged.
    private static let mergedBytes = TreeLimit.nodeBytes * 3 / 4

    /// Merges children that became small with a neighbour and drops empty ones, bottom up.
    private func merge(_ node: TreeNode) throws(Damage) {
        guard node.level > 0 else { return }
        for child in node.loadedChildren { try merge(child) }
        var index = 0
        while index < node.count {
            guard let child = node.loaded(index), child.isDirty else {
                index += 1
                continue
            }
            if child.count == 0 {
                release(child)
                node.remove(index)
                continue
            }
            guard child.bytes < TreeLimit.nodeBytes / 3, node.count > 1 else {
                index += 1
                continue
            }
            let left = index + 1 < node.count ? index : index - 1
            // Nearly always the neighbour of the last leaf, which is full because rows come at the end. Its length is in the reference.
            let other = left == index ? index + 1 : left
            if case .ref(let ref) = node.child(other), ref.length > TreeWriter.mergedBytes + ExtentCipher.overhead {
                index += 1
                continue
            }
            let one = try self.child(node, left), next = try self.child(node, left + 1)
            if next.count == 0 {
                release(next)
                node.remove(left + 1)
                continue
            }
            if one.count > 0, one.bytes(with: next) <= TreeWriter.mergedBytes {
                one.append(next)
                release(next)
                node.remove(left + 1)
                index = left
            } else {
                index += 1
            }
        }
    }

    /// Frees the extent that the node was read from.
    private func release(_ node: TreeNode) {
        if let ref = node.origin {
            transaction.free(ref)
            node.origin = nil
        }
    }

    private func write(_ node: TreeNode) throws(FirnError) -> ExtentRef {
        if !node.isDirty, let origin = node.origin { return origin }
        if node.level > 0 {
            for index in 0..<node.count {
                if let child = node.loaded(index) { node.settle(index, try write(child)) }
            }
        }
        release(node)
        return try transaction.write(node.encoded())
    }
}
