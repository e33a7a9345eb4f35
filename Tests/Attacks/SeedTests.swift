import FirnAttacks
import FirnBytes
import FirnChange
import FirnCodecs
import FirnDatabase
import FirnKit
import FirnStore
import Foundation
import Testing

/// Writes the seeds of `Tools/fuzz/corpus`: `FIRN_SEEDS=folder swift test --filter SeedTests`. They are small files of every kind and small
/// streams of every codec.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["FIRN_SEEDS"] != nil)) struct SeedTests {
    private let folder = ProcessInfo.processInfo.environment["FIRN_SEEDS"] ?? ""

    private func save(_ bytes: [UInt8], _ attack: String, _ name: String) throws {
        let place = URL(filePath: folder).appending(path: attack)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(bytes).write(to: place.appending(path: name))
    }

    @Test func `changes`() throws {
        let scratch = TemporaryFolder()
        for (name, isNew) in [("a", false), ("b", true)] { try ChangesAttack.write(scratch.file(name), isNew: isNew) }
        let old = try Database.open(path: scratch.file("a")).snapshot(), new = try Database.open(path: scratch.file("b")).snapshot()
        let types = try ["Person", "Pet", "Place"].map { name in
            let a = old.table(named: name)!, b = new.table(named: name)!
            return a.type.key.isEmpty
                ? ChangedType(old: a, new: b) : ChangedType(try TableDifference.compute(old: a, new: b, options: DifferenceOptions()))
        }
        for (name, profile) in [("alone", Profile.standard), ("fast", .fast)] {
            let database = try Database.create(path: scratch.file("c"), overwrite: true, atFirstCommit: name == "alone"),
                transaction = try database.begin()
            transaction.profile = profile
            try Changeset.write(types, options: DifferenceOptions()) { schema throws(FirnError) in
                try transaction.extendSchema(schema.types)
            } write: { type, batch throws(FirnError) in
                _ = try transaction.bulkWriter(type).append(batch)
            }
            try transaction.commit()
            try save(Array(Data(contentsOf: URL(filePath: scratch.file("c")))), "changes", name)
        }
    }

    @Test func `files`() throws {
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = RandomTables(seed: seed)
            let scratch = TemporaryFolder(), path = scratch.file("a.firn"), schema = random.schema(), type = schema.types.last!
            let database = try Database.create(path: path, atFirstCommit: seed % 4 == 0)
            let first = try database.begin()
            try first.extendSchema(schema.types)
            for (i, column) in type.columns.enumerated()
            where (i + Int(seed)) % 3 == 0 && seed % 4 != 0 && column.type.refusal(of: .values) == nil {
                try first.addIndex("Thing", column.name, .values)
            }
            let count = seed % 3 == 0 ? 300 : random.number(8...60)
            try first.bulkWriter("Thing").append(RandomTables.batch(random.rows(count, of: type, in: schema), of: type, in: schema))
            try first.commit()
            for round in 0..<(seed % 4 == 0 ? 0 : 2) {
                let transaction = try database.begin()
                for _ in 0..<3 {
                    let column = type.columns[random.number(0...type.columns.count - 1)]
                    try transaction.update("Thing", rowID: Int64(round + 2), column: column.name, random.value(column.type, in: schema))
                    _ = try transaction.insert("Thing", random.rows(1, of: type, in: schema)[0])
                }
                try transaction.delete("Thing", rowID: Int64(count) - 1 - Int64(round))
                if round == 0, seed % 2 == 0 { try transaction.flushAll() }
                try transaction.commit()
            }
            try save(Array(Data(contentsOf: URL(filePath: path))), "file", "random-\(seed)")
        }
    }

    @Test func `stores`() throws {
        for seed in 1...6 {
            let scratch = TemporaryFolder(), path = scratch.file("a.firn")
            let store = try Store.create(path: path, overwrite: false, atFirstCommit: seed % 2 == 0)
            var root = ExtentRef.none
            for round in 0..<(seed * 2) {
                let transaction = try store.begin()
                let tree = TreeWriter(root: root, transaction: transaction)
                for key in 0..<(seed * 6) where (key + round) % 3 != 0 {
                    try tree.put(UInt64(key * 7), [UInt8](repeating: UInt8(key), count: key * seed * (round == 1 ? 40 : 2)))
                }
                if round > 1 { _ = try tree.delete(UInt64(7 * round)) }
                root = try tree.finish()
                try transaction.commit(catalogue: root, keep: seed % 3 + 1)
            }
            try save(Array(Data(contentsOf: URL(filePath: path))), "store", "tree-\(seed)")
        }
    }

    private func stream(_ kind: UInt8, _ count: Int, _ parts: [UInt8]...) -> [UInt8] {
        var out = [kind, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
        if parts.count > 1 { out += [UInt8(truncatingIfNeeded: parts[0].count), UInt8(truncatingIfNeeded: parts[0].count >> 8)] }
        for part in parts { out += part }
        return out
    }

    @Test func `seeds have streams of every codec, and values`() throws {
        var random = Random(seed: 1)
        func below(_ n: Int) -> Int { Int(random.next() % UInt64(n)) }
        for (n, count) in [5, 64, 1024, 1100, 2500].enumerated() {
            let shapes: [(String, [Int64])] = [
                ("constant", Array(repeating: -7, count: count)), ("sequence", (0..<count).map { Int64($0 * 3) }),
                ("small", (0..<count).map { _ in Int64(below(50)) }),
                ("scaled", (0..<count).map { _ in Int64(below(90) * 1000) }),
                ("outliers", (0..<count).map { _ in below(90) == 0 ? Int64(bitPattern: random.next()) : Int64(below(30)) }),
                ("few", (0..<count).map { _ in [1, 1 << 40, -1 << 50, 77][below(4)] }),
                ("delta", (0..<count).reduce(into: [Int64]()) { out, _ in out.append((out.last ?? 0) + Int64(below(9))) }),
                ("repeats", (0..<count).map { Int64($0 / 40 * 7919 % 1000) }),
                ("skewed", (0..<count).map { _ in Int64(1) << Int64(below(12)) * Int64(below(3)) }),
                ("random", (0..<count).map { _ in Int64(bitPattern: random.next()) }),
                ("panel", (0..<count).map { Int64($0 % 37 * ($0 % 37) * 7919 % 100_003) }),
            ]
            var dice = Random(seed: UInt64(count))
            let prices = (0..<count).map { _ in
                Int64(dice.next() % 90_000 * 1000) + [5, 250, 499, 999][Int(dice.next() % 4)]
            }
            let modelled = prices.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .modelled) }
            try save(stream(0, count, modelled), "streams", "words-prices-\(n)")
            for (name, values) in shapes {
                for (p, profile) in [Profile.fast, .small].enumerated() {
                    try save(
                        stream(0, count, values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }),
                        "streams", "words-\(name)-\(n)\(p)")
                    let reals = values.map { Double($0) / 8 }
                    try save(
                        stream(
                            1, count,
                            reals.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: p == 0, profile: profile) }),
                        "streams", "reals-\(name)-\(n)\(p)")
                }
                if count < 1100 {
                    try save(
                        [0, 1, 7] + values.flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) } }, "values",
                        "words-\(name)-\(n)")
                }
            }
            let doubles: [(String, [Double])] = [
                (
                    "coordinates",
                    (0..<count).map { _ in below(2) == 0 ? Double(Float(below(900_000)) / 1e4) : Double(below(90_000_000)) / 1e6 }
                ),
                ("quotients", (0..<count).map { _ in Double(below(30_000)) / 365.25 }),
                (
                    "sums",
                    (0..<count).map { _ in
                        Double(below(900)) / 100 + Double(below(900)) / 1000 + Double(below(900)) / 1000 + Double(below(900)) / 100
                    }
                ),
            ]
            for (name, values) in doubles {
                try save(
                    stream(
                        1, count,
                        values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: false, profile: .standard) }),
                    "streams", "reals-\(name)-\(n)")
            }
            for density in [1, 300, 990] {
                var bits = Bits(repeating: false, count: count), inner = bits
                for i in 0..<count {
                    bits[i] = below(1000) < density
                    inner[i] = bits[i] && below(2) == 0
                }
                try save(stream(2, count, BooleansEncoder.encode(bits, profile: .standard)), "streams", "bits-\(density)-\(n)")
                try save(
                    stream(
                        5, count, BooleansEncoder.encode(bits, profile: .standard),
                        BooleansEncoder.encode(inner, within: bits, profile: .standard)),
                    "streams", "nested-\(density)-\(n)")
            }
            var offsets = [0]
            for _ in 0..<count { offsets.append(offsets.last! + below(5)) }
            try save(
                stream(3, count, offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .standard) }), "streams",
                "lengths-\(n)")
            let texts: [(String, (Int) -> String)] = [
                ("constant", { _ in "same" }), ("few", { _ in ["red", "green", "blue", ""][below(4)] }),
                ("front", { "prefix/of/\($0 / 3)" }),
                (
                    "sentences",
                    { _ in (0..<below(12)).map { _ in ["the", "quick", "brown", "fox", "jumps", "over"][below(6)] }.joined(separator: " ") }
                ),
                ("random", { _ in String(random.next(), radix: 36) }), ("ids", { "https://example.org/item/\($0 * 7919 % 100_003)" }),
            ]
            for (name, make) in texts {
                for segments in [1, 2] {
                    var all: [Text] = []
                    for _ in 0..<segments {
                        var text = Text()
                        for i in 0..<count { text.append(make(i)) }
                        all.append(text)
                    }
                    let encoder = TextGroupEncoder(profile: n % 2 == 0 ? .standard : .small)
                    for text in all { encoder.add(text, present: nil) }
                    var streams = Dictionary(uniqueKeysWithValues: encoder.takeReady())
                    let end = encoder.finish()
                    for (index, bytes) in end.rest { streams[index] = bytes }
                    if let blob = end.shared.first {
                        try save(stream(blob.kind == .values ? 6 : 7, count, blob.bytes, streams[0]!), "streams", "shared-\(name)-\(n)")
                    } else {
                        try save(stream(4, count, streams[0]!), "streams", "text-\(name)-\(n)")
                    }
                }
                if count <= 64 {
                    try save([4, UInt8(n), 0] + Array((0..<count).map(make).joined(separator: "\0").utf8), "values", "text-\(name)-\(n)")
                }
            }
        }
    }
}
