import Firn
import FirnDatabase
import Foundation
import Testing

/// The first and later versions of a class; all of them have the type "Walker".
private class Walker1: Object {
    override class func _realmObjectName() -> String? { "Walker" }
    @Persisted var first = ""
    @Persisted var last = ""
    @Persisted var age: Int?
    @Persisted var shoes: Shoe?
    @Persisted var friend: Walker1?
}

private class Walker2: Object {
    override class func _realmObjectName() -> String? { "Walker" }
    @Persisted(primaryKey: true) var number: Int
    @Persisted var name = ""
    @Persisted var age: Int
    @Persisted var footwear: Shoe?
    @Persisted var friend: Walker2?
}

private class WalkerWithLess: Object {
    override class func _realmObjectName() -> String? { "Walker" }
    @Persisted var first = ""
    @Persisted var age: String
}

private class Shoe: EmbeddedObject {
    @Persisted var size = 42
}

/// Two versions of classes: first linked, then embedded.
private enum Linked {
    class Cabin: Object {
        override class func _realmObjectName() -> String? { "Cabin" }
        @Persisted var name = ""
        @Persisted var stove: Stove?
        @Persisted var lamps: List<Stove>
        @Persisted var byRoom: Map<String, Stove?>
    }
    class Stove: Object {
        override class func _realmObjectName() -> String? { "Stove" }
        @Persisted var heat = 0
    }
}

private enum Owned {
    class Cabin: Object {
        override class func _realmObjectName() -> String? { "Cabin" }
        @Persisted var name = ""
        @Persisted var stove: Stove?
        @Persisted var lamps: List<Stove>
        @Persisted var byRoom: Map<String, Stove?>
    }
    class Stove: EmbeddedObject {
        override class func _realmObjectName() -> String? { "Stove" }
        @Persisted var heat = 0
    }
}

@Suite struct MigrationTests {
    private func fill(_ folder: RealmFolder, count: Int = 10) throws {
        let realm = try Realm(configuration: folder.configuration([Walker1.self]))
        try realm.write {
            var before: Walker1?
            for i in 0..<count {
                let walker = realm.create(
                    Walker1.self,
                    value: ["first": "f\(i)", "last": "l\(i)", "age": i % 3 == 0 ? nil : i, "shoes": ["size": 30 + i]] as [String: Any?])
                walker.friend = before
                before = walker
            }
        }
    }

    private let migration: MigrationBlock = { migration, old in
        #expect(old == 0)
        #expect(migration.oldSchema["Walker"]?["first"] != nil && migration.newSchema["Walker"]?["first"] == nil)
        migration.renameProperty(onType: "Walker", from: "shoes", to: "footwear")
        var number = 0
        migration.enumerateObjects(ofType: "Walker") { old, new in
            new!["name"] = "\(old!["first"]!) \(old!.last!)"
            new!["number"] = number
            number += 1
        }
    }

    @Test(arguments: [10, 5000]) func `a migration converts the values of a class`(count: Int) throws {
        let folder = try RealmFolder()
        try fill(folder, count: count)
        let realm = try Realm(configuration: folder.configuration([Walker2.self], version: 1, migration: migration))
        #expect(realm.damage == nil)
        let walkers = Array(realm.objects(Walker2.self))
        #expect(walkers.count == count)
        for (i, walker) in walkers.enumerated() {
            #expect(walker.name == "f\(i) l\(i)" && walker.number == i && walker.age == (i % 3 == 0 ? 0 : i))
            #expect(walker.footwear?.size == 30 + i && walker.friend?.number == (i == 0 ? nil : i - 1))
        }
        #expect(realm.object(ofType: Walker2.self, forPrimaryKey: 7)?.name == "f7 l7")
        #expect(try Realm.schemaVersionAtURL(folder.file()) == 1)
        #expect(realm.schema.objectSchema.map(\.className).sorted() == ["Shoe", "Walker"])
        // The migrated file can be written.
        try realm.write {
            realm.create(Walker2.self, value: ["number": count, "name": "new"])
            realm.delete(walkers[0])
        }
        #expect(realm.objects(Walker2.self).count == count && walkers[1].friend == nil)
        let database = try Database.open(path: folder.file().path)
        #expect(try database.verifyStructure().isEmpty)
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }

