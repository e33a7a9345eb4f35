import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// The functions of the language: SUBQUERY, TEXT, GEOWITHIN and obj.
@Suite struct FunctionTests {
    @Test(
        arguments: Kennel.expectations(
            #"""
            ade    | SUBQUERY(toys, $x, $x.price > 3).@count > 0
            a      | SUBQUERY(toys, $x, $x.price > 1 AND $x.name == 'ball').@count == 2
            a      | SUBQUERY(toys, $x, $x.name == 'ball').@size == 2
            bc     | SUBQUERY(toys, $x, $x.price != nil).@count == 0
            c      | SUBQUERY(toys, $x, $x.price == nil).@count == 1
            c      | SUBQUERY(toys, $x, TRUEPREDICATE).@count != toys.@count
            abcdef | SUBQUERY(toys, $x, FALSEPREDICATE).@count == 0
            // A property without a variable also belongs to the element. The enclosing row is not visible.
            ade    | SUBQUERY(toys, $x, price > 3).@count > 0
            ade    | subquery(toys, $t, ANY $t.tags == 'red' OR $t.tags.@count == 2).@count >= 1 AND id != 6
            // On either side of a comparison, compared with each other, and in arithmetic.
            ade    | 0 < SUBQUERY(toys, $x, $x.price > 3).@count
            ade    | SUBQUERY(toys, $x, $x.price > 3).@count >= 1 AND SUBQUERY(toys, $y, $y.price > 3).@count == SUBQUERY(toys, $x, $x.name BEGINSWITH 'bo' OR $x.name == 'rope').@count
            a      | SUBQUERY(toys, $x, $x.name == 'ball').@count * 2 == 4
            abe    | SUBQUERY(toys, $x, $x.price > 3).@count BETWEEN {0, 9} AND id IN {1, 2, 5}
            // Embedded objects, and the objects that they link to.
            ad     | SUBQUERY(parts, $p, $p.of.price < 5).@count == 1
            a      | SUBQUERY(parts, $p, $p.size > 2 AND $p.marks.@count == 2).@count == 1
            acf    | SUBQUERY(parts, $p, $p.of == nil OR $p.size == nil).@count == 1
            d      | SUBQUERY(parts, $p, ANY $p.marks > 5).@count == 1
            // Through links, inverse links, and inverse links by name.
            c      | SUBQUERY(other.toys, $x, $x.name == 'ball').@count == 2
            ad     | SUBQUERY(toys, $x, $x.sellers.@count == 2 OR $x.@links.Shop.best.@count == 1 AND $x.price > 8).@count > 0 AND id != 5
            abef   | SUBQUERY(best.sellers, $s, $s.id < 6).@count > 0
            // Nested: each has its own elements.
            ade    | SUBQUERY(toys, $x, SUBQUERY($x.sellers, $y, $y.id > 3).@count > 0).@count > 0 AND id < 6
            a      | SUBQUERY(toys, $x, $x.twin == obj('Toy', 'bone')).@count == 2
            a      | SUBQUERY(toys, $x, $x == obj('Toy', 'ball')).@count == 2
            // With descriptors.
            bd     | SUBQUERY(toys, $x, $x.price > 0).@count >= 0 SORT(toys.@count ASC) LIMIT(2)
            """#))
    func `SUBQUERY counts the elements that satisfy a predicate`(query: String, expected: String) throws {
        #expect(try Globe.find(query) == expected, "\(query)")
        #expect(try Globe.find(query, threads: 2) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: [
        ("SUBQUERY(toys, $x, $x.weight > 1).@count > 0", "no column \"weight\" in Toy"),
        ("SUBQUERY(toys, $x, about == 'x').@count > 0", "no column \"about\" in Toy"),
        ("SUBQUERY(notes, $x, $x == 'ice').@count > 0", "A subquery can not operate on a list of primitive values"),
        ("SUBQUERY(best, $x, $x.price > 1).@count > 0", "needs a collection, but \"best\" is not one"),
        ("SUBQUERY(toys, $x, $y.price > 1).@count > 0", "there is no variable \"$y\" here: expected $x"),
        ("SUBQUERY(toys, x, x.price > 1).@count > 0", "a variable, such as $x"),
        ("SUBQUERY(toys, $x, $x.price > 1) > 0", "expected \".@count\""),
        ("SUBQUERY(toys, $x, $x.price > 1).@sum > 0", "@count: the number of"),
        ("SUBQUERY(toys, $x, $x.price > 1).@cuont > 0", "did you mean count?"),
        (
            "SUBQUERY(toys, $x, SUBQUERY($x.sellers, $x, $x.id > 1).@count > 0).@count > 0",
            "the variable \"$x\" belongs to an enclosing SUBQUERY"
        ),
        ("SUBQUERY(toys, $x, SUBQUERY($x.sellers, $y, $x.name == 'a').@count > 0).@count > 0", "belongs to an outer SUBQUERY"),
        ("SUBQUERY(toys, $x, $x).@count > 0", "a comparison"), ("$x.price > 1", "there is no variable \"$x\" here"),
        ("SUBQUERY(parts, $p, $p == nil).@count > 0", "embedded objects cannot be compared"),
        ("SUBQUERY(toys, $K0, $x.price > 1).@count > 0", "a variable, such as $x"),
        ("TRUEPREDICATE SORT($x.price ASC)", "no variable \"$x\""),
    ])
    func `an invalid SUBQUERY is refused with the reason`(query: String, part: String) {
        #expect(Globe.complaint(query).contains(part), "\(query): \(Globe.complaint(query))")
    }

    // MARK: TEXT

    @Test(
        arguments: Kennel.expectations(
            #"""
            a      | about TEXT 'balle'
            a      | about TEXT 'BÄLLE bern'
            c      | about TEXT 'toys'
            cf     | about TEXT 'old' OR about TEXT 'snow'
            c      | about TEXT 'toys -snow'
            b      | about TEXT '1950'
            af     | about TEXT 'b*'
            f      | about TEXT 'b* -bern'
            f      | about FULLTEXT 'ice snow'
            f      | about text 'снег'
            f      | about TEXT '雪'
                   | about TEXT 'fashion'
            c      | about TEXT 'fash*'
            abef   | about TEXT '-toys'
            abcef  | NOT about TEXT 'nowhere' AND about != nil
            d      | NOT about TEXT '-nowhere'
            f      | about TEXT $0
            ad     | notes TEXT 'river'
            ef     | ANY notes TEXT 'ice'
            bf     | ALL notes TEXT 'ice'
            abcd   | NONE notes TEXT 'ice'
            cf     | other == nil AND about TEXT 'sn*' OR about TEXT 'toys'
            """#))
    func `TEXT finds rows by words`(query: String, expected: String) throws {
        #expect(try Globe.find(query, [.string("cream")]) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: [
        ("about TEXT 'well-known'", "\"well-known\" is more than one word"), ("about TEXT ''", "there is no word to search for"),
        ("about TEXT 'a !'", "\"!\" does not contain a word"), ("about TEXT '*'", "\"*\" does not contain a word"),
        ("about TEXT 5", "TEXT searches for words"), ("about TEXT nil", "TEXT searches for words"),
        ("id TEXT 'x'", "TEXT needs text, not type \"int\""), ("about TEXT[c] 'x'", "cannot be used with \"TEXT\""),
        ("'x' TEXT about", "a property on its left"), ("about TEXT about", "a constant on its right"),
        ("about TEXT {'x', 'y'}", "needs ANY, ALL or NONE"),
    ])
    func `an invalid TEXT is refused with the reason`(query: String, part: String) {
        #expect(Globe.complaint(query).contains(part), "\(query): \(Globe.complaint(query))")
    }

    // MARK: GEOWITHIN

    @Test(
        arguments: Kennel.expectations(
            #"""
            ab     | place GEOWITHIN geoBox([5, 40], [15, 50])
            a      | place GEOWITHIN geoBox([7.45, 46.95], [7.45, 46.95])
            c      | place GEOWITHIN geoBox([170, -20], [-160, -10])
            c      | ANY branches GEOWITHIN geoBox([170, -20], [-160, -10])
            e      | place GEOWITHIN geoBox([100, 80], [110, 90])
            ab     | place GEOWITHIN geoCircle([10, 45], 0.1)
            a      | place GEOWITHIN geoCircle([7.45, 46.95], 0)
            abce   | place GEOWITHIN geoCircle([0, 0], 3.2)
            e      | place geowithin geoCircle([90, 89.9], 0.01)
            abdf   | NOT place GEOWITHIN geoCircle([180, 0], 2) 
            a      | place GEOWITHIN geoPolygon({[5, 45], [10, 45], [10, 48], [5, 48], [5, 45]})
            a      | place GEOWITHIN geoPolygon({[5, 48], [10, 48], [10, 45], [5, 45]})
            b      | place GEOWITHIN geoPolygon({[0, 30], [30, 30], [30, 60], [0, 60], [0, 30]}, {[5, 45], [10, 45], [10, 48], [5, 48], [5, 45]})
            c      | place GEOWITHIN geoPolygon({[170, -30], [-170, -30], [-170, 0], [170, 0]})
            e      | place GEOWITHIN geoPolygon({[0, 80], [90, 80], [180, 80], [-90, 80]})
            b      | place GEOWITHIN geoPolygon({[0, 30], [0, 30], [30, 30], [30, 60], [0, 60]}, {[0, 30], [10, 45], [10, 48], [5, 48]})
            ab     | place GEOWITHIN $0
            a      | place GEOWITHIN geoCircle([$1, $2, 3], $3)
            a      | branches GEOWITHIN geoBox([0, 40], [10, 50])
            abd    | ALL branches GEOWITHIN geoBox([0, 40], [10, 50])
            bcdef  | NONE branches GEOWITHIN geoBox([0, 40], [10, 50])
            c      | other.place GEOWITHIN geoBox([7, 46], [8, 47])
            """#))
    func `GEOWITHIN finds GeoJSON points within a shape`(query: String, expected: String) throws {
        let shape = GeoShape.box(GeoCoordinate(longitude: 5, latitude: 40)!, GeoCoordinate(longitude: 15, latitude: 50)!)
        #expect(try Globe.find(query, [shape.value, .double(7.5), .int(47), .double(0.01)]) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: [
        ("place GEOWITHIN 5.0", "GEOWITHIN needs a shape on its right"), ("place GEOWITHIN 'x'", "GEOWITHIN needs a shape"),
        ("about GEOWITHIN geoCircle([0, 0], 1)", "\"type\" (string) and \"coordinates\""),
        ("best GEOWITHIN geoCircle([0, 0], 1)", "\"best\" is not one"),
        ("place GEOWITHIN geoCircle([0, 91], 1)", "latitudes from -90 to 90"),
        ("place GEOWITHIN geoCircle([200, 0], 1)", "there is no point"),
        ("place GEOWITHIN geoCircle([0, 0], -1)", "at least 0"), ("place GEOWITHIN geoCircle([0, 0])", "a radius in radians"),
        ("place GEOWITHIN geoBox([0, 10], [5, 5])", "southern"),
        ("place GEOWITHIN geoPolygon({[0, 0], [1, 1], [0, 0]})", "three different points"),
        ("place GEOWITHIN geoPolygon({[0, 0], [1, 1], [0, 1], [1, 0]})", "edges 0 and 2 of the outline cross"),
        ("place GEOWITHIN geoPolygon({[179, 0], [-179, 2], [179, 2], [-179, 0]})", "edges 0 and 2 of the outline cross"),
        ("place GEOWITHIN geoPolygon({[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 1]})", "the outline passes the point [1.0, 1.0] twice"),
        (
            "place GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1], [0, 1]}, {[2, 2], [3, 2], [3, 3], [2, 3]})",
            "hole 1 is not within the outline"
        ),
        (
            "place GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1], [0, 1]}, {[0.1, 0], [0.1, 0.5], [0.5, 0.5], [0.5, 0]})",
            "hole 1 is not within the outline"
        ),
        (
            "place GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1], [0, 1]}, {[0.5, 0.25], [0.5, 0.75], [1.5, 0.75], [1.5, 0.25]})",
            "the outline and hole 1 cross"
        ),
        (
            "place GEOWITHIN geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9]}, {[1, 1], [5, 1], [5, 5]}, {[5, 1], [1, 1], [4, 0.5]})",
            "hole 1 and hole 2 share an edge"
        ),
        (
            "place GEOWITHIN geoPolygon({[0, 0], [9, 0], [9, 9], [0, 9]}, {[1, 1], [5, 1], [5, 5]}, {[4, 2], [8, 2], [8, 3]})",
            "hole 1 and hole 2 cross"
        ),
        ("place GEOWITHIN geoCircle([0], 1)", "a point has 1 numbers"), ("place GEOWITHIN geoCircle(['a', 1], 1)", "two or three numbers"),
        ("place GEOWITHIN geoCircle([0, nan], 1)", "there is no point"), ("place GEOWITHIN $0", "this is not a shape"),
        ("place == geoCircle([0, 0], 1)", "a shape is allowed only on the right of GEOWITHIN"),
        ("place GEOWITHIN geoBlob([0, 0])", "unexpected \"(\""),
    ])
    func `an invalid GEOWITHIN is refused with the reason`(query: String, part: String) {
        #expect(Globe.complaint(query, [.int(1)]).contains(part), "\(query): \(Globe.complaint(query, [.int(1)]))")
    }

    @Test func `circles agree with distances by cosine, and triangles agree with three half-spaces`() {
        var random = Random(seed: 5)
        func coordinate() -> GeoCoordinate {
            GeoCoordinate(longitude: Double(random.below(3601)) / 10 - 180, latitude: Double(random.below(1801)) / 10 - 90)!
        }
        func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }
        func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        }
        var wrong: [Int] = []
        for round in 0..<5000 {
            let centre = coordinate(), point = coordinate(), radius = Double(random.below(315)) / 100
            let chord = 2 - 2 * dot(centre.vector, point.vector), half = sine(radius / 2)
            if abs(chord - 4 * half * half) > 1e-9, GeoTest(.circle(centre, radius: radius)).contains(point) != (chord < 4 * half * half) {
                wrong.append(round)
            }
            let corners = [coordinate(), coordinate(), coordinate()], v = corners.map(\.vector)
            // A point is inside a triangle if it is on the same side of all edges as the interior.
            let turn = dot(cross(v[0], v[1]), v[2]), sides = (0..<3).map { dot(cross(v[$0], v[($0 + 1) % 3]), point.vector) }
            guard (sides + [turn]).allSatisfy({ abs($0) > 1e-9 }) else { continue }
            if GeoTest(.polygon([corners])).contains(point) != sides.allSatisfy({ ($0 > 0) == (turn > 0) }) { wrong.append(round) }
        }
        #expect(wrong.isEmpty)
    }

    private func sine(_ x: Double) -> Double {
        var term = x, sum = x
        for n in 1..<20 {
            let divisor = Double(2 * n * (2 * n + 1)), square: Double = x * x
            term *= -square / divisor
            sum += term
        }
        return sum
    }

    // MARK: Objects

    @Test(
        arguments: Kennel.expectations(
            #"""
            a      | best == obj('Toy', 'ball')
            bcdef  | best != obj('Toy', 'ball')
                   | best == obj('Toy', 'nope')
            abcdef | best != obj('Toy', 'nope')
            ab     | best IN {obj('Toy', 'ball'), obj('Toy', 'bone')}
            acd    | best IN {obj('Toy', 'ball'), nil, obj('Toy', 'nope')}
            c      | other == obj('Shop', 1)
            a      | other == obj("Shop", $0)
            af     | obj('Toy', 'ball') IN toys
            bcde   | NONE toys == obj('Toy', 'ball')
            a      | best == O0
            a      | best == L1:0
            ab     | best IN {O0, O1}
            af     | O0 IN toys
                   | best == O97
            ce     | `O7` == 7
            e      | `O7` > 3 AND best == O3
            """#))
    func `obj and row numbers refer to rows, and a row that does not exist is equal to nothing`(query: String, expected: String) throws {
        #expect(try Globe.find(query, [.int(2)]) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: [
        ("best == obj('Toi', 'ball')", "did you mean \"Toy\""), ("best == obj('Shop', 1)", "one side links to Toy, the other is a Shop"),
        ("best == L3:0", "one side links to Toy, the other is a Shop"), ("best == L9:0", "no type number 9"),
        ("best == obj('Toy', 5)", "cannot compare"), ("best == obj('Part', 5)", "no primary key"),
        ("best == obj(Toy, 'x')", "the name of a class in quotes"), ("best == obj('Toy')", "\",\" and a primary key"),
        ("best < obj('Toy', 'ball')", "links have no order"), ("O7 == 7", "Cannot compare two constants"),
        ("id == obj('Toy', 'ball')", "\"id\" (int)"), ("about == O1", "\"about\" (string)"),
    ])
    func `an invalid reference to an object is refused with the reason`(query: String, part: String) {
        #expect(Globe.complaint(query).contains(part), "\(query): \(Globe.complaint(query))")
    }
}
