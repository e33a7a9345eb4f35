import FirnBytes

/// The objects of a table in the order of their keys. The position of an object in this order is its row id in Firn.
struct RealmObjects {
    /// A leaf with the values of some consecutive objects.
    struct Leaf {
        let ref: Int
        /// The position of its first object.
        let start: Int
        let count: Int
        /// What is added to the keys of the leaf, and the key of its first object.
        var base: UInt64 = 0
        var firstKey: Int64 = 0
        /// The keys; nil if they are 0, 1, 2 …
        var keys: Int?
    }

    private(set) var count = 0
    /// The leaves of the cluster tree; empty in formats up to 9.
    private(set) var leaves: [Leaf] = []
    /// In formats up to 9, the roots of the columns. A position of a `RealmColumn` leads to one of them.
    private(set) var roots: RealmArray?

    init() {}

    // MARK: Formats up to 9

    /// Counts the rows by the first column.
    init(roots: RealmArray, _ columns: [RealmColumn], _ bytes: RealmBytes) throws(Damage) {
        self.roots = roots
        guard let first = columns.first else { return }
        count = try RealmLeaves(column: first, of: self, bytes).count
    }

    // MARK: Clusters

    init(clusters ref: Int, _ bytes: RealmBytes) throws(Damage) {
        try add(ref, base: 0, depth: 0, bytes)
    }

    private mutating func add(_ ref: Int, base: UInt64, depth: Int, _ bytes: RealmBytes) throws(Damage) {
        guard depth < RealmFileFormat.maximumDepth else { throw Damage("a tree of objects is too deep", at: ref) }
        try bytes.visit(ref)
        let node = try bytes.array(ref)
        guard node.hasRefs else { throw Damage("this is not a node of a tree of objects", at: ref) }
        guard node.isInner else { return try addLeaf(node, base, bytes) }
        guard node.count >= 3, let below = node.tagged(1) else { throw Damage("a node of a tree of objects is too short", at: ref) }
        let children = node.count - 3, start = count
        guard below < UInt64(RealmFileFormat.maximumDepth), children <= RealmFileFormat.maximumCluster else {
            throw Damage("a node of a tree of objects has impossible counts", at: ref)
        }
        let offsets = try node.ref(0).map { (ref) throws(Damage) in try bytes.integers(ref, "keys") }
        guard offsets.map({ $0.count >= children }) ?? true else { throw Damage("a tree of objects lacks keys", at: ref) }
        for i in 0..<children {
            guard let child = try node.ref(i + 3) else { throw Damage("a tree of objects lacks a child", at: ref) }
            // Without offsets, each level has 8 bits of the key.
            let offset = offsets.map { $0.unsigned(i) } ?? (below < 8 ? UInt64(i) << (8 * below) : 0)
            try add(child, base: base &+ offset, depth: depth + 1, bytes)
        }
        guard node.tagged(2).map({ $0 == UInt64(count - start) }) ?? false else {
            throw Damage("a tree of objects has another number of objects than it records", at: ref)
        }
    }

    private mutating func addLeaf(_ node: RealmArray, _ base: UInt64, _ bytes: RealmBytes) throws(Damage) {
        guard node.count > 0 else { throw Damage("a cluster has no keys", at: node.offset) }
        var leaf: Leaf
        if let number = node.tagged(0) {
            guard number <= UInt64(RealmFileFormat.maximumCluster) else {
                throw Damage("a cluster of \(number) objects is too large", at: node.offset)
            }
            leaf = Leaf(ref: node.offset, start: count, count: Int(number), base: base, firstKey: Int64(bitPattern: base))
        } else {
            guard let ref = try node.ref(0) else { return }
            let keys = try bytes.integers(ref, "keys")
            guard keys.count <= RealmFileFormat.maximumCluster else {
                throw Damage("a cluster of \(keys.count) objects is too large", at: node.offset)
            }
            leaf = Leaf(ref: node.offset, start: count, count: keys.count, base: base, keys: ref)
            for i in 0..<keys.count {
                let key = Int64(bitPattern: base &+ keys.unsigned(i))
                if i == 0 { leaf.firstKey = key }
                try note(key, node)
            }
        }
        guard leaf.count > 0 else { return }
        if leaf.keys == nil {
            try note(leaf.firstKey, node)
            last = leaf.firstKey &+ Int64(leaf.count - 1)
        }
        count += leaf.count
        leaves.append(leaf)
    }

