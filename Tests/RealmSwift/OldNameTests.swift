import Foundation
import RealmSwift
import Testing

@available(*, deprecated)
class OldMessage: AsymmetricObject, ObjectKeyIdentifable {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var text = ""
}

@available(*, deprecated)
enum OldMood: Int, RealmEnum { case calm, wild }

@Suite struct OldNameTests {
    @available(*, deprecated)
    @Test func `names that concern synchronization, and old spellings, compile and warn`() throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [OldMessage.self])
        #expect(configuration.syncConfiguration == nil)
        configuration.syncConfiguration = nil
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(OldMessage(value: ["text": "hello"])) }
        #expect(realm.objects(OldMessage.self).first?.text == "hello" && OldMood.allCases.count == 2)
    }
}
