import FirnBytes

enum TreeValue {
    case inline([UInt8])
    case extent(ExtentRef)

    /// Bytes in a leaf, its own length included.
    var bytes: Int {
        switch self {
        case .inline(let value): value.count + (value.count < 64 ? 1 : 2)
        case .extent: 1 + ExtentRef.width
        }
    }
}

enum TreeChild {
    case ref(ExtentRef)
    case node(TreeNode)
}

/// A node in memory, on its way to be changed.
final class TreeNode {
    let level: Int
    private(set) var keys: [[UInt8]] = []
    private(set) var values: [TreeValue] = []
    var children: [TreeChild] = []
    /// The extent that it was read from, which dies when the node is written anew.
    var origin: ExtentRef?
    var isDirty = false
    /// Bytes of all entries and their offsets, were there no prefix.
    private var entryBytes = 0
    /// True if the last entry was the last inserted: a split then leaves the left part full.
    private var grewAtEnd = false

    init(level: Int) {
        self.level = level
        isDirty = true
    }

    init(_ view: TreeNodeView, from ref: ExtentRef) throws(Damage) {
        level = view.level
        origin = ref
        keys.reserveCapacity(view.count)
        for index in 0..<view.count {
            let key = try view.key(index)
            if let last = keys.last, !TreeNode.less(last, key) { throw Damage("tree keys out of order", at: 6 + 2 * index) }
            keys.append(key)
            entryBytes += keyBytes(key)
            if level == 0 {
                let (inline, extent) = try view.value(index)
                let value: TreeValue = inline.map { .inline(Array($0)) } ?? .extent(extent)
                values.append(value)
                entryBytes += value.bytes
            } else {
                children.append(.ref(try view.child(index)))
                entryBytes += ExtentRef.width
            }
        }
    }

    static func less(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.withUnsafeBytes { one in other.withUnsafeBytes { compare(one, $0) < 0 } }
    }

    private func keyBytes(_ key: [UInt8]) -> Int { key.count + (key.count < 128 ? 3 : 4) }

    private var prefix: Int {
        guard let first = keys.first, let last = keys.last else { return 0 }
        var length = 0
        let limit = min(first.count, last.count)
        while length < limit, first[length] == last[length] { length += 1 }
        return length
    }

    /// An upper bound of the bytes it takes in the file.
    var bytes: Int {
        let prefix = prefix
        return 6 + entryBytes + prefix - prefix * keys.count
    }

    func rank(_ key: [UInt8], inclusive: Bool = false) -> Int {
        key.withUnsafeBytes { key in
            var low = 0, high = keys.count
            while low < high {
                let middle = (low &+ high) >> 1
                let order = keys[middle].withUnsafeBytes { compare($0, key) }
                if order < 0 || (inclusive && order == 0) { low = middle &+ 1 } else { high = middle }
            }
            return low
        }
    }

    func loaded(_ index: Int) -> TreeNode? {
        if case .node(let node) = children[index] { return node }
        return nil
    }

    func insert(_ index: Int, _ key: [UInt8], _ value: TreeValue) {
        grewAtEnd = index == keys.count
        keys.insert(key, at: index)
        values.insert(value, at: index)
        entryBytes += keyBytes(key) + value.bytes
    }

    func replace(_ index: Int, _ value: TreeValue) {
        entryBytes += value.bytes - values[index].bytes
        values[index] = value
    }

    func replaceKey(_ index: Int, _ key: [UInt8]) {
        entryBytes += keyBytes(key) - keyBytes(keys[index])
        keys[index] = key
    }

    func remove(_ index: Int) {
        entryBytes -= keyBytes(keys[index])
        keys.remove(at: index)
        if level == 0 {
            entryBytes -= values[index].bytes
            values.remove(at: index)
        } else {
            entryBytes -= ExtentRef.width
            children.remove(at: index)
            isDirty = true
        }
    }