    /// The key of the last object so far.
    private var last: Int64?

    private mutating func note(_ key: Int64, _ node: RealmArray) throws(Damage) {
        if let last, last >= key { throw Damage("the keys of objects do not ascend", at: node.offset) }
        last = key
    }

    /// Returns the leaf that contains an object, as an index in `leaves`.
    func leaf(of position: Int) -> Int { leaves.indexOfLast { $0.start <= position } }

    /// Returns the position of the object with a key; nil if there is none.
    func position(ofKey key: Int64, _ bytes: RealmBytes) throws(Damage) -> Int? {
        if roots != nil { return key >= 0 && key < Int64(count) ? Int(key) : nil }
        guard let first = leaves.first, key >= first.firstKey else { return nil }
        let leaf = leaves[leaves.indexOfLast { $0.firstKey <= key }], wanted = UInt64(bitPattern: key) &- leaf.base
        guard let ref = leaf.keys else { return wanted < UInt64(leaf.count) ? leaf.start + Int(wanted) : nil }
        let keys = try bytes.integers(ref, "keys")
        var low = 0, high = keys.count
        while low < high {
            let middle = (low + high) / 2, at = Int64(bitPattern: leaf.base &+ keys.unsigned(middle))
            if at == key { return leaf.start + middle }
            if at < key { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Returns the key of an object.
    func key(at position: Int, _ bytes: RealmBytes) throws(Damage) -> Int64 {
        if roots != nil { return Int64(position) }
        let leaf = leaves[leaf(of: position)]
        guard let ref = leaf.keys else { return leaf.firstKey &+ Int64(position - leaf.start) }
        return Int64(bitPattern: leaf.base &+ (try bytes.integers(ref, "keys")).unsigned(position - leaf.start))
    }
}

extension [RealmObjects.Leaf] {
    /// Returns the index of the last leaf for which a condition holds that no leaf after it fulfils; 0 if there is none.
    fileprivate func indexOfLast(_ holds: (RealmObjects.Leaf) -> Bool) -> Int {
        var low = 0, high = count
        while high - low > 1 {
            let middle = (low + high) / 2
            if holds(self[middle]) { low = middle } else { high = middle }
        }
        return low
    }
}

/// The leaves of one column of a table: those of its tree (formats up to 9).
struct RealmLeaves {
    private(set) var leaves: [RealmObjects.Leaf] = []
    private(set) var count = 0

    /// The leaves of a tree of elements.
    init(tree ref: Int, _ column: RealmColumn, _ bytes: RealmBytes, _ isOld: Bool) throws(Damage) {
        try RealmTree(bytes).forEachLeaf(ref) { (leaf) throws(Damage) in
            let count = try RealmLeaf.count(leaf, column, bytes, isOld)
            leaves.append(RealmObjects.Leaf(ref: leaf, start: self.count, count: count))
            self.count += count
            return count
        }
    }

    /// The leaves of a column of a table in formats up to 9. Those of a column of dates are the leaves of its seconds.
    init(column: RealmColumn, of objects: RealmObjects, _ bytes: RealmBytes) throws(Damage) {
        guard let roots = objects.roots, let ref = try roots.ref(column.position) else {
            throw Damage("column \"\(column.name)\" has no values", at: objects.roots?.offset ?? 0)
        }
        guard column.kind == .timestamp, column.collection == .none else {
            try self.init(tree: ref, column, bytes, true)
            return
        }
        let pair = try bytes.refs(ref, atLeast: 2, "a column of dates")
        guard let seconds = try pair.ref(0) else { throw Damage("a column of dates has no seconds", at: ref) }
        var integers = column
        (integers.kind, integers.isNullable) = (.int, true)
        try self.init(tree: seconds, integers, bytes, true)
    }

    func leaf(of position: Int) -> Int { leaves.indexOfLast { $0.start <= position } }
}
