import Foundation

/// The seed of one case of a property test. A failure shows it with the way to repeat the case alone: `7 (FIRN_SEED=7 repeats it)`.
/// As an argument of a test it is part of every failure; a test that loops over seeds adds it to its comments.
public struct Seed: Hashable, Sendable, CustomStringConvertible {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }

    /// The variable `FIRN_SEED`: property tests run only the case of this seed.
    private static let chosen: Seed? = ProcessInfo.processInfo.environment["FIRN_SEED"].flatMap { UInt64($0) }.map { Seed($0) }

    /// The seeds of all cases of a test, or only the chosen one.
    public static func some(_ numbers: UInt64...) -> [Seed] { chosen.map { [$0] } ?? numbers.map { Seed($0) } }

    /// The seeds 1, 2 … `count`, or only the chosen one.
    public static func first(_ count: some BinaryInteger) -> [Seed] { chosen.map { [$0] } ?? (1...max(UInt64(count), 1)).map { Seed($0) } }

    /// Each `step`th of the seeds 1, 2 … `count`, and with `FIRN_LONG=1` all of them: for tests whose cases grow or differ with the number of
    /// the seed.
    public static func first(_ count: Int, inStepsOf step: Int) -> [Seed] {
        chosen.map { [$0] } ?? stride(from: Tier.isLong ? 1 : step, through: count, by: Tier.isLong ? 1 : step).map { Seed(UInt64($0)) }
    }

    /// The seed of a test with one case.
    public static func one(_ number: UInt64) -> Seed { chosen ?? Seed(number) }

    public var description: String { "\(number) (FIRN_SEED=\(number) repeats it)" }
}
