import FirnBytes
import FirnDisk
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnRealmFile

private func fixture(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/realm").standardized
    return Array(try Data(contentsOf: folder.appending(path: "\(name).realm")))
}

@Suite struct HostileTests {
    /// Reads everything. Returns the number of rows, or the error.
    private func read(_ bytes: [UInt8], limit: Int = 256 << 20, previous: Bool = false, key: EncryptionKey? = nil) -> Result<Int, FirnError>
    {
        var options = RealmFileOptions()
        options.readsInternal = true
        options.budget = MemoryBudget(limit: limit)
        options.readsPrevious = previous
        options.key = key
        do throws(FirnError) {
            let reader = try RealmFileReader(Input(bytes: bytes, name: "in.realm"), options: options)
            var rows = 0
            while let (_, batch) = try reader.next() {
                for column in batch.columns where !column.isWhole(batch.count) { Issue.record("a column of another length") }
                rows += batch.count
            }
            return .success(rows)
        } catch { return .failure(error) }
    }

    @Test func `a file cut at any byte is an error with an offset, never an empty result`() throws {
        let whole = try fixture("many_commits")
        guard case .success(let rows) = read(whole), rows > 0 else { throw FirnError(.usage, "the whole file is read") }
        // The size in the top array is that of the file: every cut is found.
        for length in 0..<whole.count {
            guard case .failure(let error) = read(Array(whole[..<length])) else {
                Issue.record("cut after \(length) bytes: no error"); continue
            }
            #expect(
                error.location?.byte != nil && (error.code == .damaged || length < 24 && error.code == .notThisFormat),
                "\(length): \(error)")
        }
    }

    @Test(arguments: ["many_commits", "links", "all_types"]) func `flipped bits are an error with an offset, or values`(_ name: String)
        throws
    {
        let whole = try fixture(name)
        for seed in Seed.first(100) {
            var random = Random(seed: seed.number), bytes = whole
            for _ in 0..<Int(random.next() % 3) + 1 {
                bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
            }
            if case .failure(let error) = read(bytes) {
                let known: [FirnError.Code] = [.damaged, .unsupported, .outOfMemory, .encrypted, .notThisFormat]
                #expect(known.contains(error.code), "seed \(seed): \(error)")
                #expect(error.code == .outOfMemory || error.location?.byte != nil, "seed \(seed): \(error)")
            }
        }
    }

    @Test func `references in circles are damage`() throws {
        let whole = try fixture("links")
        // Every reference in turn leads to the top array, or to the node that contains it.
        let top = whole[8..<16].enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
        var failures = 0
        for position in stride(from: 24, to: whole.count - 8, by: Tier.isLong ? 88 : 528) {
            for target in [top, UInt64(position)] {
                var bytes = whole
                for i in 0..<2 { bytes[position + i] = UInt8(truncatingIfNeeded: target >> UInt64(8 * i)) }
                if case .failure(let error) = read(bytes) {
                    failures += 1
                    #expect([.damaged, .outOfMemory, .unsupported].contains(error.code), "\(error)")
                }
            }
        }
        #expect(failures > Tier.cases(3, of: 20))
    }

    @Test func `two tables with one name are damage`() throws {
        var bytes = try fixture("all_types")
        let name = Array("class_Dec1".utf8)
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        bytes[at + name.count - 1] = UInt8(ascii: "0")
        guard case .failure(let error) = read(bytes) else { throw FirnError(.usage, "the file is damaged") }
        #expect(error.code == .damaged && error.message.contains("two tables have the name \"class_Dec0\""), "\(error)")
    }

    @Test func `a tree that contains itself is damage`() throws {
        var file = RealmFileBuilder(format: 24)
        let start = file.bytes.count
        // The inner node is its own child: its offset is known before it is written.
        let inner = file.refs([.null, .tag(1), .tag(4), .ref(start)], flags: 0x80)
        #expect(inner == start)
        let spec = file.refs([.null, .null, .null]), empty = file.integers([])
        _ = spec
        let columns = file.refs([.ref(empty), .ref(file.strings([])), .ref(empty), .null, .null, .ref(empty)])
        let table = file.refs([.ref(columns), .null, .ref(inner), .tag(0)])
        file.finish(names: ["class_A"], tables: [.ref(table)])
        guard case .failure(let error) = read(file.bytes) else { throw FirnError(.usage, "a circle has no end") }
        #expect(error.code == .damaged && error.location?.byte == UInt64(start))
    }

    @Test func `small files that claim many values stay within the memory limit`() throws {
        // 200 lists of 250 children each, all of them one leaf of 1,000 zeros that takes 8 bytes.
        var file = RealmFileBuilder(format: 24)
        let zeros = file.integers([Int64](repeating: 0, count: 1000))
        let tree = file.tree([Int](repeating: zeros, count: 250), each: 1000, count: 250_000)
        let lists = file.refs([RealmFileBuilder.Word](repeating: .ref(tree), count: 200))
        let columns = file.refs([
            .ref(file.integers([0])), .ref(file.strings(["list"])), .ref(file.integers([32])), .null, .null,
            .ref(file.integers([32 << 22])),
        ])
        let cluster = file.refs([.tag(200), .ref(lists)]), table = file.refs([.ref(columns), .null, .ref(cluster), .tag(0)])
        file.finish(names: ["class_A"], tables: [.ref(table)])
        guard case .failure(let error) = read(file.bytes, limit: 16 << 20) else { throw FirnError(.usage, "the lists share their nodes") }
        #expect(error.code == .damaged || error.code == .outOfMemory)
    }

    @Test func `the previous version is read, and has fewer objects`() throws {
        let bytes = try fixture("many_commits")
        guard case .success(let newest) = read(bytes), case .success(let previous) = read(bytes, previous: true) else {
            throw FirnError(.usage, "both versions are intact")
        }
        #expect(newest > 0 && previous > 0)
        guard case .failure(let error) = read(try fixture("links"), previous: true) else {
            throw FirnError(.usage, "there is no other version")
        }
        #expect(error.code == .usage)
    }

    @Test func `an unfinished commit is not taken for the previous version`() throws {
        var bytes = try fixture("many_commits")
        // The live slot is the other one: the version that it leads to is older.
        bytes[23] ^= 1
        guard case .failure(let error) = read(bytes, previous: true) else {
            throw FirnError(.usage, "the newer version is no previous one")
        }
        #expect(error.code == .damaged && error.message.contains("unfinished"))
    }

    // MARK: Encrypted files

    private var encrypted: (bytes: [UInt8], key: EncryptionKey)? {
        get throws {
            guard let file = SharedData.file("realm/encrypted.realm"), let keyFile = SharedData.file("realm/encrypted.key.hex") else {
                return nil
            }
            return (Array(try Data(contentsOf: file)), try #require(EncryptionKey(written: Array(try Data(contentsOf: keyFile)))))
        }
    }

    @Test func `a wrong key, a missing key and damage are different errors with offsets`() throws {
        guard let (bytes, key) = try encrypted else { return }
        guard case .success(5000) = read(bytes, key: key) else { throw FirnError(.usage, "the key opens the file") }
        func error(_ bytes: [UInt8], _ key: EncryptionKey?) throws -> FirnError {
            guard case .failure(let error) = read(bytes, key: key) else { throw FirnError(.usage, "this is refused") }
            return error
        }
        let wrong = try error(bytes, EncryptionKey([UInt8](repeating: 7, count: 64))!)
        #expect(wrong.code == .wrongKey && wrong.location?.byte == 4096)
        let missing = try error(bytes, nil)
        #expect(missing.code == .encrypted && missing.location?.byte == 16)
        var damaged = bytes
        for page in stride(from: 8192, to: damaged.count, by: 4096) { damaged[page + 100] ^= 1 }
        let damage = try error(damaged, key)
        #expect(damage.code == .damaged && (damage.location?.byte ?? 0) >= 8192 && damage.message == RealmCipher.unauthentic)
        var unknown = try fixture("links")
        unknown[21] = 31
        #expect(try error(unknown, nil).code == .unsupported)
        #expect(try error(try fixture("links"), key).code == .notEncrypted)
        #expect(try error([UInt8](repeating: 65, count: 5000), nil).code == .notThisFormat)
    }

    @Test func `the old page of an interrupted write is read with its own number`() throws {
        guard let (bytes, key) = try encrypted else { return }
        var interrupted = bytes
        // The entry of the first page: the newer number and code are replaced, and the page itself is not yet.
        let entry = Array(interrupted[0..<32])
        interrupted.replaceSubrange(32..<64, with: entry)
        interrupted[0] ^= 0x40
        interrupted[10] ^= 0xFF
        guard case .success(5000) = read(interrupted, key: key) else { throw FirnError(.usage, "the second entry fits the page") }
    }

    @Test func `encrypted files that are cut at any page are refused`() throws {
        guard let (bytes, key) = try encrypted else { return }
        for length in stride(from: 0, to: bytes.count, by: 1000) {
            guard case .failure = read(Array(bytes[..<length]), key: key) else { Issue.record("cut after \(length) bytes"); continue }
        }
    }
}
