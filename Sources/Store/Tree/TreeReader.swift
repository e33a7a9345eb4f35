import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads an ordered map of byte strings that is stored in extents. It is valid while its source lives. A damaged tree throws; it never
/// loops or traps.
package struct TreeReader {
    /// The reference of the root node; `.none` for an empty tree.
    package let root: ExtentRef
    /// The source of the extents.
    package let source: any ExtentSource

    package init(root: ExtentRef, source: any ExtentSource) {
        self.root = root
        self.source = source
    }

    /// Returns the value of `key`, or nil if there is none. The pointer leads into the file.
    package func get(_ key: UnsafeRawBufferPointer) throws(Damage) -> UnsafeRawBufferPointer? {
        if root.isNone { return nil }
        var ref = root, level: Int?
        while true {
            let bytes = try source.read(ref)
            do throws(Damage) {
                let node = try TreeNodeView(bytes, level: level)
                if node.level == 0 {
                    let index = try node.rank(key)
                    guard index < node.count, try matches(node, index, key) else { return nil }
                    let (inline, extent) = try node.value(index)
                    if let inline { return inline }
                    return try source.read(extent)
                }
                ref = try node.child(max(try node.rank(key, inclusive: true) - 1, 0))
                level = node.level - 1
            } catch { throw error.shifted(by: ref.offset) }
        }
    }

    package func get(_ key: [UInt8]) throws(Damage) -> UnsafeRawBufferPointer? {
        try key.withBytes { (key) throws(Damage) in try get(key) }
    }

    /// Returns the value of a key that is a number.
    package func get(_ key: UInt64) throws(Damage) -> UnsafeRawBufferPointer? {
        let big = key.bigEndian
        return try withUnsafeBytes(of: big) { (key) throws(Damage) in try get(key) }
    }

    private func matches(_ node: TreeNodeView, _ index: Int, _ key: UnsafeRawBufferPointer) throws(Damage) -> Bool {
        let rest = try node.entry(index).rest
        return key.count == node.prefix.count + rest.count
            && compare(UnsafeRawBufferPointer(rebasing: key[..<node.prefix.count]), node.prefix) == 0
            && compare(rest, UnsafeRawBufferPointer(rebasing: key[node.prefix.count...])) == 0
    }

    /// Returns a cursor before the first entry whose key is not smaller than `key`.
    package func cursor(from key: [UInt8] = []) throws(Damage) -> TreeCursor { try TreeCursor(self, from: key) }
    package func cursor(from key: UInt64) throws(Damage) -> TreeCursor { try TreeCursor(self, from: TreeKey.bytes(key)) }
}

/// Keys that are numbers: 8 bytes, most significant first, so that bytewise order is numeric order.
package enum TreeKey {
    package static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    package static func number(_ key: UnsafeRawBufferPointer) throws(Damage) -> UInt64 {
        guard key.count == 8 else { throw Damage("tree key is not a number") }
        return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    }
}

/// Visits the entries of a tree in ascending order.
package struct TreeCursor {
    private let source: any ExtentSource
    private var path: [(node: TreeNodeView, index: Int, ref: ExtentRef)] = []
    private var key: [UInt8] = []
    private var current: (node: TreeNodeView, index: Int, ref: ExtentRef)?
    private var started = false

    init(_ tree: TreeReader, from lower: [UInt8]) throws(Damage) {
        source = tree.source
        guard !tree.root.isNone else { return }
        try lower.withBytes { (lower) throws(Damage) in
            var ref = tree.root, level: Int?
            while true {
                let bytes = try source.read(ref), here = ref
                do throws(Damage) {
                    let node = try TreeNodeView(bytes, level: level)
                    if node.level == 0 {
                        path.append((node, try node.rank(lower), here))
                        return
                    }
                    let index = max(try node.rank(lower, inclusive: true) - 1, 0)
                    path.append((node, index + 1, here))
                    ref = try node.child(index)
                    level = node.level - 1
                } catch { throw error.shifted(by: here.offset) }
            }
        }
    }

    /// Advances to the next entry. Returns false at the end. Throws `Damage` if keys do not ascend.
    package mutating func next() throws(Damage) -> Bool {
        while let top = path.last {
            if top.index >= top.node.count {
                path.removeLast()
                continue
            }
            path[path.count - 1].index += 1
            do throws(Damage) {
                if top.node.level == 0 {
                    let rest = try top.node.entry(top.index).rest
                    if started {
                        // The check of ascending keys bounds the number of entries, whatever the nodes refer to.
                        let ascends = key.withUnsafeBytes { before in
                            let shared = min(before.count, top.node.prefix.count)
                            let order = shared == 0 ? 0 : Int(memcmp(before.baseAddress!, top.node.prefix.baseAddress!, shared))
                            if order != 0 { return order < 0 }
                            if before.count < top.node.prefix.count { return true }
                            return compare(UnsafeRawBufferPointer(rebasing: before[top.node.prefix.count...]), rest) < 0
                        }
                        guard ascends else { throw Damage("tree keys out of order") }
                    }
                    started = true
                    key.removeAll(keepingCapacity: true)
                    key.append(contentsOf: top.node.prefix)
                    key.append(contentsOf: rest)
                    current = top
                    return true
                }
                let ref = try top.node.child(top.index)
                let bytes = try source.read(ref)
                let node: TreeNodeView
                do throws(Damage) { node = try TreeNodeView(bytes, level: top.node.level - 1) } catch {
                    throw error.shifted(by: ref.offset)
                }
                path.append((node, 0, ref))
            } catch {
                throw error.shifted(by: top.ref.offset)
            }
        }
        current = nil
        return false
    }

    /// The leaf that contains the current entry. A leaf with the same reference in another version of the tree has the same entries.
    package var leaf: ExtentRef {
        guard let current else { trap("ask for the leaf only after next() has returned true") }
        return current.ref
    }

    /// Passes over the rest of the leaf of the current entry. `last` is the key of its last entry, which the caller knows from an earlier
    /// visit.
    package mutating func skipLeaf(endingAt last: UInt64) {
        guard current != nil else { trap("skip a leaf only after next() has returned true") }
        path.removeLast()
        key = TreeKey.bytes(last)
    }

    /// The key of the current entry.
    package var keyBytes: [UInt8] { key }
    package func keyNumber() throws(Damage) -> UInt64 { try key.withBytes { (key) throws(Damage) in try TreeKey.number(key) } }

    /// Returns the value of the current entry. The pointer leads into the file.
    package func value() throws(Damage) -> UnsafeRawBufferPointer {
        guard let current else { trap("call value() only after next() has returned true") }
        do throws(Damage) {
            let (inline, extent) = try current.node.value(current.index)
            if let inline { return inline }
            return try source.read(extent)
        } catch { throw error.shifted(by: current.ref.offset) }
    }
}
