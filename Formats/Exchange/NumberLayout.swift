import FirnTable

/// How numbers were written that have a decimal comma or separators between groups of three digits: `1.234,56`, `1,234`. Stored as a
/// `Notation`.
package struct NumberLayout: Hashable, Sendable {
    /// What separates groups of three digits.
    package enum Group: UInt8, Sendable, CaseIterable {
        case none = 0, comma = 1, point = 2, space = 3, noBreakSpace = 4, apostrophe = 5, narrowNoBreakSpace = 6, rightQuote = 7

        /// The separator as UTF-8.
        package var text: StaticString {
            switch self {
            case .none: ""
            case .comma: ","
            case .point: "."
            case .space: " "
            case .noBreakSpace: "\u{A0}"
            case .apostrophe: "'"
            case .narrowNoBreakSpace: "\u{202F}"
            case .rightQuote: "\u{2019}"
            }
        }
    }

    /// Whether a comma precedes the fraction, not a point.
    package var hasComma: Bool
    package var group: Group
    /// How the digits are written: `plain`, `pointZero` or `fixed`.
    package var digits: Notation

    package init(hasComma: Bool, group: Group, digits: Notation = .plain) {
        self.hasComma = hasComma
        self.group = group
        self.digits = digits
    }

    /// The codes of layouts begin here: see `docs/format/model.md`, "Notations".
    private static let firstCode: UInt8 = 128
    private static let pointZeroParameter: UInt8 = 255

    /// Whether numbers are written as without a layout. Original texts can have groups all the same.
    package var isTrivial: Bool { !hasComma && group == .none }

    package var notation: Notation {
        let parameter =
            digits.code == Notation.fixed(0).code ? digits.parameter : digits == .pointZero ? NumberLayout.pointZeroParameter : 0
        return Notation(code: NumberLayout.firstCode + (hasComma ? 1 : 0) + group.rawValue << 1, parameter: parameter)
    }

    /// Returns nil for notations that are not layouts of numbers.
    package init?(_ notation: Notation) {
        guard notation.code >= NumberLayout.firstCode, notation.code < NumberLayout.firstCode + 16,
            let group = Group(rawValue: (notation.code - NumberLayout.firstCode) >> 1)
        else { return nil }
        hasComma = notation.code & 1 == 1
        self.group = group
        // The mark is not a separator too.
        guard group != (hasComma ? .comma : .point) else { return nil }
        switch notation.parameter {
        case 0: digits = .plain
        case 1...22: digits = .fixed(notation.parameter)
        case NumberLayout.pointZeroParameter: digits = .pointZero
        default: return nil
        }
    }

    /// A number in this layout, which names it in schemas: `1.234,00` for two digits after a comma, `1.234,5` for any number of them.
    package var example: String {
        let separator = String(describing: group.text), mark = hasComma ? "," : "."
        let whole = group == .none ? "1234" : "1\(separator)234"
        switch digits {
        case .plain: return whole + mark + "5"
        case .pointZero: return whole + mark + "0"
        default: return whole + mark + String(repeating: "0", count: Int(digits.parameter))
        }
    }

    /// Returns the layout whose `example` this is, or nil.
    package init?(example text: String) {
        for hasComma in [false, true] {
            for group in Group.allCases where group != (hasComma ? .comma : .point) {
                for digits in [Notation.plain, .pointZero] + (2...22).map({ Notation.fixed($0) }) {
                    let layout = NumberLayout(hasComma: hasComma, group: group, digits: digits)
                    if layout.example == text {
                        self = layout
                        return
                    }
                }
            }
        }
        return nil
    }
}

extension Notation {
    /// The notation without a decimal comma and without groups, as in queries and JSON. Other notations are returned unchanged.
    package var plainNumber: Notation { NumberLayout(self)?.digits ?? self }
    /// The notation in which values are shown and written to JSON.
    package var standard: Notation { standardDate.plainNumber }
}
