import Firn
import Foundation
import RLM
import Testing

// Types without classes, and collections of them.

func kennelSchema() -> RLMSchema {
    RLMSchema(objectSchema: [
        RLMObjectSchema(
            className: "Dog",
            properties: [
                RLMProperty(name: "name", type: .string), RLMProperty(name: "age", type: .int),
                RLMProperty(name: "teeth", type: .int, isOptional: true),
                RLMProperty(name: "weight", type: .double), RLMProperty(name: "height", type: .float),
                RLMProperty(name: "born", type: .date),
                RLMProperty(name: "price", type: .decimal128), RLMProperty(name: "owner", type: .object, objectClassName: "Person"),
                RLMProperty(name: "toys", type: .string, isArray: true), RLMProperty(name: "thing", type: .any),
            ]),
        RLMObjectSchema(
            className: "Person",
            properties: [
                RLMProperty(name: "name", type: .string, isPrimaryKey: true), RLMProperty(name: "town", type: .string),
                RLMProperty(name: "dogs", type: .object, objectClassName: "Dog", isArray: true),
                RLMProperty(name: "pack", type: .object, objectClassName: "Dog", isSet: true),
                RLMProperty(name: "best", type: .object, objectClassName: "Dog"),
                RLMProperty(name: "address", type: .object, objectClassName: "Address"),
                RLMProperty(name: "addresses", type: .object, objectClassName: "Address", isArray: true),
                RLMProperty(name: "scores", type: .int, isDictionary: true),
                RLMProperty(name: "byName", type: .object, objectClassName: "Dog", isOptional: true, isDictionary: true),
            ]),
        RLMObjectSchema(
            className: "Address", properties: [RLMProperty(name: "street", type: .string), RLMProperty(name: "city", type: .string)],
            isEmbedded: true),
        RLMObjectSchema(
            className: "Values",
            properties: ElementKind.allCases.flatMap { kind in
                [
                    RLMProperty(name: "\(kind)Set", type: kind.type, isSet: true),
                    RLMProperty(name: "\(kind)Array", type: kind.type, isArray: true),
                ]
                    + (kind == .any
                        ? []
                        : [
                            RLMProperty(name: "\(kind)OptSet", type: kind.type, isOptional: true, isSet: true),
                            RLMProperty(name: "\(kind)OptArray", type: kind.type, isOptional: true, isArray: true),
                        ])
            }),
    ])
}

/// The kinds of values in collections, with three ascending values of each.
enum ElementKind: String, CaseIterable, Sendable {
    case bool, int, float, double, string, data, date, decimal128, objectId, uuid, any

    var type: RLMPropertyType {
        switch self {
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .double: .double
        case .string: .string
        case .data: .data
        case .date: .date
        case .decimal128: .decimal128
        case .objectId: .objectId
        case .uuid: .UUID
        case .any: .any
        }
    }

    var values: [any Hashable] {
        switch self {
        case .bool: [false, true]
        case .int: [-3, 0, 9]
        case .float: [Float(-1.5), Float(0), Float(2.25)]
        case .double: [-1.5, 0.5, 1e9]
        case .string: ["", "Zürich", "zebra"]
        case .data: [Data(), Data([1]), Data([1, 2])]
        case .date: [Date(timeIntervalSince1970: -5), Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1.25)]
        case .decimal128: [Decimal128(-2), Decimal128(0.5), Decimal128(7)]
        case .objectId:
            [
                ObjectId("000000000000000000000001"), ObjectId("000000000000000000000002"),
                ObjectId("0a0000000000000000000000"),
            ]
        case .uuid:
            [
                UUID(uuidString: "00000000-0000-0000-0000-000000000001")!, UUID(uuidString: "00000000-0000-0000-0000-0000000000ff")!,
                UUID(uuidString: "10000000-0000-0000-0000-000000000000")!,
            ]
        case .any: [false, 3, "text"]
        }
    }
}

/// Opens a new realm in memory.
func memoryRealm(_ schema: RLMSchema = kennelSchema()) throws -> RLMRealm {
    let configuration = RLMRealmConfiguration()
    configuration.inMemoryIdentifier = UUID().uuidString
    configuration.customSchema = schema
    return try RLMRealm(configuration: configuration)
}

func dog(_ name: String, _ age: Int, _ teeth: Int? = nil) -> RLMObject {
    RLMObject(
        objectSchema: kennelSchema()["Dog"]!,
        value: [
            "name": name, "age": age, "teeth": teeth, "weight": Double(age) / 2, "height": Float(age) / 4,
            "born": Date(timeIntervalSince1970: Double(age) * 1000), "price": Decimal128(age) + 0.5,
        ])
}

/// Rex 3, Fido 7 (no teeth), Bo 1, Ada 7.
func fourDogs() -> [RLMObject] { [dog("Rex", 3, 20), dog("Fido", 7), dog("Bo", 1, 4), dog("Ada", 7, 30)] }

