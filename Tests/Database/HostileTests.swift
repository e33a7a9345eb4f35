import FirnBytes
import FirnKit
import FirnStore
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// The extents of one version in memory, returned without checking their hashes: a file of an attacker who knows the hashes.
private final class HostileSource: ExtentSource, @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
    private let lock = NSLock()
    private(set) var seen: [UInt64: UInt64] = [:]

    init(_ image: Data) {
        bytes = .allocate(byteCount: image.count, alignment: 64)
        bytes.copyBytes(from: image)
    }

    deinit { bytes.deallocate() }

    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let limit = UInt64(bytes.count)
        guard ref.offset >= 512, ref.length <= limit, ref.offset <= limit - ref.length else {
            throw Damage("reference to bytes outside the file", at: Int(clamping: ref.offset))
        }
        lock.withLock { seen[ref.offset] = max(seen[ref.offset] ?? 0, ref.length) }
        return UnsafeRawBufferPointer(rebasing: bytes[Int(ref.offset)..<Int(ref.offset + ref.length)])
    }
}

/// Reads everything that readers can request of a version. Damage must end only the affected part.
private func readEverything(_ source: HostileSource, _ catalogue: ExtentRef) {
    guard let core = try? SnapshotCore(source, catalogueRef: catalogue) else { return }
    defer { core.close() }
    _ = core.verify(full: true, progress: { _ in })
    _ = try? core.statistics()
    for type in core.schema.types.indices {
        let table = StoredTable(core, type: type, keeper: nil)
        for index in 0..<min(table.segmentCount, 4) {
            _ = try? core.storedRows(type: type, segment: index)
            guard let segment = try? table.segment(index) else { continue }
            for column in table.type.columns.indices { readColumn(segment, column, table) }
        }
        for id in [0, 1, 7, 500, Int64.max] { _ = try? table.row(id) }
        for column in table.type.columns.indices {
            guard let index = table.columnIndex(column, .values) else { continue }
            let value = (try? table.row(1))??[column] ?? .null
            for probe in [
                IndexProbe(equal: value, table.type.columns[column].type.kind), .words(.min, .max), .bytes(prefix: [0x61]), .words(0, 100),
            ] {
                _ = try? index.estimate(probe)
                _ = try? index.candidates(probe)
            }
        }
        findKeys(core, type)
    }
}

