import FirnQuery
import FirnTable
import Foundation

// Words and locations, computed by other methods than in the engine.

extension Oracle {
    /// Runs of letters and digits, in lower case and without accents.
    private static func words(_ text: String) -> [String] {
        let plain = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { !(0x300..<0x370).contains($0.value) }
        return String(String.UnicodeScalarView(plain)).lowercased().split { !$0.isLetter && !$0.isNumber }.map { String($0) }
    }

    static func text(_ text: String, has wanted: String) -> Bool {
        let words = words(text)
        return wanted.split(separator: " ").allSatisfy { term in
            let word = Oracle.words(String(term))[0]
            let isThere = words.contains { term.hasSuffix("*") ? $0.hasPrefix(word) : $0 == word }
            return isThere != term.hasPrefix("-")
        }
    }

    func shape(_ expression: ExpressionSyntax) throws -> OracleShape {
        switch expression {
        case .geo(let syntax, _):
            func number(_ expression: ExpressionSyntax) throws -> Double {
                guard case .constant(let constant) = expression, let number = OracleNumber(constant.value) else {
                    throw Unknown("no number")
                }
                return number.double
            }
            return OracleShape(
                kind: syntax.kind.rawValue, rings: try syntax.rings.map { try $0.map { try $0.map(number) } },
                radius: try syntax.radius.map(number) ?? 0)
        case .argument(let index, _):
            guard case .map(let entries) = arguments[index], case .list(let parts)? = entries.first?.value else {
                throw Unknown("no shape")
            }
            func point(_ value: Value) -> [Double] {
                if case .list(let values) = value { values.map { OracleNumber($0)!.double } } else { [] }
            }
            func ring(_ value: Value) -> [[Double]] { if case .list(let values) = value { values.map(point) } else { [] } }
            switch entries[0].key {
            case "geoBox": return OracleShape(kind: "geoBox", rings: [parts.map(point)], radius: 0)
            case "geoCircle": return OracleShape(kind: "geoCircle", rings: [[point(parts[0])]], radius: OracleNumber(parts[1])!.double)
            default: return OracleShape(kind: "geoPolygon", rings: parts.map(ring), radius: 0)
            }
        default: throw Unknown("no shape")
        }
    }
}

/// A shape as its numbers. Distances use the haversine formula. A point is inside a small ring if the line from it to the opposite side of
/// the globe crosses the ring an odd number of times. Points on borders are not considered.
struct OracleShape {
    var kind: String
    var rings: [[[Double]]]
    var radius: Double

    func contains(_ value: Value) -> Bool {
        guard case .object(let fields) = value, fields.first(where: { $0.key == "type" })?.value == .string("Point"),
            case .list(let numbers)? = fields.first(where: { $0.key == "coordinates" })?.value, numbers.count >= 2,
            case .double(let longitude) = numbers[0], case .double(let latitude) = numbers[1], abs(longitude) <= 180, abs(latitude) <= 90
        else { return false }
        switch kind {
        case "geoBox":
            let (west, south, east, north) = (rings[0][0][0], rings[0][0][1], rings[0][1][0], rings[0][1][1])
            guard latitude >= south, latitude <= north else { return false }
            return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
        case "geoCircle":
            func radians(_ x: Double) -> Double { x * .pi / 180 }
            let a = radians(latitude), b = radians(rings[0][0][1])
            let h = pow(sin((a - b) / 2), 2) + cos(a) * cos(b) * pow(sin(radians(longitude - rings[0][0][0]) / 2), 2)
            return 2 * asin(min(1, h.squareRoot())) <= radius
        default:
            let isIn = rings.map { OracleShape.isInside([longitude, latitude], $0) }
            return isIn[0] && !isIn[1...].contains(true)
        }
    }

    private static func vector(_ point: [Double]) -> SIMD3<Double> {
        let a = point[0] * .pi / 180, b = point[1] * .pi / 180
        return SIMD3(cos(b) * cos(a), cos(b) * sin(a), sin(b))
    }

    private static func isInside(_ point: [Double], _ ring: [[Double]]) -> Bool {
        func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        }
        func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { a.x * b.x + a.y * b.y + a.z * b.z }
        let corners = ring.map(vector), from = vector(point)
        // The end point is slightly off the antipode of the centre, so that the line is unique.
        let to = -corners.reduce(SIMD3(0.0123, 0.0077, 0.0051), +)
        let normal = cross(from, to)
        var crossings = 0
        for (i, a) in corners.enumerated() {
            let b = corners[(i + 1) % corners.count], edge = cross(a, b)
            let meeting = cross(normal, edge)
            for crossing in [meeting, -meeting] {
                let isOnPath = dot(cross(from, crossing), normal) > 0 && dot(cross(crossing, to), normal) > 0
                let isOnEdge = dot(cross(a, crossing), edge) > 0 && dot(cross(crossing, b), edge) > 0
                if isOnPath, isOnEdge { crossings += 1 }
            }
        }
        return crossings % 2 == 1
    }
}
