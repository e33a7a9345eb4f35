import FirnBytes
import FirnDisk
import FirnKit
import Foundation
@testable import FirnStore

/// Records the changes of one file, and optionally refuses the nth.
final class Recorder: DiskCalls, @unchecked Sendable {
    enum Call: Equatable {
        case write(UInt64, [UInt8]), sync, truncate(UInt64), other(String)
    }

    private let lock = NSLock()
    private(set) var calls: [Call] = []
    private var left: Int
    /// The number of calls before the refused one.
    private(set) var refusedAt: Int?

    init(failing left: Int = .max) { self.left = left }

    func before(_ call: DiskCall, of file: UInt64) -> Int32? {
        lock.withLock {
            switch call {
            case .open, .status, .read, .map, .memory, .lock: return nil
            default: break
            }
            left -= 1
            if left == -1 {
                refusedAt = calls.count
                return 5 /* EIO */
            }
            switch call {
            case .write(let offset, let bytes): calls.append(.write(offset, Array(bytes)))
            case .sync: calls.append(.sync)
            case .truncate(let length): calls.append(.truncate(length))
            default: calls.append(.other(call.name))
            }
            return nil
        }
    }

    func clear() { lock.withLock { calls = [] } }
}

/// A history of versions with known content: version v has `contents[v]`.
struct Story {
    var contents: [[[UInt8]]] = [[]]
    var random: Random

    init(seed: UInt64) { random = Random(seed: seed) }

    /// Replaces, adds and removes some extents. Returns the content of the next version, if it is committed.
    mutating func step(_ transaction: StoreTransaction, largest: Int = 3000) throws -> (catalogue: ExtentRef, content: [[UInt8]]) {
        var refs = try FirnStoreTests.refs(transaction.base)
        var content = contents[Int(transaction.base.version)]
        for _ in 0..<random.below(4) where !refs.isEmpty {
            let index = Int(random.below(refs.count))
            transaction.free(refs.remove(at: index))
            content.remove(at: index)
        }
        for _ in 0...random.below(4) {
            let bytes = pattern(Int(random.below(1 << 20)), Int(random.below(largest)))
            refs.append(try transaction.write(bytes))
            content.append(bytes)
        }
        if !transaction.base.catalogue.isNone { transaction.free(transaction.base.catalogue) }
        return (try transaction.write(catalogueBytes(refs)), content)
    }

    mutating func commit(_ store: Store, keep: Int = 3, largest: Int = 3000) throws {
        let transaction = try store.begin()
        let (catalogue, content) = try step(transaction, largest: largest)
        let version = try transaction.commit(catalogue: catalogue, keep: keep)
        contents.removeSubrange(Int(version)...)
        contents.append(content)
    }

    /// Returns whether the snapshot has the content of its version.
    func holds(_ snapshot: StoreSnapshot) throws -> Bool {
        let refs = try FirnStoreTests.refs(snapshot), content = contents[Int(snapshot.version)]
        return try refs.count == content.count && refs.indices.allSatisfy { try snapshot.read(refs[$0]).elementsEqual(content[$0]) }
    }
}

/// Returns every extent of the newest version.
func liveExtents(_ snapshot: StoreSnapshot) throws -> [ExtentRef] { try refs(snapshot) + [snapshot.catalogue] }

/// Returns the faults that `verify` reports, and bytes that belong to nothing.
func faults(_ store: Store) throws -> [String] {
    var list: [String] = []
    let live = try liveExtents(try store.snapshot())
    let lost = try store.verify(live: live) { list.append($0.description) }
    if list.isEmpty, lost != 0 { list.append("\(lost ?? 0) bytes unaccounted for") }
    return list
}
