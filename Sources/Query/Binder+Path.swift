import FirnBytes
import FirnModel

extension Binder {
    /// A path being followed: the steps so far with the type after each.
    private struct Trail {
        var steps: [(step: BoundPath.Step, type: ColumnType)] = []
        var type: ColumnType
        var isMany = false
        /// How the place reached is called in messages: `Dog.toys`.
        var name: String

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
        var rest = path.steps[...]
        guard case .name(var name, var place)? = rest.popFirst() else { throw error("a path begins with a property", at: path.position.offset) }
        if name == "SELF" || name == "self", type.index(of: name) == nil, case .name(let next, let position)? = rest.first {
            rest.removeFirst()
            (name, place) = (next, position)
        }
        guard let root = type.index(of: name) else { throw unknown(name, in: type, at: place.offset) }
        var trail = Trail(type: type.columns[root].type, name: "\(type.name).\(name)")
        while let step = rest.popFirst() {
            if step.isAggregate {
                try aggregate(step, &trail, &rest, path.position.offset)
            } else {
                try follow(step, &trail, path.position.offset)
            }
        }
        guard trail.steps.count <= 64 else { throw error("a path of more than 64 steps", at: path.position.offset) }
        return compressed(root, trail, path)
    }

    private func unknown(_ name: String, in type: TypeSchema, at position: Int) -> QueryError {
        let names = type.columns.map(\.name)
        let some = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
        return QueryError(.binding, "no column '\(name)' in \(type.name)", in: text, at: position,
                          suggestion: closest(to: name, in: names).map { "'\($0)'" }, hint: "its columns are \(some)")
    }

    private func follow(_ step: PathStep, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        let type = trail.type, isAny = type.kind == .any && !type.isCollection
        switch step {
        case .name(let name, let place): try follow(name: name, &trail, place.offset)
        case .key(let key):
            if isAny { return trail.add(.anyKey(key), ColumnType(.any, optional: true)) }
            guard type.collection == .map else { throw error("Property '\(trail.name)' does not support key '\(key)'", at: position) }
            trail.add(.key(Array(key.utf8)), optional(type.element))
        case .index(let index): try pick(.at(index), "\(index)", &trail, position)
        case .first: try pick(.first, "FIRST", &trail, position)
        case .last: try pick(.last, "LAST", &trail, position)
        case .argument(let index):
            switch try argument(index, at: position) {
            case .int(let value) where value >= 0: try follow(.index(Int(value)), &trail, position)
            case .string(let key): try follow(.key(key), &trail, position)
            default: throw error("argument $\(index) is no index and no key", at: position)
            }
        case .every:
            if isAny {
                trail.add(.anyEnter, ColumnType(.any, optional: true))
                trail.isMany = true
            } else {
                guard type.isCollection else { throw error("Property '\(trail.name)' is no collection", at: position) }
                trail.enter()
            }
        case .count:
            if type.isCollection || type.kind == .string || type.kind == .data {
                trail.add(.count, ColumnType(.int, optional: !type.isCollection))
            } else {
                guard isAny else { throw error("Property '\(trail.name)' has no property '@count'", at: position) }
                trail.add(.anyCount, ColumnType(.any, optional: true))
            }
        case .keys, .values:
            guard type.collection == .map else { throw error("Property '\(trail.name)' is no dictionary: it has no \(step == .keys ? "@keys" : "@values")", at: position) }
            if step == .values { return trail.enter() }
            trail.add(.keys, ColumnType(.string))
            trail.isMany = true
        case .type: throw error("@type is compared with the name of a type, such as x.@type == 'int'", at: position)
        case .minimum, .maximum, .sum, .average: preconditionFailure("aggregates are bound with the names after them")
        }
    }

    private func optional(_ type: ColumnType) -> ColumnType {
        var type = type
        type.isOptional = true
        return type
    }

    private func pick(_ pick: BoundPath.Pick, _ name: String, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        if trail.type.kind == .any, !trail.type.isCollection { return trail.add(.anyPick(pick), ColumnType(.any, optional: true)) }
        guard trail.type.collection == .list else { throw error("Property '\(trail.name)' does not support index '\(name)'", at: position) }
        trail.add(.pick(pick), optional(trail.type.element))
    }

    private func follow(name: String, _ trail: inout Trail, _ position: Int) throws(QueryError) {
        let type = trail.type
        if type.collection == .map { return trail.add(.key(Array(name.utf8)), optional(type.element)) }
        if type.isCollection, name == "length", type.kind == .string || type.kind == .data {
            trail.enter()
            return trail.add(.length, ColumnType(.int))
        }
        switch type.kind {
        case .embedded:
            guard let target = type.target.flatMap({ schema[$0] }) else { throw error("the type of '\(trail.name)' is not known", at: position) }
            guard let index = target.index(of: name) else { throw unknown(name, in: target, at: position) }
            if type.isCollection { trail.enter() }
            var field = target.columns[index].type
            field.isOptional = field.isOptional || trail.type.isOptional
            trail.add(.field(index), field)
            trail.name = "\(target.name).\(name)"
        case .any where !type.isCollection: trail.add(.anyKey(name), ColumnType(.any, optional: true))
        case .any:
            trail.enter()
            trail.add(.anyKey(name), ColumnType(.any, optional: true))
        case .link: throw QueryError(.unsupported, "paths through links ('\(trail.name)') are not supported yet", in: text, at: position)
        default: throw error("Property '\(trail.name)' has no property '\(name)'", at: position)
        }
    }

    private func aggregate(_ function: PathStep, _ trail: inout Trail, _ rest: inout ArraySlice<PathStep>, _ position: Int) throws(QueryError) {
        while case .name(let name, let place)? = rest.first {
            rest.removeFirst()
            try follow(name: name, &trail, place.offset)
        }
        if trail.type.isCollection { trail.enter() }
        let word = PathSyntax([function]).description
        guard trail.isMany else { throw error("\(word) needs a collection, but '\(trail.name)' is none", at: position) }
        let kind = trail.type.kind
        guard kind.isNumber || kind == .any || kind == .date && (function == .minimum || function == .maximum) else {
            throw error("\(word) does not go with values of type \(kind.queryName)", at: position)
        }
        trail.add(.aggregate(function), BoundPath.aggregateType(function, kind))
        trail.isMany = false
    }

    /// Leaves to the segment's reader what it can do: the leading fields of embedded objects, also through collections of them.
    private mutating func compressed(_ root: Int, _ trail: Trail, _ syntax: PathSyntax) -> BoundPath {
        var path = [root], slotType = type.columns[root].type
        var used = 0, entered = false, i = 0
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
                slotType = ColumnType(leaf.kind, optional: slotType.isOptional, collection: .list, elementOptional: true, target: leaf.target)
                if leaf.isCollection { i += 1 }
                used = i
                if leaf.isCollection, leaf.kind != .embedded { break }
            } else {
                slotType = leaf
                used = i
            }
        }
        let steps = (entered ? [.enter] : []) + trail.steps.dropFirst(used).map(\.step)
        let isPrimitive = trail.type.isCollection && !trail.isMany
        return BoundPath(slot: slots.slot(path, slotType), steps: steps, type: trail.type, isMany: trail.isMany, quantifier: syntax.quantifier,
                         text: syntax.quantifier == nil ? syntax.description : PathSyntax(syntax.steps).description, isPrimitiveCollection: isPrimitive)
    }
}
