import Firn
import FirnDisk
import Foundation

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
    @Persisted var series: List<Int>
}

/// Measures the object layer: creating, adding, reading and iterating objects; filling and querying sets and lists; notifying observers.
///
///     firn-bench objects [--cpu] [FOLDER [ROWS [FIGURES…]]]
///
/// `--cpu` measures the processor time of this thread instead of wall time. FIGURES are prefixes of names. Other figures are not measured,
/// but their work is done if a later figure needs it.
struct ObjectFigures {
    let path: String
    let rows: Int
    let isProcessorTime: Bool
    let chosen: [String]

    init(_ arguments: [String]) {
        var rest = arguments
        isProcessorTime = rest.first == "--cpu"
        if isProcessorTime { rest.removeFirst() }
        path = (rest.first ?? "/tmp") + "/objects.firn"
        rows = rest.count > 1 ? Int(rest[1]) ?? 1_000_000 : 1_000_000
        chosen = Array(rest.dropFirst(2))
    }

    func run() throws {
        // An existing file is used, unless adding is measured.
        let isThere = !chosen.isEmpty && !isChosen("objects.add") && FileManager.default.fileExists(atPath: path)
        let realm = try isThere ? realm(path) : emptyRealm(path)
        if realm.objects(Score.self).count < rows { try measureMaking(realm) }
        measureReading(realm)
        measureQuestions(realm)
        try measureWriting(realm)
        try measureCollections(realm)
        try measureTelling(realm)
    }

    private func emptyRealm(_ path: String) throws -> Realm {
        try? FileManager.default.removeItem(atPath: path)
        return try realm(path)
    }

