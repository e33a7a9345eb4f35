import FirnQuery

// Places and shapes on the globe, for `GEOWITHIN`. Objects hold places as GeoJSON does: an embedded object with `type`, "Point", and
// `coordinates`, a list of longitude and latitude in degrees (and perhaps the altitude).

/// A place on the globe, in degrees.
public struct GeoPoint: Hashable, Sendable {
    public let latitude: Double
    public let longitude: Double
    /// In metres. Shapes do not look at it.
    public let altitude: Double

    /// Nil unless latitude is -90 ... 90, longitude -180 ... 180, and the altitude no less than 0.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard GeoPlace(longitude: longitude, latitude: latitude) != nil, altitude >= 0 else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }

    var place: GeoPlace { GeoPlace(longitude: longitude, latitude: latitude)! }
}

/// What arguments of queries are taken for shapes by.
package protocol GeoShaped {
    var shape: GeoShape { get }
}

/// Between two parallels and two meridians. Where the first corner lies east of the second, the box crosses 180°.
public struct GeoBox: Hashable, Sendable, GeoShaped {
    public let bottomLeft: GeoPoint
    public let topRight: GeoPoint

    public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
        precondition(bottomLeft.latitude <= topRight.latitude, "bottomLeft is the southern corner of a GeoBox: exchange the two")
        self.bottomLeft = bottomLeft
        self.topRight = topRight
    }

    /// Latitude and longitude of both corners. Nil if there are no such places, or the first lies north of the second.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let a = GeoPoint(latitude: bottomLeft.0, longitude: bottomLeft.1), let b = GeoPoint(latitude: topRight.0, longitude: topRight.1), a.latitude <= b.latitude else { return nil }
        self.init(bottomLeft: a, topRight: b)
    }

    package var shape: GeoShape { .box(bottomLeft.place, topRight.place) }
}

/// A line around an area, of which the smaller side is inside, and holes in it. Edges are the shortest lines on the globe.
public struct GeoPolygon: Hashable, Sendable, GeoShaped {
    public let outerRing: [GeoPoint]
    public let holes: [[GeoPoint]]

    /// Nil unless every ring has three different places at least. The first may be repeated at the end.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
        guard ([outerRing] + holes).allSatisfy({ Set($0.map(\.place)).count >= 3 }) else { return nil }
        self.outerRing = outerRing
        self.holes = holes
    }

    public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) { self.init(outerRing: outerRing, holes: holes) }

    /// Places as latitude and longitude.
    public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
        func points(_ ring: [(Double, Double)]) -> [GeoPoint]? {
            let points = ring.compactMap { GeoPoint(latitude: $0.0, longitude: $0.1) }
            return points.count == ring.count ? points : nil
        }
        let inner = holes.compactMap(points)
        guard let outer = points(outerRing), inner.count == holes.count else { return nil }
        self.init(outerRing: outer, holes: inner)
    }

    package var shape: GeoShape {
        .polygon(([outerRing] + holes).map { ring in
            let places = ring.map(\.place)
            return places.first == places.last ? Array(places.dropLast()) : places
        })
    }
}

/// Everything within a distance of a place.
public struct GeoCircle: Hashable, Sendable, GeoShaped {
    public let center: GeoPoint
    public let radiusInRadians: Double

    /// Nil if the radius is below 0.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        self.center = center
        self.radiusInRadians = radiusInRadians
    }

    public init?(center: GeoPoint, radius: Double) { self.init(center: center, radiusInRadians: radius) }
    public init(center: GeoPoint, radius: Distance) { self.init(center: center, radiusInRadians: radius.radians)! }

    /// The centre as latitude and longitude.
    public init?(center: (Double, Double), radius: Double) {
        guard let point = GeoPoint(latitude: center.0, longitude: center.1) else { return nil }
        self.init(center: point, radiusInRadians: radius)
    }

    public init?(center: (Double, Double), radius: Distance) { self.init(center: center, radius: radius.radians) }

    package var shape: GeoShape { .circle(center.place, radius: radiusInRadians) }
}

/// A distance on the earth, taken as a sphere of 6378.1 km radius.
public struct Distance: Hashable, Sendable {
    let radians: Double
    private static let radius = 6378.1, mile = 1.609344

    /// Nil if below 0.
    public init?(radians: Double) {
        guard radians >= 0 else { return nil }
        self.radians = radians
    }
    public init?(kilometers: Double) { self.init(radians: kilometers / Distance.radius) }
    public init?(miles: Double) { self.init(radians: miles * Distance.mile / Distance.radius) }
    public init?(degrees: Double) { self.init(radians: degrees * .pi / 180) }

    public static func radians(_ radians: Double) -> Distance? { Distance(radians: radians) }
    public static func kilometers(_ kilometers: Double) -> Distance? { Distance(kilometers: kilometers) }
    public static func miles(_ miles: Double) -> Distance? { Distance(miles: miles) }
    public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees: degrees) }

    public func asRadians() -> Double { radians }
    public func asKilometers() -> Double { radians * Distance.radius }
    public func asMiles() -> Double { radians * Distance.radius / Distance.mile }
    public func asDegrees() -> Double { radians * 180 / .pi }
}
