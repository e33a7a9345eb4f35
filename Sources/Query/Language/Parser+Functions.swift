import FirnTable

// Function-like syntax: subqueries, objects, shapes.
extension Parser {
    /// `SUBQUERY(collection, $x, predicate).@count`.
    mutating func subquery(_ start: TextPosition) throws(QueryError) -> ExpressionSyntax {
        advance()
        try enter()
        defer { leave() }
        try expect("(", "\"(\"")
        let collection = try path(quantifier: nil)
        try expect(",", "\",\" and a variable such as $x")
        guard case .word(let variable) = peek, variable.hasPrefix("$"), variable.utf8.count > 1, !Parser.isPathArgument(variable) else {
            throw unexpected("a variable, such as $x")
        }
        guard !variables.contains(variable) else {
            throw QueryError(
                .syntax, "the variable \"\(variable)\" belongs to an enclosing SUBQUERY", at: position, expected: "another name")
        }
        advance()
        try expect(",", "\",\" and a predicate")
        variables.append(variable)
        let first = position
        let node = try or()
        let predicate = try predicate(node, from: first)
        variables.removeLast()
        try expect(")", "\")\"")
        try expect(".", "\".@count\"")
        guard peek == .postfix("count") || peek == .postfix("size") else {
            throw unexpected("@count: the number of elements that match the predicate", among: ["count", "size"])
        }
        advance()
        return .subquery(SubquerySyntax(collection, variable, predicate, at: start))
    }

    /// Whether the word, such as `$K0`, is a path given as an argument.
    static func isPathArgument(_ word: String) -> Bool {
        word.hasPrefix("$K") && word.utf8.count > 2 && word.utf8.dropFirst(2).allSatisfy { $0 >= 48 && $0 <= 57 }
    }

    /// Parses a property, or the variable of the enclosing SUBQUERY. There, a property whose name begins with `$` is in back-quotes.
    mutating func firstStep() throws(QueryError) -> PathStep {
        guard case .word(let word) = peek, word.hasPrefix("$"), !Parser.isPathArgument(word) else { return try nameStep() }
        // Outside of subqueries it is a name like others.
        guard let variable = variables.last else { return try nameStep() }
        guard word == variable else {
            let why =
                variables.contains(word)
                ? "\"\(word)\" belongs to an outer SUBQUERY: a predicate can only use the elements of its own"
                : "there is no variable \"\(word)\" here"
            throw QueryError(.syntax, why, at: position, expected: "\(variable) or a property of the elements")
        }
        advance()
        return .variable(word)
    }

    /// Parses `obj('Class', key)`.
    mutating func object(_ start: TextPosition) throws(QueryError) -> ExpressionSyntax {
        advance()
        try expect("(", "\"(\"")
        guard case .string(let name) = peek else { throw unexpected("the name of a class in quotes") }
        advance()
        try expect(",", "\",\" and a primary key")
        let key = try constantOrArgument()
        try expect(")", "\")\"")
        return .object(.key(type: String(decoding: name, as: UTF8.self), key), start)
    }

    private mutating func constantOrArgument() throws(QueryError) -> ExpressionSyntax {
        let start = TextPosition(position)
        if let index = takeArgument() { return .argument(index, start) }
        return .constant(try constant())
    }

    /// Parses `O12`, a row of the type that the other side links to, or `L3:12`, a row of the type with that number in the schema. Nil for
    /// names.
    mutating func rowLiteral(_ start: TextPosition) throws(QueryError) -> ExpressionSyntax? {
        guard case .word(let word) = peek, let letter = word.utf8.first, letter == UInt8(ascii: "O") || letter == UInt8(ascii: "L"),
            word.utf8.count > 1,
            word.utf8.dropFirst().allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(word.dropFirst())
        else { return nil }
        if letter == UInt8(ascii: "O") {
            if peek(1) == .symbol(".") || peek(1) == .symbol("["), !tokens[at + 1].spaced { return nil }
            advance()
            return .constant(ConstantSyntax(.link(number), at: start))
        }
        guard peek(1) == .symbol(":"), number < 1 << 31, case .number(let digits) = peek(2), let row = Int64(digits) else { return nil }
        for _ in 0..<3 { advance() }
        return .object(.row(type: Int(number), row), start)
    }

    // MARK: Shapes

    /// Parses `geoBox([lon, lat], [lon, lat])`, `geoCircle([lon, lat], radius)`, `geoPolygon({[lon, lat], …}, {hole…}…)`.
    mutating func shape(_ kind: GeoSyntax.Kind, _ start: TextPosition) throws(QueryError) -> ExpressionSyntax {
        advance()
        try expect("(", "\"(\"")
        var shape = GeoSyntax(kind, [])
        switch kind {
        case .box:
            let corner = try point()
            try expect(",", "\",\" and the opposite corner")
            shape.rings = [[corner, try point()]]
        case .circle:
            shape.rings = [[try point()]]
            try expect(",", "\",\" and a radius in radians")
            shape.radius = try constantOrArgument()
        case .polygon:
            repeat {
                try expect("{", "a ring of points, such as {[0, 0], [1, 0], [1, 1], [0, 0]}")
                var ring: [[ExpressionSyntax]] = []
                repeat { ring.append(try point()) } while take(",")
                try expect("}", "\",\" or \"}\"")
                shape.rings.append(ring)
            } while take(",")
        }
        try expect(")", "\")\"")
        return .geo(shape, start)
    }

    private mutating func point() throws(QueryError) -> [ExpressionSyntax] {
        let start = position
        try expect("[", "a point, such as [longitude, latitude]")
        var parts: [ExpressionSyntax] = []
        repeat { parts.append(try constantOrArgument()) } while take(",")
        try expect("]", "\",\" or \"]\"")
        guard parts.count == 2 || parts.count == 3 else {
            throw QueryError(.syntax, "a point has \(parts.count) numbers", at: start, expected: "[longitude, latitude]")
        }
        return parts
    }
}
