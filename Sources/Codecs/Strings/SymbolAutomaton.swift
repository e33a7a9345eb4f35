/// A pattern as a finite automaton over symbol codes, derived from the automaton over bytes (`ByteAutomaton`), so that strings are searched
/// without being decoded.
struct SymbolAutomaton: Sendable {
    /// The transitions, by state and code: 4,096 codes for each state.
    private let next: [UInt8]
    private let isFinal: [Bool]
    let accepting: UInt8
    let unsure: UInt8
    /// The state after a code that has no symbol.
    let broken: UInt8

    init(_ bytes: ByteAutomaton, _ symbols: SymbolTable) {
        accepting = UInt8(bytes.accepting)
        unsure = UInt8(bytes.unsure)
        broken = unsure + 1
        let states = bytes.stateCount + 1
        isFinal = bytes.isFinal + [true]
        next = [UInt8](unsafeUninitializedCapacity: states << 12) { next, filled in
            next.initialize(repeating: UInt8(bytes.stateCount))
            filled = states << 12
            Self.fill(next.baseAddress!, bytes, symbols)
        }
    }

    private static func fill(_ next: UnsafeMutablePointer<UInt8>, _ bytes: ByteAutomaton, _ symbols: SymbolTable) {
        // The states through which each symbol leads from the beginning of the current piece.
        var paths = [SIMD16<UInt8>](repeating: SIMD16(repeating: 0), count: symbols.count), base = 0
        paths.withUnsafeMutableBytes { paths in
            symbols.slots.withUnsafeBytes { slots in
                bytes.next.withUnsafeBufferPointer { step in
                    for state in 0..<bytes.stateCount {
                        let row = next + state << 12
                        if bytes.isFinal[state] {
                            row.update(repeating: UInt8(state), count: symbols.count)
                            continue
                        }
                        let isBase = bytes.bases.contains(state)
                        if isBase { base = state }
                        for code in 0..<symbols.count {
                            let first = code << 4, end = first &+ Int(symbols.lengths[code])
                            var at = state, i = first
                            while i < end, !bytes.isFinal[at] {
                                at = Int(step[at << 8 | Int(slots[i])])
                                if isBase {
                                    paths[i] = UInt8(truncatingIfNeeded: at)
                                } else if at == Int(paths[i]) {
                                    // From here on the path is the same as from the beginning of the piece.
                                    at = Int(next[base << 12 | code])
                                    break
                                }
                                i &+= 1
                            }
                            while isBase, i < end {
                                paths[i] = UInt8(truncatingIfNeeded: at)
                                i &+= 1
                            }
                            row[code] = UInt8(truncatingIfNeeded: at)
                        }
                    }
                }
            }
        }
    }

