import FirnKit
import FirnOracle
import FirnQuery
import FirnTable
import Foundation
import Testing

@testable import Firn

// Classes with a property of every kind, and random objects of them, for the oracle.

class Spot: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>
}

class Knot: EmbeddedObject {
    @Persisted var mark: Int?
    @Persisted var note = ""
    @Persisted var sizes: List<Double>
    @Persisted var any: AnyRealmValue
}

class Twig: Object {
    @Persisted(primaryKey: true) var key: Int
    @Persisted var name: String?
    @Persisted(indexed: true) var length: Int = 0
    @Persisted var size: Double?
    @Persisted var born = Date(timeIntervalSince1970: 0)
    @Persisted var tags: MutableSet<String>
    @Persisted var up: Oak?
    @Persisted(originProperty: "twigs") var oaks: LinkingObjects<Oak>
}

class Oak: Object {
    @Persisted var bool = false
    @Persisted var optBool: Bool?
    @Persisted var int = 0
    @Persisted(indexed: true) var optInt: Int?
    @Persisted var float: Float = 0
    @Persisted var optFloat: Float?
    @Persisted var double = 0.0
    @Persisted var optDouble: Double?
    @Persisted(indexed: true) var string = ""
    @Persisted var optString: String?
    @Persisted var data = Data()
    @Persisted var optData: Data?
    @Persisted var date = Date(timeIntervalSince1970: 0)
    @Persisted var optDate: Date?
    @Persisted var dec: Decimal128 = 0
    @Persisted var optDec: Decimal128?
    @Persisted var oid: ObjectId
    @Persisted var optOid: ObjectId?
    @Persisted var uuid = UUID()
    @Persisted var optUuid: UUID?
    @Persisted var any: AnyRealmValue
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var doubles: MutableSet<Double>
    @Persisted var strings: List<String>
    @Persisted var words: MutableSet<String>
    @Persisted var dates: List<Date>
    @Persisted var datas: List<Data>
    @Persisted var decs: List<Decimal128>
    @Persisted var bools: List<Bool>
    @Persisted var uuids: MutableSet<UUID>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var scores: Map<String, Int>
    @Persisted var names: Map<String, String?>
    @Persisted var twig: Twig?
    @Persisted var next: Oak?
    @Persisted var twigs: List<Twig>
    @Persisted var grove: MutableSet<Oak>
    @Persisted var byName: Map<String, Twig?>
    @Persisted var knot: Knot?
    @Persisted var knots: List<Knot>
    @Persisted var knotsByName: Map<String, Knot?>
    @Persisted var place: Spot?
    @Persisted var places: List<Spot>
    @Persisted(originProperty: "next") var before: LinkingObjects<Oak>
}

/// A realm with random objects, and the same objects as rows of the oracle.
struct Grove {
    let realm: Realm
    let seed: UInt64
    let oracle: Oracle
    /// The `arguments` of the oracle in the form that users give them.
    let arguments: [Any?]
    private let folder: RealmFolder?

    static let inverses = [QueryRequest.Inverse("oaks", type: "Oak", column: "twigs"), .init("before", type: "Oak", column: "next")]
    static let kinds: [ObjectBase.Type] = [Oak.self, Twig.self, Knot.self, Spot.self]

    var schema: Schema { oracle.schema }
    func query(seed: UInt64) -> RandomQuery {
        RandomQuery(seed: seed, schema: schema, links: Array(oracle.arguments.prefix(4)), inverses: Grove.inverses)
    }

    func oak(_ id: Int) -> Oak { realm.core.access(Oak.self).object(Int64(id)) as! Oak }
    func twig(_ id: Int) -> Twig { realm.core.access(Twig.self).object(Int64(id)) as! Twig }

