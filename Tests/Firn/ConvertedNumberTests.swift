import Firn
import Foundation
import Testing

private class Meter: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var active = false
    @Persisted var paused: Bool?
    @Persisted var count = 0
    @Persisted var small: Int8?
    @Persisted var flags: List<Bool>
    @Persisted var counts: Map<String, Int>
}

struct ConvertedNumberTests {
    @Test func `booleans take 0 and 1, and integers take booleans`() throws {
        let realm = try memoryRealm([Meter.self])
        let json = #"{"id": 1, "active": 1, "paused": 0, "count": true, "small": false, "flags": [1, 0, true], "counts": {"a": true}}"#
        let values = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        for update in [Realm.UpdatePolicy.error, .modified, .all] {
            let meter = try realm.write { realm.create(Meter.self, value: values, update: update) }
            #expect(meter.active && meter.paused == false && meter.count == 1 && meter.small == 0)
            #expect(Array(meter.flags) == [true, false, true] && meter.counts["a"] == 1)
        }
        let meter = Meter(value: ["active": 1, "paused": 1.0, "count": true] as [String: Any])
        #expect(meter.active && meter.paused == true && meter.count == 1)
        meter["active"] = 0
        #expect(!meter.active)
        try realm.write {
            let dynamic = realm.dynamicCreate("Meter", value: ["id": 2, "active": 1, "count": true, "flags": [0, 1]])
            #expect(dynamic["active"] as? Bool == true && dynamic["count"] as? Int == 1)
        }
        #expect(realm.object(ofType: Meter.self, forPrimaryKey: 2)?.flags.last == true)
    }

    @Test func `other numbers are no booleans`() async {
        await #expect(processExitsWith: .failure) { _ = Meter(value: ["active": 2]) }
        await #expect(processExitsWith: .failure) { _ = Meter(value: ["active": 0.5]) }
    }
}
