@testable import Firn
import FirnKit
import Foundation
import Testing

/// Lists and maps (section 2.3 of the contract), managed and unmanaged.
@Suite struct ListTests {
    private func values(managed: Bool, _ contents: [String: Any]) throws -> Values {
        let values = Values(value: contents)
        if managed {
            let realm = try memoryRealm()
            realm.beginWrite()
            realm.add(values)
        }
        return values
    }

    @Test(arguments: [false, true]) func `elements can be inserted, moved, sorted, replaced and removed`(_ managed: Bool) throws {
        let list = try values(managed: managed, ["ints": Array(0..<10)]).ints
        list.remove(atOffsets: IndexSet([0, 3, 4, 9]))
        #expect(Array(list) == [1, 2, 5, 6, 7, 8])
        list.insert(contentsOf: [20, 21], at: 1)
        list += [30]
        list.append(contentsOf: [31])
        #expect(Array(list) == [1, 20, 21, 2, 5, 6, 7, 8, 30, 31])
        list.removeAll { $0 % 2 == 0 }
        #expect(Array(list) == [1, 21, 5, 7, 31])
        list.move(from: 0, to: 4)
        list.swapAt(0, 1)
        #expect(Array(list) == [5, 21, 7, 31, 1])
        list.sort()
        #expect(Array(list) == [1, 5, 7, 21, 31])
        list.sort { $0 % 10 < $1 % 10 }
        #expect(Array(list) == [1, 21, 31, 5, 7])
        list.reverse()
        #expect(Array(list) == [7, 5, 31, 21, 1])
        list.replaceSubrange(1..<4, with: [9])
        list[0] = 8
        #expect(Array(list) == [8, 9, 1])
        list.removeFirst()
        list.removeLast()
        list.append(objectsIn: list)
        #expect(Array(list) == [9, 9])
        list.replaceSubrange(0..<1, with: list)
        #expect(Array(list) == [9, 9, 9])
        list.removeAll()
        #expect(list.isEmpty)
    }