    /// - Parameter open: Whether the last changes are not committed.
    init(seed: UInt64, open: Bool = false, file: Bool = false) throws {
        self.seed = seed
        let folder = file ? try RealmFolder() : nil
        self.folder = folder
        let realm = try folder.map { try Realm(configuration: $0.configuration(Grove.kinds)) } ?? memoryRealm(Grove.kinds)
        self.realm = realm
        var random = Random(seed: seed)
        let schema = Schema(realm.core.schema.types.filter { ["Oak", "Twig", "Knot", "Spot"].contains($0.name) })
        let counts = ["Oak": 1 + random.below(30), "Twig": random.below(14)]
        var rows: [String: [[Value]?]] = [:]
        for name in ["Twig", "Oak"] {
            rows[name] = (0..<counts[name]!).map { id in
                schema[name]!.columns.map { column in
                    if column.name == "key" { return .int(Int64(id * 2)) }
                    return Grove.settled(RandomWorld.value(column.type, schema, counts, &random), column.type, schema, counts)
                }
            }
        }
        // Some objects are created in a first transaction, the others later.
        let cut = random.below(counts["Oak"]! + 1)
        try realm.write {
            for id in 0..<counts["Twig"]! {
                precondition(realm.create(Twig.self, value: Grove.contents(rows["Twig"]![id]!, schema["Twig"]!))._rowID == Int64(id))
            }
            for id in 0..<cut {
                precondition(realm.create(Oak.self, value: Grove.contents(rows["Oak"]![id]!, schema["Oak"]!))._rowID == Int64(id))
            }
        }
        realm.beginWrite()
        for id in cut..<counts["Oak"]! {
            precondition(realm.create(Oak.self, value: Grove.contents(rows["Oak"]![id]!, schema["Oak"]!))._rowID == Int64(id))
        }
        let oaks = (0..<counts["Oak"]!).map { realm.core.access(Oak.self).object(Int64($0)) as! Oak }
        let twigs = (0..<counts["Twig"]!).map { realm.core.access(Twig.self).object(Int64($0)) as! Twig }
        for (id, twig) in twigs.enumerated() {
            if case .link(let up) = rows["Twig"]![id]![schema["Twig"]!.index(of: "up")!] { twig.up = oaks[Int(up)] }
        }
        for (id, oak) in oaks.enumerated() { Grove.link(oak, rows["Oak"]![id]!, schema["Oak"]!, oaks, twigs) }
        try realm.commitWrite()
        // Changes and deletions.
        realm.beginWrite()
        for name in ["Oak", "Twig"] {
            let type = schema[name]!, objects: [Object] = name == "Oak" ? oaks : twigs
            for id in objects.indices {
                if random.below(7) == 0 {
                    let index = random.below(type.columns.count), column = type.columns[index]
                    if column.type.kind == .link || column.name == "key" { continue }
                    let value = Grove.settled(RandomWorld.value(column.type, schema, counts, &random), column.type, schema, counts)
                    rows[name]![id]![index] = value
                    objects[id][column.name] = swiftValue(of: value)
                } else if random.below(10) == 0 {
                    realm.delete(objects[id])
                    rows[name]![id] = nil
                    for source in schema.roots {
                        for (index, column) in source.columns.enumerated() where column.type.kind == .link && column.type.target == name {
                            for row in rows[source.name]!.indices where rows[source.name]![row] != nil {
                                rows[source.name]![row]![index] = Grove.without(Int64(id), rows[source.name]![row]![index])
                            }
                        }
                    }
                }
            }
        }
        if !open { try realm.commitWrite() }
        // The objects that links are compared with: existing rows.
        var links: [Value] = [], objects: [Any?] = []
        for id in 0..<4 {
            if rows["Oak"]!.indices.contains(id * 3), rows["Oak"]![id * 3] != nil {
                links.append(.link(Int64(id * 3)))
                objects.append(oaks[id * 3])
            } else {
                links.append(.null)
                objects.append(nil)
            }
        }
        let maker = RandomQuery(seed: seed, schema: schema, links: links, inverses: Grove.inverses)
        arguments =
            objects + [
                Array(objects.prefix(2)), 1, "k", [1, "a", nil] as [Any?], GeoBox(bottomLeft: (-30.5, -20.5), topRight: (60.5, 100.5))!,
                GeoCircle(center: (12, 11), radius: 0.7)!,
            ]
        oracle = Oracle(schema: schema, rows: rows, arguments: maker.arguments, inverses: Grove.inverses)
    }

