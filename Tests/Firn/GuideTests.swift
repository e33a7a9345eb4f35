import Firn
import FirnKit
import Foundation
import Testing

// The classes and statements of docs/guide: `every example of the guide is compiled and run here` compares.

class Owner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var pets: List<Pet>
    @Persisted var home: Home?
}

class Pet: Object {
    @Persisted(indexed: true) var name = ""
    @Persisted var age = 0
    @Persisted var nicknames: MutableSet<String>
    @Persisted var scores: Map<String, Int>
    @Persisted(originProperty: "pets") var owners: LinkingObjects<Owner>
}

class Home: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var city = ""
}

@Suite struct GuideTests {
    private func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("firn-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appendingPathComponent("pets.firn"))
    }

    @Test func `the example of "From Realm to Firn"`() throws {
        try inFolder { url in
            let realm = try Realm(fileURL: url)
            try realm.write {
                let owner = Owner(value: ["id": 1, "name": "Ada", "home": ["city": "Zürich"]] as [String: Any])
                owner.pets.append(Pet(value: ["name": "Rex", "age": 4]))
                owner.pets.append(Pet(value: ["name": "Fido", "age": 9]))
                realm.add(owner)
            }
            let old = realm.objects(Pet.self).filter("age > %@", 5).sorted(by: [SortDescriptor(keyPath: "name")])
            for pet in old { print(pet.name, pet.owners.first?.name ?? "stray") }
            let ada = realm.object(ofType: Owner.self, forPrimaryKey: 1)
            try realm.write { ada?.pets.first?.age += 1 }
            #expect(old.map(\.name) == ["Fido"] && old[0].owners.first?.name == "Ada")
            #expect(ada?.pets[0].age == 5 && ada?.home?.city == "Zürich")
        }
    }

    @Test func `the example of "Live, frozen, detached"`() throws {
        try inFolder { url in
            let realm = try Realm(fileURL: url)
            try realm.write { realm.add(Pet(value: ["name": "Rex", "age": 4])) }
            let live = realm.objects(Pet.self)[0]
            let frozen = live.freeze()
            try realm.write { live.age = 5 }
            print(live.age, frozen.age)  // 5 4
            print(frozen.thaw()?.age ?? 0)  // 5
            #expect(live.age == 5 && frozen.age == 4 && frozen.thaw()?.age == 5)
        }
    }

    @Test func `caveats: writes say when they return`() throws {
        try inFolder { url in
            var configuration = Realm.Configuration(fileURL: url)
            configuration.durability = .grouped  // of this realm's writes
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Pet(value: ["name": "Rex"])) }
            try realm.write(durability: .none) {  // of this one
                realm.objects(Pet.self).first!.age += 1
            }
            try realm.makeDurable()  // whatever was written without
            #expect(try Realm(configuration: Realm.Configuration(fileURL: url)).objects(Pet.self).first?.age == 1)
        }
    }

    @Test func `every example of the guide is compiled and run here`() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let guide = here.appendingPathComponent("../../docs/guide").standardizedFileURL
        var code: [String] = []
        // Those of docs/guide/rlm.md are run where its room is tested.
        for folder in [here, here.appendingPathComponent("../RLM").standardizedFileURL] {
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix("Tests.swift") {
                code += trimmed(try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8))
            }
        }
        let all = code.joined(separator: "\n")
        var found = 0
        for page in try FileManager.default.contentsOfDirectory(atPath: guide.path) where page.hasSuffix(".md") {
            let parts = try String(contentsOf: guide.appendingPathComponent(page), encoding: .utf8).components(separatedBy: "```swift\n")
            for part in parts.dropFirst() {
                // Imports stand at the head of the file.
                let example = trimmed(part.components(separatedBy: "```")[0]).filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
                    .trimmingCharacters(in: .newlines)
                #expect(all.contains(example), "\(page) has an example that no test runs:\n\(example)")
                found += 1
            }
        }
        #expect(found >= 3)
    }

    /// Lines without indentation, so that an example may stand within a test.
    private func trimmed(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
