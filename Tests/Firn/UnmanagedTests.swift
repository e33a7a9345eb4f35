import Firn
import Foundation
import Testing

@Suite struct UnmanagedTests {
    @Test func `an unmanaged object has its declared initial values, and then the assigned ones`() {
        let dog = Dog()
        #expect(dog.name == "nameless" && dog.age == 1 && dog.weight == 2.5)
        #expect(dog.owner == nil && dog.toys.isEmpty && dog.friends.isEmpty)
        dog.name = "Rex"
        dog.age += 6
        dog.toys.append("ball")
        let person = Person()
        person.best = dog
        person.dogs.append(objectsIn: [dog, Dog()])
        #expect(dog.name == "Rex" && dog.age == 7 && Array(dog.toys) == ["ball"])
        #expect(person.best === dog && person.dogs.count == 2 && person.dogs[0] === dog)
    }

    @Test func `initial values are evaluated once for each object`() {
        let one = Everything(), other = Everything()
        #expect(one.uuid == one.uuid && one.objectId == one.objectId)
        #expect(one.uuid != other.uuid && one.objectId != other.objectId)
    }

    @Test func `objects can be created from dictionaries, arrays and other objects`() {
        let person = Person(
            value: [
                "id": 3, "name": "Ada", "best": ["name": "Rex"], "dogs": [["name": "Fido", "age": 4], ["name": "Bo"]],
                "address": ["city": "Bern"],
            ] as [String: Any])
        #expect(person.id == 3 && person.name == "Ada" && person.best?.name == "Rex")
        #expect(person.dogs.map(\.name) == ["Fido", "Bo"] && person.dogs[0].age == 4 && person.dogs[1].age == 1)
        #expect(person.address?.city == "Bern")
        let copy = Person(value: person)
        #expect(copy.name == "Ada" && copy.dogs.count == 2 && copy.dogs[0] === person.dogs[0])
        let dog = Dog(value: ["Rex", 5, 7] as [Any])
        #expect(dog.name == "Rex" && dog.age == 5 && dog.weight == 7)
    }

    @Test func `properties can be read and set by name`() {
        let dog = Dog()
        dog["name"] = "Rex"
        dog["age"] = 3
        #expect(dog.name == "Rex" && dog["age"] as? Int == 3 && dog["owner"] == nil)
        let person = Person(value: ["best": dog])
        #expect(person.value(forKeyPath: "best.name") as? String == "Rex")
    }
}
