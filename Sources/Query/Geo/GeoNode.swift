import FirnBytes
import FirnTable

/// `location GEOWITHIN geoCircle(…)`: tests whether embedded objects that hold GeoJSON points are within a shape.
final class GeoNode: PredicateNode, @unchecked Sendable {
    private let operand: Operand
    /// The fields `type` and `coordinates` of the object.
    private let fields: (type: Int, coordinates: Int)
    private let test: GeoTest
    private let quantifier: Quantifier
    private let describe: @Sendable () -> String

    init(
        _ operand: Operand, _ fields: (type: Int, coordinates: Int), _ shape: GeoShape, quantifier: Quantifier?,
        text: @autoclosure @escaping @Sendable () -> String
    ) {
        self.operand = operand
        self.fields = fields
        test = GeoTest(shape)
        self.quantifier = quantifier ?? .any
        describe = text
        super.init(cost: 200)
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        let values = try operand.evaluate(scan, vector, rows)
        try values.narrow(mask, rows, quantifier) { (column, out) throws(FirnError) in
            guard column.children.count > max(fields.type, fields.coordinates) else {
                throw FirnError(.unsupported, "embedded objects are nested too deep for queries")
            }
            let kinds = column.children[fields.type], coordinates = column.children[fields.coordinates]
            Kernel.each(column.count, nil, out) { row in
                guard column.isPresent(row), kinds.isPresent(row), kinds.text.withBytes(row, { $0.elementsEqual("Point".utf8) }) else {
                    return false
                }
                guard let coordinate = GeoNode.coordinate(coordinates, row) else { return false }
                return test.contains(coordinate)
            }
        }
    }

    /// Reads [longitude, latitude] with an optional altitude; nil if there is no valid point.
    private static func coordinate(_ coordinates: Column, _ row: Int) -> GeoCoordinate? {
        let start = coordinates.offsets[row], numbers = coordinates.children[0]
        guard coordinates.isPresent(row), coordinates.offsets[row + 1] - start >= 2, numbers.isPresent(start), numbers.isPresent(start + 1)
        else { return nil }
        return GeoCoordinate(longitude: numbers.reals[start], latitude: numbers.reals[start + 1])
    }

    override func outline(_ indent: String) -> String { indent + describe() + note("computed") }
}

extension Binder {
    mutating func within(_ syntax: ComparisonSyntax) throws(QueryError) -> PredicateNode {
        guard case .path(let written) = syntax.left else { throw error("GEOWITHIN needs a property on its left", at: syntax.left.position) }
        let path = try entered(try bind(written), at: written.position.offset)
        guard path.type.kind == .embedded, let target = path.type.target.flatMap({ schema[$0] }),
            let type = target.index(of: "type"), target.columns[type].type.kind == .string, !target.columns[type].type.isCollection,
            let coordinates = target.index(of: "coordinates"), target.columns[coordinates].type.kind == .double,
            target.columns[coordinates].type.collection == .list
        else {
            throw error(
                "GEOWITHIN needs an embedded object with \"type\" (string) and \"coordinates\" (list of doubles), as in GeoJSON: \"\(path.text)\" is not one",
                at: written.position.offset)
        }
        return GeoNode(.path(path), (type, coordinates), try shape(syntax.right), quantifier: path.quantifier, text: syntax.description)
    }

    /// Whether an expression is a shape, or an argument that is one.
    func isShape(_ expression: ExpressionSyntax) throws(QueryError) -> Bool {
        switch expression {
        case .geo: return true
        case .argument(let index, let position):
            if case .success = GeoShape.made(from: try argument(index, at: position.offset)) { return true }
            return false
        default: return false
        }
    }

    private func shape(_ expression: ExpressionSyntax) throws(QueryError) -> GeoShape {
        let made: Result<GeoShape, QueryFault>
        switch expression {
        case .geo(let syntax, _):
            var rings: [[[Value]]] = []
            for ring in syntax.rings {
                var points: [[Value]] = []
                for point in ring { points.append(try numbers(point)) }
                rings.append(points)
            }
            var radius: Value?
            if let written = syntax.radius { radius = try numbers([written])[0] }
            made = GeoShape.made(syntax.kind, rings, radius)
        case .argument(let index, let position): made = GeoShape.made(from: try argument(index, at: position.offset))
        default:
            throw error(
                "GEOWITHIN needs a shape on its right", at: expression.position,
                expected: "geoBox(…), geoCircle(…), geoPolygon(…) or an argument")
        }
        switch made {
        case .success(let shape): return shape
        case .failure(let fault):
            throw error(
                fault.words, at: expression.position,
                expected: "geoBox([lon, lat], [lon, lat]), geoCircle([lon, lat], radians) or geoPolygon({[lon, lat], …})")
        }
    }

    private func numbers(_ parts: [ExpressionSyntax]) throws(QueryError) -> [Value] {
        var out: [Value] = []
        for part in parts {
            switch part {
            case .constant(let constant): out.append(constant.value)
            case .argument(let index, let position): out.append(try argument(index, at: position.offset))
            default: throw error("a shape must consist of numbers", at: part.position)
            }
        }
        return out
    }
}
