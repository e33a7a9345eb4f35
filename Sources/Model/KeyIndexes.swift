import Synchronization

/// The indexes of a database's types, made when they are first asked for.
package final class KeyIndexes: Sendable {
    private struct State {
        var indexes: [UInt32: KeyIndex] = [:]
        var mask = UInt64.max
    }

    private let state = Mutex(State())
    package let work = KeyWork()

    /// For tests: anded with every hash, from the first look-up on.
    package func setHashMask(_ mask: UInt64) {
        state.withLock {
            precondition($0.indexes.isEmpty, "set the mask before the first look-up")
            $0.mask = mask
        }
    }

    var mask: UInt64 { state.withLock { $0.mask } }

    /// Nil if the type has no key that rows are told apart by.
    func index(_ type: TypeSchema) -> (index: KeyIndex, shape: KeyShape)? {
        state.withLock { state in
            guard let shape = KeyShape(type, mask: state.mask) else { return nil }
            if let index = state.indexes[type.id] { return (index, shape) }
            let index = KeyIndex(shape, work: work)
            state.indexes[type.id] = index
            return (index, shape)
        }
    }

    /// The index of a type if there is one.
    func existing(_ type: TypeSchema) -> KeyIndex? { state.withLock { $0.indexes[type.id] } }

    /// For tests: how many entries the index of a type has; nil if it is not built.
    package func entryCount(_ type: TypeSchema) -> Int? { existing(type)?.entryCount }
}
