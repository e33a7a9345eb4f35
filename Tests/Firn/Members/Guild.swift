import Firn
import Foundation

// Classes for the tests of members that other tests do not use.

enum GuildRank: Int, PersistableEnum { case page, squire, knight }
enum Trade: String, PersistableEnum { case baker, smith, weaver }

struct Guilders: CustomPersistable, Hashable, Comparable {
    typealias PersistedType = Int
    var amount: Int
    init(amount: Int) { self.amount = amount }
    init(persistedValue: Int) { amount = persistedValue }
    var persistableValue: Int { amount }
    static func < (a: Guilders, b: Guilders) -> Bool { a.amount < b.amount }
}

class Member: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var weight: Double?
    @Persisted var rank = GuildRank.page
    @Persisted var formerRank: GuildRank?
    @Persisted var purse: Guilders
    @Persisted var best: Member?

    convenience init(_ name: String, _ age: Int, weight: Double? = nil, rank: GuildRank = .page, purse: Int = 0) {
        self.init()
        self.name = name
        self.age = age
        self.weight = weight
        self.rank = rank
        self.purse = Guilders(amount: purse)
    }
}

class Guild: Object {
    @Persisted var name = ""
    @Persisted var members: List<Member>
    @Persisted var guests: MutableSet<Member>
    @Persisted var offices: Map<String, Member?>
    @Persisted var trades: List<Trade>
    @Persisted var ranks: List<GuildRank>
    @Persisted var fees: Map<String, Int>
    @Persisted var rooms: Map<String, String>
    @Persisted var ranksByName: Map<String, GuildRank>
    @Persisted var papers: List<Data>
    @Persisted var odds: List<AnyRealmValue>
    @Persisted var odd: AnyRealmValue
}

class GuildCard: Projection<Guild> {
    @Projected(\Guild.name) var title
    @Projected(\Guild.members.projectTo.name) var names: ProjectedCollection<String>
    @Projected(\Guild.members.projectTo.best) var best: ProjectedCollection<Member?>
}

class HiddenGuild: Object {
    @Persisted var name = ""
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A realm in memory with one guild: Ada 40, Bo 20 and Cy 30 in the list, and "master" Ada and "clerk" Bo by office.
struct GuildRealm {
    let realm: Realm
    let guild: Guild
    let ada = Member("Ada", 40, weight: 60, rank: .knight, purse: 9)
    let bo = Member("Bo", 20, rank: .squire, purse: 5)
    let cy = Member("Cy", 30, weight: 80, purse: 1)

    init() throws {
        realm = try memoryRealm()
        let guild = Guild()
        guild.members.append(objectsIn: [ada, bo, cy])
        guild.guests.insert(objectsIn: [bo])
        guild.offices["master"] = ada
        guild.offices["clerk"] = bo
        guild.trades.append(objectsIn: [.weaver, .baker])
        guild.ranks.append(objectsIn: [.knight, .page])
        guild.fees["entry"] = 5
        guild.fees["yearly"] = 2
        guild.rooms["hall"] = "large"
        guild.ranksByName["Ada"] = .knight
        guild.papers.append(objectsIn: [Data([2]), Data([1, 5]), Data([1])])
        guild.odds.append(objectsIn: [.int(1), .double(2.5), .string("x")])
        self.guild = guild
        let realm = realm
        try realm.write { realm.add(guild) }
    }
}
