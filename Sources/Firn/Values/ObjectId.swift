import FirnBytes
import FirnTable
import Foundation
import Synchronization

/// An identifier of 12 bytes that is unique in practice without coordination: four bytes of time (seconds since 1970), five random bytes of
/// this process and a counter of three bytes. The ids that a process generates are in ascending order.
///
/// Not a string literal: `["id": object.id, "name": "x"]` would then find another `id` of classes that are `Identifiable`.
public struct ObjectId: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    let high: UInt64
    /// The last four bytes, big-endian.
    let low: UInt32

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Creates the id whose bytes are all zero.
    public init() { self.init(high: 0, low: 0) }

    /// The id whose bytes are all zero.
    public static let zero = ObjectId()

    /// Parses 24 hexadecimal digits, in either case.
    ///
    /// - Throws: `FirnError` of code `.usage` if the text is not an object id.
    public init(string: String) throws(FirnError) {
        guard let read = Identifier(objectIDText: string) else {
            throw FirnError(.usage, "\"\(string)\" is not an object id", advice: "an object id is written as 24 hexadecimal digits")
        }
        self.init(read)
    }

    /// Parses 24 hexadecimal digits. See `init(string:)`.
    @_disfavoredOverload
    public init(_ string: String) throws(FirnError) { try self.init(string: string) }

    /// Parses 24 hexadecimal digits, in either case. Traps if the text is anything else.
    public init(_ string: StaticString) {
        guard let read = Identifier(objectIDText: string.description) else {
            trap("\"\(string)\" is not an object id: write 24 hexadecimal digits, or use ObjectId(string:) to catch the error")
        }
        self.init(read)
    }

    /// Creates an id from the second of `timestamp` (1970 to 2106; times outside are clamped), the low three bytes of `machineId`, the low
    /// two bytes of
    /// `processId`, and the next value of a counter.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        // Both numbers are stored in little-endian order, as in Realm.
        let machine = UInt64(UInt32(truncatingIfNeeded: machineId).byteSwapped >> 8)
        let process = UInt64(UInt16(truncatingIfNeeded: processId).byteSwapped)
        self.init(second: UInt32(clamping: Timestamp(timestamp).seconds), middle: machine << 16 | process, count: Origin.nextCount())
    }

    /// Creates an id from the second of `timestamp`, the random bytes of this process and the next value of a counter.
    public init(timestamp: Date) {
        self.init(second: UInt32(clamping: Timestamp(timestamp).seconds), middle: Origin.random, count: Origin.nextCount())
    }

    /// Creates an id from its parts: the low five bytes of `middle` and the low three of `count` are used.
    private init(second: UInt32, middle: UInt64, count: UInt32) {
        self.init(high: UInt64(second) << 32 | (middle >> 8 & 0xFFFF_FFFF), low: UInt32(middle & 0xFF) << 24 | count & 0xFF_FFFF)
    }

    /// Returns a new id that is greater than all ids that this process has generated before.
    public static func generate() -> ObjectId {
        let now = UInt64(UInt32(truncatingIfNeeded: time(nil)))
        var last = Origin.last.load(ordering: .relaxed)
        while true {
            let next = Origin.next(after: last, now: now)
            let exchange = Origin.last.compareExchange(expected: last, desired: next, ordering: .relaxed)
            if exchange.exchanged {
                return ObjectId(
                    second: UInt32(truncatingIfNeeded: next >> 24), middle: Origin.random, count: UInt32(truncatingIfNeeded: next))
            }
            last = exchange.original
        }
    }

    /// The second in which the id was created.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(high >> 32)) }

    /// The id as 24 hexadecimal digits, in lower case.
    public var stringValue: String { identifier.objectIDText }
}

extension ObjectId {
    /// The state that the ids of this process share.
    enum Origin {
        /// Five random bytes.
        static let random = UInt64.random(in: 0..<1 << 40)
        /// The counter for ids with a given time.
        private static let counter = Atomic<UInt32>(.random(in: 0...UInt32.max))
        static func nextCount() -> UInt32 { counter.wrappingAdd(1, ordering: .relaxed).newValue }
        /// The time (upper 40 bits) and the counter (lower 24 bits) of the last generated id.
        static let last = Atomic<UInt64>(0)
        /// The counter's first value in each second. It is in the lower half, which leaves eight million ids for each second.
        static let start = UInt64.random(in: 0..<1 << 23)

        /// Returns the last id plus one, or in a later second that second with the first value of the counter. A counter that overflows
        /// increments the time, so that ids ascend and never repeat, even if many are generated in one second or the clock is set back.
        static func next(after last: UInt64, now: UInt64) -> UInt64 { now > last >> 24 ? now << 24 | start : last + 1 }
    }

    /// Uses the first 12 bytes.
    package init(_ identifier: Identifier) { self.init(high: identifier.high, low: UInt32(truncatingIfNeeded: identifier.low)) }

    package var identifier: Identifier { Identifier(high: high, low: UInt64(low)) }
}

extension ObjectId: Comparable {
    /// Compares the bytes in order, which begin with the time.
    public static func < (a: ObjectId, b: ObjectId) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension ObjectId: CustomStringConvertible {
    /// The same as `stringValue`.
    public var description: String { stringValue }
}

extension ObjectId: Codable {
    /// Decodes a string of 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let read = Identifier(objectIDText: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not an object id of 24 hexadecimal digits")
        }
        self.init(read)
    }

    /// Encodes a string of 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
