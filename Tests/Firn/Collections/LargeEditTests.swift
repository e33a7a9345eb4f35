import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

/// Large collections whose elements are not kept as words are changed where they were read. Random changes next to a model.
struct LargeEditTests {
    final class Archive: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var texts: List<String?>
        @Persisted var numbers: List<Int?>
        @Persisted var bytes: List<Data>
        @Persisted var words: MutableSet<String>
        @Persisted var reals: MutableSet<Double>
        @Persisted var map: Map<String, Int>
        @Persisted var notes: Map<String, String?>
        @Persisted var mixed: Map<String, AnyRealmValue>
    }

    /// The same as Swift's own collections.
    struct Model: Equatable {
        var texts: [String?] = []
        var numbers: [Int?] = []
        var bytes: [Data] = []
        var words: Set<String> = []
        var reals: Set<Double> = []
        var map: [String: Int] = [:]
        var notes: [String: String?] = [:]
        var mixed: [String: AnyRealmValue] = [:]
    }

    private func model(of archive: Archive) -> Model {
        Model(
            texts: Array(archive.texts), numbers: Array(archive.numbers), bytes: Array(archive.bytes), words: Set(archive.words),
            reals: Set(archive.reals), map: Dictionary(uniqueKeysWithValues: archive.map.asKeyValueSequence()),
            notes: Dictionary(uniqueKeysWithValues: archive.notes.asKeyValueSequence()),
            mixed: Dictionary(uniqueKeysWithValues: archive.mixed.asKeyValueSequence()))
    }

    private func text(_ random: inout Random) -> String { String(repeating: "é", count: random.below(4)) + "text \(random.below(9999))" }
    private func optional(_ random: inout Random) -> String? { random.chance(20) ? nil : text(&random) }
    private func any(_ random: inout Random) -> AnyRealmValue {
        switch random.below(4) {
        case 0: .none
        case 1: .int(random.below(100))
        case 2: .string(text(&random))
        default: .data(Data(random.bytes(random.below(9))))
        }
    }

    private func fill(_ archive: Archive, _ model: inout Model, _ count: Int, _ random: inout Random) {
        for i in 0..<count {
            model.texts.append(optional(&random))
            model.numbers.append(random.chance(10) ? nil : random.below(1000))
            model.bytes.append(Data(random.bytes(random.below(6))))
            model.words.insert("\(text(&random)) \(i)")
            model.reals.insert(Double(i) / 4)
            model.map["key \(i)"] = i
            model.notes["key \(i)"] = .some(optional(&random))
            model.mixed["key \(i)"] = any(&random)
        }
        archive.texts.append(objectsIn: model.texts)
        archive.numbers.append(objectsIn: model.numbers)
        archive.bytes.append(objectsIn: model.bytes)
        archive.words.insert(objectsIn: model.words)
        archive.reals.insert(objectsIn: model.reals)
        archive.map.merge(model.map.map { ($0.key, $0.value) })
        archive.notes.merge(model.notes.map { ($0.key, $0.value) })
        archive.mixed.merge(model.mixed.map { ($0.key, $0.value) })
    }

    private func editList<T: RealmCollectionValue>(_ list: List<T>, _ array: inout [T], _ random: inout Random, _ new: (inout Random) -> T)
    {
        let place = random.below(array.count), end = min(array.count, place + random.below(4)), element = new(&random)
        switch random.below(7) {
        case 0:
            list.append(element)
            array.append(element)
        case 1:
            list.insert(element, at: place)
            array.insert(element, at: place)
        case 2:
            list[place] = element
            array[place] = element
        case 3:
            list.removeSubrange(place..<end)
            array.removeSubrange(place..<end)
        case 4:
            list.move(from: place, to: 0)
            array.insert(array.remove(at: place), at: 0)
        case 5:
            list.swapAt(place, array.count - 1)
            array.swapAt(place, array.count - 1)
        default:
            list.replaceSubrange(place..<end, with: [element, element])
            array.replaceSubrange(place..<end, with: [element, element])
        }
    }

    private func editSet<T: RealmCollectionValue>(
        _ set: MutableSet<T>, _ model: inout Set<T>, _ random: inout Random, _ new: (inout Random) -> T
    ) {
        if random.bool(), let gone = set.isEmpty ? nil : set[random.below(set.count)] {
            set.remove(gone)
            model.remove(gone)
        } else {
            let element = new(&random)
            set.insert(element)
            model.insert(element)
        }
    }

    private func editMap<T: RealmCollectionValue>(
        _ map: Map<String, T>, _ model: inout [String: T], _ random: inout Random, _ new: (inout Random) -> T
    ) {
        let key = "key \(random.below(model.count + 20))"
        if random.chance(30) {
            map.removeObject(for: key)
            model.removeValue(forKey: key)
        } else {
            let value = new(&random)
            map.updateValue(value, forKey: key)
            model.updateValue(value, forKey: key)
        }
    }

    private func edit(_ archive: Archive, _ model: inout Model, _ random: inout Random) {
        editList(archive.texts, &model.texts, &random, optional)
        editList(archive.numbers, &model.numbers, &random) { $0.chance(10) ? nil : $0.below(1000) }
        editList(archive.bytes, &model.bytes, &random) { Data($0.bytes($0.below(6))) }
        editSet(archive.words, &model.words, &random, text)
        editSet(archive.reals, &model.reals, &random) { Double($0.below(9000)) / 8 }
        editMap(archive.map, &model.map, &random) { $0.below(1000) }
        editMap(archive.notes, &model.notes, &random, optional)
        editMap(archive.mixed, &model.mixed, &random, any)
    }

    @Test(arguments: Seed.some(1, 2, 3, 4).prefix(Tier.cases(2, of: 4)))
    func `random changes of large collections agree with Swift's, in each version and in frozen ones`(seed: Seed) throws {
        let folder = try RealmFolder(), configuration = folder.configuration([Archive.self])
        var random = Random(seed, salt: 0x9E37_79B9), expected = Model()
        var frozen: [(Archive, Model)] = []
        do {
            let realm = try Realm(configuration: configuration), archive = Archive()
            try realm.write {
                realm.add(archive)
                fill(archive, &expected, SplicedElements.minimumCount + random.below(900), &random)
            }
        }
        for round in 0..<8 {
            let realm = try Realm(configuration: configuration),
                archive = try #require(realm.object(ofType: Archive.self, forPrimaryKey: 0))
            for _ in 0..<3 {
                // Rounds with many changes make values of all elements.
                let edits = round % 4 == 3 ? 400 : random.number(1...6)
                try realm.write { for _ in 0..<edits { edit(archive, &expected, &random) } }
                #expect(model(of: archive) == expected, "round \(round)")
                #expect(Array(archive.words) == expected.words.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
                #expect(archive.map.keys == expected.map.keys.sorted())
                var cancelled = expected
                realm.beginWrite()
                edit(archive, &cancelled, &random)
                #expect(model(of: archive) == cancelled)
                realm.cancelWrite()
                #expect(model(of: archive) == expected)
            }
            for _ in 0..<30 {
                let index = random.below(expected.texts.count), key = "key \(random.below(3000))", word = text(&random)
                #expect(archive.texts[index] == expected.texts[index] && archive.map[key] == expected.map[key])
                #expect(archive.words.contains(word) == expected.words.contains(word))
                #expect(archive.reals.contains(Double(index) / 8) == expected.reals.contains(Double(index) / 8))
            }
            if round % 3 == 0 { frozen.append((archive.freeze(), expected)) }
        }
        for (archive, expected) in frozen { #expect(model(of: archive) == expected) }
    }

    @Test func `a change of one entry keeps the others as they were read`() throws {
        let type = ColumnType(.string, collection: .map), count = 5000
        var row = Column(type)
        row.append(.map((0..<count).map { Value.Entry("key \(10_000 + $0)", .string("value \($0)")) }))
        var spliced = try #require(SplicedElements(row))
        let index = spliced.search(key: "key 12000")
        #expect(index == (2000, true) && spliced[2000] == .string("value 2000"))
        #expect(spliced.replaceSubrange(2000..<2001, with: [.string("new")], keys: ["key 12000"]) == [.string("value 2000")])
        #expect(spliced.replaceSubrange(0..<1, with: []) == [.string("value 0")])
        #expect(spliced.count == count - 1 && spliced.key(at: 1999) == "key 12000" && spliced[1999] == .string("new") && !spliced.isFull)
        var expected = Column(type)
        expected.append(
            .map((1..<count).map { Value.Entry("key \(10_000 + $0)", .string($0 == 2000 ? "new" : "value \($0)")) }))
        let changed = spliced.row(of: type)
        #expect(changed.value(at: 0) == expected.value(at: 0) && changed.holds(1))
        // A value that does not fit changes nothing.
        #expect(spliced.replaceSubrange(0..<1, with: [.int(1)], keys: ["key"]) == nil && spliced.count == count - 1)
        for i in 0..<200 { _ = spliced.replaceSubrange(i * 3..<i * 3 + 1, with: [.string("x")], keys: [spliced.key(at: i * 3)]) }
        #expect(spliced.isFull)
    }

    @Test func `few elements are kept as values`() {
        var row = Column(ColumnType(.string, collection: .list))
        row.append(.list(Array(repeating: .string("x"), count: SplicedElements.minimumCount - 1)))
        #expect(SplicedElements(row) == nil)
    }
}
