import Foundation
import RealmSwift
import Testing

/// One use of each public member of Realm Swift that Firn has. That they compile is the test: none of them runs.
struct Surface {
    /// The names of the members, as `docs/guide/from-realm.md` writes those that Firn does not have.
    private(set) var names: [String] = []

    mutating func use(_ names: String..., body: () throws -> Void) { self.names += names }
    mutating func useLater(_ names: String..., body: () async throws -> Void) { self.names += names }
}

@Suite struct SurfaceTests {
    @Test func `every public member of Realm Swift that the guide does not exclude compiles`() throws {
        let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
        let pet = SurfacePet()
        var surface = Surface()
        surface.addRealm(realm, pet)
        surface.addFiles(realm)
        surface.addMigrations()
        surface.addObjects(realm, pet)
        surface.addProjections(realm, SurfaceCard(projecting: pet))
        surface.addResults(realm.objects(SurfacePet.self))
        surface.addAggregates(realm.objects(SurfacePet.self), pet)
        surface.addLists(pet.friends, pet.numbers)
        surface.addSets(pet.names, pet.rivals)
        surface.addMaps(pet.scores, pet.byName)
        surface.addSections(realm.objects(SurfacePet.self))
        surface.addValues()
        surface.addShapes()
        surface.addQueries(realm.objects(SurfacePet.self))
        surface.addPredicates(realm.objects(SurfacePet.self))
        surface.addCollectionQueries(realm.objects(SurfacePet.self))
        surface.addNotifications(realm, pet)
        surface.addSequences(realm, pet)
        let repeated = Dictionary(grouping: surface.names) { $0 }.filter { $0.value.count > 1 }.keys
        #expect(repeated.isEmpty)
        let absent = try Self.absentNames()
        #expect(absent.count > 20 && absent.isDisjoint(with: surface.names), "\(absent.intersection(surface.names))")
        print("members of Realm Swift in use: \(surface.names.count); listed as absent: \(absent.count)")
    }

    /// Returns the names in the first column of the table "What is not there" of the guide.
    private static func absentNames() throws -> Set<String> {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../docs/guide/from-realm.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(
            text.components(separatedBy: "## What is not there").dropFirst().first?.components(separatedBy: "\n## ").first)
        var names: Set<String> = []
        for row in section.split(separator: "\n") where row.hasPrefix("|") {
            let first = row.dropFirst().prefix { $0 != "|" }
            for (i, piece) in first.split(separator: "`", omittingEmptySubsequences: false).enumerated() where i % 2 == 1 {
                names.insert(String(piece))
            }
        }
        return names
    }
}

enum SurfaceMood: String, PersistableEnum { case calm, wild }
enum SurfaceSize: Int, PersistableEnum { case small, large }

struct SurfaceTag: CustomPersistable, Hashable {
    typealias PersistedType = String
    let text: String
    init(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

struct SurfaceCode: FailableCustomPersistable, Hashable {
    typealias PersistedType = Int
    let number: Int
    init?(persistedValue: Int) { if persistedValue < 0 { return nil } else { number = persistedValue } }
    var persistableValue: Int { number }
}

class SurfacePlace: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>
    @Persisted var city = ""
}

class SurfacePet: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted(indexed: true) var name = ""
    @Persisted(indexed: .fullText) var about = ""
    @Persisted var age = 0
    @Persisted var weight: Double?
    @Persisted var born: Date?
    @Persisted var isTame: Bool?
    @Persisted var photo: Data?
    @Persisted var price: Decimal128?
    @Persisted var mood = SurfaceMood.calm
    @Persisted var size = SurfaceSize.small
    @Persisted var nextSize: SurfaceSize?
    @Persisted var tag: SurfaceTag
    @Persisted var code: SurfaceCode?
    @Persisted var any: AnyRealmValue
    @Persisted var best: SurfacePet?
    @Persisted var home: SurfacePlace?
    @Persisted var friends: List<SurfacePet>
    @Persisted var numbers: List<Int>
    @Persisted var moods: List<SurfaceMood>
    @Persisted var sizes: List<SurfaceSize>
    @Persisted var anything: List<AnyRealmValue>
    @Persisted var photos: List<Data>
    @Persisted var names: MutableSet<String>
    @Persisted var rivals: MutableSet<SurfacePet>
    @Persisted var scores: Map<String, Int>
    @Persisted var words: Map<String, String>
    @Persisted var byName: Map<String, SurfacePet?>
    @Persisted(originProperty: "best") var admirers: LinkingObjects<SurfacePet>
}

class SurfaceCard: Projection<SurfacePet> {
    @Projected(\SurfacePet.name) var title
    @Projected(\SurfacePet.home?.city) var city
    @Projected(\SurfacePet.friends.projectTo.name) var friendNames: ProjectedCollection<String>
}
