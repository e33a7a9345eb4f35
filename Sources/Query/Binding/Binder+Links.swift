import FirnBytes
import FirnTable

extension Binder {
    /// Returns the table of a type that links lead to, or nil if it is not available.
    mutating func related(_ name: String) throws(QueryError) -> (any Table)? {
        if let known = others[name] { return known }
        let found: (any Table)?
        do throws(Damage) { found = try table.related(name) ?? (name == type.name ? table : nil) } catch {
            throw self.error("the rows of \(name) cannot be read: \(error.what)", at: 0)
        }
        others[name] = .some(found)
        return found
    }

    /// Extends a path from links (one for each row, or collections of them) to a column of their targets.
    mutating func follow(link name: String, _ trail: inout Trail, offset: Int) throws(QueryError) {
        let target = try target(of: trail, offset)
        guard let column = names.column(name, in: target.type) else {
            guard let inverse = inverse(name, of: target.type.name) else { throw unknown(name, in: target.type, at: offset) }
            return try turn(inverse.typeName, inverse.column, &trail, offset)
        }
        if trail.type.isCollection { trail.enter() }
        var type = target.type.columns[column].type
        type.isOptional = true
        trail.follows.append((target, column))
        trail.add(.follow(trail.follows.count - 1), type)
        trail.name = "\(target.type.name).\(name)"
        trail.description = BoundPath.Description(target.type.columns[column])
    }

    private mutating func target(of trail: Trail, _ offset: Int) throws(QueryError) -> any Table {
        guard let name = trail.type.target, schema[name] != nil else {
            throw error("the type that \"\(trail.name)\" links to is not known", at: offset)
        }
        guard let table = try related(name) else {
            throw error("the rows of \"\(name)\", which \"\(trail.name)\" links to, are not available here", at: offset)
        }
        return table
    }

    // MARK: Backlinks

    /// Binds `@links.Type.column` and `@links.@count`, beginning at the step after `@links`.
    mutating func links(_ trail: inout Trail, _ rest: inout ArraySlice<PathStep>, _ position: Int) throws(QueryError) {
        guard trail.type.kind == .link else {
            throw error("\"\(trail.name)\" is not a link or an object, so it has no @links", at: position)
        }
        if rest.first == .count {
            rest.removeFirst()
            return try countLinks(&trail)
        }
        guard case .name(let typeName, let position)? = rest.popFirst() else {
            throw error("@links must be followed by a type and its linking column, or by @count", at: position)
        }
        guard let source = schema[typeName] else {
            throw QueryError(
                .binding, "no type \"\(typeName)\"", in: text, at: position.offset,
                suggestion: Suggestion.nearest(to: typeName, among: schema.types.map(\.name)).map { "\"\($0)\"" },
                hint: "the types are \(schema.types.map(\.name).joined(separator: ", "))")
        }
        guard case .name(let column, let columnPosition)? = rest.popFirst() else {
            throw error("@links.\(typeName) must be followed by the name of the linking column", at: position.offset)
        }
        guard names.column(column, in: source) != nil else { throw unknown(column, in: source, at: columnPosition.offset) }
        try turn(typeName, column, &trail, columnPosition.offset)
    }

    /// Extends a path from links to the lists of rows of a type that link to their targets through a column.
    private mutating func turn(_ typeName: String, _ column: String, _ trail: inout Trail, _ offset: Int) throws(QueryError) {
        guard let source = schema[typeName], let index = names.column(column, in: source),
            source.columns[index].type.leads(to: trail.type.target)
        else {
            throw error("\"\(typeName).\(column)\" does not link to \(trail.type.target ?? trail.name)", at: offset)
        }
        guard let table = try related(typeName) else {
            throw error("the rows of \"\(typeName)\", which link to \"\(trail.name)\", are not available here", at: offset)
        }
        try resolve(&trail)
        trail.description = BoundPath.Description()
        trail.add(.inverse(slots.backlinks(table, index)), ColumnType(.link, collection: .list, target: typeName))
        trail.name = "\(typeName).\(source.columns[index].name)"
    }

    /// Binds `@links.@count`, which counts the links of all columns of all types.
    private mutating func countLinks(_ trail: inout Trail) throws(QueryError) {
        var numbers: [Int] = []
        for source in schema.types {
            for (i, column) in source.columns.enumerated() where column.type.leads(to: trail.type.target) {
                // A type whose rows are not available contains no links.
                if let table = try related(source.name) { numbers.append(slots.backlinks(table, i)) }
            }
        }
        try resolve(&trail)
        trail.add(.inverseCount(numbers), ColumnType(.int))
    }

    /// Makes links to missing rows null.
    private mutating func resolve(_ trail: inout Trail) throws(QueryError) {
        if trail.type.isCollection { trail.enter() }
        guard !trail.steps.isEmpty || trail.isColumn, let target = trail.type.target, let table = try related(target) else { return }
        trail.add(.resolve(slots.hop(table, [])), trail.type)
    }

    /// Returns the inverse with this name that rows of the type have.
    func inverse(_ name: String, of typeName: String) -> QueryRequest.Inverse? {
        names.inverses.first { $0.name == name && isInverse($0, of: typeName) }
    }

    func isInverse(_ inverse: QueryRequest.Inverse, of typeName: String) -> Bool {
        guard let source = schema[inverse.typeName], let index = source.index(of: inverse.column) else { return false }
        return source.columns[index].type.leads(to: typeName)
    }

    // MARK: Dangling links

    /// Returns the path with links to missing rows made null, if the target's rows are available.
    mutating func resolved(_ path: BoundPath) -> BoundPath {
        let isOwn = path.steps.isEmpty && slots.paths[path.slot].isEmpty
        guard path.type.kind == .link, !path.type.isCollection, !isOwn, let target = path.type.target, let table = try? related(target)
        else { return path }
        var path = path
        path.steps.append(.resolve(slots.hop(table, [])))
        path.type.isOptional = true
        return path
    }

    mutating func resolved(_ operand: Operand) -> Operand {
        if case .path(let path) = operand { .path(resolved(path)) } else { operand }
    }

    /// Checks the type of a link constant. A link to a missing row becomes one that equals nothing: neither null nor another dangling link.
    mutating func checked(_ constant: ConstantSyntax, against operand: Operand) throws(QueryError) -> ConstantSyntax {
        if case .link(let rowID) = constant.value, rowID != QuerySyntax.unmanagedRow, let target = constant.target, operand.kind == .any {
            var mixed = constant
            mixed.value = Value(linkTo: target, rowID)
            return mixed
        }
        if let known = constant.target, let wanted = operand.type.target, known != wanted {
            throw error(
                "cannot compare: one side links to \(wanted), the other is a \(known)", at: constant.position.offset,
                expected: "a \(wanted)")
        }
        var none = constant
        none.value = .link(-1)
        if case .link(QuerySyntax.unmanagedRow) = constant.value { return none }
        guard case .link(let rowID) = constant.value, case .path(let path) = operand, let target = path.type.target,
            let table = try? related(target),
            var rows = try? LinkedColumn(table, path: []), let isLive = try? rows.isLive(rowID), !isLive
        else { return constant }
        return none
    }
}

extension ColumnType {
    /// Whether the column holds links to rows of a type, or is the owner's column of an embedded type.
    fileprivate func leads(to name: String?) -> Bool { (kind == .link || kind == .embedded) && target == name && name != nil }
}
