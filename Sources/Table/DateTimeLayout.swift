/// How dates with a time of day were written in a form of ISO 8601, or near one: `2016-09-29T10:11:12+02:00`, `2016-09-29 10:11:12 UTC`.
/// Stored as a `Notation`.
///
/// Dates without a zone, and those with `Z`, whose seconds have a fixed number of fractional digits, have notations of their own
/// (`dateTimeT`, `dateTimeSpace`, `dateTimeZ`).
package struct DateTimeLayout: Hashable, Sendable {
    /// What is written after the time of day.
    package enum Zone: UInt8, Sendable, CaseIterable {
        /// Nothing: the time is UTC.
        case none = 0
        /// `Z`
        case zulu = 1
        /// ` UTC`
        case utc = 2
        /// `+02:00`
        case colon = 3
        /// `+0200`
        case digits = 4
        /// `+02`, with minutes as `+05:30` where there are any
        case hours = 5
        /// ` +02:00`
        case spacedColon = 6
        /// ` +0200`
        case spacedDigits = 7

        /// Whether it states an offset.
        package var hasOffset: Bool { rawValue >= Zone.colon.rawValue }
    }

    /// The fractional digits of the second.
    package enum Fraction: Hashable, Sendable {
        /// Always this number: 0 … 7, or 9.
        case fixed(UInt8)
        /// As many as are needed.
        case needed
        /// None, or six.
        case noneOrSix
        /// None, three, six or nine: as few as possible.
        case threes

        /// In the order of their numbers in a file.
        package static let all: [Fraction] = (0...7).map { .fixed($0) } + [.fixed(9), .needed, .noneOrSix, .threes]
    }

    /// Whether `T` precedes the time of day, not a space.
    package var followsT: Bool
    package var zone: Zone
    package var fraction: Fraction
    /// The offset from UTC in quarters of an hour, -63 … 63; 0 for zones without an offset.
    package var quarters: Int

    package init(followsT: Bool, zone: Zone, fraction: Fraction, quarters: Int = 0) {
        self.followsT = followsT
        self.zone = zone
        self.fraction = fraction
        self.quarters = quarters
    }

    /// The codes of layouts begin here: see `docs/format/model.md`, "Schema".
    fileprivate static let firstCode: UInt8 = 144
    /// The styles with an offset, from 1 on; style 0 has none.
    private static let styles: [(followsT: Bool, zone: Zone)] = [
        (true, .colon), (true, .digits), (false, .colon), (false, .hours), (false, .spacedDigits), (false, .spacedColon), (false, .digits),
    ]
    /// The places of style 0.
    private static let places: [(followsT: Bool, zone: Zone)] = [
        (true, .none), (true, .zulu), (false, .none), (false, .utc), (false, .zulu),
    ]

    /// The notation; nil for a fraction or a zone that none has.
    package var notation: Notation? {
        switch (followsT, zone, fraction) {
        case (true, .none, .fixed(let digits)): return .dateTimeT(digits)
        case (false, .none, .fixed(let digits)): return .dateTimeSpace(digits)
        case (true, .zulu, .fixed(let digits)): return .dateTimeZ(digits)
        case (true, .none, .needed): return .localDateTime
        case (true, .zulu, .needed): return .plain
        default: break
        }
        guard let index = Fraction.all.firstIndex(of: fraction).map(UInt8.init) else { return nil }
        let style: UInt8, place: UInt8
        if zone.hasOffset {
            guard let found = DateTimeLayout.styles.firstIndex(where: { $0 == (followsT, zone) }) else { return nil }
            (style, place) = (UInt8(found + 1), UInt8(quarters + 64))
        } else {
            guard let found = DateTimeLayout.places.firstIndex(where: { $0 == (followsT, zone) }) else { return nil }
            (style, place) = (0, UInt8(found))
        }
        return Notation(code: DateTimeLayout.firstCode + style + (index >> 1) << 3, parameter: place | index << 7)
    }

    /// Returns nil for notations that are not layouts of dates with a time of day.
    package init?(_ notation: Notation) {
        let digits = notation.parameter <= 9 ? Fraction.fixed(notation.parameter) : .needed
        switch notation.code {
        case Notation.dateTimeT(0).code: self.init(followsT: true, zone: .none, fraction: digits)
        case Notation.dateTimeSpace(0).code: self.init(followsT: false, zone: .none, fraction: digits)
        case Notation.dateTimeZ(0).code: self.init(followsT: true, zone: .zulu, fraction: digits)
        case Notation.localDateTime.code: self.init(followsT: true, zone: .none, fraction: .needed)
        case Notation.plain.code: self.init(followsT: true, zone: .zulu, fraction: .needed)
        default: self.init(coded: notation)
        }
    }

    /// Reads the notations that have a code of their own here.
    private init?(coded notation: Notation) {
        guard notation.code >= DateTimeLayout.firstCode else { return nil }
        let code = notation.code - DateTimeLayout.firstCode, place = Int(notation.parameter & 127), style = Int(code & 7)
        let index = Int(code >> 3) << 1 | Int(notation.parameter >> 7)
        guard index < Fraction.all.count else { return nil }
        if style == 0 {
            guard place < DateTimeLayout.places.count else { return nil }
            let (followsT, zone) = DateTimeLayout.places[place]
            self.init(followsT: followsT, zone: zone, fraction: Fraction.all[index])
        } else {
            guard place > 0 else { return nil }
            let (followsT, zone) = DateTimeLayout.styles[style - 1]
            self.init(followsT: followsT, zone: zone, fraction: Fraction.all[index], quarters: place - 64)
        }
    }
}

