import FirnBytes

extension TreeReader {
    /// Calls `body` with every readable entry of a tree with damaged nodes, in ascending order. `lost` is called with each lost range of
    /// keys (nil: open end) and its damage. Children of a damaged inner node are reached through its readable entries.
    package func salvage(
        _ salvage: Salvage, lost: (_ from: [UInt8]?, _ before: [UInt8]?, Damage) -> Void,
        _ body: (_ key: [UInt8], _ value: UnsafeRawBufferPointer) -> Void
    ) {
        walk(salvage, lost, body)
    }

    /// Reads every node and value. `lost` is called with the range of keys that each damage affects (nil: open end).
    package func verify(lost: (_ from: [UInt8]?, _ before: [UInt8]?, Damage) -> Void) { walk(nil, lost) { _, _ in } }

    private func walk(_ salvage: Salvage?, _ lost: ([UInt8]?, [UInt8]?, Damage) -> Void, _ body: ([UInt8], UnsafeRawBufferPointer) -> Void)
    {
        guard !root.isNone else { return }
        withoutActuallyEscaping(lost) { lost in
            withoutActuallyEscaping(body) { body in
                var walk = TreeSalvage(source: source, salvage: salvage, lost: lost, body: body)
                walk.visit(root, level: nil, from: nil, before: nil)
            }
        }
    }
}

private struct TreeSalvage {
    let source: any ExtentSource
    /// Returns the bytes of damaged inner nodes. If it is nil, everything below them is lost.
    let salvage: Salvage?
    let lost: ([UInt8]?, [UInt8]?, Damage) -> Void
    let body: ([UInt8], UnsafeRawBufferPointer) -> Void
    /// The offsets of the nodes visited so far. A tree refers to each node once.
    var seen: Set<UInt64> = []
    var last: [UInt8]?

    init(
        source: any ExtentSource, salvage: Salvage?, lost: @escaping ([UInt8]?, [UInt8]?, Damage) -> Void,
        body: @escaping ([UInt8], UnsafeRawBufferPointer) -> Void
    ) {
        self.source = source
        self.salvage = salvage
        self.lost = lost
        self.body = body
    }

    mutating func visit(_ ref: ExtentRef, level: Int?, from: [UInt8]?, before: [UInt8]?) {
        guard seen.insert(ref.offset).inserted else {
            return lost(from, before, Damage("a node of a tree is referenced twice", inFileAt: ref.offset))
        }
        do throws(Damage) {
            var isWhole = true
            let bytes: UnsafeRawBufferPointer
            do throws(Damage) { bytes = try source.read(ref) } catch {
                isWhole = false
                guard let salvage else { throw error }
                bytes = try salvage.readUnverified(ref)
                // A damaged leaf cannot be trusted. The children of a damaged inner node have hashes of their own.
                guard level != 0, let node = try? TreeNodeView(bytes, level: level), node.level > 0 else { throw error }
            }
            let node: TreeNodeView
            do throws(Damage) { node = try TreeNodeView(bytes, level: level) } catch { throw error.shifted(by: ref.offset) }
            if node.level == 0 { leaf(node, ref) } else { inner(node, ref, isWhole: isWhole, from, before) }
        } catch { lost(from, before, error) }
    }

    private mutating func inner(_ node: TreeNodeView, _ ref: ExtentRef, isWhole: Bool, _ from: [UInt8]?, _ before: [UInt8]?) {
        let keys = (0..<node.count).map { try? node.key($0) }
        for index in 0..<node.count {
            let low = index == 0 ? from : keys[index] ?? from, high = index + 1 < node.count ? keys[index + 1] ?? before : before
            do throws(Damage) {
                let child: ExtentRef
                do throws(Damage) { child = try node.child(index) } catch { throw error.shifted(by: ref.offset) }
                visit(child, level: node.level - 1, from: low, before: high)
            } catch { lost(low, high, error) }
        }
    }

    private mutating func leaf(_ node: TreeNodeView, _ ref: ExtentRef) {
        for index in 0..<node.count {
            do throws(Damage) {
                let key = try node.key(index)
                guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? true else {
                    throw Damage("tree keys out of order", inFileAt: ref.offset)
                }
                last = key
                do throws(Damage) {
                    let (inline, extent) = try node.value(index)
                    if let inline { body(key, inline) } else { body(key, try source.read(extent)) }
                } catch { lost(key, key + [0], error) }
            } catch { lost(last, nil, error.shifted(by: ref.offset)) }
        }
    }
}
