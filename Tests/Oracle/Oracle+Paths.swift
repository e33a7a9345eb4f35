import FirnQuery
import FirnTable
import Foundation

/// The values of paths, computed step by step.
extension Oracle {
    // MARK: Paths

    package func entered(_ result: PathResult, any: Bool = false) -> PathResult {
        var result = result
        if result.type.isCollection {
            result.values = result.values.flatMap(elements)
            result.type = result.type.element
            result.isMany = true
        } else if any || result.quantifier != nil && !result.isMany && result.type.kind == .any {
            result.values = result.values.flatMap(anyElements)
            result.isMany = true
        }
        return result
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
    func alive(_ value: Value, _ result: PathResult) -> Value {
        guard result.type.kind == .link, case .link = value else { return value }
        return row(result.type.target, value) == nil ? .null : value
    }

    package func follow(_ path: PathSyntax, _ subject: Subject) throws -> PathResult {
        var steps = path.steps[...]
        var result: PathResult
        switch subject {
        case .row(let type, let id): result = PathResult(values: [.link(Int64(id))], type: ColumnType(.link, target: type))
        case .object(let type, let value): result = PathResult(values: [value], type: ColumnType(.embedded, target: type))
        case .value(let value, let type):
            guard case .name("self", _)? = steps.popFirst() else { throw Unknown("an element has no properties") }
            result = PathResult(values: [value], type: type)
        }
        result.isSubject = true
        if case .variable? = steps.first { steps.removeFirst() }
        if case .value = subject {
        } else if case .name(let name, _)? = steps.first, name.lowercased() == "self", let target = result.type.target,
            schema[target]!.index(of: name) == nil
        {
            steps.removeFirst()
        }
        while let step = steps.popFirst() {
            if step.isAggregate {
                while case .name? = steps.first { try apply(steps.removeFirst(), &result) }
                result = entered(result)
                guard result.isMany else { throw Unknown("an aggregate of one value") }
                result = PathResult(
                    values: [try aggregate(step, result)], type: ColumnType(aggregateKind(step, result.type.kind), optional: true),
                    isAbsent: result.isAbsent)
            } else if step == .links {
                try turn(&result, &steps)
            } else {
                try apply(step, &result)
            }
        }
        result.quantifier = path.quantifier
        if path.quantifier != nil, !result.isMany, !result.type.isCollection, result.type.kind != .any {
            throw Unknown("a quantifier of one value")
        }
        return result
    }

    func aggregateKind(_ step: PathStep, _ kind: ScalarKind) -> ScalarKind {
        switch step {
        case .minimum, .maximum: kind
        case .average: kind == .decimal || kind == .any ? kind : .double
        default: kind == .float ? .double : kind
        }
    }

    func turn(_ result: inout PathResult, _ steps: inout ArraySlice<PathStep>) throws {
        result = entered(result)
        result.isSubject = false
        guard result.type.kind == .link else { throw Unknown("@links") }
        if steps.first == .count {
            steps.removeFirst()
            let target = result.type.target
            result.values = try result.values.map { link in
                var count = 0
                for source in schema.types where rows[source.name] != nil {
                    for column in source.columns where column.type.kind == .link && column.type.target == target {
                        count += try links(from: source.name, column.name, to: link, target).count
                    }
                }
                return .int(Int64(count))
            }
            result.type = ColumnType(.int)
            return
        }
        guard case .name(let source, _)? = steps.popFirst(), case .name(let column, _)? = steps.popFirst() else { throw Unknown("@links") }
        try turn(&result, source, column)
    }

    func turn(_ result: inout PathResult, _ source: String, _ column: String) throws {
        result = entered(result)
        result.isSubject = false
        result.values = try result.values.map { .list(try links(from: source, column, to: $0, result.type.target)) }
        result.type = ColumnType(.link, collection: .list, target: source)
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

    func apply(_ step: PathStep, _ result: inout PathResult) throws {
        let isAny = result.type.kind == .any && !result.type.isCollection
        switch step {
        case .name(let name, _): try property(name, &result)
        case .argument(let index):
            switch arguments[index] {
            case .int(let x): try apply(.index(Int(x)), &result)
            case .string(let x): try apply(.key(x), &result)
            default: throw Unknown("an index")
            }
        case .key(let key):
            if isAny {
                result.values = result.values.map { member($0, key) }
            } else {
                guard result.type.collection == .map else { throw Unknown("a key of no map") }
                result.values = result.values.map { member($0, key) }
                result.type = optional(result.type.element)
            }
        case .index(let index): try pick(&result) { index < $0.count ? $0[index] : .null }
        case .first: try pick(&result) { $0.first ?? .null }
        case .last: try pick(&result) { $0.last ?? .null }
        case .every: result = entered(result, any: isAny)
        case .values:
            guard result.type.collection == .map else { throw Unknown("@values of no map") }
            result = entered(result)
        case .keys:
            guard result.type.collection == .map else { throw Unknown("@keys of no map") }
            result.values = result.values.flatMap { value -> [Value] in
                if case .map(let entries) = value { entries.map { .string($0.key) } } else { [] }
            }
            result.type = ColumnType(.string)
            result.isMany = true
        case .count:
            let isCollection = result.type.isCollection
            result.values = result.values.map { value in
                switch value {
                case .list(let x), .set(let x): .int(Int64(x.count))
                case .map(let x): .int(Int64(x.count))
                case .string(let x): .int(Int64(x.utf8.count))
                case .data(let x): .int(Int64(x.count))
                default: isCollection ? .int(0) : .null
                }
            }
            result.type = ColumnType(isAny ? .any : .int, optional: true)
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

    func pick(_ result: inout PathResult, _ body: ([Value]) -> Value) throws {
        if result.type.kind == .any, !result.type.isCollection {
            result.values = result.values.map { if case .list(let values) = $0 { body(values) } else { .null } }
            return
        }
        guard result.type.collection == .list else { throw Unknown("an index of no list") }
        if !result.isMany, elements(result.values[0]).isEmpty { result.isAbsent = true }
        result.values = result.values.map { body(elements($0)) }
        result.type = optional(result.type.element)
    }

    func property(_ name: String, _ result: inout PathResult) throws {
        if result.type.collection == .map {
            result.values = result.values.map { member($0, name) }
            result.type = optional(result.type.element)
            return
        }
        if result.type.isCollection, name == "length", result.type.kind == .string || result.type.kind == .data {
            result = entered(result)
            result.values = result.values.map { value in
                switch value {
                case .string(let x): .int(Int64(x.utf8.count))
                case .data(let x): .int(Int64(x.count))
                default: .int(0)
                }
            }
            result.type = ColumnType(.int)
            return
        }
        result = result.type.isCollection ? entered(result) : result
        let isFirst = result.isSubject
        result.isSubject = false
        switch result.type.kind {
        case .link, .embedded:
            guard let target = result.type.target.flatMap({ schema[$0] }) else { throw Unknown("no \(name)") }
            guard let index = target.index(of: name) else {
                guard
                    let inverse = inverses.first(where: {
                        $0.name == name
                            && schema[$0.typeName]?.columns.first { [column = $0.column] in $0.name == column }?.type.target == target.name
                    })
                else { throw Unknown("no \(name)") }
                return try turn(&result, inverse.typeName, inverse.column)
            }
            result.values = result.values.map { value in
                if case .object(let entries) = value { return entries[index].value }
                return row(target.name, value)?[index] ?? .null
            }
            let type = target.columns[index].type
            // The searched rows exist, but targets of links may not.
            result.type = isFirst || result.type.kind == .embedded && !result.type.isOptional ? type : optional(type)
        case .any: result.values = result.values.map { member($0, name) }
        default: throw Unknown("no property of \(result.type.name)")
        }
    }

    func aggregate(_ step: PathStep, _ result: PathResult) throws -> Value {
        let values = result.values.filter { !$0.isNull }
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
            if result.type.kind == .any || result.type.kind == .decimal { throw Unknown("sums of \(result.type.kind)") }
            if step == .average, values.isEmpty { return .null }
            if result.type.kind == .int {
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