extension DateTimeLayout {
    /// Returns the number of fractional digits that are written: as many as the layout has, or more if they would not be enough.
    package func digits(_ nanoseconds: Int64) -> Int {
        let units = DateTimeLayout.units
        // Most layouts have all digits that are needed.
        if case .fixed(let digits) = fraction, digits <= 9, nanoseconds % units[Int(digits)] == 0 { return Int(digits) }
        var needed = 0
        while needed < 9, nanoseconds % units[needed] != 0 { needed += 1 }
        return switch fraction {
        case .fixed(let digits): max(Int(min(digits, 9)), needed)
        case .needed: needed
        case .noneOrSix: needed == 0 ? 0 : max(6, needed)
        case .threes: (needed + 2) / 3 * 3
        }
    }

    /// Returns the same layout with another zone.
    package func inZone(_ zone: Zone, quarters: Int = 0) -> DateTimeLayout {
        DateTimeLayout(followsT: followsT, zone: zone, fraction: fraction, quarters: quarters)
    }

    /// The nanoseconds in a unit of the last of 0 … 9 fractional digits.
    private static let units: [Int64] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1]

    /// What follows the time of day: at most seven characters of ASCII.
    package var zoneText: String {
        switch zone {
        case .none: return ""
        case .zulu: return "Z"
        case .utc: return " UTC"
        case .colon, .digits, .hours, .spacedColon, .spacedDigits: break
        }
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        let minutes = abs(quarters) * 15, hours = (quarters < 0 ? "-" : "+") + two(minutes / 60)
        return switch zone {
        case .hours: minutes % 60 == 0 ? hours : hours + ":" + two(minutes % 60)
        case .digits: hours + two(minutes % 60)
        case .spacedDigits: " " + hours + two(minutes % 60)
        case .spacedColon: " " + hours + ":" + two(minutes % 60)
        default: hours + ":" + two(minutes % 60)
        }
    }

    /// Reads a zone that has at least one character: `Z`, ` UTC`, or an offset of whole quarters of an hour, less than 16 hours, in one of
    /// the forms of `Zone`. Returns nil for any other text, and for `-00:00`, whose meaning is that the zone is not known.
    @inline(__always)
    package static func zone(_ text: Span<UInt8>) -> (zone: Zone, quarters: Int)? {
        if text.isEmpty { return nil }
        if text[0] == UInt8(ascii: "Z") { return text.count == 1 ? (.zulu, 0) : nil }
        return offset(text)
    }

    /// The same for an array.
    package static func zone(_ text: ArraySlice<UInt8>) -> (zone: Zone, quarters: Int)? { zone(text.span) }

    @inline(never)
    private static func offset(_ text: Span<UInt8>) -> (zone: Zone, quarters: Int)? {
        var at = 0
        let isSpaced = text[0] == UInt8(ascii: " ")
        if isSpaced {
            let utc: StaticString = " UTC"
            if text.count == 4, text.indices.allSatisfy({ text[$0] == utc.utf8Start[$0] }) { return (.utc, 0) }
            at = 1
        }
        guard at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") else { return nil }
        let isBelow = text[at] == UInt8(ascii: "-")
        at += 1
        /// Reads two digits; nil if there are none.
        func two() -> Int? {
            guard at + 2 <= text.count, text[at] &- 48 <= 9, text[at + 1] &- 48 <= 9 else { return nil }
            defer { at += 2 }
            return Int(text[at] - 48) * 10 + Int(text[at + 1] - 48)
        }
        guard let hours = two() else { return nil }
        var zone = Zone.hours, minutes = 0
        if at < text.count {
            zone = .digits
            if text[at] == UInt8(ascii: ":") {
                zone = .colon
                at += 1
            }
            guard let read = two() else { return nil }
            minutes = read
        }
        guard at == text.count, hours < 16, minutes < 60, minutes % 15 == 0, !isBelow || hours + minutes > 0 else { return nil }
        if isSpaced {
            guard zone != .hours else { return nil }
            zone = zone == .colon ? .spacedColon : .spacedDigits
        }
        return (zone, (hours * 4 + minutes / 15) * (isBelow ? -1 : 1))
    }
}

extension Notation {
    /// Whether dates in this notation have no zone, so that only the reader knows that they are in UTC. True for days and months too.
    package var isLocal: Bool { DateTimeLayout(self).map { $0.zone == .none } ?? true }

    /// The fixed number of fractional digits of the second; nil for notations without one.
    package var fixedDigits: Int? {
        guard let layout = DateTimeLayout(self), case .fixed(let digits) = layout.fraction else { return nil }
        return Int(digits)
    }

    /// The notation of dates in UTC, or without a zone, that has a fixed form or as many fractional digits as are needed: the same for those,
    /// and the nearest one for others.
    package var simpleDate: Notation {
        guard code >= DateTimeLayout.firstCode, DateTimeLayout(self) != nil else { return self }
        return isLocal ? .localDateTime : .plain
    }
}
