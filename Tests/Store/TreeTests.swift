import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing
@testable import FirnStore

@Suite struct TreeTests {
    private func contents(_ root: ExtentRef, _ source: any ExtentSource) throws -> [[UInt8]: [UInt8]] {
        var all: [[UInt8]: [UInt8]] = [:], last: [UInt8]?
        var cursor = try TreeReader(root: root, source: source).cursor()
        while try cursor.next() {
            if let last { #expect(last.lexicographicallyPrecedes(cursor.keyBytes)) }
            last = cursor.keyBytes
            all[cursor.keyBytes] = Array(try cursor.value())
        }
        return all
    }

    /// Returns every extent of a tree, depth first.
    private func extents(_ root: ExtentRef, _ source: any ExtentSource) throws -> [ExtentRef] {
        if root.isNone { return [] }
        let node = try TreeNodeView(try source.read(root))
        var list = [root]
        for index in 0..<node.count {
            if node.level > 0 {
                list += try extents(try node.child(index), source)
            } else if case (nil, let ref) = try node.value(index) {
                list.append(ref)
            }
        }
        return list
    }

    @Test(arguments: [1, 2, 3]) func `a tree behaves like a dictionary during thousands of changes and after reopening`(kind: Int) throws {
        let scratch = Scratch()
        var random = Random(seed: UInt64(kind) * 101)
        var store = try Store.create(path: scratch("a"), overwrite: false)
        var model: [[UInt8]: [UInt8]] = [:]
        func key() -> [UInt8] {
            switch kind {
            case 1: return TreeKey.bytes(UInt64(random.below(3000)))
            case 2: return Array("k\(random.below(3000))".utf8)
            default:  // long shared prefixes, empty keys, the longest keys
                let stem = [UInt8](repeating: UInt8(random.below(3)), count: [0, 1, 200, 500, 508][random.below(5)])
                return stem + (0..<random.below(5)).map { _ in UInt8(random.below(4)) }
            }
        }
        func value() -> [UInt8] { pattern(random.below(1000), [0, 5, 60, 1024, 1025, 9000][min(random.below(14), 5)]) }
        for round in 0..<25 {
            let transaction = try store.begin()
            let writer = TreeWriter(root: transaction.base.catalogue, transaction: transaction)
            let deletes = round % 6 == 5 ? 90 : 30
            let known = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
            for _ in 0..<[1, 10, 300][round % 3] {
                let key = deletes == 90 && !known.isEmpty && random.below(2) == 0 ? known[random.below(known.count)] : key()
                if random.below(100) < deletes {
                    #expect(try writer.delete(key) == (model.removeValue(forKey: key) != nil))
                } else {
                    let value = value()
                    try writer.put(key, value)
                    model[key] = value
                }
                if random.below(20) == 0 { #expect(try writer.get(key) == model[key]) }
            }
            let root = try writer.finish()
            #expect(try contents(root, transaction) == model)
            try transaction.commit(catalogue: root)
            if round % 4 == 3 { store = try Store.open(path: scratch("a"), writable: true) }
            let snapshot = try store.snapshot(), tree = TreeReader(root: snapshot.catalogue, source: snapshot)
            #expect(try contents(snapshot.catalogue, snapshot) == model, "kind \(kind), round \(round)")
            for _ in 0..<10 {
                let key = key()
                #expect(try tree.get(key).map(Array.init) == model[key])
                var cursor = try tree.cursor(from: key)
                let expected = model.keys.filter { !$0.lexicographicallyPrecedes(key) }.min { $0.lexicographicallyPrecedes($1) }
                #expect(try cursor.next() == (expected != nil))
                if let expected { #expect(cursor.keyBytes == expected) }
            }
            // No space is lost: the tree, free space, pending space and bookkeeping are the whole file.
            var list: [String] = []
            let lost = try store.verify(live: try extents(snapshot.catalogue, snapshot)) { list.append($0.description) }
            #expect(list.isEmpty && lost == 0, "kind \(kind), round \(round)")
        }
        let transaction = try store.begin()
        let writer = TreeWriter(root: transaction.base.catalogue, transaction: transaction)
        for key in model.keys { #expect(try writer.delete(key)) }
        #expect(try writer.finish() == .none)
        try transaction.commit(catalogue: .none)
        var list: [String] = []
        #expect(try store.verify(live: []) { list.append($0.description) } == 0 && list.isEmpty)
    }

    @Test func `values that are replaced repeatedly do not accumulate in the memory of a node`() throws {
        let scratch = Scratch(), store = try Store.create(path: scratch("a"), overwrite: false), transaction = try store.begin()
        let node = TreeNode(level: 0)
        for key in UInt64(0)..<3 { node.insert(Int(key), TreeKey.bytes(key), .inline(pattern(Int(key), 10))) }
        for step in 0..<5000 { node.replace(step % 3, .inline(pattern(step, 700 + step % 300))) }
        #expect(node.roomInMemory <= 4 * 3 * 1008, "\(node.roomInMemory) bytes")
        for key in 0..<3 {
            guard case .inline(let value) = node.value(key) else { preconditionFailure("a small value is not inline") }
            let step = 4998 + (key + 1) % 3 - 1
            #expect(value == pattern(step, 700 + step % 300) && node.has(TreeKey.bytes(UInt64(key)), at: key))
        }
        // A large value is in a separate extent, also after the node is read again.
        let ref = try transaction.write(pattern(1, 5000))
        node.replace(1, .extent(ref))
        #expect(node.extent(1) == ref && node.extent(0) == nil)
        let bytes = node.encoded(), again = try bytes.withUnsafeBytes { try TreeNode(try TreeNodeView($0), from: ref) }
        #expect(again.encoded() == bytes && again.extent(1) == ref && bytes.count <= again.bytes)
        transaction.cancel()
    }

    @Test func `a change copies only the nodes on its path`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let first = try store.begin()
        let loader = TreeWriter(root: .none, transaction: first)
        for number in UInt64(0)..<20_000 { try loader.put(number, pattern(Int(number), 30)) }
        let root = try loader.finish()
        let nodes = try extents(root, first)
        // Ascending keys fill the nodes.
        let filled = nodes.reduce(0) { $0 + Double($1.length) } / Double(nodes.count) / 4096
        #expect(filled > 0.9, "nodes are filled to \(filled)")
        try first.commit(catalogue: root)
        let second = try store.begin()
        let writer = TreeWriter(root: root, transaction: second)
        try writer.put(10_000, [1])
        try writer.put(10_001, [2])
        #expect(try !writer.delete(TreeKey.bytes(99_999)))
        let changed = try writer.finish()
        #expect(Set(try extents(changed, second)).subtracting(nodes).count <= 3)
        #expect(try TreeWriter(root: changed, transaction: second).finish() == changed)
        second.cancel()
    }

    @Test func `a row at the end of a tree does not read the full leaf before its own`() throws {
        let scratch = Scratch()
        var count: UInt64 = 1000, path = "", root = ExtentRef.none, leaves: [ExtentRef] = []
        // Until the last leaf is short.
        repeat {
            count += 30
            path = scratch("\(count)")
            let store = try Store.create(path: path, overwrite: false), transaction = try store.begin()
            let writer = TreeWriter(root: .none, transaction: transaction)
            for number in 0..<count { try writer.put(number, pattern(Int(number), 30)) }
            root = try writer.finish()
            leaves = Array(try extents(root, transaction).dropFirst())
            try transaction.commit(catalogue: root)
        } while leaves[leaves.count - 1].length >= 4096 / 3 - 50 && count < 1200
        // Opened again, it has verified nothing yet.
        let store = try Store.open(path: path, writable: true), transaction = try store.begin()
        let writer = TreeWriter(root: root, transaction: transaction)
        try writer.put(count, [1])
        let changed = try writer.finish()
        let last = leaves[leaves.count - 1], before = leaves[leaves.count - 2]
        #expect(last.length < 4096 / 3 - 50 && before.length > 4096 * 3 / 4, "the last leaf is short, and the one before is full")
        #expect(store.verified.contains(last) && !store.verified.contains(before))
        #expect(try contents(changed, transaction).count == Int(count) + 1)
        transaction.cancel()
    }

    @Test func `new entries of a tree are found without visiting the nodes that versions share`() throws {
        let scratch = Scratch(), store = try Store.create(path: scratch("a"), overwrite: false)
        var random = Random(seed: 5), known: Set<ExtentRef> = [], model: [UInt64: [UInt8]] = [:], marked: Set<ExtentRef> = []
        for round in 0..<40 {
            let transaction = try store.begin()
            let writer = TreeWriter(root: transaction.base.catalogue, transaction: transaction)
            var changed: [UInt64: [UInt8]] = [:]
            for _ in 0..<(round == 0 ? 20_000 : random.below(4)) {
                let key = UInt64(random.below(100_000))
                changed[key] = pattern(Int(key) + round, random.below(200) == 0 ? 2000 : 20)
                try writer.put(key, changed[key]!)
            }
            model.merge(changed) { $1 }
            let root = try writer.finish(), tree = TreeReader(root: root, source: transaction)
            var found: [UInt64: [UInt8]] = [:]
            try tree.visitNews(since: &known) { (key, value) throws(Damage) in found[key] = Array(value) }
            for (key, value) in changed { #expect(found[key] == value) }
            for (key, value) in found { #expect(model[key] == value) }
            #expect(found.count <= (round == 0 ? 20_000 : changed.count * 2 * 150))
            try tree.markKnown(&marked)
            #expect(marked == known)
            try transaction.commit(catalogue: root)
        }
    }

    @Test func `hostile nodes are damage, without a trap or an endless iteration`() throws {
        let scratch = Scratch()
        let store = try Store.create(path: scratch("a"), overwrite: false)
        let first = try store.begin()
        let loader = TreeWriter(root: .none, transaction: first)
        for number in UInt64(0)..<2000 { try loader.put(number, pattern(Int(number), number % 100 == 0 ? 2000 : 12)) }
        let root = try loader.finish()
        try first.commit(catalogue: root)
        let transaction = try store.begin()
        var nodes: [[UInt8]] = []
        var leaf = ExtentRef.none
        for ref in try extents(root, transaction) {
            let bytes = Array(try transaction.read(ref))
            if bytes[0] == TreeLimit.mark, bytes.count > 100 { nodes.append(bytes) }
            if bytes[0] == TreeLimit.mark, bytes[1] == 0 { leaf = ref }
        }
        var random = Random(seed: 77)
        for _ in 0..<4000 {
            var bytes = nodes[random.below(min(nodes.count, 2 + random.below(nodes.count)))]
            for _ in 0...random.below(4) {
                bytes[random.below(random.below(2) == 0 ? 12 : bytes.count)] = [0, 1, 0xFF, UInt8(random.below(256))][random.below(4)]
            }
            if random.below(5) == 0 { bytes.removeLast(random.below(bytes.count)) }
            let ref = try transaction.write(bytes)
            let tree = TreeReader(root: ref, source: transaction)
            _ = try? tree.get(UInt64(random.below(2000)))
            do {
                var cursor = try tree.cursor(from: UInt64(random.below(2000))), steps = 0
                while try cursor.next() {
                    _ = try? cursor.value()
                    steps += 1
                }
                #expect(steps <= 4000)
            } catch is Damage {}
            var known: Set<ExtentRef> = []
            do { try tree.visitNews(since: &known) { (_, _) throws(Damage) in } } catch is Damage {}
            if let node = try? bytes.withUnsafeBytes({ try TreeNode(try TreeNodeView($0), from: ref) }) {
                for piece in node.split() { #expect(piece.encoded().count <= TreeLimit.nodeBytes) }
            }
            transaction.free(ref)
        }
        // An entry that overlaps the prefix is longer than a node.
        let long = [TreeLimit.mark, 0, 1, 0, 0, 2, 8, 0, 0, 0xC0, 0x3E] + [UInt8](repeating: 7, count: 4000)
        #expect(throws: Damage.self) { try long.withUnsafeBytes { try TreeNode(try TreeNodeView($0), from: .none) } }
        // A node whose children are all the same node must not be iterated once for each of them.
        var ref = leaf
        for level in 1...12 {
            var writer = ByteWriter()
            writer.append(TreeLimit.mark)
            writer.append(UInt8(level))
            writer.append(UInt16(90))
            writer.append(UInt16(0))
            for index in 0..<90 { writer.append(UInt16(6 + 180 + index * 34)) }
            for index in 0..<90 {
                writer.append(UInt8(1))
                writer.append(UInt8(index))
                ref.encode(to: &writer)
            }
            ref = try transaction.write(writer.bytes)
        }
        #expect(throws: Damage.self) {
            var cursor = try TreeReader(root: ref, source: transaction).cursor()
            while try cursor.next() {}
        }
        var known: Set<ExtentRef> = [], entries = 0
        try TreeReader(root: ref, source: transaction).visitNews(since: &known) { (_, _) throws(Damage) in entries += 1 }
        #expect(known.count == 13 && entries < 300)
        transaction.cancel()
    }
}
