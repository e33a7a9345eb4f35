import FirnBytes

extension Column {
    /// Returns the field at the end of `path` through embedded objects, as `Segment.column(path:)` describes it.
    package func field(_ path: ArraySlice<Int>) throws(Damage) -> Column {
        guard let first = path.first else { return self }
        if type.isCollection {
            let leaf = try children[type.collection == .map ? 1 : 0].field(path)
            return flattened(leaf)
        }
        guard type.kind == .embedded, children.indices.contains(first) else { throw Damage("no field at this path") }
        var leaf = try children[first].field(path.dropFirst())
        leaf.type.isOptional = leaf.type.isOptional || type.isOptional
        return leaf
    }

    /// Returns this collection with its elements replaced by `leaf`, which has one row per element. If the leaf contains collections, they
    /// are concatenated.
    private func flattened(_ leaf: Column) -> Column {
        var out = Column(
            ColumnType(
                leaf.type.kind, optional: type.isOptional, collection: .list,
                elementOptional: leaf.type.isCollection ? leaf.type.elementIsOptional : leaf.type.isOptional,
                target: leaf.type.target))
        out.count = count
        out.present = present
        if leaf.type.isCollection {
            out.offsets = offsets.map { leaf.offsets[$0] }
            out.children = [leaf.children[leaf.type.collection == .map ? 1 : 0]]
        } else {
            out.offsets = offsets
            out.children = [leaf]
        }
        return out
    }
}