    /// Returns the value as objects have it: without dangling links, and with dates that `Date` can represent.
    private static func settled(_ value: Value, _ type: ColumnType, _ schema: Schema, _ counts: [String: Int]) -> Value {
        func isThere(_ value: Value) -> Bool { if case .link(let id) = value { id < counts[type.target ?? ""] ?? 0 } else { true } }
        switch value {
        case .date(let date): return .date(Timestamp(Date(date)))
        case .link: return isThere(value) ? value : .null
        case .list(let values): return .list(values.filter(isThere).map { settled($0, type.element, schema, counts) })
        case .set(let values): return .set(Value.distinctSorted(values.filter(isThere).map { settled($0, type.element, schema, counts) }))
        case .map(let entries): return .map(entries.map { .init($0.key, settled($0.value, type.element, schema, counts)) })
        case .object(let entries):
            return .object(zip(entries, schema[type.target!]!.columns).map { .init($0.key, settled($0.value, $1.type, schema, counts)) })
        default: return value
        }
    }

    private static func without(_ row: Int64, _ value: Value) -> Value {
        switch value {
        case .link(row): .null
        case .list(let values): .list(values.filter { $0 != .link(row) })
        case .set(let values): .set(values.filter { $0 != .link(row) })
        case .map(let entries): .map(entries.map { .init($0.key, $0.value == .link(row) ? .null : $0.value) })
        default: value
        }
    }

    /// Returns all values but the links.
    private static func contents(_ row: [Value], _ type: TypeSchema) -> [String: Any?] {
        Dictionary(uniqueKeysWithValues: zip(type.columns, row).filter { $0.0.type.kind != .link }.map { ($0.name, swiftValue(of: $1)) })
    }

    private static func link(_ oak: Oak, _ row: [Value], _ type: TypeSchema, _ oaks: [Oak], _ twigs: [Twig]) {
        func value(_ name: String) -> Value { row[type.index(of: name)!] }
        func ids(_ name: String) -> [Int] {
            var found: [Int] = []
            value(name).forEachLink { found.append(Int($0)) }
            return found
        }
        oak.twig = ids("twig").first.map { twigs[$0] }
        oak.next = ids("next").first.map { oaks[$0] }
        oak.twigs.append(objectsIn: ids("twigs").map { twigs[$0] })
        oak.grove.insert(objectsIn: ids("grove").map { oaks[$0] })
        if case .map(let entries) = value("byName") {
            for entry in entries {
                if case .link(let id) = entry.value {
                    oak.byName[entry.key] = .some(twigs[Int(id)])
                } else {
                    oak.byName[entry.key] = .some(nil)
                }
            }
        }
    }

    // MARK: Judging

    struct Tally {
        var cases = 0, refused = 0, unknown = 0, faults: [String] = []
    }

    /// Runs one query, and compares. `run` returns row ids; `expected` returns those of the oracle.
    func judge(_ tally: inout Tally, _ what: @autoclosure () -> String, expected: () throws -> [Int], _ run: () throws -> [Int]) {
        tally.cases += 1
        let found: [Int]
        do { found = try run() } catch let error as Realm.Error where error.code == .invalidInput {
            tally.refused += 1
            return
        } catch { return tally.faults.append("seed \(seed): \(what()): \(error)") }
        do {
            let wanted = try expected()
            if found != wanted { tally.faults.append("seed \(seed): \(what()): found \(found), expected \(wanted)") }
        } catch { tally.unknown += 1 }
    }
}
