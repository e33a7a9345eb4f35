import Firn
import Foundation
import Testing

@Suite struct ProjectedCollectionTests {
    @Test func `setting an element sets the property of the object`() throws {
        let all = try GuildRealm(), card = GuildCard(projecting: all.guild)
        try all.realm.write { card.names[1] = "Bob" }
        #expect(all.bo.name == "Bob" && Array(card.names) == ["Ada", "Bob", "Cy"] && card.names.first == "Ada" && card.names.last == "Cy")
        let unmanaged = Guild()
        unmanaged.members.append(Member("Di", 1))
        unmanaged.members.projectTo.name[0] = "Dee"
        #expect(unmanaged.members[0].name == "Dee" && unmanaged.members.projectTo.name.realm == nil)
    }

    @Test func `a projected collection has the realm and the versions of its collection`() throws {
        let all = try GuildRealm(), names = GuildCard(projecting: all.guild).names
        #expect(names.realm == all.realm && !names.isFrozen && !names.isInvalidated)
        let frozen = names.freeze()
        try all.realm.write { all.ada.name = "Eve" }
        #expect(frozen.isFrozen && frozen[0] == "Ada" && frozen.thaw()?[0] == "Eve" && frozen.realm?.isFrozen == true)
        try all.realm.write { all.realm.delete(all.guild) }
        #expect(names.isInvalidated && frozen.thaw() == nil && Array(frozen) == ["Ada", "Bo", "Cy"])
    }

    @Test func `a projected collection crosses threads by reference`() async throws {
        let file = TemporaryRealm(), url = file.url
        do {
            let realm = try Realm(fileURL: url)
            try realm.write {
                let guild = realm.create(Guild.self)
                guild.members.append(Member("Ada", 1))
            }
            let reference = ThreadSafeReference(to: realm.objects(Guild.self)[0].members.projectTo.name)
            let found = await Task.detached { try? Realm(fileURL: url).resolve(reference).map { Array($0) } }.value
            #expect(found == ["Ada"])
        }
    }

    @Test func `observers receive changes of the projected property and of the collection only`() throws {
        let all = try GuildRealm(), names = GuildCard(projecting: all.guild).names
        var log: [String] = []
        let token = names.observe { change in
            switch change {
            case .initial(let names): log.append("initial \(Array(names))")
            case .update(let names, let deletions, let insertions, let modifications):
                log.append("\(Array(names)) -\(deletions) +\(insertions) ~\(modifications)")
            case .error(let error): log.append("\(error)")
            }
        }
        all.realm.refresh()
        try all.realm.write { all.bo.age = 21 }
        all.realm.refresh()
        try all.realm.write { all.bo.name = "Bob" }
        all.realm.refresh()
        try all.realm.write { all.guild.members.remove(at: 0) }
        all.realm.refresh()
        #expect(log == ["initial [\"Ada\", \"Bo\", \"Cy\"]", "[\"Ada\", \"Bob\", \"Cy\"] -[] +[] ~[1]", "[\"Bob\", \"Cy\"] -[0] +[] ~[]"])
        token.invalidate()
    }

    @Test func `key paths continue from the projected object`() throws {
        let all = try GuildRealm(), best = GuildCard(projecting: all.guild).best
        try all.realm.write { all.ada.best = all.cy }
        var changes = 0
        let token = best.observe(keyPaths: ["name"]) { change in if case .update = change { changes += 1 } }
        all.realm.refresh()
        try all.realm.write { all.cy.age = 31 }
        all.realm.refresh()
        #expect(changes == 0)
        try all.realm.write { all.cy.name = "Cyr" }
        all.realm.refresh()
        #expect(changes == 1)
        token.invalidate()
    }

    @Test(.timeLimit(.minutes(15))) @MainActor func `observers on an actor receive projected collections`() async throws {
        let file = TemporaryRealm(), realm = try await Realm.open(configuration: Realm.Configuration(fileURL: file.url))
        let guild = try realm.write {
            let guild = realm.create(Guild.self)
            guild.members.append(Member("Ada", 1))
            return guild
        }
        let (changes, continuation) = AsyncStream<[String]>.makeStream()
        let token = await guild.members.projectTo.name.observe(on: MainActor.shared) { _, change in
            if case .initial(let names) = change { continuation.yield(Array(names)) }
        }
        for await names in changes {
            #expect(names == ["Ada"])
            break
        }
        token.invalidate()
    }

    @Test func `an element cannot be set through a key path that ends in a derived property`() async {
        await #expect(processExitsWith: .failure) {
            let all = try GuildRealm()
            all.realm.beginWrite()
            all.guild.members.projectTo[dynamicMember: \.best?.name][0] = "x"
        }
    }
}
