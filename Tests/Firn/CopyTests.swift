import Firn
import Foundation
import Testing

private class Ring: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var next: Ring?
    @Persisted var others: List<Ring>
    @Persisted var byName: Map<String, Ring?>
    @Persisted var any: AnyRealmValue
    @Persisted var seal: Seal?
    @Persisted(originProperty: "next") var previous: LinkingObjects<Ring>
}

private class Seal: EmbeddedObject {
    @Persisted var text = ""
    @Persisted var owner: Ring?
}

private func rings(_ count: Int) -> [Ring] {
    let rings = (0..<count).map { Ring(value: ["id": $0, "name": "r\($0)"] as [String: Any]) }
    for (i, ring) in rings.enumerated() { ring.next = rings[(i + 1) % count] }
    return rings
}

/// `create` with objects that do not belong to the realm.
@Suite struct CopyTests {
    @Test func `objects of another realm are copied with all that they refer to, each once`() throws {
        let there = try memoryRealm([Ring.self]), here = try memoryRealm([Ring.self]), all = rings(3)
        all[0].others.append(objectsIn: [all[1], all[1]])
        all[0].byName["b"] = all[2]
        all[0].any = .object(all[1])
        all[0].seal = Seal(value: ["text": "wax", "owner": all[2]] as [String: Any])
        try there.write { there.add(all[0]) }
        let copy = try here.write { here.create(Ring.self, value: all[0]) }
        #expect(here.objects(Ring.self).count == 3 && copy.realm == here && copy !== all[0] && copy.name == "r0")
        #expect(copy.next?.next?.next == copy && copy.others.map(\.id) == [1, 1] && copy.byName["b"]??.id == 2)
        #expect(copy.seal?.text == "wax" && copy.seal?.owner?.id == 2 && copy.previous.map(\.id) == [2])
        if case .object(let object) = copy.any {
            #expect(object["id"] as? Int == 1 && object.realm == here)
        } else {
            Issue.record("no object")
        }
        #expect(there.objects(Ring.self).count == 3 && all[0].next?.realm == there)
    }

    @Test func `frozen and unmanaged objects in dictionaries are copied, objects of the realm are linked to`() throws {
        let there = try memoryRealm([Ring.self]), here = try memoryRealm([Ring.self]), all = rings(2)
        try there.write { there.add(all[0]) }
        let own = try here.write { here.create(Ring.self, value: ["id": 50]) },
            unmanaged = Ring(value: ["id": 60, "next": ["id": 61]] as [String: Any])
        let made = try here.write {
            here.create(
                Ring.self,
                value: [
                    "id": 70, "next": all[0].freeze(), "others": [own, unmanaged, ["id": 71, "next": unmanaged] as [String: Any]],
                    "byName": ["name": own, "x": unmanaged],
                ] as [String: Any])
        }
        #expect(made.next?.id == 0 && made.next?.next?.id == 1 && made.others.map(\.id) == [50, 60, 71] && made.others[0] == own)
        #expect(made.others[2].next?.id == 60 && made.byName["name"]??.id == 50 && made.byName["x"]??.id == 60)
        #expect(unmanaged.realm == nil && unmanaged.next?.realm == nil && here.objects(Ring.self).count == 7)
    }

    @Test func `with an update policy, copies set the objects that exist`() throws {
        let there = try memoryRealm([Ring.self]), here = try memoryRealm([Ring.self]), all = rings(2)
        try there.write { there.add(all[0]) }
        try here.write { here.create(Ring.self, value: ["id": 1, "name": "old"] as [String: Any]) }
        try here.write { here.create(Ring.self, value: all[0], update: .modified) }
        #expect(here.objects(Ring.self).count == 2 && here.object(ofType: Ring.self, forPrimaryKey: 1)?.name == "r1")
        try there.write { all[1].name = "new" }
        try here.write { here.create(Ring.self, value: all[0], update: .all) }
        #expect(here.objects(Ring.self).count == 2 && here.object(ofType: Ring.self, forPrimaryKey: 1)?.name == "new")
    }

    @Test func `a frozen object of the same file stands for the live one`() throws {
        let realm = try memoryRealm([Ring.self]), all = rings(2)
        try realm.write { realm.add(all[0]) }
        let made = try realm.write { realm.create(Ring.self, value: ["id": 9, "next": all[1].freeze()] as [String: Any]) }
        #expect(made.next == all[1] && realm.objects(Ring.self).count == 3)
    }

    @Test func `objects without a class are copied into a class`() throws {
        let there = try memoryRealm([Ring.self]), here = try memoryRealm([Ring.self]), all = rings(3)
        try there.write { there.add(all[0]) }
        let dynamic = there.dynamicObjects("Ring")[0]
        let copy = try here.write { here.create(Ring.self, value: dynamic) }
        #expect(copy.name == "r0" && copy.next?.next?.next == copy && here.objects(Ring.self).count == 3)
    }

