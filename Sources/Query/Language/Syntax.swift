import FirnTable

/// A position in the query's text, in bytes. Used for error messages only and not part of the meaning of a tree, so all positions are
/// equal.
package struct TextPosition: Hashable, Sendable {
    package var offset: Int
    package init(_ offset: Int = 0) { self.offset = offset }
    package static func == (a: TextPosition, b: TextPosition) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

/// A part of the query's text as written. Like positions, it is used for error messages only, so all are equal.
package struct SourceText: Hashable, Sendable {
    package let text: String?
    package init(_ text: String? = nil) { self.text = text }
    package static func == (a: SourceText, b: SourceText) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

/// A parsed query: the predicate, then the descriptors, which are applied left to right. `description` parses to the same tree.
package struct QuerySyntax: Hashable, Sendable {
    package var predicate: PredicateSyntax
    package var descriptors: [DescriptorSyntax]

    package init(_ predicate: PredicateSyntax, descriptors: [DescriptorSyntax] = []) {
        self.predicate = predicate
        self.descriptors = descriptors
    }
}

package indirect enum PredicateSyntax: Hashable, Sendable {
    /// TRUEPREDICATE or FALSEPREDICATE.
    case constant(Bool)
    case not(PredicateSyntax)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case comparison(ComparisonSyntax)
}

package struct ComparisonSyntax: Hashable, Sendable {
    package var left: ExpressionSyntax
    package var comparator: Comparator
    /// Whether `[c]` is set: text is compared without regard to case.
    package var ignoresCase: Bool
    /// Whether `[d]` is set: text is compared without accents and other marks.
    package var ignoresMarks: Bool
    package var right: ExpressionSyntax
    /// The position of the operator.
    package var position: TextPosition

    package init(
        _ left: ExpressionSyntax, _ comparator: Comparator, ignoresCase: Bool = false, ignoresMarks: Bool = false,
        _ right: ExpressionSyntax, at position: TextPosition = .init()
    ) {
        self.left = left
        self.comparator = comparator
        self.ignoresCase = ignoresCase
        self.ignoresMarks = ignoresMarks
        self.right = right
        self.position = position
    }

    /// The folding of the text comparison.
    var folding: Folding { Folding(case: ignoresCase, marks: ignoresMarks) }
}

package enum Comparator: String, Hashable, Sendable, CaseIterable {
    case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
    case beginsWith = "BEGINSWITH", endsWith = "ENDSWITH", contains = "CONTAINS", like = "LIKE"
    case isIn = "IN", between = "BETWEEN"
    /// A search for words in text; a test whether a point is within a shape.
    case text = "TEXT", geoWithin = "GEOWITHIN"

    package var isOrder: Bool { self == .less || self == .lessOrEqual || self == .greater || self == .greaterOrEqual }
    package var isEquality: Bool { self == .equal || self == .notEqual }
    /// Whether `[c]` and `[d]` are allowed.
    package var folds: Bool { isTextual || isEquality || self == .isIn }
    package var isTextual: Bool { self == .beginsWith || self == .endsWith || self == .contains || self == .like }
    /// The comparator for exchanged sides.
    package var flipped: Comparator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }
}

package enum ArithmeticOperator: String, Hashable, Sendable {
    case add = "+", subtract = "-", multiply = "*", divide = "/"
    var binds: Int { self == .add || self == .subtract ? 1 : 2 }
}

package enum Quantifier: String, Hashable, Sendable {
    case any = "ANY", all = "ALL", none = "NONE"
}

package indirect enum ExpressionSyntax: Hashable, Sendable {
    case constant(ConstantSyntax)
    /// `$0`.
    case argument(Int, TextPosition)
    case path(PathSyntax)
    /// `{1, 2}`, optionally with a quantifier.
    case list(Quantifier?, [ExpressionSyntax], TextPosition)
    case arithmetic(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax)
    /// `SUBQUERY(toys, $x, $x.price > 5).@count`.
    case subquery(SubquerySyntax)
    /// `obj('Toy', 'ball')`, `L2:5`.
    case object(ObjectSyntax, TextPosition)
    /// `geoCircle([5, 50], 0.1)`.
    case geo(GeoSyntax, TextPosition)

    /// The position where the expression begins.
    var position: Int {
        switch self {
        case .constant(let constant): constant.position.offset
        case .argument(_, let position), .list(_, _, let position): position.offset
        case .path(let path): path.position.offset
        case .arithmetic(_, let left, _): left.position
        case .subquery(let subquery): subquery.position.offset
        case .object(_, let position), .geo(_, let position): position.offset
        }
    }
}

/// The number of elements of a collection that match a predicate.
package struct SubquerySyntax: Hashable, Sendable {
    package var collection: PathSyntax
    /// The name of the variable, including its `$`. Paths of the predicate begin with it, or with a property of the elements.
    package var variable: String
    package var predicate: PredicateSyntax
    package var position: TextPosition

    package init(_ collection: PathSyntax, _ variable: String, _ predicate: PredicateSyntax, at position: TextPosition = .init()) {
        self.collection = collection
        self.variable = variable
        self.predicate = predicate
        self.position = position
    }
}

/// A row of a type: by its primary key (a constant or an argument), or by the number of the type in the schema and the row id.
package indirect enum ObjectSyntax: Hashable, Sendable {
    case key(type: String, ExpressionSyntax)
    case row(type: Int, Int64)
}

/// A shape on the globe as written. Its numbers may be arguments.
package struct GeoSyntax: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case box = "geoBox", circle = "geoCircle", polygon = "geoPolygon"
    }
    package var kind: Kind
    /// For a box: one ring of two corners; for a circle: one ring of its centre; for a polygon: its outline, then holes. Points are
    /// [longitude, latitude], optionally with an altitude.
    package var rings: [[[ExpressionSyntax]]]
    /// The radius of a circle, in radians.
    package var radius: ExpressionSyntax?

    package init(_ kind: Kind, _ rings: [[[ExpressionSyntax]]], radius: ExpressionSyntax? = nil) {
        self.kind = kind
        self.rings = rings
        self.radius = radius
    }
}

