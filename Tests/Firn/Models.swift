import Firn
import Foundation

// Classes that the tests of the object layer share.

class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted(indexed: true) var age: Int?
    @Persisted var dogs: List<Dog>
    @Persisted var best: Dog?
    @Persisted var address: Address?
}

class Dog: Object {
    @Persisted var name = "nameless"
    @Persisted var age = 1
    @Persisted var weight: Double = 2.5
    @Persisted var owner: Person?
    @Persisted var toys: List<String>
    @Persisted var friends: MutableSet<Dog>
}

class Address: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var city = "Zürich"
}

/// An object with one property of every kind of value.
class Everything: Object {
    @Persisted var bool = true
    @Persisted var int = 1
    @Persisted var int8: Int8 = 2
    @Persisted var int16: Int16 = 3
    @Persisted var int32: Int32 = 4
    @Persisted var int64: Int64 = 5
    @Persisted var float: Float = 1.5
    @Persisted var double = 2.5
    @Persisted var string = "s"
    @Persisted var data = Data([1, 2, 3])
    @Persisted var date = Date(timeIntervalSince1970: 1.25)
    @Persisted var decimal: Decimal128 = 12.5
    @Persisted var objectId: ObjectId
    @Persisted var uuid = UUID()
    @Persisted var optBool: Bool?
    @Persisted var optInt: Int?
    @Persisted var optInt8: Int8?
    @Persisted var optFloat: Float?
    @Persisted var optDouble: Double?
    @Persisted var optString: String?
    @Persisted var optData: Data?
    @Persisted var optDate: Date?
    @Persisted var optDecimal: Decimal128?
    @Persisted var optObjectId: ObjectId?
    @Persisted var optUuid: UUID?
}

/// Opens a new realm in memory.
func memoryRealm(_ types: [ObjectBase.Type]? = nil) throws -> Realm {
    try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
}
