import FirnBytes
import FirnTable

extension QuerySyntax: CustomStringConvertible {
    package var description: String {
        ([predicate.description] + descriptors.map(\.description).filter { !$0.isEmpty }).joined(separator: " ")
    }
}

extension PredicateSyntax: CustomStringConvertible {
    package var description: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(let inner): "!(\(inner))"
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : parts.map(\.nested).joined(separator: " AND ")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : parts.map(\.nested).joined(separator: " OR ")
        case .comparison(let comparison): comparison.description
        }
    }

    private var nested: String {
        switch self {
        case .and, .or: "(\(description))"
        default: description
        }
    }
}

extension ComparisonSyntax: CustomStringConvertible {
    package var description: String { "\(left) \(comparator.rawValue)\(folding) \(right)" }
}

extension ExpressionSyntax: CustomStringConvertible {
    package var description: String {
        switch self {
        case .constant(let constant): constant.description
        case .argument(let index, _): "$\(index)"
        case .path(let path): path.description
        case .list(let quantifier, let parts, _):
            (quantifier.map { $0.rawValue + " " } ?? "") + "{" + parts.map(\.description).joined(separator: ", ") + "}"
        case .subquery(let subquery): "SUBQUERY(\(subquery.collection), \(subquery.variable), \(subquery.predicate)).@count"
        case .object(.key(let type, let key), _): "obj(\(ConstantSyntax.quoted(type)), \(key))"
        case .object(.row(let type, let row), _): "L\(type):\(row)"
        case .geo(let shape, _): shape.description
        case .arithmetic(let op, let left, let right):
            "\(left.wrapped(below: op.binds)) \(op.rawValue) \(right.wrapped(below: op.binds + 1))"
        }
    }

    private func wrapped(below level: Int) -> String {
        if case .arithmetic(let op, _, _) = self, op.binds < level { return "(\(description))" }
        return description
    }
}

extension GeoSyntax: CustomStringConvertible {
    package var description: String {
        func point(_ parts: [ExpressionSyntax]) -> String { "[" + parts.map(\.description).joined(separator: ", ") + "]" }
        func ring(_ points: [[ExpressionSyntax]]) -> String { points.map(point).joined(separator: ", ") }
        let inside =
            switch kind {
            case .box: ring(rings.first ?? [])
            case .circle: ring(rings.first ?? []) + (radius.map { ", \($0)" } ?? "")
            case .polygon: rings.map { "{" + ring($0) + "}" }.joined(separator: ", ")
            }
        return "\(kind.rawValue)(\(inside))"
    }
}

extension PathSyntax: CustomStringConvertible {
    package var description: String {
        var out = quantifier.map { $0.rawValue + " " } ?? ""
        for (i, step) in steps.enumerated() {
            switch step {
            case .name(let name, _): out += (i > 0 ? "." : "") + PathSyntax.quoted(name)
            case .index(let index): out += "[\(index)]"
            case .first: out += "[FIRST]"
            case .last: out += "[LAST]"
            case .every: out += "[*]"
            case .key(let key): out += "[\(ConstantSyntax.quoted(key))]"
            case .argument(let index): out += "[$\(index)]"
            case .count: out += ".@count"
            case .minimum: out += ".@min"
            case .maximum: out += ".@max"
            case .sum: out += ".@sum"
            case .average: out += ".@avg"
            case .keys: out += ".@keys"
            case .values: out += ".@values"
            case .type: out += ".@type"
            case .links: out += (i > 0 ? "." : "") + "@links"
            case .path(let index, _): out += (i > 0 ? "." : "") + "$K\(index)"
            case .variable(let name): out += name
            }
        }
        return out
    }

    /// Words with a meaning of their own somewhere in a query.
    private static let words: Set<String> = Parser.reserved.union([
        "bin", "binary", "uuid", "oid", "sort", "distinct", "limit", "beginswith", "endswith", "contains", "like", "in", "between", "text",
        "geowithin",
        "fulltext", "decimal", "asc", "desc", "ascending", "descending", "self",
    ])

    /// Returns a name as it must be written in a query: in back-quotes unless the bare name parses as the same name.
    package static func quoted(_ name: String) -> String {
        let plain =
            name.utf8.first.map { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == 95 || $0 >= 128 } ?? false
            && name.utf8.allSatisfy {
                ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 >= 48 && $0 <= 57 || $0 == 95 || $0 == 45 || $0 == 36 || $0 >= 128
            }
        if plain, !words.contains(name.lowercased()), !looksLikeLiteral(name) { return name }
        return inBackQuotes(name)
    }

    /// Quotes byte by byte, as the lexer reads, because a back-quote and a combining mark form one character.
    static func inBackQuotes(_ name: String) -> String {
        let mark = UInt8(ascii: "`")
        return String(decoding: [mark] + name.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] } + [mark], as: UTF8.self)
    }
}

extension PathSyntax {
    /// Whether a name may be read as a literal: `O12` and `L3` are rows, `T5` may begin a time and `B64` a binary.
    private static func looksLikeLiteral(_ name: String) -> Bool {
        guard let first = name.utf8.first, "OLTB".utf8.contains(first), let second = name.utf8.dropFirst().first else { return false }
        return second >= 48 && second <= 57 || second == 45
    }
}

extension ConstantSyntax: CustomStringConvertible {
    package var description: String {
        if let digits { return digits }
        switch value {
        case .null: return "NULL"
        case .bool(let x): return x ? "true" : "false"
        case .int(let x): return "\(x)"
        case .float(let x): return x.isFinite ? "\(x)f" : ConstantSyntax.special(Double(x))
        case .double(let x): return x.isFinite ? "\(x)" : ConstantSyntax.special(x)
        case .string(let x): return ConstantSyntax.quoted(x)
        case .data(let x): return "bin(B64\"\(Base64.text(x))\")"
        case .date(let x):
            if let text = written.text { return text }
            let before = x.seconds < 0 && x.nanoseconds > 0
            return before ? "T\(x.seconds + 1):\(x.nanoseconds - 1_000_000_000)" : "T\(x.seconds):\(x.nanoseconds)"
        case .decimal(let x): return "decimal(\(x))"
        case .objectID(let x): return "oid(\(x.objectIDText))"
        case .uuid(let x): return "uuid(\(x.uuidText))"
        case .link(let x): return "O\(x)"
        case .list(let x), .set(let x): return "{" + x.map { ConstantSyntax($0).description }.joined(separator: ", ") + "}"
        case .map(let x), .object(let x):
            return "{" + x.map { ConstantSyntax.quoted($0.key) + ": " + ConstantSyntax($0.value).description }.joined(separator: ", ") + "}"
        }
    }

    private static func special(_ x: Double) -> String { x.isNaN ? (x.sign == .minus ? "-nan" : "nan") : x < 0 ? "-inf" : "inf" }

    static func quoted(_ text: String) -> String {
        var out = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": out += "\\'"
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case "\0": out += "\\0"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "'"
    }
}

extension DescriptorSyntax: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sort(let keys): "SORT(" + keys.map { "\($0.path) \($0.ascending ? "ASC" : "DESC")" }.joined(separator: ", ") + ")"
        case .distinct(let paths): "DISTINCT(" + paths.map(\.description).joined(separator: ", ") + ")"
        case .limit(let count): "LIMIT(\(count))"
        case .offset: ""
        }
    }
}
