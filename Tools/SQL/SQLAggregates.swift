import FirnBytes

/// `bool_and`, `bool_or` and `count_if`.
final class SQLTruths: SQLAggregate {
    enum Function: Sendable { case all, any, count }
    private let function: Function
    private var trues = 0, falses = 0

    init(_ function: Function) { self.function = function }

    func add(_ call: SQLCall) throws(FirnError) { change(call, by: 1) }
    func remove(_ call: SQLCall) throws(FirnError) { change(call, by: -1) }

    private func change(_ call: SQLCall, by sign: Int) {
        guard let truth = call.truth(0) else { return }
        if truth { trues += sign } else { falses += sign }
    }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue {
        switch function {
        case .count: .int(Int64(trues))
        case _ where trues + falses == 0: .null
        case .all: .int(falses == 0 ? 1 : 0)
        case .any: .int(trues > 0 ? 1 : 0)
        }
    }
}

/// `product`, of doubles.
final class SQLProduct: SQLAggregate {
    private var product: Double?

    func add(_ call: SQLCall) throws(FirnError) { if let number = try call.number(0) { product = (product ?? 1) * number } }
    func value(_ call: SQLCall) throws(FirnError) -> SQLValue { product.map(SQLValue.real) ?? .null }
}

/// The value of one row: `any_value`, `first`, `last`, `arg_min` and `arg_max`.
final class SQLChosenValue: SQLAggregate {
    enum Function: Sendable { case any, first, last, atMinimum, atMaximum }
    private let function: Function
    private var chosen: SQLValue?
    private var key = SQLKey(.null)
    private let charge = MemoryCharge(.process)

    init(_ function: Function) { self.function = function }

    func add(_ call: SQLCall) throws(FirnError) {
        switch function {
        case .first: if chosen == nil { try choose(call) }
        case .last: try choose(call)
        case .any: if chosen == nil, !call.isNull(0) { try choose(call) }
        case .atMinimum, .atMaximum:
            guard !call.isNull(0), !call.isNull(1) else { return }
            let next = SQLKey(call.value(1))
            guard chosen == nil || (function == .atMinimum ? next < key : key < next) else { return }
            key = next
            try choose(call)
        }
    }

    private func choose(_ call: SQLCall) throws(FirnError) {
        let value = call.value(0), bytes = SQLKey(value).bytes + key.bytes
        if bytes > 1 << 12 || charge.bytes > 0 { try call.hold(bytes, in: charge) }
        chosen = value
    }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue { chosen ?? .null }
}

/// `mode`: the most frequent value, and of several the smallest.
final class SQLMode: SQLAggregate {
    private var counts: [SQLKey: Int] = [:]
    private var bytes = 0
    private let charge = MemoryCharge(.process)

    func add(_ call: SQLCall) throws(FirnError) {
        let key = SQLKey(call.value(0))
        if case .null = key.value { return }
        let before = counts.count
        counts[key, default: 0] += 1
        guard counts.count > before else { return }
        bytes += 2 * (key.bytes + 16)
        if bytes > charge.bytes { try call.hold(bytes + bytes / 2, in: charge) }
    }

    func remove(_ call: SQLCall) throws(FirnError) {
        let key = SQLKey(call.value(0))
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
        if count == 1 { bytes -= 2 * (key.bytes + 16) }
    }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue {
        counts.max { $0.value != $1.value ? $0.value < $1.value : $1.key < $0.key }?.key.value ?? .null
    }
}

/// `string_agg`: the texts, with a separator before each but the first.
final class SQLJoinedText: SQLAggregate {
    private var bytes: [UInt8] = [], lengths: [(separator: Int, text: Int)] = []
    /// The first byte and the first length that were not removed.
    private var start = (byte: 0, length: 0)
    private let charge = MemoryCharge(.process)

    func add(_ call: SQLCall) throws(FirnError) {
        guard let text = call.text(0) else { return }
        let separator = call.count > 1 ? call.text(1) ?? [] : [UInt8(ascii: ",")]
        let count = bytes.count + separator.count + text.count
        _ = try call.room(for: count - start.byte)
        let held = count + 16 * (lengths.count + 1)
        if held > charge.bytes { try call.hold(max(1 << 12, held * 2), in: charge) }
        bytes += separator
        bytes += text
        lengths.append((separator.count, text.count))
    }

    func remove(_ call: SQLCall) throws(FirnError) {
        guard !call.isNull(0), start.length < lengths.count else { return }
        start.byte += lengths[start.length].separator + lengths[start.length].text
        start.length += 1
        guard start.length > 1 << 10, start.length * 2 > lengths.count else { return }
        bytes.removeFirst(start.byte)
        lengths.removeFirst(start.length)
        start = (0, 0)
    }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard start.length < lengths.count else { return .null }
        return .text(Array(bytes[(start.byte + lengths[start.length].separator)...]))
    }
}
