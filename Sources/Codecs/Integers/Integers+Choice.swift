import FirnBytes

/// The statistics of one pass over the values, from which the exact sizes of FOR, PFOR and delta follow.
struct IntegersSurvey {
    var low = Int64.max, high = Int64.min
    var lowStep = Int64.max, highStep = Int64.min
    /// The number of positions (except 0) whose value differs from the previous one.
    var changes = 0
    var packed = PackedPlan(), steps = PackedPlan()

    init(_ values: UnsafeBufferPointer<Int64>) {
        packed.vectors.reserveCapacity(values.count / vectorLength &+ 1)
        steps.vectors.reserveCapacity(values.count / vectorLength &+ 1)
        // The first value has no step, so it gets the step of the second value.
        var before = firstPredecessor(values)
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 130) { counts in
            for first in stride(from: 0, to: values.count, by: vectorLength) {
                let n = min(vectorLength, values.count &- first)
                survey(values.baseAddress! + first, count: n, before: before, counts: counts.baseAddress!)
                before = values[first &+ n &- 1]
            }
        }
        (packed.low, packed.high) = (low, high)
        (steps.low, steps.high) = (lowStep, highStep)
    }

    private mutating func survey(_ values: UnsafePointer<Int64>, count n: Int, before: Int64, counts: UnsafeMutablePointer<UInt32>) {
        var least = values[0], most = least, previous = before
        var leastStep = least &- before, greatestStep = leastStep, changes = 0
        for i in 0..<n {
            let value = values[i], step = value &- previous
            least = min(least, value)
            most = max(most, value)
            leastStep = min(leastStep, step)
            greatestStep = max(greatestStep, step)
            changes &+= step == 0 ? 0 : 1
            previous = value
        }
        low = min(low, least)
        high = max(high, most)
        lowStep = min(lowStep, leastStep)
        highStep = max(highStep, greatestStep)
        self.changes &+= changes
        let width = bitWidth(UInt64(bitPattern: most &- least)), stepWidth = bitWidth(UInt64(bitPattern: greatestStep &- leastStep))
        let (wide, wideSteps) = countWidest(values, count: n, before: before, (least, width), (leastStep, stepWidth))
        // Where many values are as wide as the widest one, none of them is an exception, and the other widths need not be counted.
        counts.update(repeating: 0, count: 130)
        if PackedVector.canHaveExceptions(min(wide, wideSteps), of: n) {
            let stepCounts = counts + 65
            previous = before
            for i in 0..<n {
                let value = values[i]
                counts[bitWidth(UInt64(bitPattern: value &- least))] &+= 1
                stepCounts[bitWidth(UInt64(bitPattern: value &- previous &- leastStep))] &+= 1
                previous = value
            }
        } else {
            counts[width] = UInt32(truncatingIfNeeded: wide)
            counts[65 &+ stepWidth] = UInt32(truncatingIfNeeded: wideSteps)
        }
        packed.vectors.append(choosePackedVector(base: least, count: n, histogram: counts))
        steps.vectors.append(choosePackedVector(base: leastStep, count: n, histogram: counts + 65))
    }

    /// Returns how many values, less the least one, have as many bits as the widest one, and the same for steps.
    private func countWidest(
        _ values: UnsafePointer<Int64>, count n: Int, before: Int64, _ range: (low: Int64, width: Int),
        _ stepRange: (low: Int64, width: Int)
    ) -> (values: Int, steps: Int) {
        // What remains of a number without its lower bits is 1 or 0.
        let shift = UInt64(truncatingIfNeeded: max(0, range.width &- 1))
        let stepShift = UInt64(truncatingIfNeeded: max(0, stepRange.width &- 1))
        var wide: UInt64 = 0, wideSteps: UInt64 = 0, previous = before
        for i in 0..<n {
            let value = values[i]
            wide &+= UInt64(bitPattern: value &- range.low) &>> shift
            wideSteps &+= UInt64(bitPattern: value &- previous &- stepRange.low) &>> stepShift
            previous = value
        }
        return (range.width == 0 ? n : Int(wide), stepRange.width == 0 ? n : Int(wideSteps))
    }
}

/// A stream, and whether a reader of it needs several times as long as unpacking bits takes.
struct Encoded {
    var bytes: [UInt8]
    var isSlow = false
}

