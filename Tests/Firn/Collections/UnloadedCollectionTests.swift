import FirnDatabase
import FirnKit
import Foundation
import Testing

@testable import Firn

/// Single elements of large collections are read before all are decoded.
struct UnloadedCollectionTests {
    final class Store: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var numbers: List<Int>
        @Persisted var texts: List<String?>
        @Persisted var set: MutableSet<Int>
        @Persisted var map: Map<String, Int>
        @Persisted var links: List<Store>
    }

    private static let count = 60_000

    private func folder() throws -> RealmFolder {
        let folder = try RealmFolder(), count = UnloadedCollectionTests.count
        do {
            let realm = try Realm(configuration: folder.configuration([Store.self]))
            try realm.write {
                let store = realm.create(Store.self, value: ["id": 0])
                store.numbers.append(objectsIn: (0..<count).map { $0 * 3 % 1009 })
                store.texts.append(objectsIn: (0..<count).map { $0 % 5 == 0 ? nil : "text \($0)" })
                store.set.insert(objectsIn: (0..<count).map { $0 * 7 })
                store.map.merge((0..<count).map { ("key \($0)", $0) })
                store.links.append(objectsIn: Array(repeating: store, count: count))
            }
        }
        let transaction = try Database.open(path: folder.file().path, writable: true).begin()
        try transaction.flushAll()
        try transaction.commit()
        return folder
    }

    private func isLoaded(_ store: Store, _ column: Int) -> Bool { CollectionCell.of(store, column).isLoaded }

    private func expectReads(_ store: Store, isChanged: Bool, _ note: Comment) {
        let count = UnloadedCollectionTests.count
        #expect(store.numbers.count == count && store.numbers[1234] == (isChanged ? -1 : 1234 * 3 % 1009), note)
        #expect(store.numbers.first == 0 && store.numbers.last == (count - 1) * 3 % 1009, note)
        #expect(store.texts[10] == nil && store.texts[11] == "text 11" && store.texts.count == count, note)
        #expect(store.set.contains(700) && !store.set.contains(701) && store.set[5] == 35, note)
        #expect(store.map["key 777"] == (isChanged ? -1 : 777) && store.map["key"] == nil && store.map.count == count, note)
        #expect(store.map.first?.key == "key 0" && store.links[7].id == 0 && store.links.count == count, note)
    }

    @Test func `a few elements are read without the others, and many after all are decoded`() throws {
        let folder = try folder(), realm = try Realm(configuration: folder.configuration([Store.self]))
        let store = try #require(realm.object(ofType: Store.self, forPrimaryKey: 0)), count = UnloadedCollectionTests.count
        expectReads(store, isChanged: false, "sealed")
        for column in 1...5 { #expect(!isLoaded(store, column), "column \(column)") }
        #expect((0..<count).allSatisfy { store.numbers[$0] == $0 * 3 % 1009 } && isLoaded(store, 1))
        #expect((0..<30).allSatisfy { store.map["key \($0 * 100)"] == $0 * 100 } && isLoaded(store, 4))
        #expect(Array(store.texts) == (0..<count).map { $0 % 5 == 0 ? nil : "text \($0)" } && isLoaded(store, 2))
        #expect(!isLoaded(store, 3))
        // A frozen collection is loaded when it is created, and another thread may use it.
        let frozen = store.freeze()
        #expect(frozen.set.contains(14) && isLoaded(frozen, 3))
    }

    @Test func `a changed collection is read without the others after its realm is opened again, at the old version too`() throws {
        let folder = try folder()
        let frozen: Store
        do {
            let realm = try Realm(configuration: folder.configuration([Store.self]))
            let store = try #require(realm.object(ofType: Store.self, forPrimaryKey: 0))
            frozen = store.freeze()
            try realm.write {
                // A transaction decodes what it reads.
                #expect(store.numbers[3] == 9 && isLoaded(store, 1))
                store.numbers[1234] = -1
                store.map["key 777"] = -1
            }
            expectReads(store, isChanged: true, "after the commit")
            realm.beginWrite()
            store.numbers[1234] = 5
            store.map["key 777"] = nil
            realm.cancelWrite()
            expectReads(store, isChanged: true, "cancelled")
        }
        let realm = try Realm(configuration: folder.configuration([Store.self]))
        let store = try #require(realm.object(ofType: Store.self, forPrimaryKey: 0))
        expectReads(store, isChanged: true, "opened again")
        expectReads(frozen, isChanged: false, "the old version")
    }
}
