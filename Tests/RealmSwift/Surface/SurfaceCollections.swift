import Foundation
import RealmSwift

extension Surface {
    mutating func addResults(_ pets: Results<SurfacePet>) {
        use(
            "RealmCollection.realm", "RealmCollection.isInvalidated", "RealmCollection.count", "RealmCollection.description",
            "RealmCollection.isFrozen"
        ) {
            _ = (pets.realm, pets.isInvalidated, pets.count, pets.description, pets.isFrozen)
        }
        use("RealmCollection.first", "RealmCollection.last", "RealmCollection.subscript(_:)", "RealmCollection.objects(at:)") {
            _ = (pets.first, pets.last, pets[0], try pets.objects(at: [0, 1]))
        }
        use("RealmCollection.index(of:)", "RealmCollection.index(matching:)") {
            _ = (pets.index(of: pets[0]), pets.index(matching: NSPredicate { _, _ in true }), pets.index(matching: "age > %@", 1))
            _ = pets.index(matching: { $0.age > 1 })
        }
        use("RealmCollection.filter(_:)", "RealmCollection.where(_:)") {
            _ = (
                pets.filter("name BEGINSWITH %@ AND age > %d", "R", 1), pets.filter(NSPredicate { _, _ in true }), pets.where { $0.age > 1 }
            )
        }
        use("RealmCollection.sorted(byKeyPath:ascending:)", "RealmCollection.sorted(by:)", "RealmCollection.sorted(by:ascending:)") {
            _ = (pets.sorted(byKeyPath: "age"), pets.sorted(byKeyPath: "age", ascending: false))
            _ = (
                pets.sorted(by: [SortDescriptor(keyPath: "age"), "name"]), pets.sorted(by: \.age), pets.sorted(by: \.age, ascending: false)
            )
        }
        use("RealmCollection.distinct(by:)") { _ = (pets.distinct(by: ["name"]), pets.distinct(by: [\SurfacePet.name])) }
        use("RealmCollection.value(forKey:)", "RealmCollection.value(forKeyPath:)", "RealmCollection.setValue(_:forKey:)") {
            pets.setValue(1, forKey: "age")
            _ = (pets.value(forKey: "age"), pets.value(forKeyPath: "best.age"))
        }
        use("RealmCollection.freeze()", "RealmCollection.thaw()", "RealmCollection.makeIterator()", "RealmCollection.==(_:_:)") {
            for pet in pets.freeze() { _ = pet.name }
            _ = (pets.thaw(), pets == pets)
            let iterator: RLMIterator<SurfacePet> = pets.makeIterator()
            _ = iterator
        }
        use("RealmCollection.startIndex", "RealmCollection.endIndex", "RealmCollection.index(after:)", "RealmCollection.index(before:)") {
            _ = (pets.startIndex, pets.endIndex, pets.index(after: 0), pets.index(before: 1))
        }
        use("RealmCollection.encode(to:)") { _ = try JSONEncoder().encode(pets[0].numbers) }
        use("AnyRealmCollection.init(_:)") {
            let any: AnyRealmCollection<SurfacePet> = AnyRealmCollection(pets)
            _ = (any.first, any.filter("age > 1"), any.freeze(), any.isFrozen, any.realm)
        }
        use("LinkingObjects.init(fromType:property:)") {
            let admirers = LinkingObjects(fromType: SurfacePet.self, property: "best")
            _ = (admirers.count, pets[0].admirers.filter("age > 1"), pets[0].admirers.first)
        }
        use(
            "SortDescriptor.init(keyPath:ascending:)", "SortDescriptor.keyPath", "SortDescriptor.ascending", "SortDescriptor.reversed()",
            "SortDescriptor.description"
        ) {
            let order = SortDescriptor(keyPath: "age", ascending: true)
            _ = (
                order.keyPath, order.ascending, order.reversed(), order.description, SortDescriptor(keyPath: \SurfacePet.age),
                order == "age"
            )
        }
        use("RealmFetchable", "RealmCollectionValue", "KeypathSortable") {
            func fetched<T: RealmFetchable & KeypathSortable>(_ results: Results<T>) -> Results<T> { results.sorted(byKeyPath: "age") }
            func held<T: RealmCollectionValue>(_ list: List<T>) -> Int { list.count }
            _ = (fetched(pets), held(pets[0].friends))
        }
    }

