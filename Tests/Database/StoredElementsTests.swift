import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Single elements of large collections are read without the others.
@Suite struct StoredElementsTests {
    private static let types: [ColumnType] = [
        ColumnType(.int, collection: .list), ColumnType(.string, collection: .list, elementOptional: true),
        ColumnType(.int, collection: .set), ColumnType(.string, collection: .set), ColumnType(.double, collection: .map),
        ColumnType(.any, collection: .list),
    ]

    /// A collection of about `count` elements as the stored form has it.
    private func collection(_ type: ColumnType, _ count: Int, _ random: inout Random) -> Value {
        func element(_ i: Int) -> Value {
            switch type.kind {
            case .string: type.elementIsOptional && random.chance(10) ? .null : .string("text \(random.below(99)) \(i)")
            case .double: .double(Double(random.below(9999)) / 8)
            case .any: random.bool() ? .int(Int64(i)) : random.bool() ? .string("any \(i)") : .list([.int(1)])
            default: .int(Int64(random.below(1_000_000)))
            }
        }
        switch type.collection {
        case .set: return .set(Value.distinctSorted((0..<count).map(element)))
        case .map: return .map((0..<count).map { Value.Entry("key \(100_000 + $0 * 3)", element($0)) })
        default: return .list((0..<count).map(element))
        }
    }

    /// The elements and keys of a collection.
    private func parts(_ value: Value) -> (elements: [Value], keys: [String]) {
        switch value {
        case .list(let all), .set(let all): (all, [])
        case .map(let entries): (entries.map(\.value), entries.map(\.key))
        default: ([], [])
        }
    }

    private func check(_ stored: StoredElements, _ value: Value, _ random: inout Random, _ note: String) throws {
        let (elements, keys) = parts(value)
        try #require(stored.count == elements.count, "\(note)")
        for _ in 0..<25 {
            let index = random.below(elements.count)
            #expect(try stored.value(at: index) == elements[index], "\(note), element \(index)")
            if !keys.isEmpty {
                #expect(try stored.key(at: index) == keys[index], "\(note), key \(index)")
                #expect(try stored.search(key: keys[index]) == (index, true), "\(note), key \(index)")
                let absent = keys[index] + " absent"
                #expect(try stored.search(key: absent) == (index + 1, false), "\(note), after key \(index)")
            }
            guard case .set(let all) = value else { continue }
            #expect(try stored.search(all[index]) == (index, true), "\(note), element \(index)")
            let absent: Value = if case .string(let text) = all[index] { .string(text + "!") } else { .int(Int64(random.below(1_000_000))) }
            let (place, isThere) = try stored.search(absent)
            #expect(isThere == all.contains(absent) && place == all.firstIndex { Value.order($0, absent) >= 0 } ?? all.count, "\(note)")
        }
    }

    private func edit(_ value: Value, _ type: ColumnType, _ random: inout Random) -> Value {
        let more = parts(collection(type, 3, &random)).elements
        switch value {
        case .list(var all):
            all.removeSubrange(100..<100 + random.below(3))
            all.insert(contentsOf: more, at: random.below(all.count))
            return .list(all)
        case .set(var all):
            all.remove(at: random.below(all.count))
            return .set(Value.distinctSorted(all + more))
        case .map(var entries):
            entries[random.below(entries.count)].value = more[0]
            entries.remove(at: random.below(entries.count))
            let place = random.below(entries.count)
            entries.insert(Value.Entry(entries[place].key + "+", more[1]), at: place + 1)
            return .map(entries)
        default: return value
        }
    }

    @Test(arguments: Seed.some(1, 2, 3))
    func `elements and keys are read and found as in a model, with and without splices, at each version`(seed: Seed) throws {
        var random = Random(seed, salt: 77)
        let folder = TemporaryFolder(), path = folder.file("a.firn"), types = StoredElementsTests.types
        let database = try Database.create(path: path, keep: 20), first = try database.begin()
        try first.extendSchema([TypeSchema("T", columns: types.enumerated().map { ColumnSchema("c\($0.offset)", $0.element) })])
        var rows: [(id: Int64, values: [Value])] = []
        for _ in 0..<3 {
            let values = types.map { collection($0, StoredElements.minimumCount + 300 + random.below(2000), &random) }
            rows.append((try first.insert("T", values), values))
        }
        try first.flushAll()
        try first.commit()
        var versions: [(DatabaseSnapshot, [(id: Int64, values: [Value])])] = []
        for step in 0..<5 {
            if step > 0 {
                let transaction = try database.begin()
                for column in types.indices {
                    rows[1].values[column] = edit(rows[1].values[column], types[column], &random)
                    try transaction.table("T").set(rows[1].id, column, rows[1].values[column])
                }
                try transaction.commit()
            }
            versions.append((try step % 2 == 0 ? database.snapshot() : Database.open(path: path).snapshot(), rows))
        }
        // The segment is written again with the changes; afterwards there are no splices.
        let last = try database.begin()
        try last.flushAll()
        try last.commit()
        versions.append((try Database.open(path: path).snapshot(), rows))
        var read = 0
        for (version, (snapshot, rows)) in versions.enumerated() {
            let table = try #require(snapshot.table(named: "T"))
            for row in rows {
                let place = try #require(try table.location(of: row.id)), segment = try table.segment(place.segment)
                for column in types.indices {
                    let note = "version \(version), row \(row.id), column \(column)"
                    // Values of a chunk overlay are decoded whole.
                    guard let stored = try segment.storedElements(column, at: place.position) else { continue }
                    read += 1
                    try check(stored, row.values[column], &random, note)
                }
            }
        }
        #expect(read >= types.count * (versions.count - 1) * 2, "\(read)")
    }

