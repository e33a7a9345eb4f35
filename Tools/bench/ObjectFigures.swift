import Firn
import FirnDisk
import Foundation

/// What the object layer costs: objects made, added, read, iterated; sets filled and asked.
enum ObjectFigures {
    final class Score: Object {
        @Persisted var id = 0
        @Persisted var name = ""
        @Persisted var city = ""
        @Persisted var country = 0
        @Persisted var age = 0
        @Persisted var balance = 0.0
        @Persisted var score = 0.0
        @Persisted var active = false
    }

    final class Basket: Object {
        @Persisted var numbers: MutableSet<Int>
    }

    static func run(_ folder: String, rows: Int = 1_000_000) throws {
        let path = folder + "/objects.firn"
        try? FileManager.default.removeItem(atPath: path)
        let realm = try Realm(configuration: Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Score.self, Basket.self]))
        let names = (0..<1000).map { "name \($0)" }, cities = (0..<200).map { "city \($0)" }

        measure("object_create", per: rows) { for i in 0..<rows { keep(Score(), i) } }
        try measure("object_insert", per: rows) {
            try realm.write {
                for i in 0..<rows {
                    let one = Score()
                    one.id = i
                    one.name = names[i % 1000]
                    one.city = cities[i &* 7 % 200]
                    one.country = i % 50
                    one.age = i % 97
                    one.balance = Double(i) * 0.25
                    one.score = Double(i &* 7919 % 1_000_003) / 1000
                    one.active = i % 3 == 0
                    realm.add(one)
                }
            }
        }
        print("object_insert_resident \(residentBytes() >> 20) MB")
        var sum = 0.0
        for _ in 0..<3 { measure("object_iterate_double", per: rows) { for one in realm.objects(Score.self) { sum += one.score } } }
        let one = realm.objects(Score.self)[rows / 2]
        measure("property_read_double", per: rows) { for _ in 0..<rows { sum += one.score } }
        var letters = 0
        measure("property_read_string", per: rows) { for _ in 0..<rows { letters &+= one.name.utf8.count } }
        measure("object_iterate_string", per: rows) { for one in realm.objects(Score.self) { letters &+= one.name.utf8.count } }
        var found = 0
        measure("count_filter", per: 1) { found += realm.objects(Score.self).filter("score > 500 AND active == true").count }
        measure("count_string_equal", per: 1) { found += realm.objects(Score.self).filter("city == 'city 7'").count }
        measure("sort_double", per: 1) { found += realm.objects(Score.self).sorted(by: [SortDescriptor(keyPath: "score")]).count }
        try measure("property_write", per: 100_000) { try realm.write { for i in 0..<100_000 { one.age = i } } }
        try measure("update_each", per: 100_000) {
            try realm.write { for (i, one) in realm.objects(Score.self).enumerated() where i < 100_000 { one.age &+= 1 } }
        }

        let basket = Basket()
        try realm.write { realm.add(basket) }
        var random = UInt64(88172645463325252)
        let numbers = (0..<100_000).map { _ -> Int in
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(truncatingIfNeeded: random >> 20)
        }
        try realm.write {
            measure("set_insert_100k", per: 1) { for number in numbers { basket.numbers.insert(number) } }
        }
        let set = basket.numbers
        measure("set_contains_100k", per: 1) { for number in numbers where set.contains(number) { found += 1 } }
        for _ in 0..<3 {
            try measure("commit_one_row", per: 1) { try realm.write { realm.add(Score()) } }
        }
        print("# \(sum) \(letters) \(found)")
    }

    @inline(never)
    private static func keep(_ object: Score, _ i: Int) { object.age = i }

    private static func measure(_ name: String, per count: Int, _ body: () throws -> Void) rethrows {
        let start = DispatchTime.now().uptimeNanoseconds
        try body()
        let spent = Double(DispatchTime.now().uptimeNanoseconds - start)
        if count > 1 { print("\(name) \(String(format: "%.1f", spent / Double(count))) ns") } else { print("\(name) \(String(format: "%.3f", spent / 1e6)) ms") }
    }

    private static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8), let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return 0 }
        return pages * 4096
    }
}
