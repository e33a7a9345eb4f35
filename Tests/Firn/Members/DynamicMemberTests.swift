import Firn
import Foundation
import Testing

@Suite struct DynamicMemberTests {
    @Test func `collections of objects are read and changed without their classes`() throws {
        let all = try GuildRealm(), guild = all.guild
        let members: List<DynamicObject> = guild.dynamicList("members"), offices: Map<String, DynamicObject?> = guild.dynamicMap("offices")
        let guests: MutableSet<DynamicObject> = guild.dynamicMutableSet("guests")
        #expect(
            members.map { $0.name as? String } == ["Ada", "Bo", "Cy"] && members[1]["age"] as? Int == 20
                && members.last?.name as? String == "Cy")
        #expect(offices["master"]??.name as? String == "Ada" && offices.values.map { $0?.name as? String } == ["Bo", "Ada"])
        #expect(guests.map { $0.name as? String } == ["Bo"] && guests[0].age as? Int == 20)
        #expect(members.filter("age > 25").map { $0.name as? String } == ["Ada", "Cy"])
        try all.realm.write {
            members[0].name = "Eve"
            members.append(members[1])
            members.remove(at: 2)
            guests.insert(members[0])
            offices["guard"] = members[1]
            offices.removeObject(for: "master")
        }
        #expect(guild.members.map(\.name) == ["Eve", "Bo", "Bo"] && guild.guests.count == 2)
        #expect(guild.offices.keys == ["clerk", "guard"] && guild.offices["guard"]??.name == "Bo")
        #expect(members.index(of: members[1]) == 1)
    }

    @Test func `collections of a dynamic object are those of its type`() throws {
        let all = try GuildRealm(), guild = all.realm.dynamicObjects("Guild")[0]
        #expect(guild.dynamicList("members").count == 3 && guild.dynamicMap("offices").count == 2)
        let frozen = guild.dynamicList("members").freeze()
        try all.realm.write { all.realm.delete(all.ada) }
        #expect(frozen[0].name as? String == "Ada" && guild.dynamicList("members")[0].name as? String == "Bo")
        #expect(guild.dynamicMap("offices")["master"]! == nil)
    }

    @Test func `a value of any type gives its object without the class`() throws {
        let all = try GuildRealm()
        try all.realm.write { all.guild.odd = .object(all.ada) }
        let object = all.guild.odd.dynamicObject
        #expect(object?.name as? String == "Ada" && all.guild.odds[0].dynamicObject == nil)
        #expect(AnyRealmValue.object(Member("x", 1)).dynamicObject == nil)
        let other = try #require(all.realm.dynamicObjects("Member").first)
        #expect(AnyRealmValue.object(other).dynamicObject === other)
    }

    @Test func `wrong uses of dynamic collections trap`() async {
        await #expect(processExitsWith: .failure) { _ = Guild().dynamicList("members") }
        await #expect(processExitsWith: .failure) { _ = try GuildRealm().guild.dynamicList("guests") }
        await #expect(processExitsWith: .failure) { _ = try GuildRealm().guild.dynamicList("trades") }
        await #expect(processExitsWith: .failure) { _ = try GuildRealm().guild.dynamicMap("nothing") }
        await #expect(processExitsWith: .failure) {
            let all = try GuildRealm()
            all.realm.beginWrite()
            all.guild.dynamicList("members").append(all.realm.dynamicObjects("Guild")[0])
        }
    }
}
