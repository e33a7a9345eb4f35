import FirnTable

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A point on the globe, in degrees.
package struct GeoCoordinate: Hashable, Sendable {
    package var longitude: Double
    package var latitude: Double

    /// Returns nil unless the longitude is in -180 ... 180 and the latitude in -90 ... 90.
    package init?(longitude: Double, latitude: Double) {
        guard abs(longitude) <= 180, abs(latitude) <= 90 else { return nil }
        self.longitude = longitude
        self.latitude = latitude
    }

    /// The point on the unit sphere.
    var vector: SIMD3<Double> {
        let a = longitude * .pi / 180, b = latitude * .pi / 180
        return SIMD3(cos(b) * cos(a), cos(b) * sin(a), sin(b))
    }
}

/// A region of the globe. Edges of polygons are the shortest lines on the sphere; points on a border are inside.
package enum GeoShape: Hashable, Sendable {
    /// Between two parallels and two meridians, given by the south-western and the north-eastern corner. If the first corner is east of the
    /// second, the box crosses 180°.
    case box(GeoCoordinate, GeoCoordinate)
    /// All points within an angle (in radians) of a point.
    case circle(GeoCoordinate, radius: Double)
    /// An outline, whose smaller side is inside, and holes in it. A ring may repeat its first point at the end.
    case polygon([[GeoCoordinate]])

    /// The shape as an argument of a query: its name, and the numbers in the order of the text.
    package var value: Value {
        func coordinate(_ coordinate: GeoCoordinate) -> Value { .list([.double(coordinate.longitude), .double(coordinate.latitude)]) }
        switch self {
        case .box(let a, let b): return .map([.init("geoBox", .list([coordinate(a), coordinate(b)]))])
        case .circle(let centre, let radius): return .map([.init("geoCircle", .list([coordinate(centre), .double(radius)]))])
        case .polygon(let rings): return .map([.init("geoPolygon", .list(rings.map { .list($0.map(coordinate)) }))])
        }
    }

    /// Parses the argument form. Fails with an explanation if the value is not a shape or an impossible one.
    package static func made(from value: Value) -> Result<GeoShape, QueryFault> {
        guard case .map(let entries) = value, entries.count == 1, case .list(let parts) = entries[0].value,
            let kind = GeoSyntax.Kind(rawValue: entries[0].key)
        else {
            return .failure(.init(words: "this is not a shape"))
        }
        func points(_ values: [Value]) -> [[Value]]? {
            var out: [[Value]] = []
            for value in values {
                guard case .list(let numbers) = value else { return nil }
                out.append(numbers)
            }
            return out
        }
        switch kind {
        case .box: return made(kind, points(parts).map { [$0] } ?? [], nil)
        case .circle: return made(kind, points(Array(parts.prefix(1))).map { [$0] } ?? [], parts.count == 2 ? parts[1] : nil)
        case .polygon:
            var rings: [[[Value]]] = []
            for case .list(let ring) in parts { rings.append(points(ring) ?? []) }
            return made(kind, rings, nil)
        }
    }

    static func made(_ kind: GeoSyntax.Kind, _ rings: [[[Value]]], _ radius: Value?) -> Result<GeoShape, QueryFault> {
        var coordinates: [[GeoCoordinate]] = []
        for ring in rings {
            var out: [GeoCoordinate] = []
            for point in ring {
                guard point.count == 2 || point.count == 3, let x = point[0].number, let y = point[1].number,
                    point.allSatisfy({ $0.number != nil })
                else {
                    return .failure(.init(words: "a point must have two or three numbers"))
                }
                guard let coordinate = GeoCoordinate(longitude: x, latitude: y) else {
                    return .failure(
                        .init(words: "there is no point [\(x), \(y)]: longitudes are from -180 to 180, latitudes from -90 to 90"))
                }
                out.append(coordinate)
            }
            coordinates.append(out)
        }
        switch kind {
        case .box:
            guard coordinates.count == 1, coordinates[0].count == 2 else { return .failure(.init(words: "a box must have two corners")) }
            guard coordinates[0][0].latitude <= coordinates[0][1].latitude else {
                return .failure(.init(words: "the first corner of a box must be the southern one"))
            }
            return .success(.box(coordinates[0][0], coordinates[0][1]))
        case .circle:
            guard coordinates.count == 1, coordinates[0].count == 1 else { return .failure(.init(words: "a circle must have one centre")) }
            guard let radius = radius?.number, radius >= 0 else {
                return .failure(.init(words: "a circle's radius must be a number of radians, at least 0"))
            }
            return .success(.circle(coordinates[0][0], radius: radius))
        case .polygon:
            var open: [[GeoCoordinate]] = []
            for ring in coordinates {
                let ring = ring.count > 1 && ring.first == ring.last ? Array(ring.dropLast()) : ring
                guard Set(ring).count >= 3 else { return .failure(.init(words: "a ring must have at least three different points")) }
                open.append(ring.indices.filter { $0 == 0 || ring[$0] != ring[$0 - 1] }.map { ring[$0] })
            }
            guard !open.isEmpty else { return .failure(.init(words: "a polygon must have an outline")) }
            if let fault = PolygonFault(open).words { return .failure(.init(words: "this is not a polygon: \(fault)")) }
            return .success(.polygon(open))
        }
    }
}

