import Firn
import Testing

private class Bough: Object {
    @Persisted var title = ""
    @Persisted var parent: Bough?
    @Persisted var near: List<Bough>
    @Persisted(originProperty: "parent") var children: LinkingObjects<Bough>
    @Persisted(originProperty: "near") var nearTo: LinkingObjects<Bough>

    override class func propertiesMapping() -> [String: String] { ["title": "name", "parent": "up", "near": "close by"] }
}

struct MappedInverseTests {
    @Test func `the origin of inverse links is named as in code, also if the schema has another name for it`() throws {
        let realm = try memoryRealm([Bough.self])
        let root = Bough(value: ["title": "root"]), leaf = Bough(value: ["title": "leaf"])
        leaf.parent = root
        leaf.near.append(root)
        try realm.write { realm.add(leaf) }
        #expect(Array(root.children) == [leaf] && Array(root.nearTo) == [leaf] && leaf.children.isEmpty)
        let all = realm.objects(Bough.self)
        #expect(Array(all.where { $0.children.title == "leaf" }) == [root] && Array(all.where { $0.nearTo.count == 1 }) == [root])
        #expect(Array(all.filter("children.@count == 1")) == [root] && Array(root.freeze().children) == [leaf.freeze()])
    }
}
