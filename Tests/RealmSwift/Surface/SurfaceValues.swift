import Foundation
import RealmSwift

extension Surface {
    mutating func addValues() {
        use("AnyRealmValue cases") {
            let value: AnyRealmValue = .none
            switch value {
            case .none, .int, .bool, .float, .double, .string, .data, .date, .objectId, .decimal128, .uuid, .object, .dictionary, .list:
                break
            }
        }
        use(
            "AnyRealmValue.intValue", "AnyRealmValue.boolValue", "AnyRealmValue.floatValue", "AnyRealmValue.doubleValue",
            "AnyRealmValue.stringValue", "AnyRealmValue.dataValue", "AnyRealmValue.dateValue"
        ) {
            let value: AnyRealmValue = 1
            _ = (value.intValue, value.boolValue, value.floatValue, value.doubleValue, value.stringValue, value.dataValue, value.dateValue)
        }
        use(
            "AnyRealmValue.objectIdValue", "AnyRealmValue.decimal128Value", "AnyRealmValue.uuidValue", "AnyRealmValue.listValue",
            "AnyRealmValue.dictionaryValue"
        ) {
            let value: AnyRealmValue = "a"
            _ = (value.objectIdValue, value.decimal128Value, value.uuidValue, value.listValue, value.dictionaryValue)
        }
        use("AnyRealmValue.object(_:)", "AnyRealmValue.dynamicObject", "AnyRealmValue.fromArray(_:)", "AnyRealmValue.fromDictionary(_:)") {
            let value = AnyRealmValue.fromArray([1, "a"])
            _ = (value.object(SurfacePet.self), value.dynamicObject, AnyRealmValue.fromDictionary(["a": 1]), value == nil, value.hashValue)
        }
        use("Decimal128.init(string:)", "Decimal128.init(number:)", "Decimal128.init(_:)", "Decimal128.init(value:)") {
            _ = (
                try Decimal128(string: "1.5"), Decimal128(number: 1), Decimal128(1.5), Decimal128(value: "1.5"),
                Decimal128(floatLiteral: 1.5)
            )
        }
        use(
            "Decimal128.decimalValue", "Decimal128.doubleValue", "Decimal128.stringValue", "Decimal128.isNaN", "Decimal128.magnitude",
            "Decimal128.+(_:_:)", "Decimal128.<(_:_:)"
        ) {
            let value: Decimal128 = 1.5, more: Decimal128 = "2"
            _ = (value.decimalValue, value.doubleValue, value.stringValue, value.isNaN, value.magnitude, value < more)
            _ = (value + more, value - more, value * more, value / more, -value, Decimal128.min, Decimal128.max, value.advanced(by: more))
        }
        use(
            "ObjectId.init(string:)", "ObjectId.generate()", "ObjectId.init(timestamp:machineId:processId:)", "ObjectId.timestamp",
            "ObjectId.stringValue"
        ) {
            let id = ObjectId.generate()
            _ = (try ObjectId(string: "0123456789abcdef01234567"), ObjectId(timestamp: Date(), machineId: 1, processId: 2), ObjectId())
            _ = (id.timestamp, id.stringValue, id < id, try JSONEncoder().encode(id), ObjectId("0123456789abcdef01234567"))
        }
    }

    mutating func addShapes() {
        use("GeoPoint.init(latitude:longitude:altitude:)", "GeoPoint.latitude", "GeoPoint.longitude", "GeoPoint.altitude") {
            if let point = GeoPoint(latitude: 1, longitude: 2, altitude: 0) { _ = (point.latitude, point.longitude, point.altitude) }
        }
        use("GeoBox.init(bottomLeft:topRight:)", "GeoBox.bottomLeft", "GeoBox.topRight") {
            if let box = GeoBox(bottomLeft: (1, 2), topRight: (3, 4)) { _ = GeoBox(bottomLeft: box.bottomLeft, topRight: box.topRight) }
        }
        use("GeoPolygon.init(outerRing:holes:)", "GeoPolygon.outerRing", "GeoPolygon.holes") {
            if let polygon = GeoPolygon(outerRing: [(0, 0), (0, 1), (1, 1), (0, 0)]) { _ = (polygon.outerRing, polygon.holes) }
        }
        use("GeoCircle.init(center:radius:)", "GeoCircle.init(center:radiusInRadians:)", "GeoCircle.center", "GeoCircle.radiusInRadians") {
            guard let point = GeoPoint(latitude: 1, longitude: 2), let far = Distance.kilometers(10) else { return }
            let circle: GeoCircle? = GeoCircle(center: point, radius: far)
            _ = (
                circle?.center, circle?.radiusInRadians, GeoCircle(center: (1, 2), radius: far),
                GeoCircle(center: point, radiusInRadians: 0.1), GeoCircle(center: (1, 2), radiusInRadians: 0.1)
            )
        }
        use(
            "Distance.kilometers(_:)", "Distance.miles(_:)", "Distance.degrees(_:)", "Distance.radians(_:)", "Distance.radians",
            "Distance.asKilometers()", "Distance.asMiles()", "Distance.asDegrees()"
        ) {
            guard let distance: Distance = Distance.miles(1) ?? .degrees(1) ?? .radians(1) else { return }
            _ = (distance.radians, distance.asKilometers(), distance.asMiles(), distance.asDegrees())
        }
    }
}