/// Returns a person with dogs in every kind of collection, in a new realm.
///
/// - Parameter owned: Whether the dogs link to the person.
func person(_ dogs: [RLMObject] = fourDogs(), owned: Bool = false) throws -> RLMObject {
    let realm = try memoryRealm(),
        ada = RLMObject(objectSchema: kennelSchema()["Person"]!, value: ["name": "Ada", "dogs": dogs, "pack": dogs])
    try realm.transaction {
        realm.add(ada)
        if owned { for dog in dogs { dog["owner"] = ada } }
    }
    return ada
}

extension RLMObject {
    var dogs: RLMArray<RLMObject> { self["dogs"] as! RLMArray<RLMObject> }
    var pack: RLMSet<RLMObject> { self["pack"] as! RLMSet<RLMObject> }
    var name: String { self["name"] as! String }
    var age: Int { self["age"] as! Int }
}

func names(_ dogs: some Sequence<RLMObject>) -> [String] { dogs.map(\.name) }

/// The kind of a collection, and its version.
struct Conformer: Sendable, CustomTestStringConvertible {
    enum Kind: String, CaseIterable { case results, filtered, array, set, linking }
    enum Version: String, CaseIterable { case live, frozen, unmanaged }
    var kind: Kind
    var version: Version

    var testDescription: String { "\(version.rawValue) \(kind.rawValue)" }

    static let managed = [Version.live, .frozen].flatMap { version in Kind.allCases.map { Conformer(kind: $0, version: version) } }
    static let live = managed.filter { $0.version == .live }
    static let unmanaged = [Conformer(kind: .array, version: .unmanaged), Conformer(kind: .set, version: .unmanaged)]
    static let all = managed + unmanaged
    static let ordered = all.filter { $0.kind != .set }

    func collection(_ dogs: [RLMObject] = fourDogs(), owned: Bool = false) throws -> any RLMCollection<RLMObject> {
        if version == .unmanaged {
            let ada = RLMObject(objectSchema: kennelSchema()["Person"]!, value: ["name": "Ada", "dogs": dogs, "pack": dogs])
            return kind == .array ? ada.dogs : ada.pack
        }
        let ada = try person(kind == .linking && !owned ? [] : dogs, owned: owned)
        if kind == .linking, !owned {
            try ada.realm!.transaction {
                ada.realm!.addObjects(dogs)
                for dog in dogs { dog["owner"] = ada }
            }
        }
        let live: any RLMCollection<RLMObject> =
            switch kind {
            case .results: ada.realm!.allObjects("Dog")
            case .filtered: ada.realm!.objects("Dog", where: "age >= 0")
            case .array: ada.dogs
            case .set: ada.pack
            case .linking: ada.linkingObjects(ofClass: "Dog", forProperty: "owner")
            }
        return version == .frozen ? live.freeze() : live
    }
}

/// Returns a set of integers, in a new realm or unmanaged.
func intSet(_ members: [Int], _ version: Conformer.Version = .live) throws -> RLMSet<Int> {
    if version == .unmanaged {
        return RLMObject(objectSchema: kennelSchema()["Values"]!, value: ["intSet": members])["intSet"] as! RLMSet<Int>
    }
    let realm = try memoryRealm()
    var made: RLMObject!
    try realm.transaction { made = realm.createObject("Values", withValue: ["intSet": members]) }
    let set = made["intSet"] as! RLMSet<Int>
    return version == .frozen ? set.freeze() : set
}

/// Returns several sets of one realm.
func intSets(_ members: [[Int]]) throws -> [RLMSet<Int>] {
    let realm = try memoryRealm()
    var made: [RLMObject] = []
    try realm.transaction { made = members.map { realm.createObject("Values", withValue: ["intSet": $0]) } }
    return made.map { $0["intSet"] as! RLMSet<Int> }
}

/// Returns the standard error of a process that was expected to end.
func said(_ result: ExitTest.Result?) -> String { String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) }

/// Calls of an observer, as text.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [String] = []

    func note(_ line: String) { lock.withLock { told.append(line) } }

    /// Returns the lines since the last call.
    func take() -> [String] {
        lock.withLock {
            defer { told = [] }
            return told
        }
    }

    /// Waits until there are so many lines. Returns false after ten seconds.
    func waits(for lines: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 10)
        while lock.withLock({ told.count }) < lines {
            if Date() > end { return false }
            usleep(1000)
        }
        return true
    }

    func note(_ count: UInt?, _ change: RLMCollectionChange?, _ error: (any Error)?) {
        guard let change else { return note("initial \(count ?? 0)") }
        note(
            "\(count ?? 0): -\(change.deletions) +\(change.insertions) ~\(change.modifications) now \(change.modificationsNew)"
                + (error.map { " \($0)" } ?? ""))
    }

    func note(_ count: UInt, _ change: RLMSectionedResultsChange) {
        if change.isInitial { return note("initial \(count)") }
        func text(_ paths: [IndexPath]) -> String { "\(paths.map { Array($0) })" }
        note(
            "\(count): -\(text(change.deletions)) +\(text(change.insertions)) ~\(text(change.modifications)) sections +\(Array(change.sectionsToInsert)) -\(Array(change.sectionsToRemove))"
        )
    }
}
