import Firn
import Foundation
import Testing

private class Ticket: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var opened: Date
    @Persisted var title: String
}

private struct Token: CustomPersistable, Hashable {
    typealias PersistedType = UUID
    var id: UUID
    init(persistedValue: UUID) { id = persistedValue }
    var persistableValue: UUID { id }
}

private enum Level: Int, PersistableEnum { case high = 7, low = 1 }

private class Note: EmbeddedObject {
    @Persisted var id: UUID
    @Persisted var at: Date
}

private class Everyday: Object {
    @Persisted var bool: Bool
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var date: Date
    @Persisted var mixed: AnyRealmValue
    @Persisted var level: Level
    @Persisted var token: Token
    @Persisted var optional: UUID?
    @Persisted var optionalDate: Date?
    @Persisted var notes: List<Note>
}

private class OldVisit: Object {
    override class func _realmObjectName() -> String? { "Visit" }
    @Persisted var place = ""
}

private class Visit: Object {
    @Persisted var place = ""
    @Persisted var id: UUID
    @Persisted var at: Date
    @Persisted var token: Token
    @Persisted var key: ObjectId
}

private class DefaultGuest: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var name = "guest"
    @Persisted var level = Level.low
}

/// What properties are that nothing was assigned to.
@Suite struct DefaultValueTests {
    @Test func `properties of new objects are zero, empty, nil or the first case, and identifiers and dates are generated`() {
        let before = Date(), a = Everyday(), b = Everyday()
        #expect(!a.bool && a.int == 0 && a.int8 == 0 && a.float == 0 && a.double == 0 && a.string == "" && a.data == Data())
        #expect(a.decimal == 0 && a.mixed == .none && a.level == .high && a.optional == nil && a.optionalDate == nil)
        #expect(a.uuid != b.uuid && a.uuid == a.uuid && a.objectId != b.objectId && a.token != b.token && a.token == a.token)
        #expect(a.date >= before && a.date <= Date() && a.date == a.date)
        #expect(Note().id != Note().id && Note().at >= before)
    }

    @Test func `objects with an unset UUID as primary key are different objects`() throws {
        let realm = try memoryRealm([Ticket.self])
        try realm.write {
            for i in 0..<3 { realm.add(Ticket(value: ["title": "t\(i)"]), update: .modified) }
            realm.create(Ticket.self, value: ["title": "t3"])
            realm.create(Ticket.self, value: ["title": "t4"], update: .all)
        }
        let tickets = realm.objects(Ticket.self)
        #expect(tickets.count == 5 && Set(tickets.map(\.id)).count == 5)
        #expect(tickets.allSatisfy { $0.opened.timeIntervalSinceNow > -1000 })
        let first = tickets[0]
        #expect(first.id == first.id && realm.object(ofType: Ticket.self, forPrimaryKey: first.id) == first)
    }

    @Test func `embedded objects and objects in dictionaries get values of their own`() throws {
        let realm = try memoryRealm([Everyday.self])
        let one = try realm.write { realm.create(Everyday.self, value: ["notes": [[:], [:]] as [[String: Any]]]) }
        #expect(one.notes[0].id != one.notes[1].id && one.notes[0].at.timeIntervalSinceNow > -1000)
    }

    @Test func `properties that a migration adds are zero in the rows that exist`() throws {
        let folder = try RealmFolder()
        do {
            let realm = try Realm(configuration: folder.configuration([OldVisit.self]))
            try realm.write { realm.add(OldVisit(value: ["place": "here"])) }
        }
        let realm = try Realm(configuration: folder.configuration([Visit.self], version: 1))
        let visit = try #require(realm.objects(Visit.self).first), zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        #expect(visit.place == "here" && visit.id == zero && visit.at == Date(timeIntervalSince1970: 0) && visit.token.id == zero)
        #expect(visit.key == (try ObjectId(string: "000000000000000000000000")))
        try realm.write { realm.add(Visit()) }
        #expect(realm.objects(Visit.self)[1].id != zero)
    }

    @Test func `dynamic objects get the initial values of the program's class`() throws {
        let realm = try memoryRealm([DefaultGuest.self])
        try realm.write {
            for _ in 0..<2 { realm.dynamicCreate("DefaultGuest") }
            realm.dynamicCreate("DefaultGuest", value: ["name": "Ada", "level": 7])
        }
        let guests = realm.objects(DefaultGuest.self)
        #expect(guests.map(\.name) == ["guest", "guest", "Ada"] && guests.map(\.level) == [.low, .low, .high])
        #expect(Set(guests.map(\.id)).count == 3)
    }
}
