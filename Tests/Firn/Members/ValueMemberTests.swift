import Firn
import Foundation
import Synchronization
import Testing

@Suite struct ValueMemberTests {
    @Test func `values of any type are summed and averaged`() throws {
        let all = try GuildRealm(), odds = all.guild.odds
        #expect(odds.sum() == .double(3.5))
        let average: AnyRealmValue? = odds.average(), none: AnyRealmValue? = List<AnyRealmValue>().average()
        #expect(average == .double(1.75) && none == nil && List<AnyRealmValue>().sum() == 0)
        let unmanaged = List<AnyRealmValue>()
        unmanaged.append(objectsIn: [.int(2), .int(3), .none])
        #expect(unmanaged.sum() == 5)
    }

    @Test func `data, enums and custom types are sorted by what is stored`() throws {
        let all = try GuildRealm(), guild = all.guild
        #expect(Array(guild.papers.sorted()) == [Data([1]), Data([1, 5]), Data([2])])
        #expect(Array(guild.papers.sorted(ascending: false)).first == Data([2]))
        #expect(Array(guild.trades.sorted()) == [.baker, .weaver] && Array(guild.ranks.sorted()) == [.page, .knight])
        #expect(guild.ranks.max() == .knight && guild.ranks.min() == .page)
    }

    @Test func `a distance gives its angle`() {
        #expect(Distance.radians(0.5)?.radians == 0.5 && Distance.degrees(180)?.radians == .pi)
    }

    @Test func `a sort descriptor describes itself`() {
        #expect(SortDescriptor(keyPath: "age").description == "SortDescriptor(keyPath: age, direction: ascending)")
        #expect("\(SortDescriptor(keyPath: "a.b", ascending: false))" == "SortDescriptor(keyPath: a.b, direction: descending)")
    }

    @Test(arguments: [
        ("1234567890e123", "1.234567890E+132"), ("1.234567890E+132", "1.234567890E+132"), ("1.5", "1.5"), ("-12.50", "-12.50"),
        ("1E+40", "1E+40"), ("0.001", "0.001"), ("123", "123"),
    ])
    func `decimals are encoded as Realm writes them`(text: String, written: String) throws {
        let decimal = try Decimal128(string: text)
        #expect(decimal.stringValue == written)
        #expect(String(decoding: try JSONEncoder().encode([decimal]), as: UTF8.self) == "[\"\(written)\"]")
        #expect(try JSONDecoder().decode([Decimal128].self, from: Data("[\"\(text)\"]".utf8)) == [decimal])
    }

    @Test func `the schema of a class has its class`() throws {
        let all = try GuildRealm()
        #expect(Guild.sharedSchema()?.className == "Guild" && Guild.sharedSchema()?["members"]?.isArray == true)
        #expect(Object.sharedSchema() == nil && Address.sharedSchema()?.isEmbedded == true)
        #expect(all.guild.objectSchema.objectClass == Guild.self && all.realm.schema["Guild"]?.objectClass == Guild.self)
        #expect(all.realm.schema["Guild"]?.className == "Guild" && Guild.sharedSchema() == Guild().objectSchema)
    }

    @Test func `a configuration describes itself without its key`() {
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/a/b.firn"), encryptionKey: Data(repeating: 77, count: 64), schemaVersion: 3,
            objectTypes: [Guild.self])
        let text = configuration.description
        #expect(
            text.contains("/a/b.firn") && text.contains("schemaVersion = 3") && text.contains("[Guild]")
                && text.contains("encryptionKey = set"))
        #expect(!text.contains("77"))
    }

    @Test func `realms of a configuration without classes leave out the classes that say so`() async throws {
        let named = try memoryRealm([HiddenGuild.self])
        try named.write { named.add(HiddenGuild()) }
        #expect(named.objects(HiddenGuild.self).count == 1)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.add(HiddenGuild()) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("is not managed by the Realm: shouldIncludeInDefaultSchema()"), "\(text)")
    }

    @Test func `generic code freezes whatever belongs to a realm`() throws {
        let all = try GuildRealm(), guild = all.guild
        func frozen<T: ThreadConfined>(_ value: T) -> T {
            let copy = value.freeze()
            #expect(copy.isFrozen && !value.isFrozen && copy.thaw() != nil && copy.realm?.isFrozen == true, "\(T.self)")
            return copy
        }
        func frozenCollection<C: RealmCollection>(_ collection: C) -> Int { frozen(collection).count }
        #expect(
            frozen(guild).name == guild.name && frozen(guild.offices).count == 2 && frozen(GuildCard(projecting: guild)).title == guild.name
        )
        #expect(frozenCollection(guild.members) == 3 && frozenCollection(guild.guests) == 1 && frozenCollection(guild.fees.sorted()) == 2)
        #expect(frozenCollection(AnyRealmCollection(guild.members)) == 3 && frozenCollection(all.realm.objects(Member.self)) == 3)
        #expect(frozen(all.realm.objects(Member.self).sectioned(by: \.age)).count == 3)
        #expect(all.realm.freeze(guild).isFrozen && all.realm.freeze(guild.members).isFrozen && all.realm.freeze(guild.fees).isFrozen)
        #expect(all.realm.thaw(all.realm.freeze(guild)) == guild && all.realm.thaw(all.realm.freeze(guild.fees))?.count == 2)
    }
}