    @Test func `a migrated file is not migrated again`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        #expect(try Realm.performMigration(for: folder.configuration([Walker2.self], version: 1, migration: migration)))
        // The block would trap if it was called again.
        #expect(try !Realm.performMigration(for: folder.configuration([Walker2.self], version: 1, migration: migration)))
        let realm = try Realm(configuration: folder.configuration([Walker2.self], version: 1))
        #expect(realm.objects(Walker2.self).count == 10)
    }

    @Test func `embedded objects of a dropped property are deleted`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        let realm = try Realm(configuration: folder.configuration([WalkerWithLess.self], version: 3))
        #expect(realm.objects(WalkerWithLess.self).map(\.first) == (0..<10).map { "f\($0)" })
        #expect(realm.objects(WalkerWithLess.self).allSatisfy { $0.age == "" })
        #expect(realm.dynamicObjects("Shoe").count == 0)
    }

    private func fillCabins(_ folder: RealmFolder, shared: Bool = false, alone: Bool = false) throws {
        let realm = try Realm(configuration: folder.configuration([Linked.Stove.self, Linked.Cabin.self]))
        try realm.write {
            for i in 0..<20 {
                realm.create(
                    Linked.Cabin.self,
                    value: [
                        "name": "c\(i)", "stove": ["heat": i], "lamps": [["heat": i + 100], ["heat": i + 200]],
                        "byRoom": ["hall": ["heat": i + 300]],
                    ] as [String: Any])
            }
            let first = realm.objects(Linked.Cabin.self)[0]
            if shared { first.lamps.append(first.stove!) }
            if alone { realm.add(Linked.Stove(value: ["heat": -1])) }
        }
    }

    @Test(arguments: [true, false]) func `objects of a class that became embedded, or is embedded no more, stay with their owners`(
        embeddedFirst: Bool
    ) throws {
        let folder = try RealmFolder()
        try fillCabins(folder)
        let types: [ObjectBase.Type] = embeddedFirst ? [Owned.Stove.self, Owned.Cabin.self] : [Owned.Cabin.self, Owned.Stove.self]
        do {
            let realm = try Realm(configuration: folder.configuration(types, version: 1))
            let cabins = realm.objects(Owned.Cabin.self).sorted(by: [SortDescriptor(keyPath: "stove.heat")])
            #expect(cabins.map(\.name) == (0..<20).map { "c\($0)" } && cabins.map { $0.stove?.heat } == Array(0..<20))
            #expect(cabins[3].lamps.map(\.heat) == [103, 203] && cabins[3].byRoom["hall"]??.heat == 303)
            try realm.write { realm.delete(cabins[0]) }
            #expect(realm.dynamicObjects("Stove").count == 19 * 4, "embedded objects are deleted with their owner")
        }
        let back: [ObjectBase.Type] = embeddedFirst ? [Linked.Stove.self, Linked.Cabin.self] : [Linked.Cabin.self, Linked.Stove.self]
        let realm = try Realm(configuration: folder.configuration(back, version: 2))
        #expect(realm.objects(Linked.Stove.self).count == 19 * 4)
        #expect(realm.objects(Linked.Cabin.self).filter("stove.heat == 5").first?.byRoom["hall"]??.heat == 305)
        #expect(try Database.open(path: folder.file().path).snapshot().verify(full: true).isEmpty)
    }

    @Test func `a class does not become embedded if objects have no owner, and the migration can delete these`() throws {
        let folder = try RealmFolder(), types: [ObjectBase.Type] = [Owned.Cabin.self, Owned.Stove.self]
        try fillCabins(folder, alone: true)
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: folder.configuration(types, version: 1)) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("1 of its objects have no owner, 0 have more") == true)
        let realm = try Realm(
            configuration: folder.configuration(types, version: 1) { migration, _ in
                migration.enumerateObjects(ofType: "Stove") { old, new in if old!["heat"] as? Int == -1 { migration.delete(new!) } }
            })
        #expect(realm.objects(Owned.Cabin.self).count == 20 && realm.dynamicObjects("Stove").count == 80)
    }

    @Test func `a class does not become embedded if owners share an object or refer to a deleted one`() throws {
        let folder = try RealmFolder(), types: [ObjectBase.Type] = [Owned.Cabin.self, Owned.Stove.self]
        try fillCabins(folder, shared: true)
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: folder.configuration(types, version: 1)) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("0 of its objects have no owner, 1 have more") == true)
        let second = #expect(throws: Realm.Error.self) {
            _ = try Realm(
                configuration: folder.configuration(types, version: 1) { migration, _ in
                    migration.enumerateObjects(ofType: "Cabin") { _, new in
                        let lamps = new!.dynamicList("lamps")
                        if lamps.count == 3 { lamps.remove(at: 2) }
                    }
                })
        }
        #expect(second?.message.contains("owners refer to 1 deleted ones") == true)
        // Nothing has changed.
        #expect(try Realm(configuration: folder.configuration([Linked.Cabin.self])).objects(Linked.Stove.self).count == 80)
    }

    @Test func `deleting embedded objects in a migration removes them from their owners`() throws {
        let folder = try RealmFolder()
        try fillCabins(folder)
        let types: [ObjectBase.Type] = [Owned.Cabin.self, Owned.Stove.self]
        _ = try Realm(configuration: folder.configuration(types, version: 1))
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Stove") { _, new in
                if let new, (new["heat"] as? Int ?? 0) % 100 < 5 { migration.delete(new) }
            }
        }
        do {
            let realm = try Realm(configuration: folder.configuration(types, version: 2, migration: block))
            let cabins = realm.objects(Owned.Cabin.self).sorted(byKeyPath: "name")
            #expect(cabins.count == 20 && realm.dynamicObjects("Stove").count == 15 * 4)
            for cabin in cabins {
                let isKept = (Int(cabin.name.dropFirst()) ?? 0) >= 5
                #expect((cabin.stove != nil) == isKept && cabin.lamps.count == (isKept ? 2 : 0))
                #expect((cabin.byRoom["hall"].flatMap { $0 } != nil) == isKept)
            }
        }
        // A migration of all of them leaves none, and the file stays whole.
        let empty = try Realm(
            configuration: folder.configuration(types, version: 3) { migration, _ in migration.deleteData(forType: "Stove") })
        #expect(empty.objects(Owned.Cabin.self).allSatisfy { $0.stove == nil && $0.lamps.isEmpty })
        #expect(try Database.open(path: folder.file().path).snapshot().verify(full: true).isEmpty)
    }

    @Test func `the new schema of a migration has the new primary keys`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        let realm = try Realm(
            configuration: folder.configuration([Walker2.self], version: 1) { migration, _ in
                #expect(migration.newSchema["Walker"]?.primaryKeyProperty?.name == "number")
                #expect(migration.oldSchema["Walker"]?.primaryKeyProperty == nil)
                var number = 0
                migration.enumerateObjects(ofType: "Walker") { _, new in
                    new?["number"] = number
                    number += 1
                }
            })
        #expect(realm.objects(Walker2.self).count == 10)
    }

    @Test func `a changed class without a new schema version is refused with every difference`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        do {
            _ = try Realm(configuration: folder.configuration([Walker2.self]))
            Issue.record("a file with another schema was opened")
        } catch let error as Realm.Error {
            #expect(error.code == .schemaMismatch)
            for part in [
                "Migration is required due to the following errors:", "\"Walker.number\" has been added", "\"Walker.name\" has been added",
                "\"Walker.age\" has been made required",
                "\"Walker.first\" has been removed", "\"Walker.last\" has been removed", "Primary key of class \"Walker\" has been changed",
            ] {
                #expect(error.message.contains(part), "\(part) in \(error.message)")
            }
        }
    }

    @Test func `a schema version lower than that of the file is refused`() throws {
        let folder = try RealmFolder()
        _ = try Realm(configuration: folder.configuration([Dog.self], version: 5))
        #expect(try Realm.schemaVersionAtURL(folder.file()) == 5)
        do {
            _ = try Realm(configuration: folder.configuration([Dog.self], version: 4))
            Issue.record("a file with a newer schema version was opened")
        } catch let error as Realm.Error {
            #expect(error.message == "Provided schema version 4 is less than last set version 5.")
        }
    }

    @Test func `a migration that leaves duplicate keys is refused and changes nothing`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        #expect(throws: Realm.Error.duplicatePrimaryKey) { try Realm(configuration: folder.configuration([Walker2.self], version: 1)) }
        #expect(try Realm.schemaVersionAtURL(folder.file()) == 0)
        #expect(try Realm(configuration: folder.configuration([Walker1.self])).objects(Walker1.self)[4].last == "l4")
    }

    @Test func `migrations can create and delete objects`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        let realm = try Realm(
            configuration: folder.configuration([Walker1.self, Dog.self], version: 1) { migration, _ in
                #expect(!migration.deleteData(forType: "Nothing"))
                migration.enumerateObjects(ofType: "Walker") { old, new in if old!["age"] == nil { migration.delete(new!) } }
                let dog = migration.create("Dog", value: ["name": "Rex", "toys": ["ball"]] as [String: Any])
                #expect(dog["age"] as? Int == 0)
            })
        #expect(realm.objects(Walker1.self).map(\.first) == ["f1", "f2", "f4", "f5", "f7", "f8"])
        #expect(realm.objects(Dog.self).first?.name == "Rex" && realm.objects(Dog.self).first?.toys.first == "ball")
        #expect(realm.dynamicObjects("Shoe").count == 6)
    }

    @Test func `deleteRealmIfMigrationNeeded replaces the file with an empty one`() throws {
        let folder = try RealmFolder()
        try fill(folder)
        var configuration = folder.configuration([Walker2.self])
        configuration.deleteRealmIfMigrationNeeded = true
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Walker2.self).isEmpty && realm.dynamicObjects("Walker").count == 0)
    }
}
