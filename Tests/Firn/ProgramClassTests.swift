import Firn
import FirnTable
import Foundation
import Testing

/// Used by no other code than the name in strings.
class NeverNamedInCode: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = "initial"
    @Persisted var part: NeverNamedPart?
}
class NeverNamedPart: EmbeddedObject { @Persisted var text = "part" }
private final class NeverNamedHeir: Object { @Persisted var text = "heir" }
private class NeverMigrated: Object {
    @Persisted var a = 0
    @Persisted var b: Int?
}
class NeverNamedGeneric<Content>: Object {
    @Persisted var text = "generic"
    var content: Content?
}
private class NeverNamedConcrete: NeverNamedGeneric<[Int]> { @Persisted var number = 5 }
private final class NeverNamedBelow: NeverNamedConcrete {}
private enum First { class TwiceNamed: Object { @Persisted var a = 1 } }
private enum Second { class TwiceNamed: Object { @Persisted var b = 1 } }

/// Classes that the program has but has not used yet.
@Suite struct ProgramClassTests {
    @Test func `without objectTypes, classes are found by name`() throws {
        let realm = try memoryRealm()
        #expect(realm.schema["NeverNamedInCode"]?.properties.map(\.name) == ["id", "name", "part"])
        #expect(realm.schema["NeverNamedInCode"]?.primaryKeyProperty?.name == "id" && realm.schema["NeverNamedPart"]?.isEmbedded ?? false)
        #expect(realm.dynamicObjects("NeverNamedInCode").count == 0)
        try realm.write { realm.dynamicCreate("NeverNamedInCode", value: ["id": 3, "part": [:] as [String: Any]] as [String: Any]) }
        #expect(realm.dynamicObject(ofType: "NeverNamedInCode", forPrimaryKey: 3)?["name"] as? String == "initial")
        #expect(realm.dynamicObjects("NeverNamedHeir").isEmpty && realm.schema["NeverNamedHeir"] != nil)
        #expect(realm.schema["TwiceNamed"] == nil && realm.schema["NoSuchClass"] == nil)
    }

    @Test func `classes derived from generic classes are found by name`() throws {
        let realm = try memoryRealm()
        #expect(realm.schema["NeverNamedConcrete"]?.properties.map(\.name) == ["text", "number"])
        #expect(realm.schema["NeverNamedBelow"]?.properties.count == 2 && realm.schema["NeverNamedGeneric"] == nil)
        try realm.write { realm.dynamicCreate("NeverNamedConcrete") }
        #expect(realm.objects(NeverNamedConcrete.self).map(\.number) == [5])
        try realm.write { realm.add(NeverNamedGeneric<String>()) }
        #expect(realm.schema["NeverNamedGeneric<String>"] != nil)
    }

    @Test func `without objectTypes, the schema lists all valid classes of the program after the types of the file`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.add(NeverNamedHeir()) }
        let names = realm.schema.objectSchema.map(\.className)
        #expect(
            names.first == "NeverNamedHeir" && Set(names).count == names.count
                && names.dropFirst().elementsEqual(names.dropFirst().sorted()))
        #expect(names.contains("NeverNamedInCode") && names.contains("NeverNamedPart") && names.contains("NeverNamedConcrete"))
        #expect(!names.contains("TwiceNamed") && !names.contains("Object") && !names.contains("DynamicObject"))
        #expect(realm.schema.objectSchema.first { $0.className == "NeverNamedInCode" } == realm.schema["NeverNamedInCode"])
    }

    @Test func `with objectTypes, only these are known`() throws {
        let realm = try memoryRealm([Dog.self])
        #expect(Set(realm.schema.objectSchema.map(\.className)) == ["Dog", "Person", "Address"])
        #expect(realm.schema["NeverNamedInCode"] == nil && realm.schema["Dog"] != nil)
    }

    @Test func `without objectTypes, a migration covers classes that were not used yet`() async throws {
        let file = TemporaryRealm("\(getpid())-never-migrated")
        // The type as an older program stored it.
        let a = Property(
            name: "a", type: .int, objectClassName: nil, isPrimaryKey: false, isIndexed: false, isOptional: false, isArray: false,
            isSet: false, isMap: false)
        let old = Realm.Configuration(fileURL: file.url, objectTypes: [])
        do {
            let realm = try Realm(configuration: old)
            try realm.adopt([ObjectSchema(className: "NeverMigrated", properties: [a], embedded: false)])
            try realm.write { realm.dynamicCreate("NeverMigrated", value: ["a": 1]) }
        }
        let migrated = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(fileURL: TemporaryRealm.url("\(getppid())-never-migrated"), schemaVersion: 1))
            let all = realm.objects(NeverMigrated.self)
            guard all.count == 1, all[0].a == 1, all[0].b == nil else { fatalError("not migrated: \(all)") }
        }
        #expect(migrated != nil, "\(said(migrated).prefix(400))")
    }

    @Test func `a class that is not known is named with the line to add`() async {
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([Dog.self]).dynamicObjects("NeverNamedInCode")
        }
        #expect(said(unknown).contains("objectTypes: [NeverNamedInCode.self]"), "\(said(unknown).prefix(400))")
    }
}
