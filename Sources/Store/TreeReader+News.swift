import FirnBytes

extension TreeReader {
    /// Visits the nodes that are not in `known`, with all below them that is not, and adds them to it; `body` gets the entries of every leaf among
    /// them (keys are numbers). Versions of a tree share the nodes in which they do not differ, so this costs by what changed since the last visit.
    /// After an error `known` holds no leaf whose entries were not all given.
    package func visitNews(since known: inout Set<ExtentRef>, _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void) throws(Damage) {
        if !root.isNone { try visit(root, level: nil, &known, looksInside: true, body) }
    }

    /// Adds every node to `known`, and looks at no entry.
    package func markKnown(_ known: inout Set<ExtentRef>) throws(Damage) {
        if !root.isNone { try visit(root, level: nil, &known, looksInside: false) { (_, _) throws(Damage) in } }
    }

    /// Every extent of the tree: nodes, and the values that have one of their own. Nothing leads to a node twice.
    package func extents() throws(Damage) -> Set<ExtentRef> {
        var all: Set<ExtentRef> = []
        if !root.isNone { try collect(root, level: nil, &all) }
        return all
    }

    private func collect(_ ref: ExtentRef, level: Int?, _ all: inout Set<ExtentRef>) throws(Damage) {
        guard all.insert(ref).inserted else { throw Damage("two nodes of a tree are one", inFileAt: ref.offset) }
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

    /// Levels descend, so the recursion ends whatever the nodes point at; a node that is referred to twice is visited once.
    private func visit(_ ref: ExtentRef, level: Int?, _ known: inout Set<ExtentRef>, looksInside: Bool,
                       _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void) throws(Damage) {
        if known.contains(ref) { return }
        let bytes = try source.read(ref)
        do throws(Damage) {
            let node = try TreeNodeView(bytes, level: level)
            if node.level == 0 {
                if looksInside { for index in 0..<node.count { try give(node, index, body) } }
            } else {
                for index in 0..<node.count { try visit(try node.child(index), level: node.level - 1, &known, looksInside: looksInside, body) }
            }
        } catch { throw error.shifted(by: ref.offset) }
        known.insert(ref)
    }

    private func give(_ node: TreeNodeView, _ index: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws(Damage) -> Void) throws(Damage) {
        let key = try node.key(index).withUnsafeBytesTyped { (key) throws(Damage) in try TreeKey.number(key) }
        let (inline, extent) = try node.value(index)
        if let inline { return try body(key, inline) }
        try body(key, try source.read(extent))
    }
}
