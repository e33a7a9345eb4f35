import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// T11: random histories of a database and a plain model. A failing history is reduced before it is reported.
@Suite struct HistoryTests {
    private func steps(_ seed: UInt64, _ count: Int) -> [StoredStep] {
        var random = RandomTables(seed: seed &* 0x9E37_79B9 &+ 1)
        return (0..<count).map { _ in StoredStep(&random) }
    }

    /// The steps that were taken.
    private final class Tally { var counts: [String: Int] = [:] }

    private func failure(_ seed: UInt64, _ steps: [StoredStep], forgets: Bool = false, _ tally: Tally? = nil) -> StoredFailure? {
        do {
            let world = try StoredWorld(seed: seed, forgets: forgets)
            try world.run(steps)
            tally?.counts.merge(world.counts, uniquingKeysWith: +)
        } catch {
            return error as? StoredFailure ?? StoredFailure(step: 0, description: "\(error)")
        }
        return nil
    }

    /// Finds fewer and smaller steps that fail as well: first half of the steps are left out, then a quarter, and so on to single ones.
    /// Then the steps are reduced.
    private func shrunk(_ seed: UInt64, _ all: [StoredStep], _ first: StoredFailure, forgets: Bool = false) -> (
        steps: [StoredStep], failure: StoredFailure
    ) {
        var steps = Array(all.prefix(first.step + 1)), last = first, size = max(steps.count / 2, 1), left = 400
        func fails(_ fewer: [StoredStep]) -> Bool {
            left -= 1
            guard left > 0, let found = failure(seed, fewer, forgets: forgets) else { return false }
            (steps, last) = (fewer, found)
            return true
        }
        while true {
            var start = 0, progress = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if fails(fewer) { progress = true } else { start += size }
            }
            if size > 1 { size /= 2 } else if !progress { break }
        }
        for index in steps.indices {
            while let half = steps[index].half {
                var smaller = steps
                smaller[index] = half
                if !fails(smaller) { break }
            }
        }
        return (steps, last)
    }

    @Test func `after a random history a database has the same rows as a plain model [T11]`() {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["FIRN_MODEL_STEPS"].flatMap { Int($0) } ?? Tier.cases(1500, of: 4000),
            first = environment["FIRN_MODEL_SEED"].flatMap { UInt64($0) } ?? 1
        let tally = Tally()
        var done = 0, seed = first
        while done < wanted {
            let all = steps(seed, 100)
            if let failure = failure(seed, all, tally) {
                let (steps, small) = shrunk(seed, all, failure)
                Issue.record(
                    "seed \(seed) (FIRN_MODEL_SEED=\(seed) FIRN_MODEL_STEPS=100 repeats it): \(failure)\nwith \(steps.count) steps: \(steps.map(\.description).joined(separator: "; "))\n\(small)"
                )
                break
            }
            done += 100
            seed += 1
        }
        print("\(done) steps of histories, seeds \(first) to \(seed - 1)")
        guard wanted >= 2000 else { return }
        for step in StoredStep.names { #expect(tally.counts[step] ?? 0 > 0, "no history had the step '\(step)'") }
    }

    @Test func `a wrong model is detected and reduced to few steps [T11]`() throws {
        for seed: UInt64 in 1...20 {
            let all = steps(seed, 100)
            guard let failure = failure(seed, all, forgets: true) else { continue }
            let (steps, small) = shrunk(seed, all, failure, forgets: true)
            #expect(steps.count <= 4 && small.description.contains("has no location"), "\(steps): \(small)")
            return
        }
        Issue.record("no history detected the wrong model")
    }
}
