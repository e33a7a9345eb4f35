import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

@Suite struct TimestampTests {
    private func date(_ sinceReference: Double) -> Date { Date(timeIntervalSinceReferenceDate: sinceReference) }

    @Test func `seconds are rounded down and nanoseconds are positive, also before 1970`() {
        #expect(Timestamp(Date(timeIntervalSince1970: 0)) == Timestamp(seconds: 0))
        #expect(Timestamp(Date(timeIntervalSince1970: 1.5)) == Timestamp(seconds: 1, nanoseconds: 500_000_000))
        #expect(Timestamp(Date(timeIntervalSince1970: -0.25)) == Timestamp(seconds: -1, nanoseconds: 750_000_000))
        #expect(Timestamp(Date(timeIntervalSince1970: -1_000_000_000.5)) == Timestamp(seconds: -1_000_000_001, nanoseconds: 500_000_000))
        #expect(Timestamp(date(-0.3)) == Timestamp(seconds: 978_307_199, nanoseconds: 700_000_000))
        #expect(Timestamp(date(0.3)) == Timestamp(seconds: 978_307_200, nanoseconds: 300_000_000))
        #expect(Timestamp(date(1.7e9 - 978_307_200 + 0.123456789)).seconds == 1_700_000_000)
    }

    @Test func `dates out of range become the limits of the range, and NaN becomes 1970`() {
        #expect(Timestamp(date(.nan)) == Timestamp(seconds: 0))
        for far in [.infinity, .greatestFiniteMagnitude, 0x1p64, 0x1p63] {
            #expect(Timestamp(date(far)) == Timestamp(seconds: .max, nanoseconds: 999_999_999), "\(far)")
        }
        for far in [-.infinity, -.greatestFiniteMagnitude, -0x1p64, -0x1p63 - 1e9] {
            #expect(Timestamp(date(far)) == Timestamp(seconds: .min), "\(far)")
        }
        #expect(Timestamp(date(-0x1p63)).seconds == .min + 978_307_200)
        for end in [
            Timestamp(seconds: .max, nanoseconds: 999_999_999), Timestamp(seconds: .min),
            Timestamp(seconds: .min, nanoseconds: 999_999_999),
        ] {
            #expect(abs(Double(Timestamp(Date(end)).seconds) - Double(end.seconds)) <= 1024)
        }
        #expect(Date(Timestamp(.distantFuture)) == .distantFuture && Date(Timestamp(.distantPast)) == .distantPast)
    }

    @Test(arguments: Seed.first(40))
    func `a date round trips through its timestamp`(seed: Seed) {
        var random = Random(seed)
        for _ in 0..<500 {
            // From 2^24 seconds around 2001 on, a double is coarser than a nanosecond.
            let interval = Double.random(in: 0x1p24...0x1p52, using: &random) * pow(2, -Double(Int.random(in: 0...28, using: &random)))
            let far = max(interval, 0x1p24) * (Bool.random(using: &random) ? 1 : -1)
            #expect(Date(Timestamp(date(far))) == date(far), "seed \(seed): \(far)")
            #expect((0..<1_000_000_000).contains(Timestamp(date(far)).nanoseconds))
            // Within a second of 2001, a double is finer than a nanosecond.
            let near = Double(Int.random(in: -999_999_999...999_999_999, using: &random)) / 1e9
            #expect(Date(Timestamp(date(near))) == date(near), "seed \(seed): \(near)")
        }
    }

    @Test(arguments: Seed.first(40))
    func `a timestamp near 2001 round trips to the nanosecond, and others do after one conversion`(seed: Seed) {
        var random = Random(seed)
        for _ in 0..<500 {
            let nanoseconds = Int32.random(in: 0..<1_000_000_000, using: &random)
            let near = Timestamp(seconds: 978_307_200 + .random(in: -4_000_000...4_000_000, using: &random), nanoseconds: nanoseconds)
            #expect(Timestamp(Date(near)) == near, "seed \(seed): \(near)")
            let any = Timestamp(seconds: .random(in: -100_000_000_000...100_000_000_000, using: &random), nanoseconds: nanoseconds)
            let once = Timestamp(Date(any))
            #expect(Timestamp(Date(once)) == once, "seed \(seed): \(any)")
            #expect(abs(Date(any).timeIntervalSince(Date(once))) == 0)
        }
    }

    @Test func `fractions that doubles cannot represent are truncated as in Realm`() {
        // 0.123 of a second in 2026 is slightly smaller in a double.
        let interval = 800_000_000.123
        let cut = Int32((interval - 800_000_000) * 1e9)
        #expect(cut != 123_000_000)
        #expect(Timestamp(date(interval)) == Timestamp(seconds: 978_307_200 + 800_000_000, nanoseconds: cut))
    }
}
