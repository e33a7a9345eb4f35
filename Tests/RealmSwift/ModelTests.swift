import Foundation
import RealmSwift
import Testing

final class Book: Object {
    @Persisted(primaryKey: true) var isbn: String
    @Persisted var title = ""
    @Persisted var pages: Int?
}

@Suite struct ModelTests {
    @Test func `a model file that imports RealmSwift compiles and works`() throws {
        let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Book.self]))
        try realm.write { realm.add(Book(value: ["isbn": "1", "title": "Snow"])) }
        #expect(realm.object(ofType: Book.self, forPrimaryKey: "1")?.title == "Snow")
    }
}