/// Encodes all values; none is absent. `depth` = `nestingLimit` requests a stream without nested streams.
func encodeIntegers(_ values: UnsafeBufferPointer<Int64>, profile: Profile, depth: Int) -> [UInt8] {
    guard values.count > 0 else { return [IntegersEncoding.empty.rawValue] }
    let step = values.count > 1 ? values[1] &- values[0] : 0
    if sequenceEnd(first: values[0], step: step, count: values.count) != nil, isSequence(values, step: step) {
        return encodeSequence(first: values[0], step: step)
    }
    if depth < 3 {
        let factor = commonFactor(values)
        if factor > 1 { return encodeScaled(values, low: values.min() ?? 0, factor: factor, profile: profile, depth: depth) }
    }
    let survey = IntegersSurvey(values)
    let found =
        depth < 3
        ? encodeSingly(values, survey, profile: profile, depth: depth) : encodeDeep(values, survey, profile: profile, depth: depth)
    guard profile != .fast, depth < nestingLimit else { return found.bytes }
    let best = encodeRepeats(values, survey, found, profile: profile) ?? found.bytes
    // Parts of streams that are nested deeper are seldom digits that have something in common.
    guard profile == .modelled, depth < 2 else { return best }
    let digits = encodeModelled(values, low: survey.low, high: survey.high, goal: best.count &* 97 / 100) ?? best
    guard survey.steps.size(count: values.count) < survey.packed.size(count: values.count) else { return digits }
    let goal = digits.count &* 97 / 100
    return withSteps(values) { steps in
        guard let modelled = encodeModelled(steps, low: survey.steps.low, high: survey.steps.high, goal: goal) else { return digits }
        let delta = encodeDelta(
            values, low: survey.low, high: survey.high, ascending: isAscending(values), distanceLog: 8, steps: modelled)
        return delta.count < goal ? delta : digits
    }
}

/// Returns zstd pages of the values or of the steps if they are sufficiently smaller than `found`.
private func encodeRepeats(_ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, _ found: Encoded, profile: Profile) -> [UInt8]? {
    var goal =
        found.isSlow ? found.bytes.count &* (profile.isSmall ? 99 : 95) / 100 : secondTierGoal(found.bytes.count, values.count, profile)
    var best: [UInt8]?
    if let pages = encodePages(values, low: survey.low, high: survey.high, profile: profile, goal: goal) {
        (best, goal) = (pages, pages.count)
    }
    // Steps repeat without the values where a sequence begins again from another value, and where most steps are the same.
    let span = bitWidth(UInt64(bitPattern: survey.high &- survey.low))
    let isNarrower = bitWidth(UInt64(bitPattern: survey.steps.high &- survey.steps.low)) &+ 7 < span &+ 7 & ~7
    if isNarrower || survey.steps.size(count: values.count) &* 2 < survey.packed.size(count: values.count) {
        let delta: [UInt8]? = withSteps(values) { steps in
            guard let pages = encodePages(steps, low: survey.steps.low, high: survey.steps.high, profile: profile, goal: goal) else {
                return nil
            }
            return encodeDelta(
                values, low: survey.low, high: survey.high, ascending: isAscending(values), distanceLog: 8, steps: pages)
        }
        if let delta, delta.count < goal { best = delta }
    }
    return best
}

/// Encodes values whose streams are nested so deep that they may not contain further ones.
private func encodeDeep(_ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, profile: Profile, depth: Int) -> Encoded {
    let packedSize = survey.packed.size(count: values.count)
    if profile != .fast, depth < nestingLimit,
        let candidate = encodeEntropy(values, survey, packedSize: packedSize, deltaSize: .max, best: packedSize, profile: profile)
    {
        return Encoded(bytes: candidate, isSlow: true)
    }
    return Encoded(bytes: survey.packed.encode(values))
}