extension GeoSyntax {
    /// Creates the syntax of a shape, as parsed from text.
    package init(_ shape: GeoShape) {
        func number(_ x: Double) -> ExpressionSyntax { .constant(ConstantSyntax(.double(x), digits: "\(x)")) }
        func point(_ coordinate: GeoCoordinate) -> [ExpressionSyntax] { [number(coordinate.longitude), number(coordinate.latitude)] }
        switch shape {
        case .box(let a, let b): self.init(.box, [[point(a), point(b)]])
        case .circle(let centre, let radius):
            self.init(.circle, [[point(centre)]], radius: radius.isFinite ? number(radius) : .constant(ConstantSyntax(.double(radius))))
        case .polygon(let rings): self.init(.polygon, rings.map { $0.map(point) })
        }
    }
}

/// A shape prepared for testing many points.
struct GeoTest: Sendable {
    private let shape: GeoShape
    private let centre: SIMD3<Double>
    /// The squared length of the chord from a circle's centre to its border.
    private let reach: Double
    private let rings: [GeoRing]

    init(_ shape: GeoShape) {
        self.shape = shape
        switch shape {
        case .box: (centre, reach, rings) = (.zero, 0, [])
        case .circle(let coordinate, let radius):
            let half = sin(min(radius, .pi) / 2)
            (centre, reach, rings) = (coordinate.vector, 4 * half * half, [])
        case .polygon(let coordinates): (centre, reach, rings) = (.zero, 0, coordinates.map { GeoRing($0.map(\.vector)) })
        }
    }

    func contains(_ coordinate: GeoCoordinate) -> Bool {
        switch shape {
        case .box(let a, let b):
            guard coordinate.latitude >= a.latitude, coordinate.latitude <= b.latitude else { return false }
            // A pole is on every meridian.
            if abs(coordinate.latitude) == 90 { return true }
            if a.longitude <= b.longitude {
                return coordinate.longitude >= a.longitude && coordinate.longitude <= b.longitude
                    || abs(coordinate.longitude) == 180 && (b.longitude == 180 || a.longitude == -180)
            }
            return coordinate.longitude >= a.longitude || coordinate.longitude <= b.longitude
        case .circle(_, let radius):
            let difference = coordinate.vector - centre
            return radius >= .pi || (difference * difference).sum() <= reach
        case .polygon:
            let point = coordinate.vector
            var isHole = false
            for ring in rings {
                switch ring.side(of: point) {
                case .border: return isHole || rings[0].side(of: point) != .outside
                case .inside: if isHole { return false }
                case .outside: if !isHole { return false }
                }
                isHole = true
            }
            return true
        }
    }
}

/// A closed line of shortest edges on the sphere, with its smaller side on the left.
struct GeoRing: Sendable {
    enum Side { case inside, outside, border }
    private let points: [SIMD3<Double>]
    /// A point within this distance of an edge (some micrometres on the earth) is on the edge.
    private static let width = 1e-12

    init(_ points: [SIMD3<Double>]) {
        // The area on the left of the line: the sum of the signed triangles from its first point (Van Oosterom and Strackee 1983), between
        // -4π and 4π.
        var area = 0.0
        for i in 1..<(points.count - 1) { area += GeoRing.triangle(points[0], points[i], points[i + 1]) }
        var left = area.truncatingRemainder(dividingBy: 4 * .pi)
        if left < 0 { left += 4 * .pi }
        self.points = left <= 2 * .pi ? points : points.reversed()
    }

    private static func triangle(_ a: SIMD3<Double>, _ b: SIMD3<Double>, _ c: SIMD3<Double>) -> Double {
        2 * atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a))
    }

    /// Returns the side, from the angle by which the line turns about the point: one full turn to the left if the point is inside, to the
    /// right if the opposite point is inside, otherwise none.
    func side(of point: SIMD3<Double>) -> Side {
        var turned = 0.0
        var last = points[points.count - 1]
        for next in points {
            if GeoRing.isOn(point, last, next) { return .border }
            // The directions to both ends, seen from the point.
            let a = last - point * GeoRing.dot(last, point), b = next - point * GeoRing.dot(next, point)
            turned += atan2(GeoRing.dot(point, GeoRing.cross(a, b)), GeoRing.dot(a, b))
            last = next
        }
        return turned > .pi ? .inside : .outside
    }

    private static func isOn(_ point: SIMD3<Double>, _ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool {
        let normal = cross(a, b), size = dot(normal, normal).squareRoot()
        if size < width { return near(point, a) || near(point, b) }
        guard abs(dot(point, normal)) <= width * size else { return false }
        return near(point, a) || near(point, b) || dot(cross(a, point), normal) >= 0 && dot(cross(point, b), normal) >= 0
    }

    static func near(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool {
        let difference = a - b
        return dot(difference, difference) <= width * width
    }

    static func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }

    static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
}
