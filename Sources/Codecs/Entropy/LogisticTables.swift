/// The functions that turn probabilities to the logistic domain and back, and the rates at which counters learn.
struct LogisticTables: @unchecked Sendable {
    static let shared = LogisticTables()

    /// For each probability in 1/4,096: ln(p / (1 − p)) in 1/256.
    let stretch: UnsafePointer<Int16>
    private let squash: UnsafePointer<Int32>
    /// For each number of bits seen: what share of the error a counter takes over, in 1/65,536.
    private let rates: UnsafePointer<Int64>
    /// For each number of bits seen, what is added to it: 1 if it is below 30, otherwise 0; then the same for 255.
    private let more: UnsafePointer<UInt32>
    static let upTo30 = 0, upTo255 = 1024

    /// 65,536 / (1 + e^(−x)) for x = −8, −7.5 … 8.
    private static let points: [Int32] = [
        22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
        62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514,
    ]

    private init() {
        let squash = UnsafeMutablePointer<Int32>.allocate(capacity: 4096), stretch = UnsafeMutablePointer<Int16>.allocate(capacity: 4096)
        let rates = UnsafeMutablePointer<Int64>.allocate(capacity: 1024), more = UnsafeMutablePointer<UInt32>.allocate(capacity: 2048)
        for i in 0..<4096 {
            let low = LogisticTables.points[i >> 7], high = LogisticTables.points[i >> 7 &+ 1]
            squash[i] = low &+ (high &- low) &* Int32(i & 127) / 128
        }
        var x: Int32 = 0
        for p in 0..<4096 {
            while x < 4095, squash[Int(x)] < Int32(p) &* 16 &+ 8 { x &+= 1 }
            stretch[p] = Int16(truncatingIfNeeded: x &- 2048)
        }
        for n in 0..<1024 {
            rates[n] = Int64(131_072 / (2 &* n &+ 3))
            more[n] = n < 30 ? 1 : 0
            more[1024 &+ n] = n < 255 ? 1 : 0
        }
        self.more = UnsafePointer(more)
        (self.squash, self.stretch, self.rates) = (UnsafePointer(squash), UnsafePointer(stretch), UnsafePointer(rates))
    }

    /// Returns 65,536 / (1 + e^(−x)); `x` in 1/256.
    @inline(__always)
    func logistic(_ x: Int32) -> Int32 { squash[Int(max(-2048, min(2047, x)) &+ 2048)] }

    /// What the probability of a counter moves to when it sees a bit.
    @inline(__always)
    func goal(_ bit: Int) -> Int64 { Int64(truncatingIfNeeded: 0 &- bit) & ((1 << 22) &- 1) }

    /// Returns a counter whose probability has moved to a bit. The more bits it has seen, the less it moves. `limit` is
    /// `upTo30` or `upTo255`.
    @inline(__always)
    func moved(_ counter: UInt32, to goal: Int64, limit: Int) -> UInt32 {
        let seen = Int(counter & 1023), step = (goal &- Int64(counter &>> 10)) &* rates[seen]
        // The lowest 10 bits of a step that was shifted by 16 and back by 10 are not part of it.
        return counter &+ UInt32(truncatingIfNeeded: (step &>> 6) & ~1023) &+ more[limit &+ seen]
    }
}
