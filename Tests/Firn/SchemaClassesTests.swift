import Firn
import Foundation
import Testing

/// The classes that `firn schema --as swift` prints (`SchemaFormTests` compares the file with the output): they compile, and open a realm.
@Suite struct SchemaClassesTests {
    @Test func `printed classes store and find objects under the names of the file`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "classes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Realm.Configuration(fileURL: folder.appending(path: "a.firn"))
        configuration.objectTypes = [Shipment.self, ParcelLabel.self]
        let realm = try Realm(configuration: configuration)
        try realm.write {
            let shipment = Shipment()
            shipment.code = "A"
            shipment.class = 3
            shipment.shipTo = ParcelLabel()
            shipment.shipTo?._2nd = 7
            shipment.notes["k"] = .some(nil)
            shipment.hash_2 = "words"
            realm.add(shipment)
            shipment.next = shipment
        }
        let schema = try #require(realm.schema["Shipment"])
        #expect(schema["ship to"]?.objectClassName == "Parcel Label" && schema["hash"] != nil && schema["class"]?.type == .int)
        #expect(schema.primaryKeyProperty?.name == "code")
        #expect(realm.objects(Shipment.self).filter("hash == 'words' AND class == 3").first?.next?.shipTo?._2nd == 7)
    }
}
