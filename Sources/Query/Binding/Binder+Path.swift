import FirnBytes
import FirnTable

extension Binder {
    /// A path that is being bound: the steps so far, with the type after each step.
    struct Trail {
        var steps: [(step: BoundPath.Step, type: ColumnType)] = []
        /// The entries that `.follow` steps refer to: a table, and the column from which the following steps continue.
        var follows: [(table: any Table, column: Int)] = []
        var type: ColumnType
        var isMany = false
        /// Whether the path begins with a column, not with the rows themselves.
        var isColumn: Bool
        /// The current end of the path as messages name it, such as `Dog.toys`.
        var name: String
        /// How the current column describes its values.
        var description = BoundPath.Description()

        mutating func add(_ step: BoundPath.Step, _ type: ColumnType) {
            steps.append((step, type))
            self.type = type
        }

        mutating func enter() {
            add(.enter, type.element)
            isMany = true
        }
    }

    mutating func bind(_ path: PathSyntax) throws(QueryError) -> BoundPath {
        var rest = try expanded(path.steps)[...]
        // nil: the rows themselves.
        var root: Int?
        if case .variable? = rest.first {
            rest.removeFirst()
            guard !rest.isEmpty || !isDetached else {
                throw error("embedded objects cannot be compared: compare one of their properties", at: path.position.offset)
            }
            // The variable without further steps is the row itself.
            if rest.isEmpty {
                return compressed(nil, Trail(type: ColumnType(.link, target: type.name), isColumn: false, name: type.name), path)
            }
        }
        if case .name(let name, let position)? = rest.first {
            root = column(name)
            if root == nil, name.lowercased() == "self" {
                root = type.index(of: "self")
                rest.removeFirst()
                if root == nil, case .name(let next, _)? = rest.first, let column = column(next) {
                    root = column
                    rest.removeFirst()
                }
            } else if root != nil {
                rest.removeFirst()
            } else if inverse(name, of: type.name) == nil {
                throw unknown(name, in: type, at: position.offset)
            }
        } else if rest.first != .links || isDetached {
            throw error("a path must begin with a property", at: path.position.offset)
        }
        var trail = Trail(
            type: root.map { type.columns[$0].type } ?? ColumnType(.link, target: type.name), isColumn: root != nil,
            name: root.map { "\(type.name).\(type.columns[$0].name)" } ?? type.name)
        if let root { trail.description = BoundPath.Description(type.columns[root]) }
        while let step = rest.popFirst() {
            if step.isAggregate {
                try aggregate(step, &trail, &rest, path.position.offset)
            } else if step == .links {
                try links(&trail, &rest, path.position.offset)
            } else {
                try follow(step, &trail, path.position.offset)
            }
        }
        unwrap(&trail)
        guard trail.steps.count <= 64 else { throw error("a path has more than 64 steps", at: path.position.offset) }
        return compressed(root, trail, path)
    }

    /// Returns the steps with path arguments replaced by the steps that they contain.
    private func expanded(_ steps: [PathStep]) throws(QueryError) -> [PathStep] {
        guard steps.contains(where: { if case .path = $0 { true } else { false } }) else { return steps }
        var out: [PathStep] = []
        for step in steps {
            guard case .path(let index, let position) = step else {
                out.append(step)
                continue
            }
            guard case .string(let text) = try argument(index, at: position.offset) else {
                throw error("argument \(index) is not the text of a path", at: position.offset)
            }
            let path: PathSyntax
            do throws(QueryError) { path = try self.path(text) } catch {
                throw self.error(
                    "argument \(index) (\"\(text)\") is not a path: \(error.message)", at: position.offset, expected: error.expected)
            }
            // Errors in these steps are reported at the position of the argument.
            for step in path.steps { if case .name(let name, _) = step { out.append(.name(name, position)) } else { out.append(step) } }
        }
        return out
    }

    func unknown(_ name: String, in type: TypeSchema, at position: Int) -> QueryError {
        let inCode = names.columns[type.name] ?? [:]
        let known =
            type.visible.columns.map(\.name) + inCode.keys.sorted()
            + names.inverses.filter { isInverse($0, of: type.name) }.map(\.name)
        return QueryError(
            .binding,
            name.hasPrefix("$")
                ? "there is no variable \"\(name)\" here, and no such column in \(type.name)" : "no column \"\(name)\" in \(type.name)",
            in: text, at: position,
            suggestion: Suggestion.nearest(to: name, among: known).map { "\"\($0)\"" }, hint: "its columns are \(known.listed())")
    }

