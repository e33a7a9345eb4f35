// firn-misuse list | NAME: commits one programming error, for Tools/misuse. `list` prints the name of each with the message that must be
// printed, separated by a tab.

import Dispatch
import Firn
import FirnBytes
import FirnThreads
import Foundation
import RLM

class Dog: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var owner: Person?
    @Persisted var toys: List<String>
}

class Person: Object {
    @Persisted(primaryKey: true) var id = 0
}

struct Misuse {
    var name: String, message: String, commit: (Realm, Dog) throws -> Void

    init(_ name: String, _ message: String, _ commit: @escaping (Realm, Dog) throws -> Void) {
        (self.name, self.message, self.commit) = (name, message, commit)
    }
}

struct Held: @unchecked Sendable { let realm: Realm }

func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        done.signal()
    }
    done.wait()
}

let misuses: [Misuse] = [
    Misuse("write-outside", "Cannot modify Dog objects outside of a write transaction") { _, dog in dog.age = 2 },
    Misuse("append-outside", "outside of a write transaction") { _, dog in dog.toys.append("x") },
    Misuse("add-outside", "Cannot add objects outside of a write transaction") { realm, _ in realm.add(Dog()) },
    Misuse("nested-write", "The Realm is already in a write transaction") { realm, _ in
        realm.beginWrite()
        realm.beginWrite()
    },
    Misuse("commit", "Can't commit a non-existing write transaction") { realm, _ in try realm.commitWrite() },
    Misuse("thread", "Realm accessed from incorrect thread: open another Realm on this thread") { realm, _ in
        let held = Held(realm: realm)
        onAnotherThread { _ = held.realm.objects(Dog.self).count }
    },
    Misuse("queue", "it was opened for the queue \"kennel\"") { _, _ in
        let queue = DispatchQueue(label: "kennel")
        let held = try queue.sync {
            Held(realm: try Realm(configuration: .init(inMemoryIdentifier: "q", objectTypes: [Dog.self, Person.self]), queue: queue))
        }
        _ = held.realm.objects(Dog.self)
    },
    Misuse("deleted", "Object has been deleted or invalidated.") { realm, dog in
        try realm.write { realm.delete(dog) }
        _ = dog.name
    },
    Misuse("index", "Index 9 is out of bounds (must be less than 1).") { realm, _ in _ = realm.objects(Dog.self)[9] },
    Misuse("list-index", "Index 0 is out of bounds (must be less than 0).") { _, dog in _ = dog.toys[0] },
    Misuse("filter", "colour") { realm, _ in _ = realm.objects(Dog.self).filter("colour == 'red'").count },
    Misuse("sort", "cannot be the final property in the key path") { realm, _ in
        _ = realm.objects(Dog.self).sorted(byKeyPath: "owner")
    },
    Misuse("duplicate-key", "with an existing primary key value \"4\"") { realm, _ in
        try realm.write { for _ in 0..<2 { realm.create(Person.self, value: ["id": 4]) } }
    },
    Misuse("value", "for property \"Dog.age\", which takes int.") { _, _ in _ = Dog(value: ["age": "three"]) },
    Misuse("token", "Incorrect Realm: only notifications for the Realm being modified can be skipped.") { realm, _ in
        let other = try Realm(configuration: .init(inMemoryIdentifier: "other", objectTypes: [Dog.self, Person.self]))
        let token = other.objects(Dog.self).observe { _ in }
        try realm.write(withoutNotifying: [token]) {}
    },
    Misuse("frozen", "Cannot modify a frozen realm or objects read from it") { _, dog in dog.freeze().age = 3 },
    Misuse("decimal", "is not a decimal") { _, _ in _ = Decimal128(stringLiteral: "three") },
    Misuse("rlm", "There must be at least one SortDescriptor when using SectionedResults.") { realm, _ in
        let configuration = RLMRealmConfiguration()
        configuration.inMemoryIdentifier = "misuse"
        let dogs = try RLMRealm(configuration: configuration).allObjects("Dog")
        _ = dogs.sectionedResults(using: []) { _ in nil }
    },
    Misuse("slots", "a slot outside the count") { _, _ in _ = Slots<Int>(count: 1)[2] },
    Misuse("bytes", "a length or count is never negative") { _, _ in
        var writer = ByteWriter()
        writer.appendVarint(-CommandLine.arguments.count)
    },
]

let word = CommandLine.arguments.dropFirst().first ?? "list"
if word == "list" {
    for misuse in misuses { print("\(misuse.name)\t\(misuse.message)") }
    exit(0)
}
guard let misuse = misuses.first(where: { $0.name == word }) else {
    FileHandle.standardError.write(Data("firn-misuse: there is no misuse \"\(word)\": see firn-misuse list\n".utf8))
    exit(64)
}
let realm = try Realm(configuration: .init(inMemoryIdentifier: "misuse", objectTypes: [Dog.self, Person.self]))
let dog = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
try misuse.commit(realm, dog)
// The programming error was not noticed.
exit(0)
