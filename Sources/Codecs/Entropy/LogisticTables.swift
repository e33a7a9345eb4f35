/// The functions that turn probabilities to the logistic domain and back, and the rates at which counters learn.
struct LogisticTables: @unchecked Sendable {
    static let shared = LogisticTables()

    /// For each probability in 1/4,096: ln(p / (1 − p)) in 1/256.
    let stretch: UnsafePointer<Int32>
    private let squash: UnsafePointer<Int32>
    /// For each number of bits seen: what share of the error a counter takes over, in 1/65,536.
    private let rates: UnsafePointer<Int32>

    /// 65,536 / (1 + e^(−x)) for x = −8, −7.5 … 8.
    private static let points: [Int32] = [
        22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
        62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514,
    ]

    private init() {
        let squash = UnsafeMutablePointer<Int32>.allocate(capacity: 4096), stretch = UnsafeMutablePointer<Int32>.allocate(capacity: 4096)
        let rates = UnsafeMutablePointer<Int32>.allocate(capacity: 1024)
        for i in 0..<4096 {
            let low = LogisticTables.points[i >> 7], high = LogisticTables.points[i >> 7 &+ 1]
            squash[i] = low &+ (high &- low) &* Int32(i & 127) / 128
        }
        var x: Int32 = 0
        for p in 0..<4096 {
            while x < 4095, squash[Int(x)] < Int32(p) &* 16 &+ 8 { x &+= 1 }
            stretch[p] = x &- 2048
        }
        for n in 0..<1024 { rates[n] = Int32(131_072 / (2 &* n &+ 3)) }
        (self.squash, self.stretch, self.rates) = (UnsafePointer(squash), UnsafePointer(stretch), UnsafePointer(rates))
    }

    /// Returns 65,536 / (1 + e^(−x)); `x` in 1/256.
    @inline(__always)
    func logistic(_ x: Int32) -> Int32 { squash[Int(max(-2048, min(2047, x)) &+ 2048)] }

    /// Moves the probability of a counter to a bit. The more bits it has seen, up to `limit`, the less it moves.
    @inline(__always)
    func count(_ bit: Int, _ counter: inout UInt32, limit: UInt32) {
        let seen = counter & 1023, p = Int64(counter >> 10), target: Int64 = bit == 1 ? (1 << 22) &- 1 : 0
        let moved = p &+ ((target &- p) &* Int64(rates[Int(seen)])) >> 16
        counter = UInt32(truncatingIfNeeded: moved) << 10 | (seen < limit ? seen &+ 1 : seen)
    }
}