    mutating func addAggregates(_ pets: Results<SurfacePet>, _ pet: SurfacePet) {
        use(
            "RealmCollection.min(ofProperty:)", "RealmCollection.max(ofProperty:)", "RealmCollection.sum(ofProperty:)",
            "RealmCollection.average(ofProperty:)"
        ) {
            let min: Int? = pets.min(ofProperty: "age"), max: Date? = pets.max(ofProperty: "born")
            let sum: Int = pets.sum(ofProperty: "age"), average: Double? = pets.average(ofProperty: "age")
            _ = (min, max, sum, average)
        }
        use("RealmCollection.min(of:)", "RealmCollection.max(of:)", "RealmCollection.sum(of:)", "RealmCollection.average(of:)") {
            _ = (pets.min(of: \.age), pets.max(of: \.weight), pets.sum(of: \.age), pets.average(of: \.weight))
        }
        use("RealmCollection.min()", "RealmCollection.max()", "RealmCollection.sum()", "RealmCollection.average()") {
            let average: Double? = pet.numbers.average()
            _ = (pet.numbers.min(), pet.numbers.max(), pet.numbers.sum(), average)
            let total: AnyRealmValue = pet.anything.sum(), mean: AnyRealmValue? = pet.anything.average()
            _ = (total, mean, pet.anything.min(), pet.anything.max())
        }
        use("RealmCollection.sorted(ascending:)", "RealmCollection.distinct()") {
            _ = (
                pet.numbers.sorted(), pet.numbers.sorted(ascending: false), pet.numbers.distinct(), pet.photos.sorted(), pet.moods.sorted()
            )
        }
        use("MinMaxType", "AddableType", "SortableType") {
            func least<T: MinMaxType & RealmCollectionValue>(_ list: List<T>) -> T? { list.min() }
            func ordered<T: SortableType & RealmCollectionValue>(_ list: List<T>) -> Results<T> { list.sorted() }
            _ = (least(pet.numbers), ordered(pet.numbers))
        }
    }

    mutating func addLists(_ friends: List<SurfacePet>, _ numbers: List<Int>) {
        use("List.init()", "List.append(_:)", "List.append(objectsIn:)", "List.insert(_:at:)") {
            let list = List<Int>()
            list.append(1)
            list.append(objectsIn: [2, 3])
            list.insert(4, at: 0)
            friends.append(SurfacePet())
        }
        use("List.remove(at:)", "List.removeAll()", "List.removeFirst(_:)", "List.removeLast(_:)", "List.removeSubrange(_:)") {
            numbers.remove(at: 0)
            numbers.removeFirst()
            numbers.removeFirst(2)
            numbers.removeLast()
            numbers.removeLast(2)
            numbers.removeSubrange(0..<1)
            numbers.removeAll()
        }
        use("List.replace(index:object:)", "List.move(from:to:)", "List.swapAt(_:_:)", "List.replaceSubrange(_:with:)") {
            numbers.replace(index: 0, object: 1)
            numbers.move(from: 0, to: 1)
            numbers.swapAt(0, 1)
            numbers.replaceSubrange(0..<1, with: [1, 2])
            numbers[0] = 5
        }
        use("List.remove(atOffsets:)", "List.move(fromOffsets:toOffset:)") {
            numbers.remove(atOffsets: [0, 1])
            numbers.move(fromOffsets: [0], toOffset: 2)
        }
        use("List.init(from:)", "List.realm", "List.isInvalidated") {
            let list = try JSONDecoder().decode(List<Int>.self, from: Data("[1]".utf8))
            _ = (list, numbers.realm, numbers.isInvalidated)
        }
    }

