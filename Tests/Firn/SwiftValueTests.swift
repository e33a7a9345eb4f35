import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

@Suite struct SwiftValueTests {
    @Test(arguments: Seed.first(60))
    func `stored values round trip through their Swift form`(seed: Seed) {
        var random = RandomTables(seed)
        let schema = random.schema()
        for column in schema.types.last!.columns where column.type.kind != .any {
            let value = random.value(column.type, in: schema)
            guard let back = Value(any: swiftValue(of: value)) else {
                Issue.record("seed \(seed): \(value) cannot be converted back")
                continue
            }
            #expect(Value.order(plain(back), plain(value)) == 0, "seed \(seed): \(value) became \(back)")
        }
    }

    /// Swift has one kind of array and one of dictionary, and a date that was read is the nearest one that a double can represent.
    private func plain(_ value: Value) -> Value {
        switch value {
        case .set(let values), .list(let values): .list(values.map(plain))
        case .map(let entries), .object(let entries): .map(entries.map { .init($0.key, plain($0.value)) })
        case .date(let time): .date(Timestamp(Date(time)))
        default: value
        }
    }

    @Test func `integers of every type are converted if they fit`() {
        for minus in [Int8(-5), Int16(-5), Int32(-5), Int64(-5), Int(-5), Int128(-5), NSNumber(value: -5), NSNumber(value: Int8(-5))]
            as [Any]
        {
            #expect(Value(any: minus) == .int(-5), "\(type(of: minus))")
        }
        for one in [
            Int8(1), UInt8(1), UInt16(1), UInt32(1), UInt64(1), UInt(1), UInt128(1), NSNumber(value: 1), NSNumber(value: Int8(1)),
            NSNumber(value: UInt8(1)), NSNumber(value: UInt64(1)),
        ] as [Any] {
            #expect(Value(any: one) == .int(1), "\(type(of: one))")
        }
        #expect(
            Value(any: Int.min) == .int(.min) && Value(any: NSNumber(value: Int.min)) == .int(.min)
                && Value(any: UInt64(Int64.max)) == .int(.max))
        for big in [UInt64.max, UInt.max, Int128.max, NSNumber(value: UInt64.max), UInt64(1) << 63] as [Any] {
            #expect(Value(any: big) == nil, "\(big)")
        }
    }

    @Test func `floats and booleans keep their type, also as NSNumber`() {
        #expect(
            Value(any: true) == .bool(true) && Value(any: NSNumber(value: false)) == .bool(false)
                && Value(any: NSNumber(value: 0)) == .int(0))
        #expect(Value(any: Float(0.1)) == .float(0.1) && Value(any: NSNumber(value: Float(0.1))) == .float(0.1))
        #expect(
            Value(any: -0.0) == .double(-0.0) && Value(any: NSNumber(value: 0.1)) == .double(0.1) && Value(any: CGFloat(2)) == .double(2))
        #expect(Value(any: NSNumber(value: 2.0)) == .double(2), "a whole number in a double was converted to another type")
        #expect(Value(any: Double.nan) == .double(.nan))
        #expect(Value(any: NSDecimalNumber(string: "1.10")) == Value(any: Foundation.Decimal(string: "1.10")))
        #expect(Value(any: Decimal128("1.10")) == .decimal(FirnTable.Decimal("1.10")!))
    }

    @Test func `text, bytes, dates and identifiers are converted from all their Swift forms`() {
        #expect(
            Value(any: "abc") == .string("abc") && Value(any: "xabc".dropFirst()) == .string("abc")
                && Value(any: NSString("abc")) == .string("abc"))
        #expect(
            Value(any: Data([1, 2])) == .data([1, 2]) && Value(any: [1, 2] as [UInt8]) == .data([1, 2])
                && Value(any: NSData(data: Data([1, 2]))) == .data([1, 2]))
        #expect(Value(any: ([0, 1, 2] as [UInt8])[1...]) == .data([1, 2]) && Value(any: Data([0, 1, 2])[1...]) == .data([1, 2]))
        #expect(Value(any: [] as [UInt8]) == .data([]) && Value(any: [] as [Any]) == .list([]) && Value(any: [] as [Int]) == .list([]))
        #expect(Value(any: Date(timeIntervalSince1970: -0.5)) == .date(Timestamp(seconds: -1, nanoseconds: 500_000_000)))
        #expect(Value(any: NSDate(timeIntervalSince1970: 5)) == .date(Timestamp(seconds: 5)))
        let uuid = UUID(uuidString: "123E4567-E89B-12D3-A456-426614174000")!, id = ObjectId("507f1f77bcf86cd799439011")
        #expect(Value(any: uuid) == .uuid(Identifier(uuidText: "123e4567-e89b-12d3-a456-426614174000")!))
        #expect(UUID(Identifier(uuid)) == uuid && Value(any: NSUUID(uuidString: uuid.uuidString)) == Value(any: uuid))
        #expect(Value(any: id) == .objectID(Identifier(objectIDText: "507f1f77bcf86cd799439011")!))
        #expect(
            Value(any: Value.link(3)) == .link(3) && Value(any: AnyRealmValue.float(2)) == .float(2)
                && Value(any: AnyRealmValue.none) == .null)
    }

    @Test func `optionals are converted to their values at any depth`() {
        #expect(Value(any: nil) == .null && Value(any: NSNull()) == .null && Value(any: Int?.none as Any) == .null)
        #expect(
            Value(any: Int?.some(3) as Any) == .int(3) && Value(any: Int??.some(.some(3)) as Any) == .int(3)
                && Value(any: Int??.some(.none) as Any) == .null)
        #expect(Value(any: NSNumber?.some(NSNumber(value: 1)) as Any) == .int(1), "an NSNumber of 1 was converted to a boolean")
        #expect(Value(any: NSNumber?.some(true) as Any) == .bool(true))
        #expect(Value(any: [UInt8]?.some([]) as Any) == .data([]))
    }

    @Test func `arrays and dictionaries are converted completely, or not at all`() {
        let nested: [String: Any?] = ["z": nil, "b": [1, nil, "x"] as [Any?], "a": ["k": Date(timeIntervalSince1970: 0)]]
        #expect(
            Value(any: nested)
                == .map([
                    .init("a", .map([.init("k", .date(Timestamp(seconds: 0)))])), .init("b", .list([.int(1), .null, .string("x")])),
                    .init("z", .null),
                ]))
        #expect(Value(any: [1, nil] as [Int?]) == .list([.int(1), .null]) && Value(any: ["a": 1]) == .map([.init("a", .int(1))]))
        #expect(Value(any: NSArray(array: [1, "x"])) == .list([.int(1), .string("x")]))
        #expect(Value(any: NSDictionary(dictionary: ["a": true])) == .map([.init("a", .bool(true))]))
        struct Strange {}
        for strange in [Strange(), [Strange()], ["a": Strange()], [[1], [Strange()]], [1: 2], { 1 }] as [Any] {
            #expect(Value(any: strange) == nil, "\(strange)")
        }
    }

    @Test func `untyped access returns the types that Swift uses`() {
        #expect(swiftValue(of: .null) == nil)
        #expect(swiftValue(of: .int(3)) as? Int == 3 && swiftValue(of: .link(3)) as? Int64 == 3 && swiftValue(of: .float(1)) as? Float == 1)
        #expect(swiftValue(of: .data([1])) as? Data == Data([1]) && swiftValue(of: .decimal(FirnTable.Decimal("1")!)) as? Decimal128 == 1)
        #expect((swiftValue(of: .list([.int(1), .null])) as? [Any?])?.count == 2)
        let map = swiftValue(of: .map([.init("a", .null), .init("b", .bool(true))])) as? [String: Any?]
        #expect(map?.count == 2 && map?["b"] as? Bool == true && map?["a"] != nil, "a key with a null value is missing")
    }
}