/// Encodes values with the best of the encodings that do not look for sequences of values that repeat.
private func encodeSingly(_ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, profile: Profile, depth: Int) -> Encoded {
    let packedSize = survey.packed.size(count: values.count)
    var best = packedSize
    enum Choice { case packed, delta }
    var choice = Choice.packed
    let anchors = (values.count &+ 63) / 64
    let anchorSize = anchors &* (bitWidth(UInt64(bitPattern: survey.high &- survey.low)) &+ 7) / 8
    let deltaSize = survey.steps.size(count: values.count) &+ anchorSize &+ 24
    if deltaSize &* 20 < best &* 19 { (choice, best) = (.delta, deltaSize) }
    var winner: Encoded?
    if survey.changes &* 3 < values.count &* 2 {
        let bitmap = min(values.count / 8, survey.changes &* 2)
        let estimate = bitmap &+ survey.changes &* packedSize / values.count
        if estimate < best || (profile != .fast && hasEqualRuns(values, changes: survey.changes)) {
            // Nested streams may use entropy coding; then the result must save as much as entropy coding must.
            var goal = secondTierGoal(best, values.count, profile)
            if !profile.isSmall {
                let light = encodeRunLength(values, changes: survey.changes, profile: .fast, depth: depth)
                if light.count < best { (winner, best) = (Encoded(bytes: light), light.count) }
                goal = min(goal, light.count &* (values.count < fullSegment ? 92 : 85) / 100)
            }
            if profile != .fast {
                let candidate = encodeRunLength(values, changes: survey.changes, profile: profile, depth: depth)
                if candidate.count < goal { (winner, best) = (Encoded(bytes: candidate, isSlow: true), candidate.count) }
            }
        }
    }
    let plain = best
    if let candidate = encodeFewDistinct(values, survey, packedSize: best, profile: profile, depth: depth) {
        let isSlow = candidate.isSlow && values.count >= fullSegment
        let goal = isSlow ? secondTierGoal(best, values.count, profile) : best &* (profile.isSmall ? 98 : 95) / 100
        if candidate.bytes.count < goal { (winner, best) = (candidate, candidate.bytes.count) }
    }
    let isSlow = winner?.isSlow ?? false
    if profile != .fast,
        let candidate = encodeEntropy(
            values, survey, packedSize: packedSize, deltaSize: deltaSize, best: isSlow ? plain : best, profile: profile),
        candidate.count < best
    {
        (winner, best) = (Encoded(bytes: candidate, isSlow: true), candidate.count)
    }
    if deltaSize <= packedSize &+ packedSize >> 2, let candidate = encodeSteeply(values, survey, best: best, profile: profile, depth: depth)
    {
        return Encoded(bytes: candidate, isSlow: winner?.isSlow ?? false)
    }
    if let winner { return winner }
    switch choice {
    case .packed: return Encoded(bytes: survey.packed.encode(values))
    case .delta:
        return withSteps(values) { steps in
            Encoded(
                bytes: encodeDelta(
                    values, low: survey.low, high: survey.high, ascending: isAscending(values), distanceLog: 6,
                    steps: survey.steps.encode(steps)))
        }
    }
}

/// Returns whether nearly all runs are as long as the run before: then the bitmap of a run-length stream repeats, and takes few bytes.
private func hasEqualRuns<Values: RandomAccessCollection<Int64>>(_ values: Values, changes: Int) -> Bool where Values.Index == Int {
    guard changes >= 8, changes &* 2 <= values.count else { return false }
    var start = 0, length = 0, different = 0
    for i in 1..<values.count where values[i] != values[i &- 1] {
        if i &- start != length {
            different &+= 1
            if different &* 16 > changes &+ 16 { return false }
        }
        (start, length) = (i, i &- start)
    }
    return true
}

/// Returns delta whose steps are delta-encoded themselves (second order or higher) if that is smaller than `best`.
private func encodeSteeply(_ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, best: Int, profile: Profile, depth: Int)
    -> [UInt8]?
{
    guard isSmooth(values) else { return nil }
    return withSteps(values) { steps in
        let second = IntegersSurvey(steps)
        // The sizes of steps and of steps of steps show whether a further order pays.
        var sizes = (survey.steps.size(count: steps.count), second.steps.size(count: steps.count))
        if profile != .fast {
            sizes.0 = min(sizes.0, EntropyPlan(steps, low: survey.steps.low, high: survey.steps.high, profile: profile).size)
            withSteps(steps) {
                sizes.1 = min(sizes.1, EntropyPlan($0, low: second.steps.low, high: second.steps.high, profile: profile).size)
            }
        }
        guard sizes.1 &* 100 < sizes.0 &* 97, sizes.1 < best else { return nil }
        let bytes = encodeDelta(
            values, low: survey.low, high: survey.high, ascending: isAscending(values), distanceLog: 8,
            steps: encodeIntegers(steps, profile: profile, depth: depth &+ 1))
        return bytes.count &* 100 < best &* (profile.isSmall ? 99 : 95) ? bytes : nil
    }
}

/// Returns whether steps of steps have fewer bits than steps, on average of some of them.
private func isSmooth(_ values: UnsafeBufferPointer<Int64>) -> Bool {
    var first = 0, second = 0
    for start in stride(from: 0, to: values.count &- 18, by: max(18, values.count / 128)) {
        for i in start..<(start &+ 16) {
            let step = values[i &+ 1] &- values[i], next = values[i &+ 2] &- values[i &+ 1]
            first &+= bitWidth(zigzag(step))
            second &+= bitWidth(zigzag(next &- step))
        }
    }
    return second &* 50 < first &* 49
}

/// Streams of this length belong to tables of more than one segment, whose columns scans read most.
let fullSegment = 65_536