package struct ConstantSyntax: Hashable, Sendable {
    package var value: Value
    /// The type of the row that a link leads to, if it is known. Not part of the description.
    package var target: String?
    /// The digits of a number that has a point or exponent or is too large for an int. Decimal columns use them exactly.
    package var digits: String?
    /// The source text of a date, for messages.
    package var written = SourceText()
    package var position: TextPosition

    package init(_ value: Value, digits: String? = nil, at position: TextPosition = .init()) {
        self.value = value
        self.digits = digits
        self.position = position
    }
}

package struct PathSyntax: Hashable, Sendable {
    package var quantifier: Quantifier?
    package var steps: [PathStep]
    package var position: TextPosition

    package init(quantifier: Quantifier? = nil, _ steps: [PathStep], at position: TextPosition = .init()) {
        self.quantifier = quantifier
        self.steps = steps
        self.position = position
    }
}

package enum PathStep: Hashable, Sendable {
    case name(String, TextPosition = .init())
    /// `[3]`, `[FIRST]`, `[LAST]`, `[*]`.
    case index(Int), first, last, every
    /// `['key']`.
    case key(String)
    /// `[$0]`: an index or a key.
    case argument(Int)
    /// `@count`, `@size`, `[SIZE]`.
    case count
    case minimum, maximum, sum, average
    /// `@keys`, `@values`, `@type`.
    case keys, values, type
    /// `@links`: the rows that link to a row. The names of their type and of the linking column follow, or `@count`.
    case links
    /// `%K`, `$K0`: the steps of a path that is given as an argument.
    case path(Int, TextPosition = .init())
    /// `$x` at the beginning of a path within SUBQUERY: the element.
    case variable(String)

    package var isAggregate: Bool { self == .minimum || self == .maximum || self == .sum || self == .average }
}

package enum DescriptorSyntax: Hashable, Sendable {
    case sort([SortKeySyntax])
    case distinct([PathSyntax])
    case limit(Int)
    /// The number of rows to skip. Requests have it; there is no syntax for it in a query's text.
    case offset(Int)
}

package struct SortKeySyntax: Hashable, Sendable {
    package var path: PathSyntax
    package var ascending: Bool

    package init(_ path: PathSyntax, ascending: Bool) {
        self.path = path
        self.ascending = ascending
    }
}

extension QuerySyntax {
    /// The row of links to objects that no table has: queries that compare with one are refused, and it is in no list.
    package static let unmanagedRow = Int64.min
}
