import Firn
import FirnBytes
import FirnDatabase
import Foundation

final class Series: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var list: List<Int>
    @Persisted var set: MutableSet<Int>
    @Persisted var map: Map<String, Int>
    @Persisted var texts: List<String>
    @Persisted var optionals: List<Int?>
}

/// `firn-bench lists [FOLDER [ELEMENTS]]`: changes of one element of a large list, set or map, each a commit, and reads of one element. Each
/// figure has the median time and the exact number of bytes that a commit gives to the system to write, with the object in the delta store
/// (`added`), in a sealed segment (`sealed`), or in a segment and changed since (`changed`).
struct ListFigures {
    let path: String
    let count: Int
    private static let commits = 21

    init(_ arguments: [String]) {
        path = (arguments.first ?? "/tmp") + "/lists.firn"
        count = arguments.count > 1 ? Int(arguments[1]) ?? 100_000 : 100_000
    }

    func run() throws {
        for (name, objects) in [("one", 1), ("many", 40)] {
            for state in ["added", "sealed", "changed"] where objects == 1 || state == "sealed" {
                try prepare(state, objects)
                try measure("lists.\(name).\(state).append") { series, step in series.list.append(step) }
                try prepare(state, objects)
                try measure("lists.\(name).\(state).replace") { series, step in series.list[step &* 4_801 % count] = step }
                try prepare(state, objects)
                try measure("lists.\(name).\(state).slide") { series, step in
                    series.list.removeFirst()
                    series.list.append(step)
                }
                try prepare(state, objects)
                try measure("lists.\(name).\(state).set-insert") { series, step in series.set.insert(step &* 99_991) }
                try measure("lists.\(name).\(state).map-set") { series, step in series.map["k\(step &* 4_801 % count)"] = step }
                try measure("lists.\(name).\(state).text-replace") { series, step in series.texts[step &* 4_801 % count] = "text \(step)" }
                try measure("lists.\(name).\(state).optional-replace") { series, step in series.optionals[step &* 4_801 % count] = nil }
                try measureReading("lists.\(name).\(state)")
            }
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    private func realm() throws -> Realm {
        try Realm(configuration: Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Series.self]))
    }

    private func prepare(_ state: String, _ objects: Int) throws {
        try? FileManager.default.removeItem(atPath: path)
        var random = SystemRandomNumberGenerator()
        do {
            let realm = try realm()
            try realm.write {
                for id in 0..<objects {
                    let series = Series()
                    series.id = id
                    series.list.append(objectsIn: (0..<count).map { _ in Int.random(in: 0..<1_000_000, using: &random) })
                    if id == 0 {
                        series.set.insert(objectsIn: (0..<count).map { $0 &* 7 })
                        for key in 0..<count { series.map["k\(key)"] = key }
                        series.texts.append(objectsIn: (0..<count).map { "element \($0)" })
                        series.optionals.append(objectsIn: (0..<count).map { $0 % 10 == 0 ? nil : $0 })
                    }
                    realm.add(series)
                }
            }
        }
        guard state != "added" else { return }
        let transaction = try Database.open(path: path, writable: true).begin()
        try transaction.flushAll()
        try transaction.commit()
        guard state == "changed" else { return }
        let realm = try realm()
        try realm.write { realm.objects(Series.self)[0].list.removeLast() }
    }

    private func measure(_ name: String, _ body: (Series, Int) -> Void) throws {
        let realm = try realm(), series = realm.objects(Series.self)[0]
        var times: [Double] = [], bytes: [Int] = []
        for step in 1...ListFigures.commits {
            let before = writtenBytes(), start = now
            try realm.write { body(series, step) }
            times.append(now - start)
            bytes.append(writtenBytes() - before)
        }
        let sorted = bytes.sorted()
        print(
            "\(name) \(text(times.sorted()[times.count / 2] / 1e6)) ms, first \(text(times[0] / 1e6)) ms, written \(sorted[sorted.count / 2]), first \(bytes[0]), maximum of the others \(bytes.dropFirst().max()!), total \(bytes.reduce(0, +))"
        )
    }

    /// Each read in a realm of its own, which decodes nothing else.
    private func measureReading(_ name: String) throws {
        var sum = 0
        func measure(_ read: String, _ body: (Series, Int) -> Int) throws {
            var times: [Double] = []
            for step in 1...7 {
                let realm = try realm(), series = realm.objects(Series.self)[0]
                sum &+= series.id
                let start = now
                sum &+= body(series, step)
                times.append(now - start)
            }
            print("\(name).\(read) \(text(times.sorted()[3] / 1e6)) ms")
        }
        try measure("count") { series, _ in series.list.count }
        try measure("list-element") { series, step in series.list[(step &* 4_801) % (count - 1)] }
        try measure("list-last") { series, _ in series.list.last ?? 0 }
        try measure("set-contains") { series, step in series.set.contains(step &* 4_801) ? 1 : 0 }
        try measure("map-value") { series, step in series.map["k\((step &* 4_801) % count)"] ?? 0 }
        try measure("text-element") { series, step in series.texts[(step &* 4_801) % (count - 1)].utf8.count }
        try measure("optional-element") { series, step in series.optionals[(step &* 4_801) % (count - 1)] ?? 0 }
        try measure("list-all") { series, _ in series.list.reduce(0, &+) }
        try measure("map-all") { series, _ in series.map.reduce(0) { $0 &+ $1.value } }
        if sum == .min { print("#") }
    }

    private func text(_ number: Double) -> String { String(format: "%.3f", number) }

    private var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// The bytes that this process has given to write calls; 0 if the system does not count them.
    private func writtenBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("wchar: ") })
        else { return 0 }
        return Int(line.dropFirst(7)) ?? 0
    }
}
