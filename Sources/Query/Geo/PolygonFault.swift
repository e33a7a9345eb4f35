import FirnTable

/// Finds why rings do not bound an area: edges that cross or occur twice, and holes outside of the outline.
struct PolygonFault {
    private struct Edge {
        var ring: Int, index: Int
        var a: SIMD3<Double>, b: SIMD3<Double>
        /// The box around the edge, in space.
        var low: SIMD3<Double>, high: SIMD3<Double>

        init(_ ring: Int, _ index: Int, _ a: SIMD3<Double>, _ b: SIMD3<Double>) {
            (self.ring, self.index, self.a, self.b) = (ring, index, a, b)
            // The edge is an arc above the chord, by at most an eighth of the chord's squared length for each unit of the radius, and never
            // by more than half of the length.
            let direction = b - a, square = (direction * direction).sum(), bulge = min(square / 4, square.squareRoot() / 2) + 1e-12
            low = pointwiseMin(a, b) - bulge
            high = pointwiseMax(a, b) + bulge
        }
    }

    private let rings: [[GeoCoordinate]]
    private let edges: [Edge]

    /// The rings are not closed: the first point of each follows its last one.
    init(_ rings: [[GeoCoordinate]]) {
        self.rings = rings
        var edges: [Edge] = []
        for (number, ring) in rings.enumerated() {
            let points = ring.map(\.vector)
            for (index, point) in points.enumerated() { edges.append(Edge(number, index, point, points[(index + 1) % points.count])) }
        }
        self.edges = edges
    }

    /// An explanation of the first fault; nil if there is none.
    var words: String? { repeated ?? crossing ?? outside }

    private static func name(_ ring: Int) -> String { ring == 0 ? "the outline" : "hole \(ring)" }

    /// No ring passes a point twice, and no two rings share an edge.
    private var repeated: String? {
        struct Ends: Hashable {
            var low: SIMD3<Double>, high: SIMD3<Double>
            init(_ edge: Edge) {
                let isInOrder = (0..<3).first { edge.a[$0] != edge.b[$0] }.map { edge.a[$0] < edge.b[$0] } ?? true
                (low, high) = isInOrder ? (edge.a, edge.b) : (edge.b, edge.a)
            }
        }
        for (number, ring) in rings.enumerated() {
            var seen: Set<GeoCoordinate> = []
            for point in ring where !seen.insert(point).inserted {
                return "\(PolygonFault.name(number)) passes the point [\(point.longitude), \(point.latitude)] twice"
            }
        }
        var rings: [Ends: Int] = [:]
        for edge in edges {
            if let other = rings.updateValue(edge.ring, forKey: Ends(edge)) {
                return "\(PolygonFault.name(other)) and \(PolygonFault.name(edge.ring)) share an edge"
            }
        }
        return nil
    }

    /// No two edges cross. Edges are compared only if their boxes overlap.
    private var crossing: String? {
        let edges = edges.sorted { $0.low.x < $1.low.x }
        var near: [Edge] = []
        for edge in edges {
            near.removeAll { $0.high.x < edge.low.x }
            for other in near where other.low.y <= edge.high.y && edge.low.y <= other.high.y {
                guard other.low.z <= edge.high.z, edge.low.z <= other.high.z, PolygonFault.cross(edge, other) else { continue }
                let (first, second) = (other.ring, other.index) < (edge.ring, edge.index) ? (other, edge) : (edge, other)
                if first.ring == second.ring {
                    return "edges \(first.index) and \(second.index) of \(PolygonFault.name(first.ring)) cross"
                }
                return "\(PolygonFault.name(first.ring)) and \(PolygonFault.name(second.ring)) cross"
            }
            near.append(edge)
        }
        return nil
    }

    private static func cross(_ one: Edge, _ other: Edge) -> Bool {
        // Edges that meet in a point do not cross; rounding could place one end on the other side.
        if GeoRing.near(one.a, other.a) || GeoRing.near(one.a, other.b) || GeoRing.near(one.b, other.a) || GeoRing.near(one.b, other.b) {
            return false
        }
        let normal = GeoRing.cross(one.a, one.b)
        let start = -GeoRing.dot(normal, other.a), end = GeoRing.dot(normal, other.b)
        guard start * end > 0 else { return false }
        let across = GeoRing.cross(other.a, other.b)
        return start * -GeoRing.dot(across, one.b) > 0 && start * GeoRing.dot(across, one.a) > 0
    }

    /// Every hole is within the outline, and touches it in one point at most.
    private var outside: String? {
        guard rings.count > 1 else { return nil }
        let outline = GeoRing(rings[0].map(\.vector))
        for number in 1..<rings.count {
            var touching = 0, isWithin = true
            for point in rings[number] {
                switch outline.side(of: point.vector) {
                case .inside: break
                case .border: touching += 1
                case .outside: isWithin = false
                }
            }
            guard isWithin, touching < 2 else { return "hole \(number) is not within the outline" }
        }
        return nil
    }
}