    /// Child `index` came apart: the first piece keeps its separator, the others bring theirs.
    func replaceChild(_ index: Int, _ pieces: [TreeNode]) {
        children[index] = .node(pieces[0])
        var last = pieces[0].keys.last!
        for (step, piece) in pieces.dropFirst().enumerated() {
            let key = piece.level == 0 ? TreeNode.separator(last, piece.keys[0]) : piece.keys[0]
            keys.insert(key, at: index + 1 + step)
            children.insert(.node(piece), at: index + 1 + step)
            entryBytes += keyBytes(key) + ExtentRef.width
            last = piece.keys.last!
        }
        grewAtEnd = index + pieces.count == keys.count
    }

    /// Becomes the parent of `pieces`, which are in order.
    func take(_ pieces: [TreeNode]) {
        let key = pieces[0].keys[0]
        keys = [key]
        children = [.node(pieces[0])]
        entryBytes = keyBytes(key) + ExtentRef.width
        replaceChild(0, pieces)
    }

    /// What `bytes` would be after `append`: the shared prefix may be shorter than either's.
    func bytes(with other: TreeNode) -> Int {
        let first = keys[0], last = other.keys.last!
        var prefix = 0
        while prefix < min(first.count, last.count), first[prefix] == last[prefix] { prefix += 1 }
        return 6 + entryBytes + other.entryBytes + prefix - prefix * (keys.count + other.keys.count)
    }

    /// Adds all entries of the node to the right.
    func append(_ other: TreeNode) {
        keys += other.keys
        values += other.values
        children += other.children
        entryBytes += other.entryBytes
        isDirty = true
    }

    /// The shortest key that is greater than `left` and not greater than `right`. Between leaves only: under an inner node's last separator lie
    /// keys that are greater than it.
    private static func separator(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var length = 0
        while length < left.count, length < right.count, left[length] == right[length] { length += 1 }
        return Array(right[..<min(length + 1, right.count)])
    }

    /// Itself, or as many nodes as its entries need.
    func split() -> [TreeNode] {
        guard bytes > TreeLimit.nodeBytes else { return [self] }
        let half = entryBytes / 2
        var at = 0, sum = 0
        if grewAtEnd {
            at = keys.count - 1
        } else {
            while at < keys.count - 1, sum < half || at == 0 {
                sum += keyBytes(keys[at]) + (level == 0 ? values[at].bytes : ExtentRef.width)
                at += 1
            }
        }
        let right = TreeNode(level: level)
        for index in at..<keys.count {
            right.keys.append(keys[index])
            right.entryBytes += keyBytes(keys[index])
            if level == 0 {
                right.values.append(values[index])
                right.entryBytes += values[index].bytes
            } else {
                right.children.append(children[index])
                right.entryBytes += ExtentRef.width
            }
        }
        let removed = keys.count - at
        keys.removeLast(removed)
        if level == 0 { values.removeLast(removed) } else { children.removeLast(removed) }
        entryBytes -= right.entryBytes
        grewAtEnd = false
        isDirty = true
        return split() + right.split()
    }

    func encoded() -> [UInt8] {
        let prefix = prefix
        var writer = ByteWriter(reserving: TreeLimit.nodeBytes)
        writer.append(TreeLimit.mark)
        writer.append(UInt8(level))
        writer.append(UInt16(keys.count))
        writer.append(UInt16(prefix))
        var body = ByteWriter(reserving: TreeLimit.nodeBytes)
        let base = 6 + 2 * keys.count + prefix
        for index in 0..<keys.count {
            writer.append(UInt16(base + body.count))
            let key = keys[index]
            body.appendVarint(key.count - prefix)
            body.bytes.append(contentsOf: key[prefix...])
            if level == 0 {
                switch values[index] {
                case .inline(let value):
                    body.appendVarint(2 * value.count)
                    body.append(contentsOf: value)
                case .extent(let ref):
                    body.appendVarint(65)
                    ref.encode(to: &body)
                }
            } else if case .ref(let ref) = children[index] {
                ref.encode(to: &body)
            } else {
                preconditionFailure("children are written before their parent")
            }
        }
        if let first = keys.first { writer.bytes.append(contentsOf: first[..<prefix]) }
        writer.append(contentsOf: body.bytes)
        precondition(writer.count <= TreeLimit.nodeBytes, "a tree node outgrew its size")
        return writer.bytes
    }
}
