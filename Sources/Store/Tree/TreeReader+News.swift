import FirnBytes

extension TreeReader {
    /// Visits the nodes that are not in `known`, with all unknown nodes below them, and adds them to it; calls `body` with the entries of
    /// every leaf among them (keys are numbers). After an error, `known` contains no leaf whose entries were not all passed to `body`.
    /// - Complexity: versions of a tree share unchanged nodes, so the cost is proportional to what changed since the last visit.
    package func visitNews(since known: inout Set<ExtentRef>, _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void)
        throws(Damage)
    {
        if !root.isNone { try visit(root, level: nil, &known, looksInside: true, body) }
    }

    /// Adds every node to `known` without reading entries of leaves.
    package func markKnown(_ known: inout Set<ExtentRef>) throws(Damage) {
        if !root.isNone { try visit(root, level: nil, &known, looksInside: false) { (_, _) throws(Damage) in } }
    }

    /// The maximum number of leaves that `leaves` returns. A damaged tree can refer to a node from many others.
    private static let maximumLeaves = 4096

    /// Returns the leaves that can contain keys from `lower` to `upper`, in order, or nil if there are too many. If two versions of a tree
    /// return the same leaves, they have the same entries between these keys.
    package func leaves(from lower: UInt64, through upper: UInt64) throws(Damage) -> [ExtentRef]? {
        var found: [ExtentRef] = []
        if !root.isNone { try addLeaves(of: root, level: nil, TreeKey.bytes(lower), TreeKey.bytes(upper), &found) }
        return found.count > TreeReader.maximumLeaves ? nil : found
    }

    private func addLeaves(of ref: ExtentRef, level: Int?, _ lower: [UInt8], _ upper: [UInt8], _ found: inout [ExtentRef]) throws(Damage) {
        let bytes = try source.read(ref)
        do throws(Damage) {
            let node = try TreeNodeView(bytes, level: level)
            if node.level == 0 { return found.append(ref) }
            let first = max(try lower.withBytes { (key) throws(Damage) in try node.rank(key, inclusive: true) } - 1, 0)
            let end = try upper.withBytes { (key) throws(Damage) in try node.rank(key, inclusive: true) }
            for index in first..<max(end, first + 1) where found.count <= TreeReader.maximumLeaves {
                try addLeaves(of: try node.child(index), level: node.level - 1, lower, upper, &found)
            }
        } catch { throw error.shifted(by: ref.offset) }
    }

    /// Returns every extent of the tree: nodes, and values that have an extent of their own. Throws `Damage` if a node is referenced twice.
    package func extents() throws(Damage) -> Set<ExtentRef> {
        var all: Set<ExtentRef> = []
        if !root.isNone { try collect(root, level: nil, &all) }
        return all
    }

    private func collect(_ ref: ExtentRef, level: Int?, _ all: inout Set<ExtentRef>) throws(Damage) {
        guard all.insert(ref).inserted else { throw Damage("a node of a tree is referenced twice", inFileAt: ref.offset) }
        let bytes = try source.read(ref)
        do throws(Damage) {
            let node = try TreeNodeView(bytes, level: level)
            for index in 0..<node.count {
                if node.level > 0 {
                    try collect(try node.child(index), level: node.level - 1, &all)
                } else if case let value = try node.value(index).ref, !value.isNone {
                    all.insert(value)
                }
            }
        } catch { throw error.shifted(by: ref.offset) }
    }

    /// Visits a node that is not known yet. Levels decrease, so the recursion always ends, whatever the nodes refer to.
    private func visit(
        _ ref: ExtentRef, level: Int?, _ known: inout Set<ExtentRef>, looksInside: Bool,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void
    ) throws(Damage) {
        if known.contains(ref) { return }
        let bytes = try source.read(ref)
        do throws(Damage) {
            let node = try TreeNodeView(bytes, level: level)
            if node.level == 0 {
                if looksInside { for index in 0..<node.count { try give(node, index, body) } }
            } else {
                for index in 0..<node.count {
                    try visit(try node.child(index), level: node.level - 1, &known, looksInside: looksInside, body)
                }
            }
        } catch { throw error.shifted(by: ref.offset) }
        known.insert(ref)
    }

    private func give(_ node: TreeNodeView, _ index: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void) throws(Damage) {
        let key = try node.key(index).withBytes { (key) throws(Damage) in try TreeKey.number(key) }
        let (inline, extent) = try node.value(index)
        if let inline { return try body(key, inline) }
        try body(key, try source.read(extent))
    }
}
