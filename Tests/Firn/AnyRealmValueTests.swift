import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

@Suite struct AnyRealmValueTests {
    /// Ascending ranks; values of one rank are equal.
    private static var ranks: [[AnyRealmValue]] {
        [
            [.none], [.bool(false)], [.bool(true)],
            [.double(.nan), .float(.nan), .decimal128(.nan), .double(-.nan)],
            [.double(-.infinity), .float(-.infinity), .decimal128(-.infinity)],
            [.int(.min), .double(-0x1p63), .decimal128("-9223372036854775808")],
            [.int(-1), .double(-1), .decimal128("-1.00")],
            [.int(0), .double(-0.0), .double(0), .float(-0.0), .decimal128("-0.0")],
            [.double(.leastNonzeroMagnitude)],
            [.decimal128("0.1")], [.double(0.1)], [.float(0.1)],
            [.int(1), .double(1), .float(1), .decimal128("1.00")],
            [.int(1 << 53), .double(0x1p53)], [.int(1 << 53 + 1), .decimal128("9007199254740993")],
            [.int(.max), .decimal128("9223372036854775807")], [.double(0x1p63), .float(0x1p63)],
            [.double(.greatestFiniteMagnitude)], [.decimal128("1E+6000")],
            [.double(.infinity), .float(.infinity), .decimal128(.infinity)],
            [.string("")], [.string("1")], [.string("B")], [.string("a")], [.string("e\u{301}")], [.string("é")],
            [.data(Data())], [.data(Data([1]))], [.data(Data([1, 0]))], [.data(Data([255]))],
            [.date(.distantPast)], [.date(Date(timeIntervalSince1970: -0.5))], [.date(Date(timeIntervalSince1970: 0))],
            [.date(.distantFuture)],
            [.objectId(.zero)], [.objectId(ObjectId("507f1f77bcf86cd799439011"))],
            [.uuid(UUID(uuidString: "00000000-0000-0000-0000-000000000001")!)],
            [.uuid(UUID(uuidString: "123e4567-e89b-12d3-a456-426614174000")!)],
        ]
    }

