import Firn
import Foundation
import Testing

private enum Season: String, PersistableEnum { case spring, summer, autumn }
private enum Grade: Int, PersistableEnum { case low = 1, high = 10 }

private struct Serial: CustomPersistable, Hashable {
    typealias PersistedType = String
    var text: String
    init(_ text: String) { self.text = text }
    init(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

private class SeasonNotes: Object {
    @Persisted(primaryKey: true) var season: Season
    @Persisted(indexed: true) var grade = Grade.low
    @Persisted(indexed: true) var best: Grade?
    @Persisted var text = ""
}

private class Machine: Object {
    @Persisted(primaryKey: true) var serial = Serial("none")
    @Persisted(indexed: true) var part: Serial?
    @Persisted(indexed: true) var anything: AnyRealmValue
}

private class MaybeKeyed: Object {
    @Persisted(primaryKey: true) var grade: Grade?
    @Persisted var text = ""
}

/// Enums and custom types as primary keys, and what may be indexed.
@Suite struct KeyTypeTests {
    @Test func `an enum is a primary key by its raw value`() throws {
        let realm = try memoryRealm([SeasonNotes.self])
        try realm.write {
            realm.add(SeasonNotes(value: ["season": Season.summer, "text": "hot"] as [String: Any]))
            realm.add(SeasonNotes(value: ["season": "autumn", "grade": 10] as [String: Any]))
            realm.add(SeasonNotes(value: ["season": Season.summer, "text": "warm"] as [String: Any]), update: .modified)
            realm.create(SeasonNotes.self, value: ["season": Season.autumn, "best": Grade.high] as [String: Any], update: .all)
        }
        #expect(realm.objects(SeasonNotes.self).count == 2)
        #expect(realm.object(ofType: SeasonNotes.self, forPrimaryKey: Season.summer)?.text == "warm")
        #expect(realm.object(ofType: SeasonNotes.self, forPrimaryKey: "autumn")?.best == .high)
        #expect(realm.object(ofType: SeasonNotes.self, forPrimaryKey: Season.spring) == nil)
        #expect(realm.dynamicObject(ofType: "SeasonNotes", forPrimaryKey: Season.summer)?["text"] as? String == "warm")
        #expect(realm.schema["SeasonNotes"]?.primaryKeyProperty?.name == "season")
        #expect(realm.objects(SeasonNotes.self).where { $0.grade == .high }.count == 1)
        #expect(realm.objects(SeasonNotes.self).where { $0.best == .high }.count == 1)
        #expect(realm.schema["SeasonNotes"]?["grade"]?.isIndexed ?? false && realm.schema["SeasonNotes"]?["best"]?.isIndexed ?? false)
    }

    @Test func `a custom type is a primary key and indexed by its stored value`() throws {
        let realm = try memoryRealm([Machine.self])
        try realm.write {
            for i in 0..<2000 {
                let machine = Machine()
                machine.serial = Serial("m\(i)")
                machine.part = i % 100 == 0 ? nil : Serial("p\(i % 10)")
                machine.anything = i % 3 == 0 ? .int(i) : i % 3 == 1 ? .string("s\(i)") : .none
                realm.add(machine)
            }
        }
        #expect(realm.object(ofType: Machine.self, forPrimaryKey: Serial("m7"))?.part == Serial("p7"))
        #expect(realm.object(ofType: Machine.self, forPrimaryKey: "m1999") != nil)
        #expect(realm.objects(Machine.self).filter("part == %@", Serial("p3")).count == 200)
        #expect(realm.objects(Machine.self).filter("anything == 9").count == 1)
        #expect(
            realm.objects(Machine.self).filter("anything == 's1'").count == 1
                && realm.objects(Machine.self).filter("anything == nil").count == 666)
        #expect(realm.schema["Machine"]?["part"]?.isIndexed ?? false && realm.schema["Machine"]?["anything"]?.isIndexed ?? false)
    }

    @Test func `an optional enum is a primary key, also as nil`() throws {
        let realm = try memoryRealm([MaybeKeyed.self])
        try realm.write {
            realm.add(MaybeKeyed(value: ["text": "none"]))
            realm.add(MaybeKeyed(value: ["grade": Grade.low, "text": "low"] as [String: Any]))
        }
        #expect(realm.object(ofType: MaybeKeyed.self, forPrimaryKey: Grade?.none)?.text == "none")
        #expect(realm.object(ofType: MaybeKeyed.self, forPrimaryKey: Grade.low)?.text == "low")
    }

    @Test func `update modified reports no change for an equal enum`() throws {
        let realm = try memoryRealm([SeasonNotes.self])
        let notes = try realm.write {
            realm.create(SeasonNotes.self, value: ["season": Season.summer, "best": Grade.high] as [String: Any])
        }
        var received = 0
        let token = notes.observe { (_: ObjectChange<SeasonNotes>) in received += 1 }
        realm.refresh()
        try realm.write {
            realm.create(SeasonNotes.self, value: ["season": Season.summer, "best": Grade.high] as [String: Any], update: .modified)
        }
        realm.refresh()
        #expect(received == 0)
        token.invalidate()
    }
}
