import Firn
import Foundation
import Testing

/// The examples of docs/guide/where.md.
@Suite struct QueryGuideTests {
    @Test func `the examples of "Queries in Swift" work`() throws {
        let realm = try memoryRealm([Owner.self])
        try realm.write {
            let owner = Owner(value: ["id": 1, "name": "Ada"] as [String: Any])
            owner.pets.append(objectsIn: [
                Pet(value: ["name": "Rex", "age": 4]), Pet(value: ["name": "Fido", "age": 2]), Pet(value: ["name": "Bo", "age": 9]),
            ])
            realm.add(owner)
        }
        let pets = realm.objects(Pet.self)
        let typed = pets.where { $0.age > 3 && $0.owners.name == "Ada" }
        let text = pets.filter("age > %@ AND owners.name == %@", 3, "Ada")  // docs/guide/query.md
        let macro = pets.filter(#Predicate { $0.age > 3 && $0.name == "Rex" })  // Foundation's
        let block = pets.filter(NSPredicate { pet, _ in (pet as! Pet).age > 3 })  // every object is made and asked
        #expect(
            typed.map(\.name) == ["Rex", "Bo"] && text.map(\.name) == ["Rex", "Bo"] && macro.map(\.name) == ["Rex"]
                && block.map(\.name) == ["Rex", "Bo"])
        var sum = 0
        for batch in pets.column(\.age) { for age in batch.values { sum += age } }
        let ages = Array(pets.where { $0.age > 3 }.column(\.age))  // [Int]
        let names = pets.column("name", as: String.self)  // by name or path
        #expect(sum == 15 && ages == [4, 9] && Array(names) == ["Rex", "Fido", "Bo"])
    }
}