/// Looks up keys of the first column and of all, with and without the index.
private func findKeys(_ core: SnapshotCore, _ type: Int) {
    let columns = core.schema.types[type].columns
    let usable = columns.indices.filter { columns[$0].type.kind != .embedded }
    for key in [Array(usable.prefix(1)), usable] where !key.isEmpty {
        var schema = core.schema
        schema.types[type].key = key
        schema.types[type].isEmbedded = false
        let keyed = SnapshotCore(core.store, catalogue: core.catalogue, schema: schema)
        defer { keyed.close() }
        let shape = KeyShape(schema.types[type], mask: .max)!, index = KeyIndex(shape, work: KeyWork())
        let row = try? StoredTable(keyed, type: type, keeper: nil).row(1)
        guard let wanted = shape.wanted(key.map { row?[$0] ?? .null }) else { continue }
        var scan = KeyScan(shape, wanted, work: nil)
        let scanned = try? scan.rows(keyed, type: type, one: false)
        index.spend(.max)
        for version in [4, 5, 4] as [UInt64] {
            guard let found = try? index.candidates(wanted, keyed, type: type, version: version) else { continue }
            // The index finds the rows that a scan finds, unless only one of them meets damage.
            if row != nil, let scanned, !scanned.isEmpty { #expect(found.smallest { scanned.contains($0) } != nil) }
        }
    }
}

private func readColumn(_ segment: any Segment, _ index: Int, _ table: StoredTable) {
    guard let reader = try? segment.column(index) else { return }
    _ = reader.zone()
    var column = Column(table.type.columns[index], in: table.schema)
    let dictionary = try? reader.dictionary()
    for vector in 0..<segment.vectorCount {
        _ = reader.zone(ofVector: vector)
        if (try? reader.read(vector: vector, into: &column)) != nil {
            for row in 0..<column.count { _ = column.value(at: row) }
        }
        if let dictionary, (try? reader.readCodes(vector: vector, into: &column)) != nil {
            // Callers use codes without another check.
            for row in 0..<column.count where column.isPresent(row) {
                #expect(column.words[row] >= 0 && column.words[row] < dictionary.count, "a code outside the dictionary is returned")
            }
        }
    }
    for row in [0, 1, segment.rowCount / 2, segment.rowCount - 1] where row >= 0 && row < segment.rowCount {
        _ = try? reader.value(at: row)
        if let id = try? segment.rowID(at: row) { _ = try? segment.position(of: id) }
    }
}

@Suite struct HostileTests {
    /// Returns a file with sealed rows, deletions, overlays and a delta, of a random schema.
    private func file(_ seed: UInt64, in folder: TemporaryFolder) throws -> (image: Data, catalogue: ExtentRef) {
        var random = RandomTables(seed: seed)
        let schema = random.schema(), type = schema.types.last!, path = folder.file("a.firn")
        let database = try Database.create(path: path)
        let first = try database.begin()
        try first.extendSchema(schema.types)
        for (i, column) in type.columns.enumerated() where (i + Int(seed)) % 3 != 0 && column.type.refusal(of: .values) == nil {
            try first.addIndex("Thing", column.name, .values)
        }
        let count = seed % 3 == 0 ? 3000 : random.number(20...400)
        try first.bulkWriter("Thing").append(RandomTables.batch(random.rows(count, of: type, in: schema), of: type, in: schema))
        try first.commit()
        for round in 0..<2 {
            let transaction = try database.begin()
            for step in 0..<12 {
                let id = Int64(random.number(0...count / 2 - 3) * 2 + round)
                let column = type.columns[random.number(0...type.columns.count - 1)]
                try transaction.update("Thing", rowID: id, column: column.name, random.value(column.type, in: schema))
                _ = try transaction.insert("Thing", random.rows(1, of: type, in: schema)[0])
                if step == 5 { try transaction.delete("Thing", rowID: Int64(count) - 1 - Int64(round)) }
            }
            if round == 0 { try transaction.flushAll() }
            try transaction.commit()
        }
        return (try Data(contentsOf: URL(filePath: path)), try database.store.snapshot().catalogue)
    }

    /// The processor time of this thread, which does not depend on the load of the machine.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test(arguments: Seed.first(12))
    func `a file of an attacker who knows the hashes is an error or its data, and never traps`(seed: Seed) throws {
        let folder = TemporaryFolder()
        let (image, catalogue) = try file(seed.number, in: folder)
        let source = HostileSource(image)
        readEverything(source, catalogue)
        let extents = source.seen.sorted { $0.key < $1.key }
        var random = RandomTables(seed: seed.number &+ 1000)
        let cases = Int(ProcessInfo.processInfo.environment["FIRN_HOSTILE_CASES"] ?? "") ?? Tier.cases(10, of: 30)
        let traces = ProcessInfo.processInfo.environment["FIRN_HOSTILE_TRACE"] != nil
        for number in 0..<cases {
            var changed: [(byte: Int, before: UInt8)] = []
            for _ in 0..<random.number(1...3) {
                let extent = extents[random.number(0...extents.count - 1)]
                guard extent.value > 0 else { continue }
                // The beginnings have the counts and offsets.
                let within =
                    random.chance(50) ? min(Int(extent.value) - 1, random.number(0...127)) : random.number(0...Int(extent.value) - 1)
                let start = Int(extent.key) + within
                let width = min([1, 1, 1, 2, 4, 8][random.number(0...5)], Int(extent.key + extent.value) - start)
                let kind = random.number(0...5)
                for i in 0..<width {
                    changed.append((start + i, source.bytes[start + i]))
                    source.bytes[start + i] =
                        switch kind {
                        case 0: 0
                        case 1: 0xFF
                        case 2: i == width - 1 ? 0x7F : 0xFF
                        case 3: source.bytes[start + i] ^ 1 << UInt8(random.number(0...7))
                        case 4: i == 0 ? source.bytes[start] &+ 1 : source.bytes[start + i]
                        default: UInt8(random.number(0...255))
                        }
                }
            }
            if traces {
                FileHandle.standardError.write(
                    Data("seed \(seed) case \(number): \(changed.map { "\($0.byte)=\(source.bytes[$0.byte])" })\n".utf8))
            }
            let started = HostileTests.processorSeconds
            readEverything(source, catalogue)
            let seconds = HostileTests.processorSeconds - started
            #expect(seconds < 5, "seed \(seed), case \(number) takes \(seconds) s of processor: \(changed.map(\.byte))")
            for (byte, before) in changed.reversed() { source.bytes[byte] = before }
        }
        source.bytes.copyBytes(from: image)
        let core = try SnapshotCore(source, catalogueRef: catalogue)
        #expect(core.verify(full: true, progress: { _ in }).isEmpty)
        core.close()
    }
}
