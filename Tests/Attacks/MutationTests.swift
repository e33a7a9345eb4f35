import FirnAttacks
import FirnBytes
import FirnKit
import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
private let environment = ProcessInfo.processInfo.environment

/// Mutated seeds of `Tools/fuzz/corpus`, without a fuzzer: a few of each attack in every run, or `FIRN_ATTACKS=n`, and other ones with
/// `FIRN_ATTACK_SEED`. Each attack runs in a separate process, which ends if a case traps, takes 20 seconds or needs more than 6 GB. The
/// case is then in FIRN_ATTACK_CASES or in the temporary folder.
@Suite struct MutationTests {
    private static func torment(_ attack: Attack, short: Int) {
        let count = environment["FIRN_ATTACKS"].flatMap { Int($0) } ?? Tier.cases(short / 5, of: short),
            seed = environment["FIRN_ATTACK_SEED"].flatMap { UInt64($0) } ?? 1
        Hash128.believesAnything = attack.knowsHashes
        // The address sanitizer reserves terabytes of address space, and is several times slower.
        let isSanitized = dlsym(nil, "__asan_init") != nil
        var limit = rlimit(rlim_cur: 6 << 30, rlim_max: 6 << 30)
        if !isSanitized { setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) }
        let seeds = seeds(attack)
        precondition(!seeds.isEmpty, "\(attack.rawValue) has no seeds in Tools/fuzz/corpus")
        let folder = environment["FIRN_ATTACK_CASES"] ?? FileManager.default.temporaryDirectory.path
        let temporary = TemporaryFolder()
        let scratch = temporary.file("a"), current = folder + "/firn-case-\(attack.rawValue)-\(seed)-\(getpid())"
        let file = open(current, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0, "the folder of cases cannot be written")
        var random = Random(seed: seed &* 1000 &+ UInt64(attack.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xFF))
        for _ in 0..<count {
            let bytes = mutilated(seeds, &random)
            pwrite(file, bytes, bytes.count, 0)
            ftruncate(file, off_t(bytes.count))
            alarm(isSanitized ? 120 : 20)
            bytes.withUnsafeBytes { attack.run($0, scratch: scratch) }
        }
        alarm(0)
        try? FileManager.default.removeItem(atPath: current)
        print("\(attack.rawValue): \(count) cases")
    }

    private static func seeds(_ attack: Attack) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for folder in [
            root.appending(path: "Tools/fuzz/corpus/\(attack.rawValue)"), root.appending(path: "Tests/Fixtures/found/\(attack.rawValue)"),
        ] {
            for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() {
                if let data = try? Data(contentsOf: folder.appending(path: name)) { all.append(Array(data)) }
            }
        }
        return all
    }

    /// Makes one to four changes: bits, special bytes, integers, pieces of this or another seed, and cuts. A third of them is in the first
    /// 64 bytes, a third at the beginning of an extent, and a third anywhere.
    private static func mutilated(_ seeds: [[UInt8]], _ random: inout Random) -> [UInt8] {
        func below(_ n: Int) -> Int { n <= 0 ? 0 : Int(random.next() % UInt64(n)) }
        var bytes = seeds[below(seeds.count)]
        for _ in 0...below(4) {
            guard !bytes.isEmpty else { return bytes }
            // Extents begin at multiples of 64 bytes, with their headers.
            let at: Int =
                switch below(3) {
                case 0: below(min(bytes.count, 64))
                case 1: min(bytes.count - 1, below((bytes.count + 63) / 64) * 64 + below(24))
                default: below(bytes.count)
                }
            switch below(10) {
            case 0, 1, 2: bytes[at] ^= 1 << UInt8(below(8))
            case 3: bytes[at] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
            case 4: bytes[at] = UInt8(below(256))
            case 5: bytes[at] = bytes[at] &+ (below(2) == 0 ? 1 : 255)
            case 6:
                let width = [2, 4, 8][below(3)],
                    number: UInt64 = [
                        0, 1, .max, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0xFFFF_FFFF, 0x10000, UInt64(below(70000)),
                    ][below(8)]
                for i in 0..<width where at + i < bytes.count { bytes[at + i] = UInt8(truncatingIfNeeded: number >> UInt64(8 * i)) }
            case 7:
                let other = below(2) == 0 ? bytes : seeds[below(seeds.count)], from = below(other.count),
                    n = min(1 + below(64), other.count - from)
                for i in 0..<n where at + i < bytes.count { bytes[at + i] = other[from + i] }
            case 8:
                if below(4) == 0 {
                    bytes.removeSubrange(at..<min(bytes.count, at + 1 + below(8)))
                } else {
                    bytes.insert(UInt8(below(256)), at: at)
                }
            default: if below(4) == 0 { bytes.removeLast(bytes.count - at) } else { bytes[at] = bytes[below(bytes.count)] }
            }
        }
        return bytes
    }

    @Test func `mutated files with valid hashes are an error or return their data`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.file, short: 300) }
    }
    @Test func `mutated store structures are refused or readable`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.store, short: 300) }
    }
    @Test func `mutated changes files are refused or leave an intact file`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.changes, short: 300) }
    }
    @Test func `mutated streams are damage or values`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.streams, short: 3000) }
    }
    @Test func `mutated values survive a round trip`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.values, short: 500) }
    }
    @Test func `mutated CSV is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.csv, short: 1000) }
    }
    @Test func `mutated JSON is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.json, short: 1000) }
    }
    @Test func `mutated NDJSON is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.lines, short: 1000) }
    }
    @Test func `mutated Realm files are an error with an offset or return their data`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.realm, short: 300) }
    }
    @Test func `mutated Arrow is read, or refused with the file`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.arrow, short: 1000) }
    }

    @Test func `mutated Parquet is read, or refused with the file`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.parquet, short: 1000) }
    }
    @Test func `mutated SQLite databases are read, or refused with the file`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.sqlite, short: 1000) }
    }
    @Test func `mutated queries are answered, or refused with a position`() async {
        await #expect(processExitsWith: .success) { MutationTests.torment(.query, short: 3000) }
    }
}