    /// Tests every string of a vector; writes the results as bits of 16 words. `starts` are the positions of the first code of each string,
    /// and the end, all within bounds. Returns false if the automaton cannot decide some string, or if a code has no symbol (then
    /// `isBroken` is set).
    func search(
        _ codes: UnsafeRawPointer, _ starts: UnsafePointer<Int>, _ count: Int, isAtStart: Bool, into out: UnsafeMutablePointer<UInt64>,
        isBroken: inout Bool
    ) -> Bool {
        next.withUnsafeBufferPointer { next in
            isFinal.withUnsafeBufferPointer { isFinal in
                var worst: UInt8 = 0
                let codeCount = starts[count] &- starts[0]
                if isAtStart || codeCount > 1 << 17 || codeCount < 256 {
                    Bitwise.each(count, into: out) { row in
                        let state = Self.follow(next.baseAddress!, isFinal, codes, starts[row], starts[row &+ 1])
                        worst = max(worst, state)
                        return state == accepting
                    }
                } else {
                    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: codeCount) { room in
                        let states = room.baseAddress! - starts[0]
                        room.initialize(repeating: 0xFF)
                        for row in 0..<count where starts[row] < starts[count] { states[starts[row]] = 0 }
                        Self.follow(next.baseAddress!, codes, starts, count, states)
                        // A string without codes ends in the initial state.
                        Bitwise.each(count, into: out) { row in
                            let state = starts[row] == starts[row &+ 1] ? 0 : states[starts[row &+ 1] &- 1]
                            worst = max(worst, state)
                            return state == accepting
                        }
                    }
                }
                isBroken = worst == broken
                return worst < unsure
            }
        }
    }

    /// Returns the state in which a string ends, or the final state that it enters first.
    @inline(__always)
    private static func follow(
        _ next: UnsafePointer<UInt8>, _ isFinal: UnsafeBufferPointer<Bool>, _ codes: UnsafeRawPointer, _ start: Int, _ end: Int
    ) -> UInt8 {
        var state = 0, i = start
        while i < end {
            state = Int(next[state << 12 | code(codes, i)])
            if isFinal[state] { break }
            i &+= 1
        }
        return UInt8(truncatingIfNeeded: state)
    }

    /// Writes the state after every code. On entry, `states` holds 0 where a string begins and 255 elsewhere. Strings are independent of
    /// each other, so four ranges of strings are processed in parallel: within one range, each step depends on the one before it.
    private static func follow(
        _ next: UnsafePointer<UInt8>, _ codes: UnsafeRawPointer, _ starts: UnsafePointer<Int>, _ count: Int,
        _ states: UnsafeMutablePointer<UInt8>
    ) {
        let stops = (starts[count >> 2], starts[count >> 1], starts[(3 &* count) >> 2], starts[count])
        // Each range begins at an even code; a code before it is processed first.
        var at = (starts[0], starts[count >> 2], starts[count >> 1], starts[(3 &* count) >> 2])
        var state = (0, 0, 0, 0)
        state.0 = step(next, codes, states, &at.0, stops.0, 0, until: at.0 &+ at.0 & 1)
        state.1 = step(next, codes, states, &at.1, stops.1, 0, until: at.1 &+ at.1 & 1)
        state.2 = step(next, codes, states, &at.2, stops.2, 0, until: at.2 &+ at.2 & 1)
        state.3 = step(next, codes, states, &at.3, stops.3, 0, until: at.3 &+ at.3 & 1)
        let pairs = max(0, min(min(stops.0 &- at.0, stops.1 &- at.1), min(stops.2 &- at.2, stops.3 &- at.3)) >> 1)
        let c = (codes + at.0 >> 1 &* 3, codes + at.1 >> 1 &* 3, codes + at.2 >> 1 &* 3, codes + at.3 >> 1 &* 3)
        let s = (states + at.0, states + at.1, states + at.2, states + at.3)
        for pair in 0..<pairs {
            let byte = 3 &* pair, i = 2 &* pair
            state.0 = Int(next[(state.0 & Int(s.0[i])) << 12 | even(c.0 + byte)])
            state.1 = Int(next[(state.1 & Int(s.1[i])) << 12 | even(c.1 + byte)])
            state.2 = Int(next[(state.2 & Int(s.2[i])) << 12 | even(c.2 + byte)])
            state.3 = Int(next[(state.3 & Int(s.3[i])) << 12 | even(c.3 + byte)])
            s.0[i] = UInt8(truncatingIfNeeded: state.0)
            s.1[i] = UInt8(truncatingIfNeeded: state.1)
            s.2[i] = UInt8(truncatingIfNeeded: state.2)
            s.3[i] = UInt8(truncatingIfNeeded: state.3)
            state.0 = Int(next[(state.0 & Int(s.0[i &+ 1])) << 12 | odd(c.0 + byte)])
            state.1 = Int(next[(state.1 & Int(s.1[i &+ 1])) << 12 | odd(c.1 + byte)])
            state.2 = Int(next[(state.2 & Int(s.2[i &+ 1])) << 12 | odd(c.2 + byte)])
            state.3 = Int(next[(state.3 & Int(s.3[i &+ 1])) << 12 | odd(c.3 + byte)])
            s.0[i &+ 1] = UInt8(truncatingIfNeeded: state.0)
            s.1[i &+ 1] = UInt8(truncatingIfNeeded: state.1)
            s.2[i &+ 1] = UInt8(truncatingIfNeeded: state.2)
            s.3[i &+ 1] = UInt8(truncatingIfNeeded: state.3)
        }
        at = (at.0 &+ 2 &* pairs, at.1 &+ 2 &* pairs, at.2 &+ 2 &* pairs, at.3 &+ 2 &* pairs)
        _ = step(next, codes, states, &at.0, stops.0, state.0, until: stops.0)
        _ = step(next, codes, states, &at.1, stops.1, state.1, until: stops.1)
        _ = step(next, codes, states, &at.2, stops.2, state.2, until: stops.2)
        _ = step(next, codes, states, &at.3, stops.3, state.3, until: stops.3)
    }

    /// Processes codes one by one from `at` to `until` or `end`, whichever is first.
    private static func step(
        _ next: UnsafePointer<UInt8>, _ codes: UnsafeRawPointer, _ states: UnsafeMutablePointer<UInt8>, _ at: inout Int, _ end: Int,
        _ before: Int, until: Int
    ) -> Int {
        var state = before
        while at < min(until, end) {
            state = Int(next[(state & Int(states[at])) << 12 | code(codes, at)])
            states[at] = UInt8(truncatingIfNeeded: state)
            at &+= 1
        }
        return state
    }

    @inline(__always)
    private static func even(_ pointer: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: pointer.loadUnaligned(as: UInt16.self)) & 0xFFF)
    }
    @inline(__always)
    private static func odd(_ pointer: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: 1, as: UInt16.self)) >> 4)
    }
    /// Returns code i.
    @inline(__always)
    private static func code(_ codes: UnsafeRawPointer, _ i: Int) -> Int {
        i & 1 == 0 ? even(codes + i >> 1 &* 3) : odd(codes + i >> 1 &* 3)
    }
}

/// Fills 16 words with one bit for each row.
enum Bitwise {
    @inline(__always)
    static func each(_ count: Int, into out: UnsafeMutablePointer<UInt64>, _ body: (Int) -> Bool) {
        for w in 0..<16 {
            let first = w &* 64, n = max(0, min(64, count &- first))
            var bits: UInt64 = 0
            for i in 0..<n { bits |= (body(first &+ i) ? 1 : 0) &<< UInt64(truncatingIfNeeded: i) }
            out[w] = bits
        }
    }
}
