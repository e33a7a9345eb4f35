import FirnBytes
import FirnModel
import Foundation
import Synchronization

/// An identifier of 12 bytes that is unique in practice without anyone who hands out numbers: four bytes of time (seconds since 1970),
/// five random bytes of this process and a counter of three bytes. Ids that a process generates ascend.
///
/// A literal is checked when it is used, and stops the program if it is no id; text from elsewhere goes to `init(string:)`, which throws.
public struct ObjectId: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    let high: UInt64
    /// The last four, big-endian.
    let low: UInt32

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// The id whose bytes are all zero.
    public init() { self.init(high: 0, low: 0) }

    /// The id whose bytes are all zero.
    public static let zero = ObjectId()

    /// Reads 24 hexadecimal digits, in either case.
    public init(string: String) throws(FirnError) {
        guard let read = Identifier(objectIDText: string) else {
            throw FirnError(.usage, "'\(string)' is not an object id", advice: "an object id is written as 24 hexadecimal digits")
        }
        self.init(read)
    }

    /// Reads 24 hexadecimal digits, in either case.
    public init(_ string: String) throws(FirnError) { try self.init(string: string) }

    /// Reads 24 hexadecimal digits, and stops the program if the text is something else.
    public init(_ string: StaticString) { self.init(stringLiteral: string) }

    /// An id with the parts given: the second of `timestamp` (1970 to 2106; earlier and later ones become the first and the last),
    /// the low three bytes of `machineId`, the low two of `processId`, and the next number of a counter.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        // Both numbers are stored low byte first, as Realm does.
        let machine = UInt64(UInt32(truncatingIfNeeded: machineId).byteSwapped >> 8)
        let process = UInt64(UInt16(truncatingIfNeeded: processId).byteSwapped)
        self.init(second: UInt32(clamping: Timestamp(timestamp).seconds), middle: machine << 16 | process, count: Origin.nextCount())
    }

    /// An id of the second of `timestamp`, with the random bytes of this process and the next number of a counter.
    public init(timestamp: Date) {
        self.init(second: UInt32(clamping: Timestamp(timestamp).seconds), middle: Origin.random, count: Origin.nextCount())
    }

    /// Of `middle` the low five bytes are taken, of `count` the low three.
    private init(second: UInt32, middle: UInt64, count: UInt32) {
        self.init(high: UInt64(second) << 32 | (middle >> 8 & 0xFFFF_FFFF), low: UInt32(middle & 0xFF) << 24 | count & 0xFF_FFFF)
    }

    /// A new id, greater than all that this process generated before.
    public static func generate() -> ObjectId {
        let now = UInt64(UInt32(truncatingIfNeeded: time(nil)))
        var last = Origin.last.load(ordering: .relaxed)
        while true {
            let next = Origin.next(after: last, now: now)
            let exchange = Origin.last.compareExchange(expected: last, desired: next, ordering: .relaxed)
            if exchange.exchanged {
                return ObjectId(second: UInt32(truncatingIfNeeded: next >> 24), middle: Origin.random, count: UInt32(truncatingIfNeeded: next))
            }
            last = exchange.original
        }
    }

    /// The second in which the id was made.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(high >> 32)) }

    /// 24 hexadecimal digits, lower case.
    public var stringValue: String { identifier.objectIDText }
}

extension ObjectId {
    /// What the ids of this process share.
    enum Origin {
        /// Five random bytes.
        static let random = UInt64.random(in: 0..<1 << 40)
        /// The counter of ids whose time is given.
        private static let counter = Atomic<UInt32>(.random(in: 0...UInt32.max))
        static func nextCount() -> UInt32 { counter.wrappingAdd(1, ordering: .relaxed).newValue }
        /// The time (upper 40 bits) and the count (lower 24) of the id that was generated last.
        static let last = Atomic<UInt64>(0)
        /// Where the count begins in each second: in the lower half, so that the second has room for eight million ids.
        static let start = UInt64.random(in: 0..<1 << 23)

        /// One more than the last; in a later second, that second with a count that begins anew. A count that overflows moves the time on,
        /// so that ids ascend and never repeat however many are made in one second, and when the clock is set back.
        static func next(after last: UInt64, now: UInt64) -> UInt64 { now > last >> 24 ? now << 24 | start : last + 1 }
    }

    /// Takes the first 12 bytes.
    package init(_ identifier: Identifier) { self.init(high: identifier.high, low: UInt32(truncatingIfNeeded: identifier.low)) }

    package var identifier: Identifier { Identifier(high: high, low: UInt64(low)) }
}

extension ObjectId: Comparable {
    /// In the order of the bytes, which is that of the times first.
    public static func < (a: ObjectId, b: ObjectId) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension ObjectId: CustomStringConvertible {
    public var description: String { stringValue }
}

extension ObjectId: ExpressibleByStringLiteral {
    public init(stringLiteral value: StaticString) {
        guard let read = Identifier(objectIDText: value.description) else {
            preconditionFailure("\"\(value)\" is not an object id: write 24 hexadecimal digits, or use ObjectId(string:) to catch the error")
        }
        self.init(read)
    }
}

extension ObjectId: Codable {
    /// From a string of 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let read = Identifier(objectIDText: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not an object id of 24 hexadecimal digits")
        }
        self.init(read)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
