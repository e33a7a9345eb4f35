import FirnBytes
import FirnQuery

// Points and shapes on the globe, for `GEOWITHIN`. Objects hold points as GeoJSON does: an embedded object with `type`, "Point", and
// `coordinates`, a list of longitude and latitude in degrees, optionally followed by the altitude.

/// A point on the globe.
public struct GeoPoint: Hashable, Sendable {
    /// In degrees, -90 to 90.
    public let latitude: Double
    /// In degrees, -180 to 180.
    public let longitude: Double
    /// In metres. Shapes ignore it.
    public let altitude: Double

    /// Returns nil unless the latitude is -90 ... 90, the longitude -180 ... 180, and the altitude at least 0.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard GeoCoordinate(longitude: longitude, latitude: latitude) != nil, altitude >= 0 else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }

    var position: GeoCoordinate { GeoCoordinate(longitude: longitude, latitude: latitude)! }
}

/// A shape that can be an argument of a query.
package protocol GeoShaped {
    var shape: GeoShape { get }
}

/// The area between two parallels and two meridians. If the first corner is east of the second, the box crosses 180°.
public struct GeoBox: Hashable, Sendable, GeoShaped {
    /// The south-western corner.
    public let bottomLeft: GeoPoint
    /// The north-eastern corner.
    public let topRight: GeoPoint

    /// Creates a box. Traps if `bottomLeft` is north of `topRight`.
    public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
        trap(
            unless: bottomLeft.latitude <= topRight.latitude, "bottomLeft must be the southern corner of a GeoBox: exchange the two corners"
        )
        self.bottomLeft = bottomLeft
        self.topRight = topRight
    }

    /// Creates a box of two corners as latitude and longitude. Returns nil if a corner is not a valid point, or the first is north of the
    /// second.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let a = GeoPoint(latitude: bottomLeft.0, longitude: bottomLeft.1),
            let b = GeoPoint(latitude: topRight.0, longitude: topRight.1), a.latitude <= b.latitude
        else { return nil }
        self.init(bottomLeft: a, topRight: b)
    }

    package var shape: GeoShape { .box(bottomLeft.position, topRight.position) }
}

/// The area within an outer ring, except for holes. The inside of a ring is the smaller of its two sides. Edges are the shortest lines on
/// the globe.
public struct GeoPolygon: Hashable, Sendable, GeoShaped {
    /// The points of the outer ring.
    public let outerRing: [GeoPoint]
    /// The points of each hole.
    public let holes: [[GeoPoint]]

    /// Returns nil unless every ring has at least three different points. The first point may be repeated at the end.
    ///
    /// A query refuses a polygon with edges that cross or occur twice, or with a hole that is not within the outer ring.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
        guard ([outerRing] + holes).allSatisfy({ Set($0.map(\.position)).count >= 3 }) else { return nil }
        self.outerRing = outerRing
        self.holes = holes
    }

    /// Creates a polygon with holes. Returns nil unless every ring has at least three different points.
    public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) { self.init(outerRing: outerRing, holes: holes) }

    /// Creates a polygon of points as latitude and longitude. Returns nil if a point is not valid, or a ring has fewer than three different
    /// points.
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
        .polygon(
            ([outerRing] + holes).map { ring in
                let positions = ring.map(\.position)
                return positions.first == positions.last ? Array(positions.dropLast()) : positions
            })
    }
}

/// The area within a distance of a point.
public struct GeoCircle: Hashable, Sendable, GeoShaped {
    /// The centre of the circle.
    public let center: GeoPoint
    /// The radius as an angle at the centre of the earth, in radians.
    public let radiusInRadians: Double

    /// Creates a circle. Returns nil if the radius is negative.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        self.center = center
        self.radiusInRadians = radiusInRadians
    }

    /// Creates a circle with a radius in radians. Returns nil if the radius is negative.
    public init?(center: GeoPoint, radius: Double) { self.init(center: center, radiusInRadians: radius) }
    /// Creates a circle with a radius.
    public init(center: GeoPoint, radius: Distance) { self.init(center: center, radiusInRadians: radius.radians)! }

    /// Creates a circle whose centre is a latitude and longitude, with a radius in radians. Returns nil if the centre is not a valid point
    /// or the radius is negative.
    public init?(center: (Double, Double), radius: Double) {
        guard let point = GeoPoint(latitude: center.0, longitude: center.1) else { return nil }
        self.init(center: point, radiusInRadians: radius)
    }

    /// Creates a circle whose centre is a latitude and longitude, with a radius in radians. Returns nil if the centre is not a valid point
    /// or the radius is negative.
    public init?(center: (Double, Double), radiusInRadians: Double) { self.init(center: center, radius: radiusInRadians) }

    /// Creates a circle whose centre is a latitude and longitude. Returns nil if the centre is not a valid point.
    public init?(center: (Double, Double), radius: Distance) { self.init(center: center, radius: radius.radians) }

    package var shape: GeoShape { .circle(center.position, radius: radiusInRadians) }
}

/// A distance on the earth, modelled as a sphere with a radius of 6378.1 km.
public struct Distance: Hashable, Sendable {
    /// The distance as an angle at the centre of the earth, in radians.
    public let radians: Double
    private static let radius = 6378.1, mile = 1.609344

    /// Creates a distance in radians. Returns nil if it is negative.
    public init?(radians: Double) {
        guard radians >= 0 else { return nil }
        self.radians = radians
    }
    /// Creates a distance in kilometres. Returns nil if it is negative.
    public init?(kilometers: Double) { self.init(radians: kilometers / Distance.radius) }
    /// Creates a distance in miles. Returns nil if it is negative.
    public init?(miles: Double) { self.init(radians: miles * Distance.mile / Distance.radius) }
    /// Creates a distance in degrees. Returns nil if it is negative.
    public init?(degrees: Double) { self.init(radians: degrees * .pi / 180) }

    /// Returns a distance in radians; nil if it is negative.
    public static func radians(_ radians: Double) -> Distance? { Distance(radians: radians) }
    /// Returns a distance in kilometres; nil if it is negative.
    public static func kilometers(_ kilometers: Double) -> Distance? { Distance(kilometers: kilometers) }
    /// Returns a distance in miles; nil if it is negative.
    public static func miles(_ miles: Double) -> Distance? { Distance(miles: miles) }
    /// Returns a distance in degrees; nil if it is negative.
    public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees: degrees) }

    /// Returns the distance in radians.
    public func asRadians() -> Double { radians }
    /// Returns the distance in kilometres.
    public func asKilometers() -> Double { radians * Distance.radius }
    /// Returns the distance in miles.
    public func asMiles() -> Double { radians * Distance.radius / Distance.mile }
    /// Returns the distance in degrees.
    public func asDegrees() -> Double { radians * 180 / .pi }
}