    /// Follows the only field of an object that stands for a collection within a collection: paths need not name it.
    private func unwrap(_ trail: inout Trail) {
        while !trail.type.isCollection, trail.type.kind == .embedded, let target = trail.type.target.flatMap({ schema[$0] }),
            target.isCollectionWithinCollection
        {
            var field = target.columns[0].type
            field.isOptional = field.isOptional || trail.type.isOptional
            trail.add(.field(0), field)
            trail.description = BoundPath.Description(target.columns[0])
        }
    }

    private mutating func follow(_ step: PathStep, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        if case .name("value", _) = step {} else { unwrap(&trail) }
        let type = trail.type, isAny = type.kind == .any && !type.isCollection
        switch step {
        case .name(let name, let position): try follow(name: name, &trail, position.offset)
        case .key(let key):
            if isAny { return trail.add(try member(key), ColumnType(.any, optional: true)) }
            // In one file an object, in another a map: both read the same document.
            if type.kind == .embedded, !type.isCollection { return try follow(name: key, &trail, position) }
            guard type.collection == .map else { throw error("Property \"\(trail.name)\" does not support key \"\(key)\"", at: position) }
            trail.add(.key(Array(key.utf8)), optional(type.element))
        case .index(let index): try pick(.at(index), "\(index)", &trail, position)
        case .first: try pick(.first, "FIRST", &trail, position)
        case .last: try pick(.last, "LAST", &trail, position)
        case .argument(let index):
            switch try argument(index, at: position) {
            case .int(let value) where value >= 0: try follow(.index(Int(value)), &trail, position)
            case .string(let key): try follow(.key(key), &trail, position)
            default: throw error("argument $\(index) is neither an index nor a key", at: position)
            }
        case .every:
            if isAny {
                trail.add(.anyEnter, ColumnType(.any, optional: true))
                trail.isMany = true
            } else {
                guard type.isCollection else { throw error("Property \"\(trail.name)\" is not a collection", at: position) }
                trail.enter()
            }
        case .count:
            trail.description = BoundPath.Description()
            if case .inverse(let number)? = trail.steps.last?.step {
                // Counts without building the lists.
                trail.steps.removeLast()
                trail.add(.inverseCount([number]), ColumnType(.int))
            } else if type.isCollection || type.kind == .string || type.kind == .data {
                trail.add(.count, ColumnType(.int, optional: !type.isCollection))
            } else {
                guard isAny else { throw error("Property \"\(trail.name)\" has no property \"@count\"", at: position) }
                trail.add(.anyCount, ColumnType(.any, optional: true))
            }
        case .keys, .values:
            guard type.collection == .map else {
                throw error(
                    "Property \"\(trail.name)\" is not a dictionary: it has no \(step == .keys ? "@keys" : "@values")", at: position)
            }
            if step == .values { return trail.enter() }
            trail.description = BoundPath.Description()
            trail.add(.keys, ColumnType(.string))
            trail.isMany = true
        case .type: throw error("@type can only be compared with the name of a type, such as x.@type == 'int'", at: position)
        case .minimum, .maximum, .sum, .average, .links:
            trap("aggregates and @links must be bound together with the names after them")
        case .variable: throw error("a variable is allowed only at the beginning of a path", at: position)
        case .path: trap("path arguments must be expanded first")
        }
    }

    private func optional(_ type: ColumnType) -> ColumnType {
        var type = type
        type.isOptional = true
        return type
    }

    private func pick(_ pick: BoundPath.Pick, _ name: String, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        if trail.type.kind == .any, !trail.type.isCollection { return trail.add(.anyPick(pick), ColumnType(.any, optional: true)) }
        guard trail.type.collection == .list else {
            throw error("Property \"\(trail.name)\" does not support index \"\(name)\"", at: position)
        }
        trail.add(.pick(pick), optional(trail.type.element))
    }

    private mutating func follow(name: String, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        let type = trail.type
        if type.collection == .map { return trail.add(.key(Array(name.utf8)), optional(type.element)) }
        if type.isCollection, name == "length", type.kind == .string || type.kind == .data {
            trail.enter()
            trail.description = BoundPath.Description()
            return trail.add(.length, ColumnType(.int))
        }
        switch type.kind {
        case .embedded:
            guard let target = type.target.flatMap({ schema[$0] }) else {
                throw error("the type of \"\(trail.name)\" is not known", at: position)
            }
            if target.isCollectionWithinCollection, names.column(name, in: target) == nil {
                if type.isCollection { trail.enter() }
                unwrap(&trail)
                return try follow(name: name, &trail, position)
            }
            guard let index = names.column(name, in: target) else { throw unknown(name, in: target, at: position) }
            if type.isCollection { trail.enter() }
            var field = target.columns[index].type
            field.isOptional = field.isOptional || trail.type.isOptional
            trail.add(.field(index), field)
            trail.description = BoundPath.Description(target.columns[index])
            trail.name = "\(target.name).\(name)"
        case .any where !type.isCollection: trail.add(try member(name), ColumnType(.any, optional: true))
        case .any:
            trail.enter()
            trail.add(try member(name), ColumnType(.any, optional: true))
        case .link: try follow(link: name, &trail, offset: position)
        default: throw error("Property \"\(trail.name)\" has no property \"\(name)\"", at: position)
        }
    }