    @Test func `operators of key paths collect the values of all elements`() throws {
        let realm = try memoryRealm([Ring.self]), all = rings(4)
        for ring in all { ring.name = ring.id % 2 == 0 ? "even" : "odd" }
        all[0].others.append(objectsIn: [all[1], all[2]])
        all[1].others.append(objectsIn: [all[2], all[3]])
        try realm.write { realm.add(all[0]) }
        let results = realm.objects(Ring.self).sorted(byKeyPath: "id")
        func names(_ path: String) -> [String]? { results.value(forKeyPath: path) as? [String] }
        #expect(names("@unionOfObjects.name") == ["even", "odd", "even", "odd"])
        #expect(names("@distinctUnionOfObjects.name") == ["even", "odd"])
        #expect(names("@distinctUnionOfObjects.next.name") == ["odd", "even"])
        #expect((results.value(forKeyPath: "@unionOfArrays.others") as? [Ring])?.map(\.id) == [1, 2, 2, 3])
        #expect((results.value(forKeyPath: "@distinctUnionOfArrays.others") as? [Ring])?.map(\.id) == [1, 2, 3])
        #expect((results.value(forKeyPath: "@unionOfArrays.others.id") as? [Int]) == [1, 2, 2, 3])
        #expect(results.value(forKeyPath: "@count") as? Int == 4 && results.value(forKeyPath: "@sum.id") as? Int == 6)
        #expect(results.value(forKeyPath: "@min.id") as? Int == 0 && results.value(forKeyPath: "@max.id") as? Int == 3)
        #expect(results.value(forKeyPath: "@avg.id") as? Double == 1.5)
        #expect(all[0].value(forKeyPath: "others.@unionOfObjects.id") as? [Int] == [1, 2])
        #expect(all[0].value(forKeyPath: "others.@max.id") as? Int == 2)
        let ints = List<Int>()
        ints.append(objectsIn: [3, 1, 3])
        #expect(ints.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Int] == [3, 1])
    }

    @Test func `index matching searches unmanaged lists`() throws {
        let all = rings(4), list = List<Ring>()
        list.append(objectsIn: [all[3], all[1], all[3], all[0]])
        all[1].others.append(all[2])
        all[1].seal = Seal(value: ["text": "wax"])
        #expect(list.index(matching: "name == 'r0'") == 3 && list.index(matching: "name == 'r2'") == nil)
        #expect(list.index(matching: "id > %@ AND id < 3", 0) == 1 && list.index(matching: "next.name == 'r0'") == 0)
        #expect(list.index(matching: "ANY others.id == 2") == 1 && list.index(matching: "seal.text == 'wax'") == 1)
        #expect(list.index(matching: "next == %@", all[1]) == 3 && list.index(matching: "next == %@", Ring()) == nil)
        #expect(list.index(matching: { $0.name == "r1" }) == 1 && list.index(matching: { $0.others.count == 1 }) == 1)
        #expect(list.index(matching: { $0.next == all[0] }) == 0 && List<Ring>().index(matching: "id == 1") == nil)
        let texts = List<String>()
        texts.append(objectsIn: ["a", "b"])
        #expect(texts.index(matching: "self == 'b'") == 1 && texts.index(matching: { $0 == "c" }) == nil)
    }

    @Test func `an unmanaged object is in no list, and comparisons with it are refused`() throws {
        let realm = try memoryRealm([Ring.self]), unmanaged = Ring(value: ["id": 0])
        try realm.write { realm.add(rings(3)[0]) }
        let results = realm.objects(Ring.self)
        #expect(throws: Realm.Error.self) { _ = try results.filtered("next == %@", [unmanaged]) }
        #expect(results.filter("next IN %@", [unmanaged]).isEmpty && results.filter("next IN %@", unmanaged).isEmpty)
        #expect(results.filter("%@ IN others", unmanaged).isEmpty)
    }

    @Test func `key paths of observers lead through inverse links`() throws {
        let realm = try memoryRealm([Ring.self]), all = rings(3)
        try realm.write { realm.add(all[0]) }
        var received: [String] = []
        let results = realm.objects(Ring.self).observe(keyPaths: ["previous.name"]) {
            if case .update(_, _, _, let modifications) = $0 { received.append("results \(modifications)") }
        }
        let object = all[1].observe(keyPaths: [\.previous.name]) { (change: ObjectChange<Ring>) in
            if case .change(_, let properties) = change { received.append("object \(properties.map(\.name))") }
        }
        realm.refresh()
        try realm.write { all[0].name = "changed" }
        realm.refresh()
        #expect(received.sorted() == ["object [\"previous\"]", "results [1]"])
        received = []
        try realm.write { all[1].name = "changed" }
        realm.refresh()
        #expect(received == ["results [2]"])
        received = []
        try realm.write { all[2].next = all[1] }
        realm.refresh()
        #expect(received.sorted() == ["object [\"previous\"]", "results [0, 1]"])
        results.invalidate()
        object.invalidate()
    }
}
