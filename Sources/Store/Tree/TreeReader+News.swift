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
