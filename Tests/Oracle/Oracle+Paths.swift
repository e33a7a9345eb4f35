import FirnQuery
import FirnTable
import Foundation

/// The values of paths, computed step by step.
extension Oracle {
    // MARK: Paths

    package func entered(_ place: Place, any: Bool = false) -> Place {
        var place = place
        if place.type.isCollection {
            place.values = place.values.flatMap(elements)
            place.type = place.type.element
            place.isMany = true
        } else if any || place.quantifier != nil && !place.isMany && place.type.kind == .any {
            place.values = place.values.flatMap(anyElements)
            place.isMany = true
        }
        return place
    }

    func elements(_ value: Value) -> [Value] {
        switch value {
        case .list(let values), .set(let values): values
        case .map(let entries): entries.map(\.value)
        default: []
        }
    }

    func anyElements(_ value: Value) -> [Value] {
        switch value {
        case .null: []
        case .list, .set, .map: elements(value)
        default: [value]
        }
    }

    /// Returns null for a link whose target does not exist, because comparisons with nil and with other links treat it as null.
    func alive(_ value: Value, _ place: Place) -> Value {
        guard place.type.kind == .link, case .link = value else { return value }
        return row(place.type.target, value) == nil ? .null : value
    }

    package func follow(_ path: PathSyntax, _ subject: Subject) throws -> Place {
        var steps = path.steps[...]
        var place: Place
        switch subject {
        case .row(let type, let id): place = Place(values: [.link(Int64(id))], type: ColumnType(.link, target: type))
        case .object(let type, let value): place = Place(values: [value], type: ColumnType(.embedded, target: type))
        case .value(let value, let type):
            guard case .name("self", _)? = steps.popFirst() else { throw Unknown("an element has no properties") }
            place = Place(values: [value], type: type)
        }
        place.isSubject = true
        if case .variable? = steps.first { steps.removeFirst() }
        if case .value = subject {
        } else if case .name(let name, _)? = steps.first, name.lowercased() == "self", let target = place.type.target,
            schema[target]!.index(of: name) == nil
        {
            steps.removeFirst()
        }
        while let step = steps.popFirst() {
            if step.isAggregate {
                while case .name? = steps.first { try apply(steps.removeFirst(), &place) }
                place = entered(place)
                guard place.isMany else { throw Unknown("an aggregate of one value") }
                place = Place(
                    values: [try aggregate(step, place)], type: ColumnType(aggregateKind(step, place.type.kind), optional: true),
                    isAbsent: place.isAbsent)
            } else if step == .links {
                try turn(&place, &steps)
            } else {
                try apply(step, &place)
            }
        }
        place.quantifier = path.quantifier
        if path.quantifier != nil, !place.isMany, !place.type.isCollection, place.type.kind != .any {
            throw Unknown("a quantifier of one value")
        }
        return place
    }

    func aggregateKind(_ step: PathStep, _ kind: ScalarKind) -> ScalarKind {
        switch step {
        case .minimum, .maximum: kind
        case .average: kind == .decimal || kind == .any ? kind : .double
        default: kind == .float ? .double : kind
        }
    }

    func turn(_ place: inout Place, _ steps: inout ArraySlice<PathStep>) throws {
        place = entered(place)
        place.isSubject = false
        guard place.type.kind == .link else { throw Unknown("@links") }
        if steps.first == .count {
            steps.removeFirst()
            let target = place.type.target
            place.values = try place.values.map { link in
                var count = 0
                for source in schema.types where rows[source.name] != nil {
                    for column in source.columns where column.type.kind == .link && column.type.target == target {
                        count += try links(from: source.name, column.name, to: link, target).count
                    }
                }
                return .int(Int64(count))
            }
            place.type = ColumnType(.int)
            return
        }
        guard case .name(let source, _)? = steps.popFirst(), case .name(let column, _)? = steps.popFirst() else { throw Unknown("@links") }
        try turn(&place, source, column)
    }

    func turn(_ place: inout Place, _ source: String, _ column: String) throws {
        place = entered(place)
        place.isSubject = false
        place.values = try place.values.map { .list(try links(from: source, column, to: $0, place.type.target)) }
        place.type = ColumnType(.link, collection: .list, target: source)
    }

    /// Returns the rows of a type that link to a row by a column, once for each link.
    package func links(from source: String, _ column: String, to target: Value, _ targetType: String?) throws -> [Value] {
        guard let type = schema[source], let index = type.index(of: column), let all = rows[source] else { throw Unknown("@links") }
        guard row(targetType, target) != nil else { return [] }
        var found: [Value] = []
        for (id, row) in all.enumerated() {
            guard let row else { continue }
            let links = type.columns[index].type.isCollection ? elements(row[index]) : [row[index]]
            found += links.filter { $0 == target }.map { _ in .link(Int64(id)) }
        }
        return found
    }

    /// Returns the link of `obj('Leaf', 4)` or `L2:5`. The row id is -1 if there is no such row.
    func link(_ object: ObjectSyntax) throws -> Value {
        switch object {
        case .row(let number, let id):
            guard schema.types.indices.contains(number) else { throw Unknown("no type") }
            return .link(id)
        case .key(let name, let expression):
            let key: Value
            switch expression {
            case .constant(let constant): key = constant.value
            case .argument(let index, _): key = arguments[index]
            default: throw Unknown("a key")
            }
            guard let type = schema[name], let column = type.key.first, let all = rows[name] else { throw Unknown("no key") }
            for (id, row) in all.enumerated() { if let row, compare(.equal, row[column], key, nil) { return .link(Int64(id)) } }
            return .link(-1)
        }
    }

