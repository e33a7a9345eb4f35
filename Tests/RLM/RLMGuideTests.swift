import Firn
import FirnKit
import Foundation
import RLM
import Testing

/// The statements of docs/guide/rlm.md. Tests/Firn/GuideTests compares them with the page.
@Suite struct RLMGuideTests {
    @Test func `the examples of "Realm's Objective-C classes in Swift" work`() throws {
        let folder = TemporaryFolder(), url = URL(filePath: folder.file("sheep.firn"))
        let configuration = RLMRealmConfiguration()
        configuration.fileURL = url
        configuration.customSchema = RLMSchema(objectSchema: [
            RLMObjectSchema(
                className: "Sheep",
                properties: [
                    RLMProperty(name: "name", type: .string, isPrimaryKey: true),
                    RLMProperty(name: "age", type: .int),
                    RLMProperty(name: "bells", type: .string, isSet: true),
                    RLMProperty(name: "lambs", type: .object, objectClassName: "Sheep", isArray: true),
                ])
        ])
        let realm = try RLMRealm(configuration: configuration)
        try realm.transaction {
            let dolly = realm.createObject("Sheep", withValue: ["name": "Dolly", "age": 6, "bells": ["brass"]])
            let bonnie = RLMObject(objectSchema: realm.schema["Sheep"]!, value: ["name": "Bonnie", "age": 1])
            (dolly["lambs"] as! RLMArray<RLMObject>).add(bonnie)
        }
        let young = realm.objects("Sheep", where: "age < %@", 5).sortedResults(usingKeyPath: "name", ascending: true)
        for sheep in young { print(sheep["name"] ?? "", sheep.linkingObjects(ofClass: "Sheep", forProperty: "lambs").count) }
        #expect(young.map { $0["name"] as? String } == ["Bonnie"])

        let sheep = realm.object(withClassName: "Sheep", forPrimaryKey: "Dolly")!
        let bells = sheep["bells"] as! RLMSet<String>
        try realm.transaction {
            bells.addObjects(["tin", "brass"])
            sheep["age"] = 7
        }
        print(bells.allObjects, sheep.value(forKeyPath: "lambs.@avg.age") ?? 0)
        #expect(bells.allObjects == ["brass", "tin"] && sheep.value(forKeyPath: "lambs.@avg.age") as? Double == 1)

        let flock = realm.allObjects("Sheep")
        let byLetter = flock.sectionedResultsSorted(usingKeyPath: "name", ascending: true) {
            String((($0 as! RLMObject)["name"] as! String).prefix(1))
        }
        for section in byLetter { print(section.key, section.count) }
        let token = flock.addNotificationBlock { sheep, change, _ in
            print(sheep?.count ?? 0, change?.insertions ?? [])
        }
        realm.refresh()
        #expect(byLetter.allKeys.map { $0 as? String } == ["B", "D"])
        token.invalidate()
    }
}
