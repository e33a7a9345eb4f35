import FirnTable

/// Random schemas and rows: the generator of stored data for the property tests.
///
/// Two others are different things, and stay with their tests. `RandomWorld` (Tests/Oracle) has values from small pools, so that queries
/// find equal ones, and links to rows that do not exist. `TextSample` and `sampleWords` (Tests/Codecs) are columns that lead to each
/// encoding.
public struct RandomTables: Sendable {
    package var generator: Random

    public init(seed: UInt64) { generator = Random(seed: seed) }

    /// - Parameter salt: gives other tables for the same seed.
    public init(_ seed: Seed, salt: UInt64 = 1) { generator = Random(seed, salt: salt) }

    package mutating func number(_ range: ClosedRange<Int>) -> Int { generator.number(range) }
    package mutating func chance(_ percent: Int) -> Bool { generator.chance(percent) }

    /// A schema with one root type and up to two embedded ones.
    package mutating func schema() -> Schema {
        var types: [TypeSchema] = []
        for i in 0..<number(0...2) {
            let targets = types.map(\.name)
            types.append(TypeSchema("Part\(i)", columns: columns(number(1...3), targets: targets), isEmbedded: true))
        }
        let targets = types.map(\.name)
        types.append(TypeSchema("Thing", columns: columns(number(1...6), targets: targets)))
        return Schema(types)
    }

    private mutating func columns(_ count: Int, targets: [String]) -> [ColumnSchema] {
        (0..<count).map { i in
            var kinds: [ScalarKind] = [
                .bool, .int, .float, .double, .string, .data, .date, .decimal, .objectID, .uuid, .any, .int, .string,
            ]
            if !targets.isEmpty { kinds += [.embedded, .embedded] }
            let kind = kinds[number(0...kinds.count - 1)]
            let target = kind == .embedded ? targets[number(0...targets.count - 1)] : nil
            var collection = CollectionKind(rawValue: chance(60) ? 0 : UInt8(number(1...3)))!
            if kind == .embedded, collection == .set { collection = .list }
            let optional = kind == .any && collection == .none ? true : chance(40)
            return ColumnSchema(
                "c\(i)",
                ColumnType(
                    kind, optional: optional, collection: collection,
                    elementOptional: collection != .none && kind != .embedded && chance(20), target: target))
        }
    }

    package mutating func value(_ type: ColumnType, in schema: Schema) -> Value {
        if type.isOptional, chance(20) { return .null }
        guard type.isCollection else { return scalar(type, in: schema) }
        let count = chance(5) ? number(0...100) : number(0...4)
        let element = type.element
        switch type.collection {
        case .map:
            var keys = Set<String>()
            for _ in 0..<count { keys.insert("k\(number(0...20))") }
            return .map(keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { Value.Entry($0, value(element, in: schema)) })
        case .set: return .set(Value.distinctSorted((0..<count).map { _ in value(element, in: schema) }))
        default: return .list((0..<count).map { _ in value(element, in: schema) })
        }
    }

    private mutating func scalar(_ type: ColumnType, in schema: Schema) -> Value {
        switch type.kind {
        case .bool: return .bool(chance(50))
        case .int, .link: return .int(chance(80) ? Int64(number(-50...1000)) : Int64(bitPattern: generator.next()))
        case .float: return .float(chance(90) ? Float(number(-1000...1000)) / 8 : .infinity)
        case .double:
            return .double(
                chance(80) ? Double(number(-100_000...100_000)) / 100 : Double(bitPattern: generator.next() & 0x7FEF_FFFF_FFFF_FFFF))
        case .string:
            return .string(chance(70) ? "word\(number(0...30))" : String(repeating: "ä\(number(0...9))\u{0}", count: number(0...20)))
        case .data: return .data((0..<number(0...12)).map { _ in UInt8.random(in: 0...255, using: &generator) })
        case .date:
            return .date(
                Timestamp(
                    seconds: Int64(number(-3_000_000_000...3_000_000_000)), nanoseconds: chance(50) ? 0 : Int32(number(0...999_999_999))))
        case .decimal: return .decimal(Decimal("\(number(-9999...9999)).\(number(10...99))")!)
        case .objectID: return .objectID(Identifier(high: generator.next(), low: generator.next() >> 32))
        case .uuid: return .uuid(Identifier(high: generator.next(), low: generator.next()))
        case .any:
            switch number(0...7) {
            case 0: return .null
            case 1: return .string("any\(number(0...9))")
            case 2: return .list([.int(1), .string("x"), .null])
            case 3: return .map([.init("a", .double(0.5)), .init("b", .list([]))])
            case 4: return .double(1.25)
            case 5: return .bool(true)
            default: return .int(Int64(number(0...99)))
            }
        case .embedded:
            let target = schema[type.target!]!
            return .object(target.columns.map { Value.Entry($0.name, value($0.type, in: schema)) })
        }
    }

    package mutating func rows(_ count: Int, of type: TypeSchema, in schema: Schema) -> [[Value]] {
        (0..<count).map { _ in type.columns.map { value($0.type, in: schema) } }
    }

    package static func batch(_ rows: [[Value]], of type: TypeSchema, in schema: Schema) -> Batch {
        var batch = Batch(type, in: schema)
        for row in rows {
            for i in row.indices { precondition(batch.columns[i].append(row[i]), "\(row[i]) does not fit \(type.columns[i].type.name)") }
        }
        batch.count = rows.count
        return batch
    }
}
