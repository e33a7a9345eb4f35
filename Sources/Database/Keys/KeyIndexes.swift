import FirnBytes
import FirnTable
import Synchronization

/// The key indexes of a database's types. Each is created when it is first requested.
package final class KeyIndexes: Sendable {
    private struct State {
        var indexes: [UInt32: KeyIndex] = [:]
        var mask = UInt64.max
    }

    private let state = Mutex(State())
    package let work = KeyWork()

    /// Sets a mask that is applied to every hash, before the first look-up. For tests.
    package func setHashMask(_ mask: UInt64) {
        state.withLock {
            trap(unless: $0.indexes.isEmpty, "set the mask before the first look-up")
            $0.mask = mask
        }
    }

    var mask: UInt64 { state.withLock { $0.mask } }

    /// Returns the index of a type and the shape of its key, or nil if no key identifies the type's rows.
    func index(_ type: TypeSchema) -> (index: KeyIndex, shape: KeyShape)? {
        state.withLock { state in
            guard let shape = KeyShape(type, mask: state.mask) else { return nil }
            if let index = state.indexes[type.id] { return (index, shape) }
            let index = KeyIndex(shape, work: work)
            state.indexes[type.id] = index
            return (index, shape)
        }
    }

    /// Returns the index of a type if it has been created.
    func existing(_ type: TypeSchema) -> KeyIndex? { state.withLock { $0.indexes[type.id] } }

    /// Returns the number of entries of a type's index, or nil if it is not built. For tests.
    package func entryCount(_ type: TypeSchema) -> Int? { existing(type)?.entryCount }
}
