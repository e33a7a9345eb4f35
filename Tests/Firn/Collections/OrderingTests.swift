import Firn
import Foundation
import Testing

/// Rows R12–R19, R48–R58 of the contract of collections.
@Suite struct OrderingTests {
    @Test(arguments: Conformer.managed) func `filter selects elements by a predicate [R12]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(Set(pups.filter("age > 2").map(\.name)) == ["Rex", "Fido", "Ada"])
        #expect(Set(pups.filter("age == %@ AND name BEGINSWITH $1", 7, "F").map(\.name)) == ["Fido"])
        #expect(pups.filter("teeth == nil").first?.name == "Fido")
        #expect(pups.filter("age > 2").isFrozen == (one.version == .frozen))
    }

    @Test(arguments: Conformer.managed)
    func `collections can be sorted by one or several properties in both directions [R15, R54, R55, C15, C16]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(pups.sorted(byKeyPath: "name").map(\.name) == ["Ada", "Bo", "Fido", "Rex"])
        #expect(pups.sorted(byKeyPath: "name", ascending: false).map(\.name) == ["Rex", "Fido", "Bo", "Ada"])
        #expect(pups.sorted(by: \.name).map(\.name) == ["Ada", "Bo", "Fido", "Rex"])
        #expect(pups.sorted(by: \.weight, ascending: false).last?.name == "Bo")
        #expect(
            pups.sorted(by: [SortDescriptor(keyPath: "age", ascending: false), SortDescriptor(keyPath: \Pup.name)]).map(\.name) == [
                "Ada", "Fido", "Rex", "Bo",
            ])
        #expect(pups.sorted(by: ["age", "name"]).map(\.name) == ["Bo", "Rex", "Ada", "Fido"])
        #expect(pups.sorted(by: [Firn.SortDescriptor]()).map(\.name) == Array(pups.map(\.name)))
        #expect(pups.sorted(byKeyPath: "teeth").map(\.name) == ["Fido", "Bo", "Rex", "Ada"])
        for property in ["age", "teeth", "small", "weight", "height", "born", "price", "isGood", "name"] {
            #expect(pups.sorted(byKeyPath: property).count == 4)
        }
    }

    @Test func `elements with a missing link are last in ascending order of a linked property [R54]`() throws {
        let realm = try memoryRealm(), pups = fourPups()
        for (pup, name) in zip(pups, ["b", "c", "a"]) { pup.kennel = Doghouse(value: ["name": name]) }
        try realm.write { realm.add(pups) }
        #expect(realm.objects(Pup.self).sorted(byKeyPath: "kennel.name").map(\.name) == ["Bo", "Rex", "Fido", "Ada"])
        #expect(realm.objects(Pup.self).sorted(by: \.kennel?.name, ascending: false).map(\.name) == ["Ada", "Fido", "Rex", "Bo"])
    }

    @Test func `sorting is stable, and a later sort takes precedence over an earlier one [R15, R54]`() throws {
        let realm = try memoryRealm()
        try realm.write { for i in 0..<200 { realm.add(Pup("p\(i % 3)", age: i)) } }
        let sorted = realm.objects(Pup.self).sorted(byKeyPath: "age", ascending: false).sorted(byKeyPath: "name")
        let expected = (0..<200).sorted { ($0 % 3, -$0) < ($1 % 3, -$1) }
        #expect(sorted.map(\.age) == expected)
    }

    @Test func `primitive elements can be sorted and made distinct [R57, R58]`() throws {
        let realm = try memoryRealm()
        let values = Values(
            value: [
                "ints": [3, 1, 3, 2], "optInts": [4, nil, 4] as [Int?], "strings": ["b", "a", "b"], "doubles": [0.5, -1, 0.5],
                "intSet": [5, 4],
            ] as [String: Any])
        try realm.write { realm.add(values) }
        for v in [values, values.freeze()] {
            #expect(Array(v.ints.sorted()) == [1, 2, 3, 3] && Array(v.ints.sorted(ascending: false)) == [3, 3, 2, 1])
            #expect(Array(v.ints.distinct()) == [3, 1, 2] && Array(v.ints.distinct().sorted()) == [1, 2, 3])
            #expect(Array(v.optInts.sorted()) == [nil, 4, 4] && Array(v.optInts.distinct()) == [4, nil])
            #expect(Array(v.strings.sorted()) == ["a", "b", "b"] && Array(v.strings.distinct()) == ["b", "a"])
            #expect(Array(v.doubles.sorted()) == [-1, 0.5, 0.5] && Array(v.intSet.sorted(ascending: false)) == [5, 4])
            #expect(Array(v.ints.filter("self > 1").sorted()) == [2, 3, 3])
        }
    }

    @Test(arguments: Conformer.managed) func `distinct keeps the first element of each combination [R56, C17]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(Set(pups.distinct(by: ["age"]).map(\.age)) == [3, 7, 1] && pups.distinct(by: ["age"]).count == 3)
        #expect(pups.distinct(by: [\Pup.age]).count == 3 && pups.distinct(by: [\Pup.age, \Pup.name]).count == 4)
        #expect(pups.sorted(byKeyPath: "name").distinct(by: ["age"]).map(\.name) == ["Ada", "Bo", "Rex"])
        #expect(pups.sorted(byKeyPath: "name", ascending: false).distinct(by: ["age"]).map(\.name) == ["Rex", "Fido", "Bo"])
        #expect(pups.distinct(by: ["kennel.name"]).count == 1)
    }

    @Test func `distinct leaves out elements with a missing link on the path [R56, C17]`() throws {
        let realm = try memoryRealm(), pups = fourPups()
        pups[0].kennel = Doghouse(value: ["name": "k"])
        pups[2].kennel = Doghouse(value: ["name": "k"])
        try realm.write { realm.add(pups) }
        #expect(realm.objects(Pup.self).distinct(by: ["kennel.name"]).map(\.name) == ["Rex"])
    }

    @Test(arguments: Conformer.all)
    func `aggregates by name work for all types [R16, R17, R18, R19, C26, C27, C28, C29, S27, S28, S29, S30]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(pups.min(ofProperty: "age") as Int? == 1 && pups.max(ofProperty: "age") as Int? == 7)
        #expect(
            pups.sum(ofProperty: "age") as Int == 18 && pups.average(ofProperty: "age") as Double? == 4.5
                && pups.average(ofProperty: "age") as Int? == 4)
        #expect(pups.sum(ofProperty: "age") as Double == 18 && pups.sum(ofProperty: "small") as Int8 == 18)
        #expect(pups.min(ofProperty: "weight") as Double? == 0.5 && pups.max(ofProperty: "height") as Float? == 1.75)
        #expect(pups.sum(ofProperty: "weight") as Double == 9 && pups.sum(ofProperty: "height") as Float == 4.5)
        #expect(pups.average(ofProperty: "weight") as Double? == 2.25 && pups.average(ofProperty: "height") as Float? == 1.125)
        #expect(
            pups.min(ofProperty: "born") as Date? == Date(timeIntervalSince1970: 1000)
                && pups.max(ofProperty: "born") as Date? == Date(timeIntervalSince1970: 7000))
        #expect(
            pups.sum(ofProperty: "price") as Decimal128 == 20 && pups.average(ofProperty: "price") as Decimal128? == 5
                && pups.max(ofProperty: "price") as Decimal128? == 7.5)
        // Missing values do not count.
        #expect(
            pups.min(ofProperty: "teeth") as Int? == 4 && pups.sum(ofProperty: "teeth") as Int == 54
                && pups.average(ofProperty: "teeth") as Double? == 18)
    }

    @Test(arguments: Conformer.all) func `aggregates by key path work for all types [R48, R49, R50, R51]`(_ one: Conformer) throws {
        let pups = try one.collection(fourPups())
        #expect(pups.min(of: \.age) == 1 && pups.max(of: \.age) == 7 && pups.sum(of: \.age) == 18 && pups.average(of: \.age) == 4)
        #expect(pups.min(of: \.teeth) == 4 && pups.max(of: \.teeth) == 30 && pups.sum(of: \.teeth) == 54 && pups.average(of: \.teeth) == 18)
        #expect(
            pups.min(of: \.born) == Date(timeIntervalSince1970: 1000) && pups.sum(of: \.weight) == 9 && pups.average(of: \.weight) == 2.25)
        #expect(pups.sum(of: \.price) == 20 && pups.max(of: \.height) == 1.75)
    }

    @Test(arguments: Conformer.all) func `sums of nothing are 0, and other aggregates of nothing are nil [D5]`(_ one: Conformer) throws {
        let none = try one.collection([])
        #expect(none.min(ofProperty: "age") as Int? == nil && none.max(of: \.weight) == nil && none.average(of: \.age) == nil)
        #expect(
            none.sum(ofProperty: "age") as Int == 0 && none.sum(of: \.weight) == 0 && none.sum(of: \.price) == 0
                && none.sum(of: \.teeth) == 0)
        let toothless = try one.collection([Pup("a", age: 1), Pup("b", age: 2)])
        #expect(toothless.min(of: \.teeth) == nil && toothless.sum(of: \.teeth) == 0 && toothless.average(of: \.teeth) == nil)
    }

    @Test func `aggregates of primitive elements work for lists, sets and maps [R52, R53]`() throws {
        let realm = try memoryRealm()
        let values = Values(
            value: [
                "ints": [3, 1, 3, 2], "optInts": [4, nil, 6] as [Int?], "doubles": [0.5, -1],
                "decimals": [Decimal128("1.5"), Decimal128("2")],
                "dates": [Date(timeIntervalSince1970: 9), Date(timeIntervalSince1970: 2)], "intSet": [5, 4], "scores": ["a": 2, "b": 5],
            ] as [String: Any])
        let empty = Values()
        for round in 0..<3 {
            let v = round < 2 ? values : values.freeze()
            #expect(v.ints.sum() == 9 && v.ints.average() as Double? == 2.25 && v.ints.min() == 1 && v.ints.max() == 3)
            #expect(v.optInts.sum() == 10 && v.optInts.average() as Double? == 5 && v.optInts.min() == 4)
            #expect(
                v.doubles.sum() == -0.5 && v.doubles.max() == 0.5 && v.decimals.sum() == 3.5 && v.decimals.average() as Decimal128? == 1.75)
            #expect(v.dates.min() == Date(timeIntervalSince1970: 2) && v.dates.max() == Date(timeIntervalSince1970: 9))
            #expect(
                v.intSet.sum() == 9 && v.intSet.min() == 4 && v.intSet.sum(ofProperty: "self") as Int == 9
                    && v.ints.max(ofProperty: "self") as Int? == 3)
            #expect(v.scores.sum() == 7 && v.scores.max() == 5 && v.scores.average() as Double? == 3.5)
            #expect(empty.ints.sum() == 0 && empty.ints.min() == nil && empty.ints.average() as Double? == nil)
            if round == 0 { try realm.write { realm.add([values, empty]) } }
        }
    }

    @Test func `each member of a set counts once, also with equal properties [D1]`() throws {
        let realm = try memoryRealm(), kennel = Doghouse()
        kennel.set.insert(objectsIn: (0..<10).map { Pup("p\($0)", age: $0 < 4 ? 1 : 0) })
        try realm.write { realm.add(kennel) }
        #expect(kennel.set.sum(ofProperty: "age") as Int == 4 && kennel.set.average(ofProperty: "age") as Double? == 0.4)
    }

    @Test func `a sum that overflows its type traps [R18]`() async throws {
        let values = Values(value: ["ints": [Int.max, 1]])
        #expect(values.ints.max() == .max)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm(), values = Values(value: ["ints": [Int.max, 1]])
            try realm.write { realm.add(values) }
            _ = values.ints.sum()
        }
        #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("does not fit into 64 bits") } == true)
        await #expect(processExitsWith: .failure) {
            let list = List<Int8>()
            list.append(objectsIn: [100, 100])
            _ = list.sum()
        }
    }

    @Test func `aggregates of properties without numbers trap [R16]`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            _ = realm.objects(Pup.self).min(ofProperty: "name") as Int?
        }
        #expect(
            result.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains("is not supported for string property \"Pup.name\"")
            } == true)
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self).sum(ofProperty: "born") as Int }
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self).sum(ofProperty: "fur") as Int }
        await #expect(processExitsWith: .failure) { _ = Doghouse().list.sum(ofProperty: "name") as Int }
        let self1 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Values().ints.sum(ofProperty: "age") as Int
        }
        #expect(
            self1.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains(
                    "Collections of \"int\" can only be aggregated on \"self\"")
            } == true)
    }

    @Test func `wrong queries, indexes and sort properties trap [R08, R12, R54]`() async throws {
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self).sorted(byKeyPath: "fur") }
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self).filter("fur == 1") }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Doghouse().list.filter("age == 1")
        }
        #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self).contains("requires a managed collection") } == true)
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm(), kennel = Doghouse()
            try realm.write { realm.add(kennel) }
            _ = AnyRealmCollection(kennel.set).index(matching: "age == 1")
        }
        await #expect(processExitsWith: .failure) { _ = try memoryRealm().objects(Pup.self)[0] }
    }
}
