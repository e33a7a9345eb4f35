import FirnKit
import FirnQuery
import FirnTable
import Foundation

/// Makes random syntax trees that mostly fit a world.
package struct RandomQuery {
    package var random: Random
    package let schema: Schema
    package let arguments: [Value]
    private let inverses: [QueryRequest.Inverse]
    private var variables: [String] = []
    /// The type of `self` if the elements are plain values.
    private var element: ColumnType?

    package init(seed: UInt64, _ world: RandomWorld) { self.init(seed: seed, schema: world.schema, links: world.links) }

    /// `links`: four links that objects are compared with.
    package init(seed: UInt64, schema: Schema, links: [Value], inverses: [QueryRequest.Inverse] = []) {
        random = Random(seed: seed)
        self.schema = schema
        self.inverses = inverses
        arguments =
            links + [.list(Array(links.prefix(2))), .int(1), .string("k"), .list([.int(1), .string("a"), .null])]
            + [
                GeoShape.box(GeoCoordinate(longitude: -20.5, latitude: -30.5)!, GeoCoordinate(longitude: 100.5, latitude: 60.5)!),
                .circle(GeoCoordinate(longitude: 11, latitude: 12)!, radius: 0.7),
            ].map(\.value)
    }

    package mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }
    package mutating func one<T>(_ values: [T]) -> T { values[random.below(values.count)] }

    // MARK: Predicates

    package mutating func query(of type: String) -> QuerySyntax {
        var query = QuerySyntax(predicate(type, depth: 0))
        while query.descriptors.count < 4, chance(25) {
            switch random.below(4) {
            case 0: query.descriptors.append(.limit(random.below(12)))
            case 1: query.descriptors.append(.distinct((0...random.below(2)).map { _ in key(type) }))
            default: query.descriptors.append(.sort((0...random.below(2)).map { _ in SortKeySyntax(key(type), ascending: random.bool()) }))
            }
        }
        return query
    }

    private mutating func key(_ type: String) -> PathSyntax {
        while true {
            let found = path(type, many: false)
            if !found.isMany, !found.type.isCollection, found.type.kind != .embedded, found.type.kind != .link {
                return PathSyntax(found.steps)
            }
        }
    }

    /// Makes a predicate for elements that are plain values, whose paths begin with `self`.
    package mutating func predicate(on type: ColumnType) -> PredicateSyntax {
        element = type
        defer { element = nil }
        return predicate("", depth: 1)
    }

    package mutating func predicate(_ type: String, depth: Int) -> PredicateSyntax {
        let roll = random.below(depth > 3 ? 70 : 100)
        switch roll {
        case 70..<80: return .and((0...(1 + random.below(2))).map { _ in predicate(type, depth: depth + 1) })
        case 80..<90: return .or((0...(1 + random.below(2))).map { _ in predicate(type, depth: depth + 1) })
        case 90..<98: return .not(predicate(type, depth: depth + 1))
        case 98...: return .constant(random.bool())
        default: return .comparison(comparison(type, depth: depth))
        }
    }

    private mutating func comparison(_ type: String, depth: Int) -> ComparisonSyntax {
        if depth < 4, variables.count < 2, chance(6), let subquery = subquery(type) {
            let right: ExpressionSyntax = chance(20) ? subquery_(type) ?? number() : number()
            return ComparisonSyntax(.subquery(subquery), one([.equal, .notEqual, .less, .greater, .lessOrEqual, .greaterOrEqual]), right)
        }
        let found = path(type, many: true)
        if found.type.isCollection, !found.isMany, found.type.kind != .embedded, chance(40) { return whole(found, type) }
        let isMany = found.isMany || found.type.isCollection
        let quantifier: Quantifier? = isMany && chance(60) ? one([.any, .all, .none]) : nil
        let left = ExpressionSyntax.path(PathSyntax(quantifier: quantifier, variable(found.steps)))
        let kind = found.type.kind
        if kind == .embedded, found.type.target == RandomWorld.spot.name, chance(80) { return ComparisonSyntax(left, .geoWithin, shape()) }
        if kind == .embedded { return ComparisonSyntax(left, one([.equal, .notEqual]), .constant(ConstantSyntax(.null))) }
        if kind == .link {
            if chance(30) { return ComparisonSyntax(left, one([.equal, .notEqual]), .constant(ConstantSyntax(.null))) }
            if chance(30) {
                return ComparisonSyntax(
                    left, .isIn,
                    chance(50)
                        ? .argument(world(links: 4), .init())
                        : .list(nil, [.argument(random.below(4), .init()), .argument(random.below(4), .init())], .init()))
            }
            return ComparisonSyntax(left, one([.equal, .notEqual]), object(found.type.target!))
        }
        if kind == .any, !isMany, chance(20) {
            return ComparisonSyntax(
                .path(PathSyntax(variable(found.steps) + [.type])), one([.equal, .notEqual]),
                .constant(ConstantSyntax(.string(one(["null", "int", "string", "numeric", "collection", "object", "double"])))))
        }
        let folding = kind == .string && chance(30), marks = kind == .string && chance(20)
        if kind == .string || kind == .data, chance(35) {
            let comparator: FirnQuery.Comparator = one([.beginsWith, .endsWith, .contains, .like])
            if chance(12) {
                let list = list(kind)
                return chance(50) ? ComparisonSyntax(list, comparator, left) : ComparisonSyntax(left, comparator, list)
            }
            let other = constant(kind)
            if chance(15) { return ComparisonSyntax(other, comparator, left) }
            return ComparisonSyntax(left, comparator, other)
        }
        if kind == .string, chance(12) { return ComparisonSyntax(left, .text, .constant(ConstantSyntax(.string(words())))) }
        if kind == .string, chance(40) {
            return ComparisonSyntax(
                left, one([.equal, .notEqual, .beginsWith, .endsWith, .contains, .like]), ignoresCase: folding, ignoresMarks: marks,
                constant(.string))
        }
        switch random.below(20) {
        case 0...2:
            let values = (0..<random.below(4)).map { _ in constant(kind) }
            let comparator: FirnQuery.Comparator = one([.isIn, .isIn, .equal, .notEqual])
            return ComparisonSyntax(
                left, comparator, .list(comparator == .isIn || chance(60) ? nil : one([.any, .all, .none]), values, .init()))
        case 3:
            if !isMany || quantifier == .all {
                return ComparisonSyntax(left, .between, .list(nil, [constant(kind), constant(kind)], .init()))
            }
        case 4:
            if isMany { return ComparisonSyntax(chance(50) ? list(kind) : constant(kind), .isIn, left) }
            if chance(50) {
                let list = list(kind), comparator: FirnQuery.Comparator = one([.less, .lessOrEqual, .greater, .greaterOrEqual])
                return chance(50) ? ComparisonSyntax(list, comparator, left) : ComparisonSyntax(left, comparator, list)
            }
        case 5...8:
            // Compares with another path.
            let other = path(type, many: !isMany)
            let right = ExpressionSyntax.path(PathSyntax(variable(other.steps)))
            return ComparisonSyntax(left, one([.equal, .notEqual, .less, .greater, .lessOrEqual, .greaterOrEqual]), right)
        case 9...11:
            if [.int, .float, .double].contains(kind) {
                let combined = ExpressionSyntax.arithmetic(
                    one([.add, .subtract, .multiply, .divide]), .path(PathSyntax(variable(found.steps))), number())
                return ComparisonSyntax(combined, one([.equal, .notEqual, .less, .greater]), number())
            }
        default: break
        }
        let comparator: FirnQuery.Comparator = one([.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
        if chance(15) { return ComparisonSyntax(constant(kind), comparator, left) }
        return ComparisonSyntax(left, comparator, constant(kind))
    }

    /// Makes a reference to a row: as an argument, by its key, or by its number.
    private mutating func object(_ target: String) -> ExpressionSyntax {
        let id = Int64(random.below(14))
        switch random.below(5) {
        case 0: return .constant(ConstantSyntax(.link(id)))
        case 1: return .object(.row(type: schema.types.firstIndex { $0.name == target }!, id), .init())
        case 2:
            guard let key = schema[target]!.key.first else { break }
            return .object(
                .key(
                    type: target, .constant(ConstantSyntax(schema[target]!.columns[key].type.kind == .int ? .int(id) : .string("k\(id)")))),
                .init())
        default: break
        }
        return .argument(random.below(4), .init())
    }

    private mutating func words() -> String {
        (0...random.below(2)).map { _ in
            one(["", "", "-"]) + one(["ice", "snow", "a", "A", "b", "é", "Ab", "i", "s"]) + one(["", "", "*"])
        }.joined(separator: " ")
    }

    private mutating func shape() -> ExpressionSyntax {
        if chance(15) { return .argument(8 + random.below(2), .init()) }
        func number(_ x: Double) -> ExpressionSyntax { .constant(ConstantSyntax(.double(x), digits: "\(x)")) }
        func point(_ x: Double, _ y: Double) -> [ExpressionSyntax] { [number(x), number(y)] }
        let longitude = Double(random.below(300)) - 150.5, latitude = Double(random.below(80)) - 40.5
        let (wide, high) = (Double(5 + random.below(60)), Double(3 + random.below(18)))
        switch random.below(3) {
        case 0:
            let east = longitude + wide * 3
            return .geo(
                GeoSyntax(.box, [[point(longitude, latitude - high), point(east > 180 ? east - 360 : east, latitude + high)]]), .init())
        case 1: return .geo(GeoSyntax(.circle, [[point(longitude, latitude)]], radius: number(Double(1 + random.below(20)) / 10)), .init())
        default:
            // The corners are placed around a centre, so that the ring does not cross itself.
            let corners = 3 + random.below(4)
            func ring(_ size: Double) -> [[ExpressionSyntax]] {
                (0..<corners).map { i in
                    let angle = 2 * Double.pi * (Double(i) + 0.1) / Double(corners)
                    let x = longitude + size * wide * cos(angle), y = latitude + size * high * sin(angle)
                    return point(x > 180 ? x - 360 : x < -180 ? x + 360 : x, y)
                }
            }
            return .geo(GeoSyntax(.polygon, chance(40) ? [ring(1), ring(0.4)] : [ring(1)]), .init())
        }
    }

    private func world(links: Int) -> Int { links }

    private mutating func whole(_ found: Found, _ type: String) -> ComparisonSyntax {
        let left = ExpressionSyntax.path(PathSyntax(variable(found.steps)))
        if found.type.kind == .link {
            return ComparisonSyntax(
                left, one([.equal, .notEqual]), .list(nil, (0..<random.below(3)).map { _ in .argument(random.below(4), .init()) }, .init()))
        }
        if chance(20) {
            let other = path(type, many: true)
            if other.type.isCollection, !other.isMany {
                return ComparisonSyntax(left, one([.equal, .notEqual]), .path(PathSyntax(variable(other.steps))))
            }
        }
        if chance(20) { return ComparisonSyntax(left, one([.equal, .notEqual]), .constant(ConstantSyntax(.null))) }
        let values = (0..<random.below(4)).map { _ in constant(found.type.kind) }
        return ComparisonSyntax(left, one([.equal, .notEqual, .isIn]), .list(nil, values, .init()))
    }

    private mutating func subquery_(_ type: String) -> ExpressionSyntax? { subquery(type).map { .subquery($0) } }

    private mutating func subquery(_ type: String) -> SubquerySyntax? {
        let found = path(type, many: true)
        guard found.type.kind == .embedded || found.type.kind == .link, found.type.isCollection || found.isMany,
            let target = found.type.target
        else { return nil }
        let collection = PathSyntax(variable(found.steps))
        variables.append("$v\(variables.count)")
        defer { variables.removeLast() }
        return SubquerySyntax(collection, variables.last!, predicate(target, depth: 3))
    }

    /// Within a subquery a path begins with the variable or with a property.
    private mutating func variable(_ steps: [PathStep]) -> [PathStep] {
        guard let name = variables.last, chance(70), steps.first != .links else { return steps }
        return [.variable(name)] + steps
    }

    // MARK: Constants

    package mutating func number() -> ExpressionSyntax {
        chance(70) ? .constant(ConstantSyntax(.int(Int64(random.below(7)) - 2))) : literal(RandomWorld.scalar(.double, &random))
    }

    private func literal(_ value: Value) -> ExpressionSyntax {
        switch value {
        case .double(let x) where x.isFinite: .constant(ConstantSyntax(value, digits: "\(x)"))
        case .float(let x) where !x.isFinite: .constant(ConstantSyntax(.double(Double(x))))
        default: .constant(ConstantSyntax(value))
        }
    }

    private mutating func list(_ kind: ScalarKind) -> ExpressionSyntax {
        .list(chance(60) ? nil : one([.any, .all, .none]), (0..<random.below(4)).map { _ in constant(kind) }, .init())
    }

    /// Makes a constant that mostly fits the kind.
    package mutating func constant(_ kind: ScalarKind) -> ExpressionSyntax {
        if chance(10) { return .constant(ConstantSyntax(.null)) }
        switch kind {
        case .int, .float, .double, .decimal:
            if chance(8) { return .constant(ConstantSyntax(.string(one(["5", "1.5", "-1"])))) }
            return literal(RandomWorld.scalar(one([kind, kind, .int, .double, .decimal, .float]), &random))
        case .any:
            while true {
                let value = RandomWorld.scalar(.any, &random)
                switch value {
                case .list, .map: continue
                default: return literal(value)
                }
            }
        default: return literal(RandomWorld.scalar(kind, &random))
        }
    }

    // MARK: Paths

    package struct Found {
        var steps: [PathStep] = []
        var type: ColumnType
        var isMany = false
    }

    package mutating func path(_ typeName: String, many: Bool) -> Found {
        while true {
            var found = Found(type: ColumnType(.link, target: typeName))
            var depth = 0
            var isDone = false
            if let element {
                found = Found(steps: [.name("self")], type: element)
                isDone = element.kind != .any && (element.kind != .string || chance(90))
            }
            while !isDone {
                depth += 1
                isDone = extend(&found, depth)
            }
            if many || !found.isMany && !found.type.isCollection { return found }
        }
    }

    private func leads(_ inverse: QueryRequest.Inverse, to type: String) -> Bool {
        schema[inverse.typeName]!.columns.first { $0.name == inverse.column }!.type.target == type
    }

    private func optional(_ type: ColumnType) -> ColumnType {
        var type = type
        type.isOptional = true
        return type
    }

    /// Adds a step to the path. Returns true if it is the last one.
    private mutating func extend(_ found: inout Found, _ depth: Int) -> Bool {
        let type = found.type
        func add(_ steps: PathStep..., to type: ColumnType, many: Bool = false) {
            found.steps += steps
            found.type = type
            found.isMany = found.isMany || many
        }
        if type.isCollection {
            let isObject = type.kind == .link || type.kind == .embedded
            switch random.below(isObject ? 16 : 12) {
            case 0:
                add(.count, to: ColumnType(.int))
                return true
            case 1 where type.collection == .list:
                add(one([.index(random.below(3)), .first, .last]), to: optional(type.element))
                return !isObject
            case 2 where type.collection == .map:
                add(chance(50) ? .key(one(["k", "a b", "z"])) : .name(one(["k", "a b", "z"])), to: optional(type.element))
                return !isObject
            case 3 where type.collection == .map:
                add(.keys, to: ColumnType(.string), many: true)
                return true
            case 4 where type.collection == .map:
                add(.values, to: type.element, many: true)
                return !isObject
            case 5:
                add(.every, to: type.element, many: true)
                return !isObject
            case 6, 7:
                if [.int, .float, .double].contains(type.kind) {
                    let step: PathStep = one([.minimum, .maximum, .sum, .average])
                    add(step, to: ColumnType(step == .average || step == .sum && type.kind == .float ? .double : type.kind, optional: true))
                    found.isMany = false
                    return true
                }
                if type.kind == .string || type.kind == .data, type.collection != .map {
                    add(.name("length"), to: ColumnType(.int), many: true)
                    return true
                }
                return !isObject || chance(50)
            default:
                guard isObject, chance(85) else { return true }
                // A name directly after a map would be a key.
                if type.collection == .map { found.steps.append(.values) }
                found.type = type.element
                found.isMany = true
                return extend(&found, depth + 1)
            }
        }
        switch type.kind {
        case .link, .embedded:
            let target = schema[type.target!]!
            if depth > 4 || !found.steps.isEmpty && chance(10) { return true }
            if type.kind == .link, chance(8) {
                // An inverse link.
                let sources = schema.roots.flatMap { source in
                    source.columns.filter { $0.type.kind == .link && $0.type.target == target.name }.map { (source.name, $0.name) }
                }
                guard !sources.isEmpty else { return !found.steps.isEmpty }
                let (source, column) = one(sources)
                add(.links, .name(source), .name(column), to: ColumnType(.link, collection: .list, target: source))
                return false
            }
            if type.kind == .link, chance(6), let inverse = inverses.filter({ leads($0, to: target.name) }).first {
                add(.name(inverse.name), to: ColumnType(.link, collection: .list, target: inverse.typeName))
                return false
            }
            let column = one(target.columns)
            add(.name(column.name), to: optional(column.type))
            return !column.type.isCollection && column.type.kind != .link && column.type.kind != .embedded
                && !(column.type.kind == .any && chance(20)) && !(column.type.kind == .string && chance(5))
        case .any:
            switch random.below(4) {
            case 0: add(.key("k"), to: ColumnType(.any, optional: true))
            case 1: add(.index(random.below(2)), to: ColumnType(.any, optional: true))
            case 2: add(.count, to: ColumnType(.any, optional: true))
            default: break
            }
            return true
        case .string:
            add(.count, to: ColumnType(.int, optional: true))
            return true
        default: return true
        }
    }
}
