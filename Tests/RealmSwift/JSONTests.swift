// Typical server code with Realm's classes: it reads JSON into objects, updates rows from JSON, and writes JSON.
import FirnKit
import Foundation
import RealmSwift
import Testing

final class Recipe: Object, Codable {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var title = "untitled"
    @Persisted var servings: Int?
    @Persisted var rating: Float?
    @Persisted var photo: Data
    @Persisted var made: Date?
    @Persisted var steps: List<String>
    @Persisted var tags: MutableSet<String>
    @Persisted var cook: Cook?
    @Persisted var helpers: List<Cook>
    @Persisted var notes: Map<String, String>
}

final class Cook: Object, Codable {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = "guest"
    @Persisted var age = 30
}

@Suite struct JSONTests {
    private static let json =
        #"{"id":"6F9619FF-8B86-D011-B42D-00C04FC964FF","title":"Soup","rating":4.5,"photo":"AAEC","steps":["cut","boil"],"tags":["hot"],"#
        + #""cook":{"id":1,"name":"Ada","age":40},"helpers":[{"id":2,"name":"Bob","age":20}],"notes":{"salt":"little"}}"#

    private func kitchen() throws -> Realm {
        try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Recipe.self, Cook.self]))
    }

    @Test func `the synthesized Codable conformance reads and writes unmanaged objects`() throws {
        let recipe = try JSONDecoder().decode(Recipe.self, from: Data(Self.json.utf8))
        #expect(
            recipe.servings == nil && recipe.made == nil && recipe.photo == Data([0, 1, 2]) && recipe.cook?.name == "Ada"
                && recipe.helpers.first?.age == 20)
        let realm = try kitchen()
        try realm.write { realm.add(recipe) }
        #expect(realm.object(ofType: Recipe.self, forPrimaryKey: recipe.id)?.steps.map(\.self) == ["cut", "boil"])
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(recipe) }
        let again = try JSONDecoder().decode(Recipe.self, from: JSONEncoder().encode(recipe.detached()))
        #expect(
            again.id == recipe.id && again.rating == 4.5 && Array(again.tags) == ["hot"] && again.notes["salt"] == "little"
                && again.cook?.id == 1)
    }

    @Test func `JSON without the key of a required property is a decoding error`() {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Cook.self, from: Data(#"{"id":1,"name":"Ada"}"#.utf8)) }
    }

    @Test(arguments: [Realm.UpdatePolicy.modified, .all])
    func `an update keeps values that the dictionary does not name, also in linked objects`(policy: Realm.UpdatePolicy) throws {
        let realm = try kitchen()
        let recipe = try JSONDecoder().decode(Recipe.self, from: Data(Self.json.utf8))
        try realm.write { realm.add(recipe) }
        let part = try JSONSerialization.jsonObject(
            with: Data(#"{"title":"Stew","servings":4,"helpers":[{"id":2,"age":21},{"id":3,"name":"Cy"}],"cook":{"id":1,"age":41}}"#.utf8))
        var value = try #require(part as? [String: Any])
        value["id"] = recipe.id
        let same = try realm.write { realm.create(Recipe.self, value: value, update: policy) }
        #expect(same == recipe && recipe.title == "Stew" && recipe.servings == 4 && recipe.rating == 4.5 && recipe.photo.count == 3)
        #expect(recipe.steps.count == 2 && recipe.notes["salt"] == "little")
        #expect(recipe.helpers.map(\.name) == ["Bob", "Cy"] && recipe.helpers.map(\.age) == [21, 30])
        #expect(recipe.cook?.name == "Ada" && recipe.cook?.age == 41 && realm.objects(Cook.self).count == 3)
    }

    @Test func `an update without an existing object creates one with the initial values of its class`() throws {
        let realm = try kitchen()
        let cook = try realm.write { realm.create(Cook.self, value: ["id": 9, "age": 50.0], update: .modified) }
        #expect(cook.name == "guest" && cook.age == 50 && cook.id == 9)
    }

    @Test func `errors have their message as localizedDescription too`() throws {
        let realm = try kitchen()
        let folder = TemporaryFolder(), file = URL(filePath: folder.file("copy.firn"))
        try realm.writeCopy(toFile: file)
        let error = try #require(throws: Realm.Error.self) { try realm.writeCopy(toFile: file) }
        #expect(error.code == .fileExists && error.message.contains(file.path) && error.message.hasSuffix("already exists."))
        #expect(error.localizedDescription == error.message && (error as any Error).localizedDescription == error.message)
    }

    @Test func `a configuration can be made with all arguments in the order of Realm's Swift SDK`() {
        let configuration = Realm.Configuration(
            fileURL: nil, inMemoryIdentifier: "x", readOnly: false, schemaVersion: 3, migrationBlock: { _, _ in },
            deleteRealmIfMigrationNeeded: false, shouldCompactOnLaunch: { _, _ in false }, objectTypes: [Cook.self], seedFilePath: nil)
        #expect(configuration.schemaVersion == 3 && configuration.inMemoryIdentifier == "x")
    }

    @Test(arguments: [("age > %d", 29), ("age == %lld", 30), ("age < %i", 31), ("age > %f", 29)])
    func `predicate formats accept the argument letters of printf`(format: String, argument: Int) throws {
        let realm = try kitchen()
        try realm.write { realm.create(Cook.self, value: ["id": 1]) }
        #expect(realm.objects(Cook.self).filter(format, argument).count == 1)
    }
}

final class Word: Object {
    @Persisted var text = ""

    override var description: String { "word '\(text)'" }
    override func isEqual(_ object: Any?) -> Bool { (object as? Word)?.text == text }
    override var hash: Int { text.hashValue }
}

@Suite struct OverridingTests {
    @Test func `classes can override description and equality`() throws {
        let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Word.self]))
        let words = try realm.write { ["a", "b", "a"].map { realm.create(Word.self, value: [$0]) } }
        #expect("\(words[0])" == "word 'a'" && words[0] == words[2] && words[0] != words[1] && Set(words).count == 2)
        #expect(autoreleasepool { realm.objects(Word.self).count } == 3)
    }
}
