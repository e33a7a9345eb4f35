import Foundation
import RealmSwift
import Testing

/// Queries as apps write them.
@Suite struct QueryPatternTests {
    @Test func `typed queries of enums, custom types and dates find objects`() throws {
        let site = try filledSite(), sites = try #require(site.realm).objects(Site.self)
        #expect(sites.where { $0.nextMood == .wild }.toArray() == [site] && sites.where { $0.nextMood != nil }.count == 1)
        #expect(sites.where { $0.moods.contains(.wild) }.count == 1 && sites.where { $0.moods.containsAny(in: [.wild]) }.count == 1)
        #expect(sites.where { $0.moodMap.values == .calm }.count == 1 && sites.where { $0.moodMap["a"] == .calm }.count == 1)
        #expect(
            sites.where { $0.rank.in([.low, .high]) }.count == 2 && sites.where { $0.rank.contains(Rank.low...Rank.middle) }.count == 2)
        #expect(sites.where { $0.email == Email(persistedValue: "c@d") && $0.email.persistableValue.contains("@d") }.count == 1)
        #expect(sites.where { $0.emails.contains(Email(persistedValue: "a@b")!) && $0.page == URL(string: "http://a") }.count == 1)
        #expect(sites.where { $0.tint == Tint(red: 1, green: 2) && $0.tint.persistableValue.red == 1 }.count == 1)
        #expect(sites.where { $0.numbers.contains(nil) && $0.dates.contains(Date(timeIntervalSince1970: 5)) }.count == 1)
        #expect(sites.where { $0.data.starts(with: Data([1])) && $0.price > 1 && $0.price < 2 }.count == 1)
    }

    @Test func `typed queries through links, collections and inverse links find objects`() throws {
        let site = try filledSite(), ada = site.people[0], sites = try #require(site.realm).objects(Site.self)
        #expect(sites.where { ($0.people.age > 25 && $0.people.name.starts(with: "A")).count == 1 }.count == 1)
        #expect(sites.where { $0.people.age.avg == 25 && $0.people.age.sum > 10 && $0.people.count == 2 }.count == 1)
        #expect(sites.where { $0.people.contains(ada) && $0.peopleSet.contains(ada) && $0.peopleByName.values.name == "Ada" }.count == 1)
        #expect(sites.where { $0.home.city == "Bern" && $0.home.country.name == "Schweiz" && $0.homes.city == "Rom" }.count == 1)
        #expect(sites.where { $0.parent == site }.count == 1 && sites.where { $0.parent.parent == nil }.count == 2)
        #expect(sites.where { $0.children.count > 0 }.count == 1 && sites.where { !($0.children.count > 0) }.count == 1)
        #expect(sites.where { $0.mixed == .object(site) && $0.mixedList.contains(.int(1)) }.count == 1)
        #expect(sites.where { $0.id.in([site.id, "b"]) || $0.parent.id == site.id }.count == 2)
    }

    @Test(
        arguments: [
            "mixed.home.city == 'Bern'", "mixed.mixed.nextMood == 'wild'", "ANY people.age > 25 AND people.@count == 2",
            "SUBQUERY(people, $p, $p.age > 25 AND $p.name == 'Ada').@count > 0", "people.@avg.age == 25",
            "ANY moodMap.@allValues == 'calm'",
            "moodMap.@allKeys == 'a'", "home.city CONTAINS[cd] 'BER'", "rank BETWEEN {0, 1} AND page == 'http://a'",
            "children.@count == 1 && NOT (rank == 5) AND mood ==[c] 'CALM'", "ANY children.parent.home.city == 'Bern'",
            "peopleByName.a.name == 'Ada'", "ANY homes.city == 'Rom'", "tint.red == 1", "ANY emails CONTAINS '@'", "ANY numbers == nil",
        ])
    func `query strings find one site`(text: String) throws {
        let site = try filledSite()
        #expect(try #require(site.realm).objects(Site.self).filter(text).toArray() == [site])
    }

    @Test func `query strings take arguments of every kind`() throws {
        let site = try filledSite(), realm = try #require(site.realm), sites = realm.objects(Site.self)
        #expect(sites.filter("id IN %@", [site.id]).count == 1 && sites.filter("id IN %@", Set([site.id])).count == 1)
        #expect(sites.filter("parent == %@", site).count == 1 && sites.filter("%K == %@", "id", site.id).count == 1)
        #expect(sites.filter("mixed == %@", site).count == 1 && sites.filter("%@ IN people", site.people[0]).count == 1)
        #expect(sites.filter("ANY people IN %@", site.people).count == 1 && sites.filter("data == %@", Data([1])).count == 1)
        #expect(sites.filter("price == %@", Decimal128(1.5)).count == 1 && sites.filter("rank BETWEEN %@", [0, 1]).count == 2)
        #expect(sites.filter("ANY dates == %@", Date(timeIntervalSince1970: 5)).count == 1)
        #expect(sites.filter(NSPredicate(format: "rank == %ld AND id == %@", Rank.low.rawValue, site.id)).count == 1)
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "rank == 0"), NSPredicate(value: false)])
        #expect(sites.filter(either).count == 2)
    }

    @Test func `order, distinct values and aggregates chain`() throws {
        let site = try filledSite(), people = try #require(site.realm).objects(Contact.self)
        #expect(people.sorted(by: \.age).map(\.name) == ["Bob", "Ada"])
        #expect(people.sorted(byKeyPath: "age", ascending: false).first?.name == "Ada")
        #expect(people.sorted(by: [SortDescriptor(keyPath: \Contact.age, ascending: false), "name"]).toArray().count == 2)
        #expect(people.filter("age > 1").sorted(byKeyPath: "name").distinct(by: ["age"]).count == 2)
        #expect(people.max(of: \.age) == 30 && people.min(ofProperty: "age") as Int? == 20 && people.sum(of: \.age) == 50)
        #expect(people.max(of: \.score) == nil && (people.average(ofProperty: "score") as Double?) == nil)
        #expect(site.value(forKeyPath: "people.@sum.age") as? Int == 50 && site.value(forKeyPath: "people.@count") as? Int == 2)
        #expect((site.people.value(forKeyPath: "@unionOfObjects.name") as? [String]) == ["Ada", "Bob"])
        #expect((site.people.value(forKeyPath: "@distinctUnionOfObjects.age") as? [Int])?.sorted() == [20, 30])
        let sections = people.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        #expect(sections.allKeys == ["A", "B"] && sections.first { $0.key == "A" }?.first?.name == "Ada")
    }
}
