import Firn
import FirnDatabase
import Foundation
import Testing

private class Seeker: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(indexed: true) var name = ""
    @Persisted(indexed: .fullText) var story = ""
    @Persisted var age = 0
}

/// The same type before it had indexes.
private class PlainSeeker: Object {
    override class func _realmObjectName() -> String? { "Seeker" }
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var story = ""
    @Persisted var age = 0
}

@Suite struct IndexedTests {
    private func indexed(_ folder: RealmFolder) throws -> [String] {
        try Database.open(path: folder.file().path).snapshot().indexes.map { "\($0.type).\($0.column)" }
    }

    @Test func `classes add indexes of their marked properties to new and existing files`() throws {
        let folder = try RealmFolder()
        do {
            let realm = try Realm(configuration: folder.configuration([PlainSeeker.self]))
            try realm.write {
                for i in 0..<3000 {
                    realm.create(
                        PlainSeeker.self, value: ["id": i, "name": "hound \(i % 1000)", "story": "Found \(i % 300) bones", "age": i % 9])
                }
            }
            #expect(try indexed(folder).isEmpty)
        }
        do {
            let realm = try Realm(configuration: folder.configuration([Seeker.self]))
            #expect(try indexed(folder) == ["Seeker.name", "Seeker.story"])
            #expect(realm.objects(Seeker.self).where { $0.name == "hound 7" && $0.age == 7 }.map(\.id) == [7])
            #expect(realm.objects(Seeker.self).filter("name == 'hound 8'").map(\.id) == [8, 1008, 2008])
            #expect(realm.objects(Seeker.self).filter("story TEXT 'bones 17 -lost'").count == 10)
            try realm.write {
                realm.objects(Seeker.self)[0].name = "hound 8"
                realm.delete(realm.objects(Seeker.self)[8])
                realm.create(Seeker.self, value: ["id": 5000, "name": "hound 8"])
                #expect(realm.objects(Seeker.self).filter("name == 'hound 8'").map(\.id) == [0, 1008, 2008, 5000])
            }
            #expect(realm.objects(Seeker.self).filter("name == 'hound 8'").map(\.id) == [0, 1008, 2008, 5000])
            #expect(realm.object(ofType: Seeker.self, forPrimaryKey: 5000)?.name == "hound 8")
        }
        // A class without the indexes maintains them as well.
        let realm = try Realm(configuration: folder.configuration([PlainSeeker.self]))
        try realm.write { for i in 6000..<9000 { realm.create(PlainSeeker.self, value: ["id": i, "name": "later \(i)"]) } }
        #expect(try indexed(folder) == ["Seeker.name", "Seeker.story"])
        #expect(realm.objects(PlainSeeker.self).filter("name == 'later 7000'").map(\.id) == [7000])
        #expect(try Database.open(path: folder.file().path).snapshot().verify(full: true).isEmpty)
        try realm.writeCopy(toFile: folder.file("copy.firn"))
        #expect(try Database.open(path: folder.file("copy.firn").path).snapshot().indexes.map(\.entries).first == 6000)
    }
}
