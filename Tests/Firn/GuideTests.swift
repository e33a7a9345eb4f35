import Firn
import FirnKit
import Foundation
import Testing

// The classes and statements of docs/guide. `every example of the guide is compiled and run in a test` compares them with the pages.

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

class Appointment: Object, Codable {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var date: Date
    @Persisted var vet: Vet?
    @Persisted var notes: List<String>

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(date, forKey: .date)
        try container.encode(vet, forKey: .vet)
        try container.encode(notes, forKey: .notes)
    }
}

class Vet: Object, Codable {
    @Persisted(primaryKey: true) var name: String
    @Persisted var city: String?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(city, forKey: .city)
    }
}

@Suite struct GuideTests {
    private func inFolder(_ body: (URL) throws -> Void) throws {
        let place = try RealmFolder()
        try body(place.file("pets.firn"))
    }

    @Test func `the example of "From Realm to Firn" works`() throws {
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

    @Test func `objects move from one realm to another through JSON, and objects with a key stay shared`() throws {
        try inFolder { url in
            let json = url.appendingPathExtension("json")
            let first = UUID(), second = UUID(), date = Date(timeIntervalSinceReferenceDate: 1234.567_891)
            do {
                let realm = try Realm(fileURL: url.appendingPathExtension("old"))
                try realm.write {
                    let vet = realm.create(Vet.self, value: ["name": "Ida"])
                    realm.create(Appointment.self, value: ["id": first, "date": date, "vet": vet, "notes": ["a", "b"]] as [String: Any])
                    realm.create(Appointment.self, value: ["id": second, "vet": vet] as [String: Any])
                }
                try JSONEncoder().encode(realm.objects(Appointment.self)).write(to: json)
            }
            let realm = try Realm(fileURL: url)
            let appointments = try JSONDecoder().decode([Appointment].self, from: Data(contentsOf: json))
            try realm.write { realm.add(appointments, update: .modified) }
            #expect(realm.objects(Appointment.self).count == 2 && realm.objects(Vet.self).count == 1)
            let one = try #require(realm.object(ofType: Appointment.self, forPrimaryKey: first))
            #expect(one.date == date && Array(one.notes) == ["a", "b"] && one.vet?.name == "Ida" && one.vet?.city == nil)
            #expect(realm.object(ofType: Appointment.self, forPrimaryKey: second)?.vet == one.vet)
        }
    }

    @Test func `the example of "Live, frozen, detached" works`() throws {
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

    @Test func `the example of durability of writes works`() throws {
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

    @Test func `every example of the guide is compiled and run in a test`() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let guide = here.appendingPathComponent("../../docs/guide").standardizedFileURL
        var code = ""
        // The examples of docs/guide/rlm.md run in the tests of that module.
        for folder in [here, here.appendingPathComponent("../RLM").standardizedFileURL] {
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix("Tests.swift") {
                code += condensed(try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8))
            }
        }
        var found = 0
        for page in try FileManager.default.contentsOfDirectory(atPath: guide.path) where page.hasSuffix(".md") {
            let parts = try String(contentsOf: guide.appendingPathComponent(page), encoding: .utf8).components(separatedBy: "```swift\n")
            for part in parts.dropFirst() {
                // In tests, imports are at the beginning of the file.
                let lines = part.components(separatedBy: "```")[0].components(separatedBy: "\n").filter { !$0.hasPrefix("import ") }
                let example = lines.joined(separator: "\n")
                if !code.contains(condensed(example)) { Issue.record("\(page) has an example that is in no test:\n\(example)") }
                found += 1
            }
        }
        #expect(found >= 3)
    }

    /// Returns the code without white space, comments and trailing commas, because the formatter wraps the lines of tests.
    private func condensed(_ text: String) -> String {
        var out = ""
        for line in text.components(separatedBy: "\n") {
            var code = line
            if let comment = line.range(of: "//", options: .backwards), !line[comment.upperBound...].contains("\"") {
                code = String(line[..<comment.lowerBound])
            }
            out += code.filter { !$0.isWhitespace }
        }
        return out.replacingOccurrences(of: ",]", with: "]").replacingOccurrences(of: ",)", with: ")")
    }
}
