import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

@Suite struct ObjectIdTests {
    @Test func `an id is parsed from 24 digits in either case and printed in lower case`() throws {
        let text = "000123450000ffbeef91906c"
        let id = try ObjectId(string: text)
        #expect(id.stringValue == text && id.description == text)
        #expect(try ObjectId(string: text.uppercased()) == id)
        #expect(id == ObjectId("000123450000FFBEEF91906C"))
        let literal = ObjectId("000123450000ffbeef91906c"), fixed: StaticString = "000123450000ffbeef91906c"
        #expect(literal == id && ObjectId(fixed) == id)
        #expect(ObjectId().stringValue == String(repeating: "0", count: 24) && ObjectId.zero == ObjectId())
    }

    @Test func `a dictionary literal with an id and texts has the id of the class`() throws {
        final class Parcel: Object, Identifiable {
            @Persisted(primaryKey: true) var id: ObjectId
            @Persisted var name = ""
        }
        let realm = try memoryRealm([Parcel.self]), parcel = Parcel(value: ["id": ObjectId.generate(), "name": "before"])
        try realm.write {
            realm.add(parcel)
            // `Identifiable` offers another `id` for classes, which the compiler must not choose here.
            realm.create(Parcel.self, value: ["id": parcel.id, "name": "after"], update: .modified)
        }
        #expect(realm.objects(Parcel.self).count == 1 && parcel.name == "after")
    }

    @Test(arguments: [
        "", "0001", "000123450000ffbeef91906", "000123450000ffbeef91906cc", "000123450000ffbeef91906g", "00012345 000ffbeef91906c",
        "é00123450000ffbeef91906",
    ])
    func `other text is refused with advice`(text: String) {
        let error = #expect(throws: FirnError.self) { _ = try ObjectId(string: text) }
        #expect(error?.code == .usage && error?.message.contains("\"\(text)\"") == true && error?.advice?.contains("24") == true)
        #expect(throws: FirnError.self) { _ = try ObjectId(text) }
    }

    @Test func `generated ids ascend, are distinct across threads and include the time`() async {
        let before = Date().timeIntervalSince1970.rounded(.down)
        let runs = await withTaskGroup(of: [ObjectId].self) { group in
            for _ in 0..<4 { group.addTask { (0..<5_000).map { _ in ObjectId.generate() } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for run in runs { #expect(zip(run, run.dropFirst()).allSatisfy(<)) }
        #expect(Set(runs.joined()).count == 20_000)
        let time = ObjectId.generate().timestamp.timeIntervalSince1970
        #expect(time >= before && time <= Date().timeIntervalSince1970 + 5)
        #expect(Set(runs.joined().map(middle)).count == 1, "ids of one process have different random parts")
    }

    @Test func `a counter that overflows increases the time, and a clock set back repeats no id`() {
        let full: UInt64 = 100 << 24 | 0xFF_FFFF
        #expect(ObjectId.Origin.next(after: full, now: 100) == 101 << 24)
        #expect(ObjectId.Origin.next(after: full, now: 7) == 101 << 24)
        #expect(ObjectId.Origin.next(after: full, now: 200) >> 24 == 200)
        #expect(ObjectId.Origin.next(after: full, now: 200) & 0xFF_FFFF < 1 << 23)
    }

    @Test func `time, machine id and process id are at the positions that Realm uses`() {
        let id = ObjectId(timestamp: Date(timeIntervalSince1970: 0x5F83_0C1B + 0.9), machineId: 0x0A0B0C, processId: 0x1234)
        #expect(id.stringValue.hasPrefix("5f830c1b0c0b0a3412"))
        #expect(id.timestamp == Date(timeIntervalSince1970: 0x5F83_0C1B))
        let next = ObjectId(timestamp: Date(timeIntervalSince1970: 0x5F83_0C1B), machineId: 0x0A0B0C, processId: 0x1234)
        #expect(next != id)
        #expect(ObjectId(timestamp: Date(timeIntervalSince1970: -5)).timestamp == Date(timeIntervalSince1970: 0))
        #expect(ObjectId(timestamp: .distantFuture).timestamp == Date(timeIntervalSince1970: Double(UInt32.max)))
        #expect(
            ObjectId(timestamp: Date(timeIntervalSince1970: .nan), machineId: -1, processId: .min).stringValue.hasPrefix(
                "00000000ffffff0000"))
        let own = ObjectId(timestamp: Date(timeIntervalSince1970: 9))
        #expect(own.timestamp == Date(timeIntervalSince1970: 9) && own != ObjectId(timestamp: own.timestamp))
        #expect(middle(own) == middle(.generate()), "ids of one process have different random parts")
    }

    /// Returns the five bytes between time and counter.
    private func middle(_ id: ObjectId) -> String { String(id.stringValue.dropFirst(8).prefix(10)) }

    @Test(arguments: Seed.first(20))
    func `ids are ordered by their bytes, and text, coding and stored form round trip`(seed: Seed) throws {
        var random = Random(seed)
        let ids = (0..<100).map { _ in
            ObjectId(high: random.next() >> UInt64.random(in: 0...60, using: &random), low: .random(in: 0...UInt32.max, using: &random))
        }
        #expect(ids.sorted().map(\.stringValue) == ids.map(\.stringValue).sorted(), "seed \(seed)")
        for id in ids {
            #expect(try ObjectId(string: id.stringValue) == id)
            #expect(ObjectId(id.identifier) == id)
        }
        #expect(try JSONDecoder().decode([ObjectId].self, from: JSONEncoder().encode(ids)) == ids)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectId].self, from: Data(#"["xyz"]"#.utf8)) }
    }
}