/// Returns the maximum size of a stream that is read several times as slowly as bit-packed values, when the best other one takes `best`
/// bytes. In full segments, less than a quarter must be half a byte of each value at least, unless the values are derived.
private func secondTierGoal(_ best: Int, _ count: Int, _ profile: Profile) -> Int {
    if profile.isSmall { return best &* 99 / 100 }
    if count < fullSegment || profile == .derived { return best &* 90 / 100 }
    return max(best &* 78 / 100, min(best &* 90 / 100, best &- count / 2))
}

/// Returns the entropy-coded values, or delta with entropy-coded steps, if that is sufficiently smaller than `best`.
private func encodeEntropy(
    _ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, packedSize: Int, deltaSize: Int, best: Int,
    profile: Profile
) -> [UInt8]? {
    guard best > 64 else { return nil }
    let goal = secondTierGoal(best, values.count, profile)
    // If one form packs much worse than the other, entropy coding does not compensate for it.
    let plain = packedSize / 2 > deltaSize ? nil : EntropyPlan(values, low: survey.low, high: survey.high, profile: profile)
    let smallest = plain?.size ?? .max
    if deltaSize <= packedSize &+ packedSize >> 2 {
        let delta: [UInt8]? = withSteps(values) { steps in
            let plan = EntropyPlan(steps, low: survey.steps.low, high: survey.steps.high, profile: profile)
            let anchors = (values.count &+ 255) / 256 &* (bitWidth(UInt64(bitPattern: survey.high &- survey.low)) &+ 7) / 8
            let size = plan.size &+ anchors &+ 16
            guard size < smallest, size <= goal else { return nil }
            return encodeDelta(
                values, low: survey.low, high: survey.high, ascending: isAscending(values), distanceLog: 8,
                steps: plan.encode(steps, zoned: false))
        }
        if let delta, delta.count <= goal { return delta }
    }
    guard let plain, plain.size <= goal else { return nil }
    let bytes = plain.encode(values, zoned: true)
    return bytes.count <= goal ? bytes : nil
}

private func isSequence(_ values: UnsafeBufferPointer<Int64>, step: Int64) -> Bool {
    for i in 1..<values.count where values[i] &- values[i &- 1] != step { return false }
    return true
}

func isAscending(_ values: UnsafeBufferPointer<Int64>) -> Bool {
    for i in 1..<values.count where values[i] < values[i &- 1] { return false }
    return true
}

/// Returns the value before the first one, extrapolated with the second value's step.
func firstPredecessor(_ values: UnsafeBufferPointer<Int64>) -> Int64 {
    values.count > 1 ? values[0] &- (values[1] &- values[0]) : values[0]
}

/// Calls `body` with the steps between neighbours; the first step equals the second.
func withSteps<R>(_ values: UnsafeBufferPointer<Int64>, _ body: (UnsafeBufferPointer<Int64>) -> R) -> R {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { steps in
        var previous = firstPredecessor(values)
        for i in 0..<values.count {
            steps[i] = values[i] &- previous
            previous = values[i]
        }
        return body(UnsafeBufferPointer(steps))
    }
}

/// Returns the greatest common divisor of all differences between values, or 1 if there is none above 1.
private func commonFactor(_ values: UnsafeBufferPointer<Int64>) -> UInt64 {
    var factor: UInt64 = 0
    let first = values[0], hop = max(1, values.count / 64)
    for i in stride(from: 0, to: values.count, by: hop) {
        var (a, b) = (factor, distance(values[i], first))
        while b != 0 { (a, b) = (b, a % b) }
        factor = a
        if factor == 1 { return 1 }
    }
    guard factor > 1, factor <= UInt64(Int64.max) else { return 1 }
    for value in values {
        var (a, b) = (factor, distance(value, first) % factor)
        if b == 0 { continue }
        while b != 0 { (a, b) = (b, a % b) }
        factor = a
        if factor == 1 { return 1 }
    }
    return factor
}

@inline(__always)
private func distance(_ a: Int64, _ b: Int64) -> UInt64 { UInt64(bitPattern: a > b ? a &- b : b &- a) }

private func encodeScaled(_ values: UnsafeBufferPointer<Int64>, low: Int64, factor: UInt64, profile: Profile, depth: Int) -> [UInt8] {
    var out = ByteWriter()
    out.append(IntegersEncoding.scaled.rawValue)
    out.appendSignedVarint(low)
    out.appendVarint(factor)
    let child = withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { quotients in
        for i in 0..<values.count { quotients[i] = Int64(bitPattern: UInt64(bitPattern: values[i] &- low) / factor) }
        return encodeIntegers(UnsafeBufferPointer(quotients), profile: profile, depth: depth &+ 1)
    }
    out.append(contentsOf: child)
    return out.bytes
}
