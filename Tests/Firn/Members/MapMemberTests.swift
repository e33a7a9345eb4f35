import Firn
import Foundation
import Testing

@Suite struct MapMemberTests {
    @Test func `a map reads and sets values by key as untyped values`() throws {
        let all = try GuildRealm(), guild = all.guild
        #expect(guild.fees.value(forKey: "entry") as? Int == 5 && guild.fees.value(forKey: "none") == nil)
        #expect(guild.fees.value(forKey: "@allKeys") as? [String] == ["entry", "yearly"])
        #expect((guild.offices.value(forKey: "master") as? Member)?.name == "Ada")
        try all.realm.write {
            guild.fees.setValue(7 as Any?, forKey: "entry")
            guild.fees.setValue(nil, forKey: "yearly")
        }
        #expect(guild.fees.keys == ["entry"] && guild.fees["entry"] == 7)
        let unmanaged = Map<String, Int>()
        unmanaged.setValue(3 as Any?, forKey: "a")
        #expect(unmanaged.value(forKey: "a") as? Int == 3)
    }

    @Test func `a map of objects sorts and aggregates by Swift key paths`() throws {
        let all = try GuildRealm(), offices = all.guild.offices
        try all.realm.write { offices["guard"] = all.cy }
        #expect(offices.sorted(by: \.age).map { $0?.name } == ["Bo", "Cy", "Ada"])
        #expect(offices.sorted(by: \.age, ascending: false).first??.name == "Ada")
        #expect(
            offices.min(of: \.age) == 20 && offices.max(of: \.age) == 40 && offices.sum(of: \.age) == 90 && offices.average(of: \.age) == 30
        )
        #expect(offices.min(of: \.weight) == 60 && offices.max(of: \.weight) == 80 && offices.sum(of: \.weight) == 140)
        #expect(offices.distinct(by: [\Member.rank]).count == 3)
        let unmanaged = Map<String, Member?>()
        unmanaged["a"] = Member("Di", 7)
        unmanaged["b"] = Member("Ed", 9)
        #expect(unmanaged.max(of: \.age) == 9 && unmanaged.sum(of: \.age) == 16)
    }

    @Test func `two maps are merged with a block that combines values of the same key`() throws {
        let all = try GuildRealm(), other = Map<String, Int>()
        other["entry"] = 10
        other["exit"] = 1
        try all.realm.write { all.guild.fees.merge(other) { $0 + $1 } }
        #expect(all.guild.fees.asKeyValueSequence().map { "\($0.key) \($0.value)" } == ["entry 15", "exit 1", "yearly 2"])
    }

    @Test func `an NSPredicate selects values of a map`() throws {
        let all = try GuildRealm()
        #expect(all.guild.fees.filter(NSPredicate { value, _ in value as? Int == 5 }).count == 1)
    }

    @Test func `generic code uses maps as keyed collections`() throws {
        func total<C: RealmKeyedCollection>(_ map: C, adding value: C.Value, _ key: C.Key) -> (count: Int, sum: Int) where C.Value == Int {
            var map = map
            map[key] = value
            map.updateValue(map[key] ?? 0, forKey: key)
            return (map.count, map.values.reduce(0, +))
        }
        let all = try GuildRealm()
        let found = try all.realm.write { total(all.guild.fees, adding: 3, "late") }
        #expect(found.count == 3 && found.sum == 10)
    }

    @Test func `deleting a map of objects deletes the objects`() throws {
        let all = try GuildRealm()
        try all.realm.write { all.realm.delete(all.guild.offices) }
        #expect(all.realm.objects(Member.self).map(\.name) == ["Cy"])
    }
}