    @Test(arguments: [false, true], Seed.some(1, 2)) func `moving by offsets agrees with Swift's arrays`(_ managed: Bool, _ seed: Seed)
        throws
    {
        var random = Random(seed)
        for _ in 0..<100 {
            var expected = Array(0..<Int.random(in: 1..<12, using: &random))
            let list = try values(managed: managed, ["ints": expected]).ints
            let offsets = IndexSet(expected.filter { _ in Bool.random(using: &random) }),
                destination = Int.random(in: 0...expected.count, using: &random)
            let moved = offsets.map { expected[$0] }, before = expected[..<destination].filter { !moved.contains($0) },
                after = expected[destination...].filter { !moved.contains($0) }
            expected = before + moved + after
            list.move(fromOffsets: offsets, toOffset: destination)
            #expect(Array(list) == expected, "\(offsets.map { $0 }) to \(destination)")
            if managed { list.realm!.cancelWrite() }
        }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `random changes of long lists agree with arrays`(_ seed: Seed) throws {
        var random = Random(seed)
        let realm = try memoryRealm(), values = Values()
        try realm.write { realm.add(values) }
        var ints: [Int] = [], strings: [String] = []
        for round in 0..<10 {
            try realm.write {
                for _ in 0..<300 {
                    let x = Int.random(in: 0..<1_000_000, using: &random), at = ints.isEmpty ? 0 : x % (ints.count + 1)
                    switch x % 7 {
                    case 0 where at < ints.count:
                        ints.remove(at: at); values.ints.remove(at: at)
                        strings.remove(at: at); values.strings.remove(at: at)
                    case 1 where round % 3 == 0:
                        let many = (0..<(x % 900)).map { $0 + x }
                        ints.insert(contentsOf: many, at: at); values.ints.insert(contentsOf: many, at: at)
                        strings.insert(contentsOf: many.map { "\($0)" }, at: at);
                        values.strings.insert(contentsOf: many.map { "\($0)" }, at: at)
                    case 2 where at < ints.count:
                        let range = at..<min(ints.count, at + x % 700)
                        ints.replaceSubrange(range, with: [x]); values.ints.replaceSubrange(range, with: [x])
                        strings.replaceSubrange(range, with: ["\(x)"]); values.strings.replaceSubrange(range, with: ["\(x)"])
                    case 3 where at < ints.count:
                        ints[at] = x; values.ints[at] = x
                        strings[at] = "\(x)"; values.strings[at] = "\(x)"
                    default:
                        ints.insert(x, at: at); values.ints.insert(x, at: at)
                        strings.insert("\(x)", at: at); values.strings.insert("\(x)", at: at)
                    }
                }
                #expect(Array(values.ints) == ints && Array(values.strings) == strings)
                if let middle = ints.indices.randomElement(using: &random) {
                    #expect(values.ints[middle] == ints[middle] && values.strings[middle] == strings[middle])
                }
            }
            let stored = realm.objects(Values.self)[0]
            #expect(Array(stored.ints.freeze()) == ints && Array(stored.strings.freeze()) == strings)
        }
    }

    @Test func `embedded objects in lists can be moved, and are deleted when they are removed`() throws {
        let realm = try memoryRealm(), kennel = Doghouse()
        kennel.rooms.append(objectsIn: (1...5).map { Room($0) })
        try realm.write { realm.add(kennel) }
        try realm.write {
            kennel.rooms.move(from: 0, to: 4)
            kennel.rooms.reverse()
            #expect(kennel.rooms.map(\.number) == [1, 5, 4, 3, 2])
            kennel.rooms.remove(atOffsets: IndexSet([1, 3]))
            kennel.rooms.sort { $0.number < $1.number }
        }
        #expect(kennel.rooms.map(\.number) == [1, 2, 4] && realm.objects(Room.self).count == 3)
    }

    @Test func `key paths through collections have names`() {
        #expect(KeyPathRecorder.path(\Doghouse.list.name) == "list.name")
        #expect(KeyPathRecorder.path(\Doghouse.set.kennel?.name) == "set.kennel.name")
        #expect(KeyPathRecorder.path(\Doghouse.pups.friends.age) == "pups.friends.age")
        #expect(KeyPathRecorder.path(\Pup.kennel?.rooms.number) == "kennel.rooms.number")
        #expect(KeyPathRecorder.path(\Doghouse.list) == "list")
    }

    @Test func `indexes outside a list trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let list = List<Int>()
            list.append(1)
            _ = list[1]
        }
        #expect(
            result.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains("Index 1 is out of bounds (must be less than 1).")
            } == true)
        await #expect(processExitsWith: .failure) { List<Int>().remove(atOffsets: [0]) }
        await #expect(processExitsWith: .failure) { List<Int>().move(fromOffsets: [], toOffset: 1) }
        await #expect(processExitsWith: .failure) { _ = Doghouse().list.name }
    }
}

@Suite struct MapTests {
    @Test(arguments: [false, true]) func `map entries can be added, found and removed, and ascend by key`(_ managed: Bool) throws {
        let values = Values(), realm = try memoryRealm()
        if managed {
            realm.beginWrite()
            realm.add(values)
        }
        let map = values.scores
        map["b"] = 2
        map["a"] = 1
        map["ä"] = 3
        map["", default: 5] += 1
        #expect(map.keys == ["", "a", "b", "ä"] && map.values == [6, 1, 2, 3] && map.first?.key == "" && map.first?.value == 6)
        map["b"] = nil
        map.removeObject(for: "nothing")
        map.updateValue(9, forKey: "a")
        #expect(map.asKeyValueSequence().map { "\($0.key)=\($0.value)" } == ["=6", "a=9", "ä=3"] && map["b"] == nil && map["a"] == 9)
        map.merge([(key: "a", value: 1), (key: "z", value: 26)]) { $0 + $1 }
        #expect(map["a"] == 10 && map["z"] == 26 && map.count == 4)
        #expect(map.contains { key, value in key == "z" && value == 26 } && !map.contains { $0.value == 1 })
        #expect(map.sum() == 45 && map.min() == 3 && map.max() == 26 && map.average() as Double? == 11.25)
        #expect(
            map.value(forKeyPath: "z") as? Int == 26 && map.value(forKeyPath: "@count") as? Int == 4
                && map.value(forKeyPath: "@sum.self") as? Int == 45)
        #expect(map.value(forKeyPath: "@allKeys") as? [String] == map.keys && values.value(forKeyPath: "scores.z") as? Int == 26)
        let other = Values()
        other.scores.merge(map)
        #expect(other.scores == map && Map<String, Int>() != map && Map<String, Int>() == Map<String, Int>())
        map.merge(map)
        #expect(other.scores == map)
        map.removeAll()
        #expect(map.isEmpty && map.first == nil)
        if managed { try realm.commitWrite() }
    }

    @Test func `maps can be filtered, sorted, frozen and thawed`() throws {
        let realm = try memoryRealm(), kennel = Doghouse(),
            values = Values(
                value: ["scores": ["x": 3, "y": 1, "z": 2], "names": ["a": "A", "b": nil] as [String: Any?]] as [String: Any])
        for (key, pup) in zip(["d", "c", "b", "a"], fourPups()) { kennel.map[key] = pup }
        try realm.write {
            realm.add(kennel); realm.add(values)
        }
        #expect(
            Array(values.scores.sorted()) == [1, 2, 3] && Array(values.scores.filter("self > 1")) == [3, 2]
                && Array(values.scores.distinct()) == [3, 1, 2])
        let missing: String?? = nil, null: String?? = .some(nil)
        #expect(values.names["b"] == null && values.names["a"] == "A" && values.names["c"] == missing)
        #expect(kennel.map.sorted(byKeyPath: "name").map { $0?.name } == ["Ada", "Bo", "Fido", "Rex"])
        #expect(kennel.map.filter("age == 7").map { $0?.name } == ["Ada", "Fido"] && kennel.map.sum(ofProperty: "age") as Int == 18)
        #expect(kennel.value(forKeyPath: "map.d.name") as? String == "Rex")
        let frozen = kennel.map.freeze(), map = kennel.map, none: Pup?? = .some(nil)
        #expect(frozen.isFrozen && !map.isFrozen && map.realm == realm && frozen.isSameCollection(as: kennel.map.freeze()))
        try realm.write { realm.delete(kennel.map["d"]!!) }
        #expect(map["d"] == none && map.count == 4 && frozen["d"]??.name == "Rex" && frozen == frozen && frozen != map)
        #expect(frozen.thaw()?["d"] == none && frozen.thaw()?.isSameCollection(as: map) == true)
        #expect(Array(map.keys) == ["a", "b", "c", "d"])
    }

    @Test func `map keys that paths cannot express are refused, and so are changes outside of a transaction`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { Values().scores["a.b"] = 1 }
        #expect(
            result.map {
                String(decoding: $0.standardErrorContent, as: UTF8.self).contains(
                    "Map keys must not begin with \"$\" nor contain \".\": \"a.b\"")
            } == true)
        await #expect(processExitsWith: .failure) { Values().scores["$a"] = 1 }
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm(), values = Values()
            try realm.write { realm.add(values) }
            values.scores["a"] = 1
        }
    }
}
