import FirnExchange
import FirnTable

/// The names of column types and notations in JSON schemas: see `FormatShelf.line` and `FormatShelf.schema`.
enum SchemaText {
    /// Returns the type that a text such as `int?`, `list<string?>` or `map<string, any>` denotes, or nil if it is invalid. Embedded and
    /// linked types are written by name.
    static func columnType(_ text: String, embedded: [String]) -> ColumnType? {
        var name = text[...], isOptional = false
        // Names of embedded types come from names of columns, and can end in "?".
        if name.last == "?", !embedded.contains(text) {
            isOptional = true
            name.removeLast()
        }
        var collection = CollectionKind.none
        for (prefix, kind) in [("list<", CollectionKind.list), ("set<", .set), ("map<string, ", .map), ("map<string,", .map)]
        where collection == .none {
            if name.hasPrefix(prefix), name.last == ">" {
                name = name.dropFirst(prefix.count).dropLast()
                collection = kind
            }
        }
        var elementIsOptional = false
        if collection != .none, name.last == "?", !embedded.contains(String(name)) {
            elementIsOptional = true
            name.removeLast()
        }
        var kind = ScalarKind(name: String(name)), target: String?
        if name.hasPrefix("link<"), name.last == ">" {
            kind = .link
            target = String(name.dropFirst("link<".count).dropLast())
        } else if embedded.contains(String(name)) {
            kind = .embedded
            target = String(name)
        }
        guard let kind, (kind == .embedded || kind == .link) == (target != nil) else { return nil }
        return ColumnType(kind, optional: isOptional, collection: collection, elementOptional: elementIsOptional, target: target)
    }

    /// The notations without a parameter, and those whose parameter is a number of digits.
    private static let notations: [(name: String, notation: Notation)] = [
        ("pointZero", .pointZero), ("twoDigitExponent", .twoDigitExponent(pointZero: false)),
        ("twoDigitExponentPointZero", .twoDigitExponent(pointZero: true)), ("capitalised", .capitalised), ("upperCase", .upperCase),
        ("date", .dateOnly), ("uuidUpper", .uuidUpper), ("localDateTime", .localDateTime),
    ]
    private static let notationsWithDigits: [(name: String, code: UInt8)] = [
        ("fixed", Notation.fixed(0).code), ("dateTimeSpace", Notation.dateTimeSpace(0).code), ("dateTimeZ", Notation.dateTimeZ(0).code),
        ("dateTimeT", Notation.dateTimeT(0).code),
    ]

    /// Returns whether values of a kind can be written in a notation.
    static func suits(_ notation: Notation, _ kind: ScalarKind) -> Bool {
        if NumberLayout(notation) != nil { return [.int, .double, .float, .decimal].contains(kind) }
        return switch notation.code {
        case Notation.plain.code: true
        case Notation.fixed(0).code, Notation.pointZero.code: kind == .double || kind == .float
        case _ where notation.hasTwoDigitExponent: kind == .double || kind == .float
        case Notation.capitalised.code, Notation.upperCase.code: kind == .bool
        case Notation.uuidUpper.code: kind == .uuid
        default: kind == .date
        }
    }

    /// Returns the name of a notation; nil for the plain notation, which is not written.
    static func name(of notation: Notation) -> String? {
        if let pattern = notation.datePattern { return pattern }
        if let layout = NumberLayout(notation) { return layout.example }
        if let known = notations.first(where: { $0.notation == notation }) { return known.name }
        if let known = notationsWithDigits.first(where: { $0.code == notation.code }) { return "\(known.name)(\(notation.parameter))" }
        return notation == .plain ? nil : DateTimeLayout(notation)?.name
    }

    static func notation(_ text: String) -> Notation? {
        if let known = notations.first(where: { $0.name == text }) { return known.notation }
        let name = text.prefix { $0 != "(" }
        guard let known = notationsWithDigits.first(where: { $0.name == name }) else {
            if text == "plain" { return .plain }
            return Notation(datePattern: text) ?? NumberLayout(example: text)?.notation ?? DateTimeLayout(name: text)?.notation
        }
        guard text.last == ")", let digits = UInt8(text.dropFirst(name.count + 1).dropLast()) else { return nil }
        return Notation(code: known.code, parameter: digits)
    }
}

extension DateTimeLayout {
    /// The names of the fractional digits.
    private static let fractionNames: [(fraction: Fraction, name: String)] =
        Fraction.all.compactMap { fraction in
            if case .fixed(let digits) = fraction { (fraction, String(digits)) } else { nil }
        } + [(.needed, "as needed"), (.noneOrSix, "0 or 6"), (.threes, "0, 3, 6 or 9")]

    /// The name in the text of a schema: what separates day and time, the zone, and the fractional digits, such as `dateTime(T+02:00, 6)`.
    fileprivate var name: String? {
        DateTimeLayout.fractionNames.first { $0.fraction == fraction }.map {
            "dateTime(\(followsT ? "T" : "space")\(zoneText), \($0.name))"
        }
    }

    fileprivate init?(name: String) {
        guard name.hasPrefix("dateTime("), name.hasSuffix(")") else { return nil }
        let inside = name.dropFirst("dateTime(".count).dropLast()
        guard let comma = inside.firstIndex(of: ",") else { return nil }
        let digits = inside[comma...].dropFirst().drop { $0 == " " }
        guard let fraction = DateTimeLayout.fractionNames.first(where: { $0.name == digits })?.fraction else { return nil }
        var zone = inside[..<comma]
        let followsT = zone.hasPrefix("T")
        guard followsT || zone.hasPrefix("space") else { return nil }
        zone = zone.dropFirst(followsT ? 1 : "space".count)
        self.init(followsT: followsT, zone: .none, fraction: fraction)
        guard !zone.isEmpty else { return }
        guard let read = DateTimeLayout.zone(Array(zone.utf8)[...]) else { return nil }
        (self.zone, quarters) = read
    }
}