    @Test func `one element of 100,000 is read by decoding one vector, and a key is found by reading 17 keys`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), first = try database.begin()
        try first.extendSchema([TypeSchema("T", columns: [ColumnSchema("map", ColumnType(.int, collection: .map))])])
        let id = try first.insert("T", [.map((0..<100_000).map { Value.Entry("key \(100_000 + $0)", .int(Int64($0 * 7))) })])
        try first.flushAll()
        try first.commit()
        let table = try #require(try Database.open(path: folder.file("a.firn")).snapshot().table(named: "T"))
        let place = try #require(try table.location(of: id))
        let stored = try #require(try table.segment(place.segment).storedElements(0, at: place.position))
        #expect(stored.count == 100_000 && stored.decodedVectors == 0)
        #expect(try stored.value(at: 54_321) == .int(54_321 * 7) && stored.decodedVectors == 1)
        #expect(try stored.value(at: 54_320) == .int(54_320 * 7) && stored.decodedVectors == 1)
        #expect(try stored.search(key: "key 177777") == (77_777, true) && stored.decodedVectors == 1)
        #expect(!stored.isCostly)
        for i in 0..<30 { #expect(try stored.value(at: i * 1024) == .int(Int64(i * 1024 * 7))) }
        #expect(stored.isCostly && stored.decodedVectors == 31)
    }

    // MARK: Hostile bytes

    @Test(arguments: Seed.some(1, 2, 3, 4))
    func `altered chunks of large collections are read or are damage`(seed: Seed) throws {
        var random = Random(seed, salt: 5)
        let type = StoredElementsTests.types[Int(seed.number % 2 == 0 ? 4 : 3)], memory = MemoryScope(.process)
        var column = Column(type)
        column.append(collection(type, 5000, &random))
        let encoder = ColumnEncoder(type, profile: seed.number < 3 ? .fast : .small)
        encoder.add(column)
        let whole = encoder.finish().ready[0].chunk.encoded
        let splices = CollectionSplices(
            baseCount: column.offsets[1], cuts: [.init(kept: 10, removed: 5, inserted: 0), .init(kept: 2000, removed: 1, inserted: 0)],
            inserted: collection(type, 0, &random))
        var isRead = 0
        for round in 0..<300 {
            var bytes = whole
            if round > 0 {
                for _ in 0...random.below(3) {
                    let place = random.bool() ? random.below(min(200, bytes.count)) : random.below(bytes.count)
                    bytes[place] = UInt8(random.below(256))
                }
            }
            bytes.withUnsafeBytes { bytes in
                guard let chunk = try? ChunkReader(bytes, type: type, rowCount: 1, sharedText: [], sharedKeys: [], memory: memory),
                    let range = try? chunk.elementRange(at: 0)
                else { return }
                let raw = RawColumn(type: type, rowCount: 1, chunk: chunk, overlay: nil, zone: nil, owner: nil, memory: memory)
                let location = ColumnLocation(type: "T", column: "c", rows: 0...0, base: 0)
                for splices in [nil, splices] {
                    guard let stored = try? StoredElements(raw, chunk, range, splices: splices, location: location), stored.count > 0 else {
                        continue
                    }
                    for _ in 0..<4 {
                        let index = random.below(stored.count)
                        if (try? stored.value(at: index)) != nil { isRead += 1 }
                        if type.collection == .map {
                            _ = try? stored.key(at: index)
                            _ = try? stored.search(key: "key \(random.below(200_000))")
                        } else {
                            _ = try? stored.search(.string("text \(random.below(99))"))
                        }
                    }
                }
            }
        }
        #expect(isRead >= 8)
    }
}
