import FirnBytes

/// Walks B+trees: the elements of collections, and in formats up to 9 the values of columns.
struct RealmTree {
    private let bytes: RealmBytes

    init(_ bytes: RealmBytes) { self.bytes = bytes }

    /// Calls `body` with the leaves in order. It returns the number of their elements.
    func forEachLeaf(_ ref: Int, depth: Int = 0, _ body: (Int) throws(Damage) -> Int) throws(Damage) {
        _ = try walk(ref, depth, body)
    }

    private func walk(_ ref: Int, _ depth: Int, _ body: (Int) throws(Damage) -> Int) throws(Damage) -> Int {
        guard depth < RealmFileFormat.maximumDepth else { throw Damage("a tree is too deep", at: ref) }
        try bytes.visit(ref)
        let node = try bytes.array(ref)
        guard node.isInner else {
            let count = try body(ref)
            guard count <= RealmFileFormat.maximumTreeNode else { throw Damage("a leaf of \(count) elements is too large", at: ref) }
            return count
        }
        guard node.count >= 2, node.count <= RealmFileFormat.maximumTreeNode + 2 else {
            throw Damage("an inner node of a tree has \(node.count) elements", at: ref)
        }
        var count = 0
        for i in 1..<node.count - 1 {
            guard let child = try node.ref(i) else { throw Damage("a tree lacks a child", at: ref) }
            count += try walk(child, depth + 1, body)
        }
        guard node.tagged(node.count - 1) == UInt64(count) else {
            throw Damage("a tree has another number of elements than it records", at: ref)
        }
        return count
    }
}