    private mutating func aggregate(_ function: PathStep, _ trail: inout Trail, _ rest: inout ArraySlice<PathStep>, _ position: Int)
        throws(QueryError)
    {
        while case .name(let name, let position)? = rest.first {
            rest.removeFirst()
            try follow(name: name, &trail, position.offset)
        }
        unwrap(&trail)
        if trail.type.isCollection { trail.enter() }
        let word = PathSyntax([function]).description
        guard trail.isMany else { throw error("\(word) needs a collection, but \"\(trail.name)\" is not one", at: position) }
        let kind = trail.type.kind
        guard kind.isNumber || kind == .any || kind == .date && (function == .minimum || function == .maximum) else {
            throw error("\(word) cannot be used with values of type \"\(kind.queryName)\"", at: position)
        }
        if function == .sum || function == .average { trail.description = BoundPath.Description() }
        trail.add(.aggregate(function), BoundPath.aggregateType(function, kind))
        trail.isMany = false
    }

    /// Converts the path to a slot and steps: the segments' readers do the leading steps that they support.
    private mutating func compressed(_ root: Int?, _ trail: Trail, _ syntax: PathSyntax) -> BoundPath {
        var steps: [BoundPath.Step] = [], next = 0, slot: Int
        if let root {
            let head = Binder.absorbed(root, type.columns[root].type, trail, from: 0)
            slot = slots.slot(head.path, head.type)
            if head.isEntered { steps.append(.enter) }
            next = head.next
        } else {
            slot = slots.slot([], ColumnType(.link, target: type.name))
        }
        while next < trail.steps.count {
            guard case .follow(let number) = trail.steps[next].step else {
                steps.append(trail.steps[next].step)
                next += 1
                continue
            }
            let (table, column) = trail.follows[number]
            let part = Binder.absorbed(column, trail.steps[next].type, trail, from: next + 1)
            steps.append(.follow(slots.hop(table, part.path)))
            if part.isEntered { steps.append(.enter) }
            next = part.next
        }
        let isPrimitive = trail.type.isCollection && !trail.isMany
        return BoundPath(
            slot: slot, steps: steps, type: trail.type, isMany: trail.isMany, quantifier: syntax.quantifier,
            syntax: syntax, isPrimitiveCollection: isPrimitive, description: trail.description)
    }

    /// Returns what one reader does of the steps from `start` on: the leading fields of embedded objects, also through collections of them.
    /// `next` is the first remaining step. `isEntered` means that the reader returns lists, which must be entered.
    private static func absorbed(_ column: Int, _ type: ColumnType, _ trail: Trail, from start: Int) -> (
        path: [Int], type: ColumnType, isEntered: Bool, next: Int
    ) {
        var path = [column], type = type
        var used = start, entered = false, i = start
        while i < trail.steps.count {
            var pending = false
            if trail.steps[i].step == .enter {
                pending = true
                i += 1
            }
            guard i < trail.steps.count, case .field(let field) = trail.steps[i].step else { break }
            let leaf = trail.steps[i].type
            let next = i + 1 < trail.steps.count ? trail.steps[i + 1].step : nil
            if entered || pending, leaf.isCollection, next != .enter { break }
            path.append(field)
            i += 1
            if entered || pending {
                entered = true
                type = ColumnType(leaf.kind, optional: type.isOptional, collection: .list, elementOptional: true, target: leaf.target)
                if leaf.isCollection { i += 1 }
                used = i
                if leaf.isCollection, leaf.kind != .embedded { break }
            } else {
                type = leaf
                used = i
            }
        }
        return (path, type, entered, used)
    }
}

extension TypeSchema {
    /// Whether objects of the type stand for collections within a collection: docs/format/model.md, "Envelopes". Outside formats show the
    /// only field in place of the object.
    fileprivate var isCollectionWithinCollection: Bool {
        isEmbedded && columns.count == 1 && columns[0].type.isCollection && envelope == #"{"json":"bare"}"#
    }
}
