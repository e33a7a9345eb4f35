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

    @Test func `collections of a dynamic object have the types that a class would declare, and are live`() throws {
        let all = try GuildRealm(), guild = all.realm.dynamicObjects("Guild")[0]
        let members = try #require(guild["members"] as? List<MigrationObject>), papers = try #require(guild.papers as? List<Data>)
        let guests = try #require(guild["guests"] as? MutableSet<DynamicObject>), fees = try #require(guild.fees as? Map<String, Int>)
        let offices = try #require(guild.offices as? Map<String, DynamicObject?>), odds = try #require(guild.odds as? List<AnyRealmValue>)
        #expect(members.count == 3 && guests.count == 1 && offices["master"]??.name as? String == "Ada")
        let before = fees.count
        try all.realm.write {
            members.removeLast()
            papers.append(Data([1]))
            fees["new"] = 7
            odds.append(.int(3))
            guild["rooms"] = ["a": "b"]
        }
        #expect(all.guild.members.map(\.name) == ["Ada", "Bo"] && all.guild.papers.last == Data([1]) && all.guild.odds.last == .int(3))
        #expect(all.guild.fees.count == before + 1 && guild.fees as? Map<String, Int> == fees && all.guild.rooms["a"] == "b")
    }

    @Test func `a property of a dynamic object is set to a collection, also to one of another realm`() throws {
        let all = try GuildRealm(), other = try GuildRealm(), guild = all.realm.dynamicObjects("Guild")[0]
        try other.realm.write {
            other.guild.papers.append(objectsIn: [Data([1]), Data([2])])
            other.guild.rooms["x"] = "y"
        }
        let source = other.realm.dynamicObjects("Guild")[0]
        try all.realm.write {
            guild["papers"] = source["papers"]
            guild["rooms"] = source["rooms"]
        }
        #expect(Array(all.guild.papers) == Array(other.guild.papers) && all.guild.papers.last == Data([2]))
        #expect(all.guild.rooms.keys == other.guild.rooms.keys && all.guild.rooms["x"] == "y")
    }

    @Test func `the end of a key path is set through links and embedded objects`() throws {
        let realm = try memoryRealm([Person.self])
        let person = Person(value: ["id": 1, "best": ["name": "Rex"], "address": ["street": "a"]] as [String: Any])
        person.setValue("Bo", forKeyPath: "best.name")
        try realm.write {
            realm.add(person)
            person.setValue("b", forKeyPath: "address.street")
            person.setValue("Ada", forKeyPath: "name")
            person.setValue("none", forKeyPath: "best.owner.name")
        }
        #expect(person.best?.name == "Bo" && person.address?.street == "b" && person.name == "Ada" && person.best?.owner == nil)
    }

    @Test func `notification tokens can be held in a set`() throws {
        let all = try GuildRealm(), members = all.realm.objects(Member.self)
        let first = members.observe { _ in }, second = members.observe { _ in }
        let tokens: Set = [first, second, first]
        #expect(tokens.count == 2 && first != second)
        for token in tokens { token.invalidate() }
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
