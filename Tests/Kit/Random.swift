/// Random numbers that are the same for the same seed (SplitMix64): the generator of the tests. There are two others. `Dice` in Tools/stress
/// is this one again, because a tool cannot use the modules of the tests; `Dice` in Tests/Codecs makes the numbers whose encodings are
/// golden.
public struct Random: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// - Parameter salt: gives another sequence for the same seed.
    public init(_ seed: Seed, salt: UInt64 = 1) { state = seed.number &* salt }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 up to, but not including, `n`.
    public mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
    public mutating func bool() -> Bool { next() & 1 == 1 }
    public mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    public mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }
    public mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
