import Firn
import Foundation
import Testing

@Suite struct StoredQueryMemberTests {
    private func names(_ isIncluded: (Query<Member>) -> Query<Bool>) throws -> [String] {
        let all = try GuildRealm()
        try all.realm.write { all.cy.formerRank = .squire }
        return all.realm.objects(Member.self).where(isIncluded).map(\.name)
    }

    private func count(_ isIncluded: (Query<Guild>) -> Query<Bool>) throws -> Int {
        try GuildRealm().realm.objects(Guild.self).where(isIncluded).count
    }

    @Test func `enums compare by their raw values`() throws {
        #expect(try names { $0.rank > .page } == ["Ada", "Bo"])
        #expect(try names { $0.rank >= .squire && $0.rank < .knight } == ["Bo"])
        #expect(try names { $0.rank <= .page } == ["Cy"])
        #expect(try names { $0.formerRank > .page } == ["Cy"])
        #expect(try names { $0.formerRank < .squire } == [])
        #expect(try names { $0.best.rank > .page } == [])
    }

    @Test func `custom types compare by their stored values`() throws {
        #expect(try names { $0.purse > Guilders(amount: 1) } == ["Ada", "Bo"])
        #expect(try names { $0.purse.contains(Guilders(amount: 1)...Guilders(amount: 5)) } == ["Bo", "Cy"])
        #expect(try names { $0.purse.contains(Guilders(amount: 1)..<Guilders(amount: 5)) } == ["Cy"])
    }

    @Test func `collections of enums are searched by raw values`() throws {
        #expect(try count { $0.trades.rawValue.contains("weaver") } == 1)
        #expect(try count { $0.trades.rawValue.contains("smith") } == 0)
        #expect(try count { $0.ranks.rawValue.contains(2) } == 1)
        #expect(try count { $0.ranks.rawValue.containsAny(in: [1, 0]) } == 1)
        #expect(try count { $0.ranksByName.rawValue["Ada"] == 2 } == 1)
    }

    @Test func `the values and keys of maps are searched for a value`() throws {
        #expect(try count { $0.fees.values.contains(5) } == 1)
        #expect(try count { $0.fees.values.contains(3) } == 0)
        #expect(try count { $0.fees.values > 4 } == 1)
        #expect(try count { $0.rooms.values.contains("arg") } == 1)
        #expect(try count { $0.ranksByName.values.contains(.knight) } == 1)
        for keys in [\Query<Guild>.fees.keys, \.rooms.keys, \.offices.keys, \.ranksByName.keys] {
            #expect(try count { $0[keyPath: keys] == "nothing" } == 0)
        }
        #expect(try count { $0.offices.keys == "master" } == 1)
        #expect(try count { $0.fees.keys.contains("ear") } == 1)
        #expect(try count { $0.ranksByName.keys.starts(with: "A") } == 1)
    }

    @Test func `searching a single value as a collection traps`() async {
        await #expect(processExitsWith: .failure) { _ = try GuildRealm().realm.objects(Member.self).where { $0.age.contains(5) } }
    }
}