    func apply(_ step: PathStep, _ place: inout Place) throws {
        let isAny = place.type.kind == .any && !place.type.isCollection
        switch step {
        case .name(let name, _): try property(name, &place)
        case .argument(let index):
            switch arguments[index] {
            case .int(let x): try apply(.index(Int(x)), &place)
            case .string(let x): try apply(.key(x), &place)
            default: throw Unknown("an index")
            }
        case .key(let key):
            if isAny {
                place.values = place.values.map { member($0, key) }
            } else {
                guard place.type.collection == .map else { throw Unknown("a key of no map") }
                place.values = place.values.map { member($0, key) }
                place.type = optional(place.type.element)
            }
        case .index(let index): try pick(&place) { index < $0.count ? $0[index] : .null }
        case .first: try pick(&place) { $0.first ?? .null }
        case .last: try pick(&place) { $0.last ?? .null }
        case .every: place = entered(place, any: isAny)
        case .values:
            guard place.type.collection == .map else { throw Unknown("@values of no map") }
            place = entered(place)
        case .keys:
            guard place.type.collection == .map else { throw Unknown("@keys of no map") }
            place.values = place.values.flatMap { value -> [Value] in
                if case .map(let entries) = value { entries.map { .string($0.key) } } else { [] }
            }
            place.type = ColumnType(.string)
            place.isMany = true
        case .count:
            let isCollection = place.type.isCollection
            place.values = place.values.map { value in
                switch value {
                case .list(let x), .set(let x): .int(Int64(x.count))
                case .map(let x): .int(Int64(x.count))
                case .string(let x): .int(Int64(x.utf8.count))
                case .data(let x): .int(Int64(x.count))
                default: isCollection ? .int(0) : .null
                }
            }
            place.type = ColumnType(isAny ? .any : .int, optional: true)
        default: throw Unknown("\(step)")
        }
    }

    func optional(_ type: ColumnType) -> ColumnType {
        var type = type
        type.isOptional = true
        return type
    }

    func member(_ value: Value, _ key: String) -> Value {
        if case .map(let entries) = value { entries.first { $0.key == key }?.value ?? .null } else { .null }
    }

    func pick(_ place: inout Place, _ body: ([Value]) -> Value) throws {
        if place.type.kind == .any, !place.type.isCollection {
            place.values = place.values.map { if case .list(let values) = $0 { body(values) } else { .null } }
            return
        }
        guard place.type.collection == .list else { throw Unknown("an index of no list") }
        if !place.isMany, elements(place.values[0]).isEmpty { place.isAbsent = true }
        place.values = place.values.map { body(elements($0)) }
        place.type = optional(place.type.element)
    }

    func property(_ name: String, _ place: inout Place) throws {
        if place.type.collection == .map {
            place.values = place.values.map { member($0, name) }
            place.type = optional(place.type.element)
            return
        }
        if place.type.isCollection, name == "length", place.type.kind == .string || place.type.kind == .data {
            place = entered(place)
            place.values = place.values.map { value in
                switch value {
                case .string(let x): .int(Int64(x.utf8.count))
                case .data(let x): .int(Int64(x.count))
                default: .int(0)
                }
            }
            place.type = ColumnType(.int)
            return
        }
        place = place.type.isCollection ? entered(place) : place
        let isFirst = place.isSubject
        place.isSubject = false
        switch place.type.kind {
        case .link, .embedded:
            guard let target = place.type.target.flatMap({ schema[$0] }) else { throw Unknown("no \(name)") }
            guard let index = target.index(of: name) else {
                guard
                    let inverse = inverses.first(where: {
                        $0.name == name
                            && schema[$0.typeName]?.columns.first { [column = $0.column] in $0.name == column }?.type.target == target.name
                    })
                else { throw Unknown("no \(name)") }
                return try turn(&place, inverse.typeName, inverse.column)
            }
            place.values = place.values.map { value in
                if case .object(let entries) = value { return entries[index].value }
                return row(target.name, value)?[index] ?? .null
            }
            let type = target.columns[index].type
            // The searched rows exist, but targets of links may not.
            place.type = isFirst || place.type.kind == .embedded && !place.type.isOptional ? type : optional(type)
        case .any: place.values = place.values.map { member($0, name) }
        default: throw Unknown("no property of \(place.type.name)")
        }
    }

    func aggregate(_ step: PathStep, _ place: Place) throws -> Value {
        let values = place.values.filter { !$0.isNull }
        switch step {
        case .minimum, .maximum:
            var best: Value?
            for value in values {
                if case .date = value {} else { guard let number = OracleNumber(value), !number.isNaN else { continue } }
                guard let held = best else { best = value; continue }
                let isLess = compare(.less, value, held, nil), isMore = compare(.greater, value, held, nil)
                if step == .minimum ? isLess : isMore { best = value }
            }
            return best ?? .null
        default:
            if place.type.kind == .any || place.type.kind == .decimal { throw Unknown("sums of \(place.type.kind)") }
            if step == .average, values.isEmpty { return .null }
            if place.type.kind == .int {
                var sum = Foundation.Decimal(0)
                for case .int(let x) in values { sum += Foundation.Decimal(x) }
                if step == .average {
                    if values.count > 0, abs(sum) > 9_000_000_000_000_000 { throw Unknown("a rounded sum") }
                    return .double(NSDecimalNumber(decimal: sum).doubleValue / Double(values.count))
                }
                guard sum >= Foundation.Decimal(Int64.min), sum <= Foundation.Decimal(Int64.max) else { throw Overflow() }
                return .int(NSDecimalNumber(decimal: sum).int64Value)
            }
            var sum = 0.0
            for value in values { sum += OracleNumber(value)!.double }
            return .double(step == .average ? sum / Double(values.count) : sum)
        }
    }
}