    @Test func `values of all types have one total order, and equal values have equal hashes`() {
        let flat = Self.ranks.enumerated().flatMap { rank, values in values.map { (rank, $0) } }
        for (i, a) in flat {
            for (j, b) in flat {
                #expect((a == b) == (i == j), "\(a) \(b)")
                #expect((a < b) == (i < j) && (a > b) == (i > j), "\(a) \(b)")
                if i == j { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
            }
        }
        #expect(Set(flat.map(\.1)).count == Self.ranks.count)
    }

    private func random(_ random: inout RandomTables) -> AnyRealmValue {
        let whole = random.number(-4...4), fraction = Double(random.number(-8...8)) / 4
        return switch random.number(0...11) {
        case 0: .none
        case 1: .bool(random.chance(50))
        case 2: .int(random.chance(80) ? whole : Int(truncatingIfNeeded: random.generator.next()))
        case 3: .float(random.chance(80) ? Float(fraction) : Float(bitPattern: UInt32(truncatingIfNeeded: random.generator.next())))
        case 4: .double(random.chance(80) ? fraction : Double(bitPattern: random.generator.next()))
        case 5:
            .decimal128(
                random.chance(80)
                    ? Decimal128(fraction) : Decimal128(FirnTable.Decimal(high: random.generator.next(), low: random.generator.next())))
        case 6: .string(["", "a", "b", "é", "e\u{301}", "\u{0}"][random.number(0...5)])
        case 7: .data(Data((0..<random.number(0...3)).map { _ in UInt8(random.number(0...255)) }))
        case 8: .date(Date(timeIntervalSince1970: fraction * 1e9))
        case 9: .objectId(ObjectId(high: random.generator.next(), low: UInt32(random.number(0...1))))
        case 10: .uuid(UUID(Identifier(high: random.generator.next(), low: random.generator.next())))
        default: .int(whole)
        }
    }

    @Test(arguments: Seed.first(60))
    func `the order is that of the query model, hashes follow equality, and all forms round trip`(seed: Seed) throws {
        var generator = RandomTables(seed)
        let values = (0..<60).map { _ in random(&generator) }
        for a in values {
            for b in values {
                let order = Value.order(Value(a), Value(b))
                #expect((a == b) == (order == 0) && (a < b) == (order < 0), "seed \(seed): \(a) \(b)")
                if order == 0 { #expect(a.hashValue == b.hashValue, "seed \(seed): \(a) \(b)") }
            }
            #expect(AnyRealmValue(Value(a)).map(Value.init) == Value(a), "seed \(seed): \(a)")
            #expect(Value(any: swiftValue(of: Value(a))) == Value(a), "seed \(seed): \(a)")
            #expect(Value(any: a) == Value(a))
        }
        let plist = PropertyListEncoder()
        plist.outputFormat = .binary
        for a in values {
            // One value at a time: a binary property list stores strings that Swift calls equal only once, though their bytes differ.
            for (b, name) in try [
                (JSONDecoder().decode([AnyRealmValue].self, from: JSONEncoder().encode([a])), "JSON"),
                (PropertyListDecoder().decode([AnyRealmValue].self, from: plist.encode([a])), "property list"),
            ] {
                #expect(b.count == 1 && kind(a) == kind(b[0]) && a == b[0], "seed \(seed), \(name): \(a) \(b)")
            }
        }
    }

    private func kind(_ value: AnyRealmValue) -> String { String("\(Mirror(reflecting: value).children.first?.label ?? "none")") }

    @Test func `values that JSON has are encoded directly, and others as an object with their type`() throws {
        func text(_ value: AnyRealmValue) throws -> String { String(decoding: try JSONEncoder().encode([value]), as: UTF8.self) }
        #expect(try text(.none) == "[null]" && text(3) == "[3]" && text(2.5) == "[2.5]" && text("x") == #"["x"]"# && text(true) == "[true]")
        #expect(try text(.double(2)) == #"[{"$double":"2.0"}]"# && text(.double(.infinity)) == #"[{"$double":"inf"}]"#)
        #expect(try text(.objectId(ObjectId("507f1f77bcf86cd799439011"))) == #"[{"$objectId":"507f1f77bcf86cd799439011"}]"#)
        func read(_ text: String) throws -> AnyRealmValue {
            try JSONDecoder().decode([AnyRealmValue].self, from: Data("[\(text)]".utf8))[0]
        }
        #expect(try read(#"{"$float": 1.5}"#).floatValue == 1.5 && read("1e300").doubleValue == 1e300)
        for bad in [#"{"$float": "x"}"#, #"{"$other": 1}"#, #"{"$date": 1, "$uuid": 2}"#, #"{"$objectId": "12"}"#, #"[{"$x": 1}]"#] {
            #expect(throws: DecodingError.self, "\(bad)") { try read(bad) }
        }
    }

    @Test func `a getter returns a value of its own type only`() {
        let values = Self.ranks.map { $0[0] } + [.int(1), .float(1), .decimal128(1)]
        for value in values {
            let held: [Any?] = [
                value.intValue, value.boolValue, value.floatValue, value.doubleValue, value.stringValue, value.dataValue, value.dateValue,
                value.objectIdValue, value.decimal128Value, value.uuidValue,
            ]
            let present = held.compactMap { $0 }
            #expect(present.count == (value == .none ? 0 : 1), "\(value)")
            #expect(Value(any: present.first ?? nil) == Value(value), "\(value)")
        }
        #expect(AnyRealmValue() == .none && AnyRealmValue().description == "nil" && AnyRealmValue.string("a").description == "a")
    }

    @Test func `literals have the type of their form`() {
        let values: [AnyRealmValue] = [nil, true, 7, 2.5, "x"]
        #expect(values.map(kind) == ["none", "bool", "int", "double", "string"])
    }

    @Test func `stored links and collections cannot be converted without a realm`() {
        for value: Value in [.link(1), .list([]), .set([]), .map([]), .object([])] { #expect(AnyRealmValue(value) == nil) }
    }
}
