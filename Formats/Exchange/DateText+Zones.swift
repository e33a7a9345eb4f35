import FirnTable

extension DateText {
    /// Writes a date with its time of day at the offset of a layout, without the zone, and returns the number of bytes.
    static func write(seconds: Int64, nanoseconds: Int64, _ layout: DateTimeLayout, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let local = seconds &+ Int64(layout.quarters) &* 900
        var days = local / 86_400, clock = local % 86_400
        if clock < 0 {
            clock &+= 86_400
            days &-= 1
        }
        var at = writeDay(days, to: out)
        out[at] = layout.followsT ? UInt8(ascii: "T") : UInt8(ascii: " ")
        NumberText.writePadded(UInt64(clock / 3600), digits: 2, to: out + at + 1)
        out[at &+ 3] = UInt8(ascii: ":")
        NumberText.writePadded(UInt64(clock / 60 % 60), digits: 2, to: out + at + 4)
        out[at &+ 6] = UInt8(ascii: ":")
        NumberText.writePadded(UInt64(clock % 60), digits: 2, to: out + at + 7)
        at &+= 9
        let digits = layout.digits(nanoseconds)
        if digits > 0 {
            out[at] = UInt8(ascii: ".")
            NumberText.writePadded(UInt64(nanoseconds) / wholePowersOfTen[9 &- digits], digits: digits, to: out + at + 1)
            at &+= 1 &+ digits
        }
        return at
    }

    /// Reads the zone that is the end of a text.
    @inline(__always)
    static func zone(_ text: UnsafeRawBufferPointer, from start: Int) -> (zone: DateTimeLayout.Zone, quarters: Int)? {
        DateTimeLayout.zone(text.assumingMemoryBound(to: UInt8.self).span.extracting(start..<text.count))
    }

    /// Writes a date in a notation, but in another zone, which is the original text of its row: `zone` (see docs/format/model.md, "Attributes of
    /// columns"). Returns the number of bytes; nil if the text is no zone, or if dates in the notation have none.
    package static func write(
        seconds: Int64, nanoseconds: Int64, notation: Notation, zone: UnsafeRawBufferPointer, to out: UnsafeMutablePointer<UInt8>
    ) -> Int? {
        guard var layout = DateTimeLayout(notation), layout.zone != .none, let (kind, quarters) = DateText.zone(zone, from: 0) else {
            return nil
        }
        (layout.zone, layout.quarters) = (kind, quarters)
        let count = write(seconds: seconds, nanoseconds: nanoseconds, layout, to: out)
        UnsafeMutableRawBufferPointer(start: out + count, count: zone.count).copyMemory(from: zone)
        return count + zone.count
    }

    /// Returns where the zone at the end of a date begins, if the text before it is how a notation writes the date at that offset; nil for
    /// other texts.
    package static func otherZone(_ text: UnsafeRawBufferPointer, in notation: Notation) -> Int? {
        guard let layout = DateTimeLayout(notation), layout.zone != .none, let date = parse(text), let time = date.time, time.zone != .none,
            time.followsT == layout.followsT, layout.digits(date.nanoseconds) == Int(time.digits)
        else { return nil }
        return 19 + (time.digits > 0 ? 1 + Int(time.digits) : 0)
    }

    /// Returns original texts of dates with the whole text in place of a zone alone, as the notation writes the date in that zone.
    package static func withDates(_ texts: Column, of dates: Column, in notation: Notation) -> Column {
        var whole = Column(texts.type)
        for row in 0..<texts.count {
            guard case .string(let text) = texts.value(at: row) else {
                whole.appendNull()
                continue
            }
            let zone = Array(text.utf8)
            let date = String(unsafeUninitializedCapacity: room) { out in
                guard dates.isPresent(row), let memory = out.baseAddress else { return 0 }
                return zone.withUnsafeBytes {
                    write(seconds: dates.words[row], nanoseconds: dates.extra[row], notation: notation, zone: $0, to: memory) ?? 0
                }
            }
            _ = whole.append(.string(date.isEmpty ? text : date))
        }
        return whole
    }

    /// Returns what is kept of the text of a date that a notation writes differently: its zone, if it is all that differs, or all of it.
    package static func original(_ text: String, in notation: Notation) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { otherZone($0, in: notation) }.map { String(decoding: bytes[$0...], as: UTF8.self) } ?? text
    }
}

/// The ways to write the fractional digits of seconds that a date allows.
package struct DateFractions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let all = DateFractions(rawValue: 1 << 12 - 1)
    private static let needed = DateFractions(rawValue: 1 << 9), noneOrSix = DateFractions(rawValue: 1 << 10)
    private static let threes = DateFractions(rawValue: 1 << 11)

    /// Those of a second that is written with `digits` digits.
    package init(digits: UInt8, nanoseconds: Int64) {
        // The digits that are needed: most dates have none, or one that is not zero at the end.
        var needed = Int(digits)
        while needed > 0, nanoseconds % Int64(bitPattern: wholePowersOfTen[10 &- needed]) == 0 { needed &-= 1 }
        let count = Int(digits)
        var set = DateFractions(rawValue: count < 8 ? 1 &<< UInt16(count) : count == 9 ? 1 &<< 8 : 0)
        if needed == count { set.insert(.needed) }
        if count == 0 || count == 6 && needed > 0 || count > 6 && needed == count { set.insert(.noneOrSix) }
        if count == (needed &+ 2) / 3 &* 3 { set.insert(.threes) }
        self = set
    }

    /// The first of the ways, in the order of `DateTimeLayout.Fraction`; nil if there is none.
    package var first: DateTimeLayout.Fraction? { isEmpty ? nil : DateTimeLayout.Fraction.all[rawValue.trailingZeroBitCount] }
}
