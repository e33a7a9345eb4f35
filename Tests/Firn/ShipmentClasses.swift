import Firn
import Foundation

class Shipment: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted var `class`: Int16  // int16
    @Persisted var shipTo: ParcelLabel?
    @Persisted var labels: List<ParcelLabel>
    @Persisted var tags: MutableSet<String>
    @Persisted var notes: Map<String, String?>
    @Persisted var weights: List<Double?>
    @Persisted var next: Shipment?
    @Persisted var others: List<Shipment>
    @Persisted(indexed: true) var made: Date  // timestamp(us)
    @Persisted var extra: AnyRealmValue
    @Persisted var mark: UUID?
    @Persisted var object: ObjectId?
    @Persisted var price: Decimal128  // decimal(20,2)
    @Persisted var share: Float
    @Persisted var raw: Data?
    @Persisted var isDone: Bool
    @Persisted(indexed: .fullText) var hash_2: String?

    override class func propertiesMapping() -> [String: String] {
        [
            "shipTo": "ship to",
            "hash_2": "hash",
        ]
    }
}

class ParcelLabel: EmbeddedObject {
    @Persisted var text: String?
    @Persisted var _2nd: Int?

    override class func _realmObjectName() -> String? { "Parcel Label" }

    override class func propertiesMapping() -> [String: String] {
        [
            "_2nd": "2nd"
        ]
    }
}
