import FirnBytes
import FirnDisk

/// A step in the history of a `StoredWorld`. Its effect follows from its numbers, so that steps can be left out and reduced.
package enum StoredStep: CustomStringConvertible {
    case insert(seed: UInt64, count: Int)
    case bulk(seed: UInt64, count: Int)
    case update(pick: UInt64, seed: UInt64)
    case delete(pick: UInt64, count: Int)
    /// Changes in place, through the table of the transaction: appended, set and deleted rows.
    case inPlace(seed: UInt64, count: Int)
    /// Reads some rows one by one.
    case look(seed: UInt64)
    /// Keeps the changes of the transaction so far, or rolls back to what was kept.
    case keepPart, rollBack
    /// Begins the next transaction with another handle of the file, like another process.
    case second
    case flush
    case commit(Durability)
    case cancel
    case addColumn
    case addIndex(pick: UInt64)
    case pin, letGo(pick: UInt64)
    case settle, reopen, compact, shrink
    case crash(seed: UInt64)

    package init(_ random: inout RandomTables) {
        let seed = random.generator.next() >> 8
        switch random.number(0...129) {
        case 0..<24: self = .insert(seed: seed, count: random.number(1...6))
        case 24..<28: self = .bulk(seed: seed, count: random.chance(10) ? random.number(500...1500) : random.number(1...60))
        case 28..<48: self = .update(pick: seed, seed: seed)
        case 48..<58: self = .delete(pick: seed, count: random.number(1...4))
        case 58..<61: self = .flush
        case 61..<73: self = .commit(.full)
        case 73..<77: self = .commit(.none)
        case 77..<79: self = .commit(.grouped)
        case 79..<82: self = .cancel
        case 82..<84: self = .addColumn
        case 84..<86: self = .addIndex(pick: seed)
        case 86..<89: self = .pin
        case 89..<92: self = .letGo(pick: seed)
        case 92..<93: self = .settle
        case 93..<95: self = .reopen
        case 95..<96: self = .compact
        case 96..<97: self = .shrink
        case 97..<100: self = .crash(seed: seed)
        case 100..<112: self = .inPlace(seed: seed, count: random.chance(6) ? random.number(1000...3000) : random.number(1...60))
        case 112..<117: self = .look(seed: seed)
        case 117..<122: self = .keepPart
        case 122..<126: self = .rollBack
        default: self = .second
        }
    }

    /// The same step with half the effect, or nil if it cannot be reduced.
    package var half: StoredStep? {
        switch self {
        case .insert(let seed, let count) where count > 1: .insert(seed: seed, count: count / 2)
        case .bulk(let seed, let count) where count > 1: .bulk(seed: seed, count: count / 2)
        case .delete(let pick, let count) where count > 1: .delete(pick: pick, count: count / 2)
        case .inPlace(let seed, let count) where count > 1: .inPlace(seed: seed, count: count / 2)
        case .insert(let seed, let count) where seed > 0: .insert(seed: seed / 2, count: count)
        case .update(let pick, let seed) where pick > 0: .update(pick: pick / 2, seed: seed / 2)
        case .delete(let pick, let count) where pick > 0: .delete(pick: pick / 2, count: count)
        case .letGo(let pick) where pick > 0: .letGo(pick: pick / 2)
        case .addIndex(let pick) where pick > 0: .addIndex(pick: pick / 2)
        default: nil
        }
    }

    /// The first words of all descriptions.
    package static let names = [
        "insert", "bulk", "update", "delete", "in-place", "look", "keep", "roll", "second", "flush", "commit", "cancel", "add", "index",
        "pin", "release", "settle", "reopen", "compact", "shrink", "crash",
    ]

    package var description: String {
        switch self {
        case .insert(let seed, let count): "insert \(count) of \(seed)"
        case .bulk(let seed, let count): "bulk \(count) of \(seed)"
        case .update(let pick, let seed): "update \(pick) by \(seed)"
        case .delete(let pick, let count): "delete \(count) at \(pick)"
        case .commit(let durability): "commit \(durability)"
        case .addIndex(let pick): "index \(pick)"
        case .letGo(let pick): "release \(pick)"
        case .crash(let seed): "crash \(seed)"
        case .inPlace(let seed, let count): "in-place \(count) of \(seed)"
        case .look(let seed): "look \(seed)"
        case .keepPart: "keep"
        case .rollBack: "roll back"
        case .second: "second"
        case .flush: "flush"
        case .cancel: "cancel"
        case .addColumn: "add a column"
        case .pin: "pin"
        case .settle: "settle"
        case .reopen: "reopen"
        case .compact: "compact"
        case .shrink: "shrink"
        }
    }
}