    mutating func addSets(_ names: MutableSet<String>, _ rivals: MutableSet<SurfacePet>) {
        use(
            "MutableSet.init()", "MutableSet.insert(_:)", "MutableSet.insert(objectsIn:)", "MutableSet.remove(_:)", "MutableSet.removeAll()"
        ) {
            let set = MutableSet<Int>()
            set.insert(1)
            set.insert(objectsIn: [2, 3])
            set.remove(1)
            set.removeAll()
            rivals.insert(SurfacePet())
        }
        use("MutableSet.contains(_:)", "MutableSet.isSubset(of:)", "MutableSet.intersects(_:)") {
            _ = (names.contains("Rex"), names.isSubset(of: names), names.intersects(names))
        }
        use("MutableSet.formIntersection(_:)", "MutableSet.subtract(_:)", "MutableSet.formUnion(_:)") {
            names.formIntersection(names)
            names.subtract(names)
            names.formUnion(names)
        }
        use("MutableSet.subscript(_:)", "MutableSet.init(from:)", "MutableSet.filter(_:)") {
            _ = (names[0], try JSONDecoder().decode(MutableSet<Int>.self, from: Data("[1]".utf8)), rivals.filter("age > 1"))
        }
    }

    mutating func addMaps(_ scores: Map<String, Int>, _ byName: Map<String, SurfacePet?>) {
        use("Map.init()", "Map.subscript(_:)", "Map.subscript(_:default:)", "Map.keys", "Map.values", "Map.count") {
            let map = Map<String, Int>()
            map["a"] = 1
            map["a", default: 0] += 1
            _ = (map.keys, map.values, map.count)
        }
        use(
            "Map.updateValue(_:forKey:)", "Map.removeObject(for:)", "Map.removeAll()", "Map.object(forKey:)",
            "Map.merge(_:uniquingKeysWith:)"
        ) {
            scores.updateValue(1, forKey: "a")
            scores.removeObject(for: "a")
            scores.removeAll()
            _ = scores.object(forKey: "a")
            scores.merge(scores) { old, new in old + new }
            scores.merge([("a", 1)].map { (key: $0.0, value: $0.1) }) { $1 }
        }
        use("Map.value(forKey:)", "Map.value(forKeyPath:)", "Map.setValue(_:forKey:)") {
            scores.setValue(1, forKey: "a")
            scores.setValue(nil, forKey: "a")
            _ = (scores.value(forKey: "a"), byName.value(forKeyPath: "a.name"))
        }
        use("Map.filter(_:)", "Map.where(_:)", "Map.contains(where:)") {
            _ = (byName.filter("age > 1"), byName.filter(NSPredicate { _, _ in true }), scores.where { $0 > 1 })
            _ = scores.contains { key, value in key == "a" && value == 1 }
        }
        use(
            "Map.sorted(byKeyPath:ascending:)", "Map.sorted(by:)", "Map.sorted(by:ascending:)", "Map.sorted(ascending:)", "Map.distinct()",
            "Map.distinct(by:)"
        ) {
            _ = (
                byName.sorted(byKeyPath: "age"), byName.sorted(by: [SortDescriptor(keyPath: "age")]),
                byName.sorted(by: \.age, ascending: false)
            )
            _ = (scores.sorted(), scores.distinct(), byName.distinct(by: ["age"]), byName.distinct(by: [\SurfacePet.age]))
        }
        use("Map.min(ofProperty:)", "Map.max(ofProperty:)", "Map.sum(ofProperty:)", "Map.average(ofProperty:)") {
            let least: Int? = byName.min(ofProperty: "age"), most: Int? = byName.max(ofProperty: "age")
            let sum: Int = byName.sum(ofProperty: "age"), average: Double? = byName.average(ofProperty: "age")
            _ = (least, most, sum, average)
        }
        use("Map.min(of:)", "Map.max(of:)", "Map.sum(of:)", "Map.average(of:)") {
            _ = (byName.min(of: \.age), byName.max(of: \.weight), byName.sum(of: \.age), byName.average(of: \.age))
        }
        use("Map.min()", "Map.max()", "Map.sum()", "Map.average()") {
            let average: Double? = scores.average()
            _ = (scores.min(), scores.max(), scores.sum(), average)
        }
        use("Map.realm", "Map.isInvalidated", "Map.isFrozen", "Map.freeze()", "Map.thaw()", "Map.description") {
            _ = (scores.realm, scores.isInvalidated, scores.isFrozen, scores.freeze(), scores.thaw(), scores.description)
        }
        use("Map.makeIterator()", "Map.asKeyValueSequence()", "Map.encode(to:)", "Map.init(from:)") {
            for entry in scores { _ = (entry.key, entry.value) }
            for (key, value) in scores.asKeyValueSequence() { _ = (key, value) }
            _ = try JSONDecoder().decode(Map<String, Int>.self, from: JSONEncoder().encode(scores))
        }
        use("RealmKeyedCollection") {
            func changed<C: RealmKeyedCollection>(_ map: C, _ key: C.Key, _ value: C.Value) -> [C.Value] {
                var map = map
                map.updateValue(value, forKey: key)
                map[key] = value
                map.removeObject(for: key)
                _ = (map.count, map.keys, map.realm, map.value(forKey: "a"), map.observe { _ in }, map.freeze())
                return map.values
            }
            _ = changed(scores, "a", 1)
        }
    }

