import Firn
import Foundation
import Testing

/// Values of every kind in more rows than one vector has: read one by one, vector by vector, repeatedly, in transactions, frozen, on a
/// queue.
struct ReadingTests {
    private static let count = 2300

    /// Sets the values of a row. Every third optional is nil, and texts have 0 to 40 bytes, some of them not ASCII.
    private static func fill(_ one: Everything, _ i: Int) {
        one.bool = i % 2 == 0
        one.int = i
        one.float = Float(i) / 4
        one.double = Double(i) / 8
        one.string = text(i)
        one.data = Data(repeating: UInt8(truncatingIfNeeded: i), count: i % 21)
        one.date = Date(timeIntervalSince1970: Double(i) + 0.5)
        one.decimal = Decimal128(Double(i) / 2)
        one.uuid = uuid(i)
        guard i % 3 != 0 else { return }
        one.optInt = i
        one.optDouble = Double(i)
        one.optString = text(i)
        one.optData = Data([UInt8(truncatingIfNeeded: i)])
        one.optDate = Date(timeIntervalSince1970: Double(-i))
        one.optDecimal = Decimal128(Double(i))
        one.optUuid = uuid(i)
        one.optObjectId = try? ObjectId(string: String(format: "%024x", i))
    }

    private static func text(_ i: Int) -> String {
        String(repeating: i % 5 == 0 ? "é" : "x", count: i % 21) + (i % 7 == 0 ? "" : String(i))
    }
    private static func uuid(_ i: Int) -> UUID { UUID(uuidString: String(format: "00000000-0000-4000-8000-%012x", i))! }

    private static func holds(_ one: Everything, _ i: Int) -> Bool {
        let isNil = i % 3 == 0
        return one.bool == (i % 2 == 0) && one.int == i && one.float == Float(i) / 4 && one.double == Double(i) / 8 && one.string == text(i)
            && one.data == Data(repeating: UInt8(truncatingIfNeeded: i), count: i % 21)
            && one.date == Date(timeIntervalSince1970: Double(i) + 0.5)
            && one.decimal == Decimal128(Double(i) / 2) && one.uuid == uuid(i)
            && one.optInt == (isNil ? nil : i) && one.optDouble == (isNil ? nil : Double(i)) && one.optString == (isNil ? nil : text(i))
            && one.optData == (isNil ? nil : Data([UInt8(truncatingIfNeeded: i)]))
            && one.optDate == (isNil ? nil : Date(timeIntervalSince1970: Double(-i)))
            && one.optDecimal == (isNil ? nil : Decimal128(Double(i))) && one.optUuid == (isNil ? nil : uuid(i))
            && one.optObjectId == (isNil ? nil : try? ObjectId(string: String(format: "%024x", i))) && one.optBool == nil
    }

    private static func filled() throws -> Realm {
        let realm = try memoryRealm([Everything.self])
        try realm.write {
            for i in 0..<count {
                let one = Everything()
                fill(one, i)
                realm.add(one)
            }
        }
        return realm
    }

    @Test func `values of every kind are read as they were written`() throws {
        let realm = try ReadingTests.filled(), all = realm.objects(Everything.self)
        for _ in 0..<2 {
            var i = 0
            for one in all {
                #expect(ReadingTests.holds(one, i), "row \(i)")
                i += 1
            }
            #expect(i == ReadingTests.count)
        }
        // Alternates between vectors, so that another vector is decoded each time.
        for i in [0, 1100, 1, 1101, 1, 1101, 2, 2299, 3] { #expect(ReadingTests.holds(all[i], i), "row \(i)") }
        let frozen = all.freeze()
        for (i, one) in frozen.enumerated() { #expect(ReadingTests.holds(one, i), "frozen row \(i)") }
    }

    @Test func `in a transaction changed values are read immediately, and others stay`() throws {
        let realm = try ReadingTests.filled(), all = realm.objects(Everything.self)
        let one = all[1500], other = all[1501]
        #expect(ReadingTests.holds(one, 1500) && ReadingTests.holds(other, 1501) && ReadingTests.holds(one, 1500))
        try realm.write {
            ReadingTests.fill(one, 2)
            one.optBool = true
            #expect(
                one.string == ReadingTests.text(2) && one.optString == ReadingTests.text(2) && one.uuid == ReadingTests.uuid(2)
                    && one.optBool == true)
            one.optString = nil
            one.optDate = nil
            one.optBool = nil
            #expect(one.optString == nil && one.optDate == nil && one.optBool == nil)
            #expect(ReadingTests.holds(other, 1501))
            ReadingTests.fill(one, 2)
        }
        #expect(ReadingTests.holds(one, 2) && ReadingTests.holds(other, 1501) && ReadingTests.holds(all[1499], 1499))
    }

    @Test func `a realm of a queue reads the same values`() throws {
        let queue = DispatchQueue(label: "reading")
        try queue.sync {
            let realm = try Realm(
                configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Everything.self]), queue: queue)
            try realm.write {
                for i in 0..<ReadingTests.count {
                    let one = Everything()
                    ReadingTests.fill(one, i)
                    realm.add(one)
                }
            }
            for (i, one) in realm.objects(Everything.self).enumerated() { #expect(ReadingTests.holds(one, i), "row \(i)") }
        }
    }
}
