import Dispatch
import Firn
import Foundation
import Testing

class Shop: Object {
    @Persisted var name = ""
    @Persisted var rank = 0
    @Persisted var place: ShopPlace?
    @Persisted var owner: ShopOwner?
    @Persisted var goods: List<ShopOwner>
}

class ShopPlace: EmbeddedObject {
    @Persisted var city = ""
    @Persisted var street = ""
}

class ShopOwner: Object {
    @Persisted var name = ""
    @Persisted var age = 0
}

class ShopCard: Projection<Shop> {
    @Projected(\Shop.name) var title
    @Projected(\Shop.rank) var rank
    @Projected(\Shop.place?.city) var city
    @Projected(\Shop.owner?.name) var ownerName
    @Projected(\Shop.goods.projectTo.name) var goods: ProjectedCollection<String>
    var shout: String { title.uppercased() }
}

/// Properties of superclasses are included.
class RankCard: ShopCard {
    @Projected(\Shop.owner) var owner
}

@Suite struct ProjectionTests {
    private func shops() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            let ada = ShopOwner(value: ["name": "Ada", "age": 40])
            for (name, rank, city) in [("b", 2, "Bern"), ("a", 1, "Basel"), ("c", 2, "Bern"), ("d", 3, nil)] as [(String, Int, String?)] {
                let shop = Shop(value: ["name": name, "rank": rank])
                if let city { shop.place = ShopPlace(value: ["city": city]) }
                if rank == 2 { shop.owner = ada }
                realm.add(shop)
            }
        }
        return realm
    }

    // MARK: Sections

    @Test func `projections can be sectioned by a property, also one of a linked object [R35]`() throws {
        let realm = try shops(), cards = realm.objects(ShopCard.self)
        let byRank = cards.sectioned(by: \.rank)
        #expect(byRank.allKeys == [1, 2, 3] && byRank.map { $0.map(\.title) } == [["a"], ["b", "c"], ["d"]])
        #expect(cards.sectioned(by: \.rank, ascending: false).allKeys == [3, 2, 1])
        #expect(cards.sectioned(by: \.title).allKeys == ["a", "b", "c", "d"])
        // Rows without the linked object are last; a linked object without a value would be first.
        #expect(Set(cards.sectioned(by: \.city).allKeys) == ["Basel", "Bern", nil] && cards.sectioned(by: \.ownerName).count == 2)
        try realm.write { cards.first { $0.title == "a" }!.rank = 9 }
        #expect(byRank.allKeys == [2, 3, 9] && byRank[2][0].title == "a")
        #expect(cards.freeze().sectioned(by: \.rank).allKeys == [2, 3, 9] && byRank.freeze()[0][1].isFrozen)
    }

    @Test func `projections can be sectioned by a property and several descriptors [R36]`() throws {
        let realm = try shops(), cards = realm.objects(ShopCard.self)
        let sections = cards.sectioned(
            by: \.rank,
            sortDescriptors: [SortDescriptor(keyPath: \ShopCard.rank, ascending: false), SortDescriptor(keyPath: "name", ascending: false)])
        #expect(sections.allKeys == [3, 2, 1] && sections[1].map(\.title) == ["c", "b"])
        #expect(cards.filter("rank == 2").sectioned(by: \.rank, sortDescriptors: ["rank"]).map(\.count) == [2])
    }

    @Test func `sectioning projections without descriptors, or with another first one, traps [R36]`() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(ShopCard.self).sectioned(by: \.rank, sortDescriptors: [])
        }
        #expect(said(none).contains("Can not section Results with empty sortDescriptor parameter."))
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(ShopCard.self).sectioned(by: \.rank, sortDescriptors: ["name"])
        }
        #expect(said(other).contains("The section key path must match the primary sort descriptor."))
    }

    @Test func `projections can be sectioned by a block [R37]`() throws {
        let cards = try shops().objects(ShopCard.self)
        let sections = cards.sectioned(by: { $0.ownerName ?? "unknown" }, sortDescriptors: [SortDescriptor(keyPath: \ShopCard.title)])
        #expect(sections.allKeys == ["unknown", "Ada"] && sections.map { $0.map(\.shout) } == [["A", "D"], ["B", "C"]])
        let list = List<Shop>()
        #expect(list.isEmpty && cards.sectioned(sortDescriptors: ["rank"]) { $0.rank > 1 }.allKeys == [false, true])
    }

    // MARK: Observing

    @Test func `changes of a projection have the names of its properties, also through links`() throws {
        let realm = try shops(), log = Log()
        let shop = realm.objects(Shop.self)[0], card = ShopCard(projecting: shop)
        let token = card.observe { (change: ObjectChange<ShopCard>) in log.note(change) }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write { shop.name = "B" }
        realm.refresh()
        #expect(log.take() == ["title: b -> B"])
        try realm.write { shop.place!.city = "Genf" }
        realm.refresh()
        #expect(log.take() == ["city: Bern -> Genf"])
        try realm.write { shop.place!.street = "not shown" }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write {
            shop.owner!.name = "Grace"
            shop.rank = 7
        }
        realm.refresh()
        #expect(log.take() == ["rank: 2 -> 7, ownerName: Ada -> Grace"])
        try realm.write { shop.goods.append(ShopOwner(value: ["name": "x"])) }
        realm.refresh()
        #expect(log.take() == ["goods: nil -> nil"])
        try realm.write { shop.goods[0].name = "y" }
        realm.refresh()
        #expect(log.take() == ["goods: nil -> nil"])
        try realm.write { shop.goods[0].age = 1 }
        realm.refresh()
        #expect(log.take() == [])
        try realm.write { realm.delete(shop) }
        realm.refresh()
        #expect(log.take() == ["deleted"])
        withExtendedLifetime(token) {}
    }

    @Test func `key paths of a projection filter its changes by its own properties`() throws {
        let realm = try shops(), byName = Log(), byPath = Log(), deeper = Log()
        let shop = realm.objects(Shop.self)[0], card = RankCard(projecting: shop)
        let tokens = [
            card.observe(keyPaths: ["city", "title"]) { (change: ObjectChange<RankCard>) in byName.note(change) },
            card.observe(keyPaths: [\RankCard.rank]) { (change: ObjectChange<RankCard>) in byPath.note(change) },
            card.observe(keyPaths: ["owner.age"]) { (change: ObjectChange<RankCard>) in
                deeper.note("\(change)".contains("owner") ? "owner" : "other")
            },
        ]
        try realm.write {
            shop.rank = 5
            shop.owner!.age = 41
        }
        realm.refresh()
        #expect(byName.take() == [] && byPath.take() == ["rank: 2 -> 5"] && deeper.take() == ["owner"])
        try realm.write { shop.name = "new" }
        realm.refresh()
        #expect(byName.take() == ["title: b -> new"] && byPath.take() == [] && deeper.take() == [])
        withExtendedLifetime(tokens) {}
        #expect(throws: Realm.Error.invalidInput) { _ = try card.tryObserve(keyPaths: ["name"]) { _ in } }
        #expect(throws: Realm.Error.invalidInput) { _ = try card.freeze().tryObserve { _ in } }
        #expect(throws: Realm.Error.invalidInput) { _ = try ShopCard(projecting: Shop()).tryObserve { _ in } }
    }

    @Test func `results and sections of projections can be observed by names of the projection`() throws {
        let realm = try shops(), all = Log(), titles = Log(), ranks = Log(), cities = Log()
        let cards = realm.objects(ShopCard.self), sections = cards.sectioned(by: \.rank)
        let tokens = [
            cards.observe { all.note($0) }, cards.observe(keyPaths: ["title"]) { titles.note($0) },
            cards.observe(keyPaths: [\ShopCard.rank]) { ranks.note($0) },
            sections.observe(keyPaths: ["city"]) { change in
                if case .update(_, _, _, let modifications, _, _) = change {
                    cities.note("\(modifications.map { [$0[0], $0[1]] })")
                } else {
                    cities.note("initial")
                }
            },
        ]
        realm.refresh()
        _ = (all.take(), titles.take(), ranks.take(), cities.take())
        let shop = realm.objects(Shop.self)[0]
        try realm.write { shop.name = "z" }
        realm.refresh()
        #expect(all.take() == ["4: -[] +[] ~[0]"] && titles.take() == ["4: -[] +[] ~[0]"] && ranks.take() == [] && cities.take() == [])
        try realm.write { shop.place!.city = "Genf" }
        realm.refresh()
        #expect(all.take() == ["4: -[] +[] ~[0]"] && titles.take() == [] && ranks.take() == [] && cities.take() == ["[[1, 0]]"])
        withExtendedLifetime(tokens) {}
    }

    actor Desk {
        let log = Log()
        func note(_ change: ObjectChange<ShopCard>) { log.note(change) }
    }

    @Test(.timeLimit(.minutes(15))) func `a projection can be observed on a queue, on an actor and as a sequence`() async throws {
        let file = TemporaryRealm(), desk = Desk(), queued = Log(), queue = DispatchQueue(label: "test")
        func tokens() async throws -> [NotificationToken] {
            let realm = try Realm(fileURL: file.url)
            try realm.write { realm.create(Shop.self, value: ["name": "a"]) }
            let card = realm.objects(ShopCard.self)[0]
            return [
                card.observe(on: queue) { queued.note($0) }, await card.observe(on: desk) { desk, change in desk.note(change) },
                await card.observe(keyPaths: [\ShopCard.rank], on: desk) { desk, change in desk.note(change) },
            ]
        }
        let tokens = try await tokens()
        let changes = try Realm(fileURL: file.url).objects(ShopCard.self)[0].changes(keyPaths: ["title"])
        let received = Task { () -> [String] in
            let log = Log()
            for await change in changes { log.note(change) }
            return log.take()
        }
        queue.sync {}
        try await Task.sleep(nanoseconds: 50_000_000)
        func write(_ body: (Shop) -> Void) throws {
            let realm = try Realm(fileURL: file.url)
            try realm.write { body(realm.objects(Shop.self)[0]) }
        }
        try write { $0.name = "b" }
        while queued.count < 1 || desk.log.count < 1 { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(queued.take() == ["title: a -> b"] && desk.log.take() == ["title: a -> b"])
        try await Task.sleep(nanoseconds: 50_000_000)
        try write { $0.realm!.delete($0) }
        #expect(await received.value.last == "deleted")
        withExtendedLifetime(tokens) {}
    }
}
