import Dispatch
import Foundation
import RealmSwift

extension Surface {
    mutating func addNotifications(_ realm: Realm, _ pet: SurfacePet) {
        let pets = realm.objects(SurfacePet.self)
        use("RealmCollection.observe(keyPaths:on:_:)", "RealmCollectionChange") {
            _ = pets.observe { (changes: RealmCollectionChange<Results<SurfacePet>>) in
                switch changes {
                case .initial(let pets): _ = pets.count
                case .update(let pets, let deletions, let insertions, let modifications): _ = (pets, deletions, insertions, modifications)
                case .error(let error): _ = error
                }
            }
            _ = pets.observe(keyPaths: ["name"], on: .main) { _ in }
            _ = pets.observe(keyPaths: [\SurfacePet.name, \SurfacePet.best?.name], on: nil) { _ in }
            _ = (pet.friends.observe { _ in }, pet.names.observe(on: .main) { _ in }, pet.admirers.observe { _ in })
        }
        useLater("RealmCollection.observe(keyPaths:on:_:) on an actor") {
            _ = await pets.observe(on: MainActor.shared) { actor, changes in _ = (actor, changes) }
            _ = await pets.observe(keyPaths: ["name"], on: MainActor.shared) { _, _ in }
            _ = await pets.observe(keyPaths: [\SurfacePet.name], on: MainActor.shared) { _, _ in }
        }
        use("Map.observe(keyPaths:on:_:)", "RealmMapChange") {
            _ = pet.scores.observe { (changes: RealmMapChange<Map<String, Int>>) in
                switch changes {
                case .initial(let map): _ = map.count
                case .update(let map, let deletions, let insertions, let modifications): _ = (map, deletions, insertions, modifications)
                case .error(let error): _ = error
                }
            }
            _ = pet.byName.observe(keyPaths: ["name"], on: .main) { _ in }
        }
        use("Object.observe(keyPaths:on:_:)", "ObjectChange", "PropertyChange.name", "PropertyChange.oldValue", "PropertyChange.newValue") {
            _ = pet.observe { change in
                switch change {
                case .change(let pet, let properties): for one in properties { _ = (pet.name, one.name, one.oldValue, one.newValue) }
                case .deleted: break
                case .error(let error): _ = error
                }
            }
            _ = pet.observe { (change: ObjectChange<ObjectBase>) in _ = change }
            _ = pet.observe(keyPaths: ["name"], on: .main) { (change: ObjectChange<SurfacePet>) in _ = change }
            _ = pet.observe(keyPaths: [\SurfacePet.name]) { _ in }
        }
        useLater("Object.observe(keyPaths:on:_:) on an actor") {
            _ = await pet.observe(on: MainActor.shared) { (_, change: ObjectChange<SurfacePet>) in _ = change }
            _ = await pet.observe(keyPaths: ["name"], on: MainActor.shared) { (_, change: ObjectChange<SurfacePet>) in _ = change }
        }
        use("EmbeddedObject.observe(keyPaths:on:_:)") { _ = pet.home?.observe { _ in } }
        use("NotificationToken.invalidate()", "NotificationToken.invalidate() -> Bool") {
            let token: NotificationToken? = pets.observe { _ in }
            token?.invalidate()
            _ = Set([token])
        }
    }

    mutating func addSequences(_ realm: Realm, _ pet: SurfacePet) {
        let pets = realm.objects(SurfacePet.self)
        use(
            "RealmCollection.objectWillChange", "RealmCollection.collectionPublisher", "RealmCollection.collectionPublisher(keyPaths:)",
            "RealmCollection.changesetPublisher", "RealmCollection.changesetPublisher(keyPaths:)"
        ) {
            let all: RealmPublishers.Value<Results<SurfacePet>> = pets.collectionPublisher
            let changes: RealmPublishers.CollectionChangeset<Results<SurfacePet>> = pets.changesetPublisher
            let will: RealmPublishers.WillChange<Results<SurfacePet>> = pets.objectWillChange
            _ = (all, changes, will, pets.collectionPublisher(keyPaths: ["name"]), pets.changesetPublisher(keyPaths: ["name"]))
        }
        use("Map.objectWillChange", "Map.collectionPublisher", "Map.changesetPublisher") {
            _ = (pet.scores.objectWillChange, pet.scores.collectionPublisher, pet.scores.changesetPublisher)
        }
        use("SectionedResults.collectionPublisher", "SectionedResults.changesetPublisher", "ResultsSection.changesetPublisher") {
            let sections = pets.sectioned(by: \.name)
            _ = (sections.collectionPublisher, sections.changesetPublisher, sections[0].changesetPublisher)
        }
        use(
            "Object.objectWillChange", "valuePublisher(_:)", "valuePublisher(_:keyPaths:)", "changesetPublisher(_:)",
            "changesetPublisher(_:keyPaths:)"
        ) {
            _ = (pet.objectWillChange, valuePublisher(pet), valuePublisher(pets), valuePublisher(pet, keyPaths: ["name"]))
            _ = (
                changesetPublisher(pet), changesetPublisher(pets), changesetPublisher(pet.scores),
                changesetPublisher(pets, keyPaths: ["name"])
            )
            _ = (valuePublisher(SurfaceCard(projecting: pet)), changesetPublisher(SurfaceCard(projecting: pet)))
        }
        useLater("RealmPublishers values", "Publisher.freeze()", "Publisher.threadSafeReference()") {
            for await pets in pets.collectionPublisher.values { _ = pets.count }
            for await pets in pets.collectionPublisher.freeze() { _ = pets.count }
            for await pets in pets.collectionPublisher.threadSafeReference() { _ = pets.count }
        }
    }
}