    private func realm(_ path: String) throws -> Realm {
        try Realm(configuration: Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Score.self, Basket.self]))
    }

    // MARK: Objects

    private func measureMaking(_ realm: Realm) throws {
        measure("objects.make", per: rows) { for i in 0..<rows { keep(Score(), i) } }
        if isChosen("objects.create") {
            let other = try emptyRealm(path + ".other")
            try measure("objects.create", per: rows / 10) {
                try other.write {
                    for i in 0..<rows / 10 { other.create(Score.self, value: ["id": i, "name": "name", "score": Double(i)]) }
                }
            }
        }
        let names = (0..<1000).map { "name \($0)" }, cities = (0..<200).map { "city \($0)" }
        var random = Random()
        try measure("objects.add", per: rows, always: true) {
            try realm.write {
                for i in 0..<rows {
                    let one = Score()
                    one.id = i
                    one.name = names[i % 1000]
                    one.city = cities[i &* 7 % 200]
                    one.country = i % 50
                    one.age = random.next(97)
                    one.balance = Double(random.next(5_000_000)) / 100
                    one.score = Double(random.next(1_000_000)) / 1000
                    one.active = i % 3 == 0
                    realm.add(one)
                }
            }
        }
        if isChosen("objects.add") { print("objects.add.resident \(residentBytes() >> 20) MiB") }
    }

    private func measureReading(_ realm: Realm) {
        let all = realm.objects(Score.self), one = all[rows / 2]
        var sum = 0.0, letters = 0
        measure("objects.iterate.double", per: rows, runs: 5) { for one in all { sum += one.score } }
        measure("objects.iterate.string", per: rows, runs: 3) { for one in all { letters &+= one.name.utf8.count } }
        let half = all.filter("active == false")
        letters &+= half.count
        measure("objects.iterate.filtered", per: half.count, runs: 3) { for one in half { sum += one.score } }
        measure("objects.column.double", per: rows, runs: 5) {
            for batch in all.column(\.score) { for score in batch.values { sum += score } }
        }
        measure("objects.read.double", per: rows, runs: 3) { for _ in 0..<rows { sum += one.score } }
        measure("objects.read.int", per: rows, runs: 3) { for _ in 0..<rows { letters &+= one.age } }
        measure("objects.read.string", per: rows, runs: 3) { for _ in 0..<rows { letters &+= one.name.utf8.count } }
        let frozen = one.freeze()
        measure("objects.read.frozen-double", per: rows, runs: 3) { for _ in 0..<rows { sum += frozen.score } }
        measure("objects.read.frozen-string", per: rows, runs: 3) { for _ in 0..<rows { letters &+= frozen.name.utf8.count } }
        use(sum, letters)
    }

    private func measureQuestions(_ realm: Realm) {
        let all = realm.objects(Score.self)
        var sum = 0.0
        measure("objects.column.sum", per: rows, runs: 5) { sum += all.column(\.score).sum() }
        var found = 0
        measure("objects.count.filter", runs: 5) { found += all.filter("score > 500 AND active == true").count }
        measure("objects.count.string", runs: 5) { found += all.filter("city == 'city 7'").count }
        measure("objects.sort.double", runs: 5) { found += all.sorted(by: [SortDescriptor(keyPath: "score")]).count }
        use(sum, found)
    }

    private func measureWriting(_ realm: Realm) throws {
        let all = realm.objects(Score.self), one = all[rows / 2], count = rows / 10
        try measure("objects.write.int", per: count, runs: 3) { try realm.write { for i in 0..<count { one.age = i } } }
        try measure("objects.write.string", per: count, runs: 3) {
            try realm.write { for i in 0..<count { one.name = i & 1 == 0 ? "even" : "odd" } }
        }
        try measure("objects.update.each", per: count, runs: 3) {
            try realm.write {
                var left = count
                for one in all {
                    one.age &+= 1
                    left -= 1
                    if left == 0 { break }
                }
            }
        }
        try measure("objects.commit.one", per: 1, runs: 5) { try realm.write { realm.add(Score()) } }
    }

    // MARK: Collections

    private func measureCollections(_ realm: Realm) throws {
        let basket = Basket()
        try realm.write { realm.add(basket) }
        var random = Random()
        let numbers = (0..<100_000).map { _ in random.next(1 << 44) }
        var found = 0
        try realm.write {
            measure("objects.set.insert-100k", always: true) { for number in numbers { basket.numbers.insert(number) } }
        }
        let set = basket.numbers
        measure("objects.set.contains-100k", runs: 5) { for number in numbers where set.contains(number) { found += 1 } }
        measure("objects.set.contains-100k-by-property", runs: 3) {
            for number in numbers where basket.numbers.contains(number) { found += 1 }
        }
        try realm.write { measure("objects.list.append-100k", always: true) { for number in numbers { basket.series.append(number) } } }
        let list = basket.series
        measure("objects.list.read-100k", runs: 3) { for i in 0..<list.count { found &+= list[i] } }
        try measure("objects.list.commit-one-of-100k", runs: 5) { try realm.write { list.append(1) } }
        use(0, found)
    }

    // MARK: Observers

    /// Measures the time from the call of `commitWrite` for one row to the call of the block, on a queue.
    private func measureTelling(_ realm: Realm) throws {
        guard isChosen("objects.tell") else { return }
        let notified = DispatchSemaphore(value: 0), moment = Moment()
        let all = realm.objects(Score.self), one = all[rows / 2]
        let token = all.observe(on: DispatchQueue(label: "firn-bench")) { _ in
            moment.nanoseconds = DispatchTime.now().uptimeNanoseconds
            notified.signal()
        }
        notified.wait()
        var whole: [Double] = [], after: [Double] = []
        for i in 0..<101 {
            realm.beginWrite()
            one.age = 1_000_000 + i
            let start = DispatchTime.now().uptimeNanoseconds
            try realm.commitWrite()
            let committed = DispatchTime.now().uptimeNanoseconds
            notified.wait()
            whole.append(Double(moment.nanoseconds &- start) / 1e6)
            after.append(max(0, Double(moment.nanoseconds) - Double(committed)) / 1e6)
        }
        token.invalidate()
        print("objects.tell.from-commit-call \(text(whole.sorted()[50])) ms")
        print("objects.tell.from-commit-end \(text(after.sorted()[50])) ms")
    }

    // It is written on the queue, and read after the semaphore.
    private final class Moment: @unchecked Sendable {
        var nanoseconds: UInt64 = 0
    }

    private struct Random {
        private var state: UInt64 = 88_172_645_463_325_252

        mutating func next(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(truncatingIfNeeded: state >> 8) % limit
        }
    }

    // MARK: Measuring

    private func isChosen(_ name: String) -> Bool { chosen.isEmpty || chosen.contains { name.hasPrefix($0) } }

    /// Prints the median time of some runs of `body`, divided by `count`. `always`: `body` also runs if the figure is not chosen.
    private func measure(_ name: String, per count: Int = 1, runs: Int = 1, always: Bool = false, _ body: () throws -> Void) rethrows {
        guard isChosen(name) else {
            if always { try body() }
            return
        }
        var spent: [Double] = []
        for _ in 0..<runs {
            let start = now
            try body()
            spent.append(now - start)
        }
        let median = spent.sorted()[runs / 2]
        if count > 1 { print("\(name) \(text(median / Double(count))) ns") } else { print("\(name) \(text(median / 1e6)) ms") }
    }

    private func text(_ number: Double) -> String { String(format: "%.3f", number) }

    private var now: Double {
        var time = timespec()
        clock_gettime(isProcessorTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    @inline(never)
    private func keep(_ object: Score, _ i: Int) { object.age = i }

    /// Prevents the optimiser from removing the measured code.
    @inline(never)
    private func use(_ sum: Double, _ count: Int) { if sum.isNaN, count == .min { print("#") } }

    private func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4096
    }
}
