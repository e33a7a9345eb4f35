import FirnBytes
import Foundation
import Synchronization
@testable import FirnCodecs

/// The numbers of the samples (xorshift). It is not `Random`, because `goldenStreams` has the hashes of the encodings of exactly these
/// numbers: another sequence would give up what those lines have proven since they were written.
struct Dice: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
    mutating func below(_ n: Int) -> Int { Int(next() >> 33) % n }
}

let sampleLengths = [0, 1, 2, 3, 63, 64, 65, 249, 1023, 1024, 1025, 5000, 65_536]

/// Returns named columns of integers, typical and extreme ones.
func sampleIntegers(count: Int, seed: UInt64) -> [(String, [Int64])] {
    var dice = Dice(seed)
    func make(_ body: (Int) -> Int64) -> [Int64] { (0..<count).map(body) }
    var walk: Int64 = 1_700_000_000_000, group = 0, descending: Int64 = 0
    return [
        ("constant", make { _ in 42 }),
        ("row ids", make { Int64($0) + 7 }),
        ("steps of -3", make { 1000 - 3 * Int64($0) }),
        ("booleans", make { _ in Int64(dice.below(2)) }),
        ("small", make { _ in Int64(dice.below(1000)) }),
        ("wide", make { _ in Int64(bitPattern: dice.next()) }),
        ("forty bits", make { _ in Int64(dice.next() >> 24) }),
        ("outliers", make { _ in dice.below(100) == 0 ? Int64(dice.next() >> 24) : Int64(dice.below(64)) }),
        ("extremes", make { _ in dice.below(2) == 0 ? .min : .max }),
        ("hundreds", make { _ in Int64(dice.below(5000)) * 100 - 50_000 }),
        ("years", make { 1880 + Int64($0 / 700) }),
        (
            "descending in groups",
            make { _ in
                if group == 0 { (group, descending) = (dice.below(900) + 1, Int64(dice.below(9000) + 5)) }
                group -= 1
                descending = max(5, descending - Int64(dice.below(20)))
                return descending
            }
        ),
        (
            "timestamps",
            make { _ in
                walk += Int64(dice.below(2000)); return walk
            }
        ),
        (
            "noisy walk",
            make { _ in
                walk += Int64(dice.below(64)) - 30; return walk
            }
        ),
        ("few far apart", make { _ in [Int64(-5), 1 << 40, 77, 1 << 50, 3][dice.below(5)] }),
        ("zipf", make { _ in Int64(100_000 / (1 + dice.below(100_000))) }),
        ("skewed", make { _ in dice.below(20) == 0 ? Int64(dice.below(200)) : 0 }),
        (
            "runs",
            make { _ in
                if dice.below(40) == 0 { walk = Int64(dice.below(1 << 30)) }; return walk
            }
        ),
        ("negative", make { _ in -Int64(dice.below(1 << 20)) - 1 }),
        ("panel", make { Int64($0 % 107 * $0 % 107 * 7919 % 100_003) }),
        ("panel with wide values", make { Int64(bitPattern: UInt64($0 % 150) &* 0x9E37_79B9_7F4A_7C15) }),
        (
            "passages that repeat",
            make { _ in
                if group <= 0 { (group, descending) = (dice.below(200) + 1, Int64(dice.below(90))) }
                group -= 1
                descending += 1
                return descending * descending * 31 % 9973
            }
        ),
        ("steps that repeat", make { Int64($0) * 5 + [0, 1, 9, 3, 77, 12][$0 * $0 % 97 % 6] + Int64($0 / 500) * 100_000 }),
        (
            "growth",
            make { row in
                if row % 250 == 0 { (walk, descending) = (Int64(dice.below(1 << 30)), Int64(dice.below(1 << 14))) }
                descending += Int64(dice.below(9)) - 4
                walk += descending
                return walk
            }
        ),
    ]
}

/// Memory that ends at an unreadable page.
private struct GuardedRegion: @unchecked Sendable {
    static let size = 1 << 20
    static let free = Mutex<[GuardedRegion]>([])
    let base: UnsafeMutableRawPointer

    init() {
        base = mmap(nil, Self.size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        mprotect(base + Self.size, 4096, PROT_NONE)
    }
}

/// Calls `body` with a copy of the bytes that ends at the end of readable memory: a read past the end stops the test.
func withExactBytes<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    precondition(bytes.count <= GuardedRegion.size, "test streams are at most 1 MiB")
    let region = GuardedRegion.free.withLock { $0.popLast() } ?? GuardedRegion()
    defer { GuardedRegion.free.withLock { $0.append(region) } }
    let copy = UnsafeMutableRawBufferPointer(start: region.base + GuardedRegion.size - bytes.count, count: bytes.count)
    copy.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(copy))
}