    mutating func addSections(_ pets: Results<SurfacePet>) {
        use(
            "RealmCollection.sectioned(by:ascending:)", "RealmCollection.sectioned(by:sortDescriptors:)",
            "RealmCollection.sectioned(sortDescriptors:_:)"
        ) {
            let sections: SectionedResults<String, SurfacePet> = pets.sectioned(by: \.name, ascending: true)
            _ = pets.sectioned(by: \.name, sortDescriptors: [SortDescriptor(keyPath: "name")])
            _ = pets.sectioned(by: { $0.age }, sortDescriptors: [SortDescriptor(keyPath: "age")])
            _ = pets.sectioned(sortDescriptors: [SortDescriptor(keyPath: "age")]) { $0.age }
            _ = (pets[0].numbers.sectioned(by: { $0 % 2 }, ascending: false), sections)
        }
        let sections = pets.sectioned(by: \.name)
        use(
            "SectionedResults.allKeys", "SectionedResults.subscript(_:)", "SectionedResults.count", "SectionedResults.isFrozen",
            "SectionedResults.freeze()", "SectionedResults.thaw()"
        ) {
            _ = (sections.allKeys, sections[0], sections[IndexPath(indexes: [0, 1])], sections.count, sections.isFrozen)
            _ = (sections.freeze(), sections.thaw(), sections.realm, sections.isInvalidated, sections.description, sections == sections)
            for section in sections { for pet in section { _ = pet.name } }
        }
        use(
            "ResultsSection.key", "ResultsSection.id", "ResultsSection.count", "ResultsSection.subscript(_:)", "ResultsSection.freeze()",
            "ResultsSection.thaw()"
        ) {
            let section: ResultsSection<String, SurfacePet> = sections[0]
            _ = (section.key, section.id, section.count, section[0], section.freeze(), section.thaw(), section.isInvalidated, section.realm)
        }
        use("SectionedResults.observe(keyPaths:on:_:)", "ResultsSection.observe(keyPaths:on:_:)", "SectionedResultsChange") {
            _ = sections.observe(keyPaths: ["name"], on: nil) { (change: SectionedResultsChange<SectionedResults<String, SurfacePet>>) in
                switch change {
                case .initial(let sections): _ = sections.count
                case .update(let sections, let deletions, let insertions, let modifications, let sectionsToInsert, let sectionsToDelete):
                    _ = (sections, deletions, insertions, modifications, sectionsToInsert, sectionsToDelete)
                }
            }
            _ = sections[0].observe { _ in }
        }
    }
}
