import FirnExchange
import FirnTable

/// Converts texts of SQL to times and identifiers.
enum SQLTimes {
    /// The seconds of the years 0 to 9999, in which the order of the texts is that of the times.
    static let ordered: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Returns the earliest time whose text is not less than the given one, or nil if all texts are less.
    static func first(notBelow text: [UInt8], isDay: Bool) -> Timestamp? {
        func isBelow(_ seconds: Int64, _ nanoseconds: Int64) -> Bool {
            SQLText.date(seconds, nanoseconds, isDay: isDay).lexicographicallyPrecedes(text)
        }
        // Finds the first whole second that is not less, then the first fraction within the second before it.
        var low = ordered.lowerBound, high = ordered.upperBound + 1
        while low < high {
            let middle = low + (high - low) / 2
            if isBelow(middle, 0) { low = middle + 1 } else { high = middle }
        }
        let second = low
        if second > ordered.lowerBound {
            var low: Int64 = 1, high: Int64 = 1_000_000_000
            while low < high {
                let middle = (low + high) / 2
                if isBelow(second - 1, middle) { low = middle + 1 } else { high = middle }
            }
            if low < 1_000_000_000 { return Timestamp(seconds: second - 1, nanoseconds: Int32(low)) }
        }
        return second <= ordered.upperBound ? Timestamp(seconds: second) : nil
    }

    /// Returns the UUID only if the text is written as the column writes it.
    static func uuid(_ text: [UInt8], isUpper: Bool) -> Identifier? {
        guard let read = text.withUnsafeBytes({ IdentifierText.parseUUID($0) }),
            read.letters == .none || read.letters == (isUpper ? .upper : .lower)
        else { return nil }
        return read.value
    }

    static func objectID(_ text: [UInt8]) -> Identifier? {
        guard let id = Identifier(objectIDText: String(decoding: text, as: UTF8.self)), Array(id.objectIDText.utf8) == text else {
            return nil
        }
        return id
    }
}
