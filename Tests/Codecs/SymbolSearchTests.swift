import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

/// Searching encoded symbols for a pattern gives the same rows as decoding and comparing.
@Suite struct SymbolSearchTests {
    /// Returns random bytes of few letters, so that pieces overlap with themselves and symbols overlap with pieces.
    private static func bytes(_ dice: inout Random, _ most: Int, _ letters: [UInt8]) -> [UInt8] {
        (0..<dice.below(most + 1)).map { _ in letters[dice.below(letters.count)] }
    }

    private static func table(_ dice: inout Random, _ letters: [UInt8]) -> SymbolTable {
        var symbols: Set<[UInt8]> = []
        for _ in 0..<dice.below(300) {
            let symbol = bytes(&dice, 16, letters)
            if symbol.count > 1 { symbols.insert(symbol) }
        }
        return SymbolTable((0...255).map { [UInt8($0)] } + symbols.sorted { $0.lexicographicallyPrecedes($1) })
    }

    private static func contains(_ value: ArraySlice<UInt8>, _ wanted: [UInt8]) -> Int? {
        guard value.count >= wanted.count else { return nil }
        return (value.startIndex...(value.endIndex - wanted.count)).first { value[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }

    /// Returns whether the pieces match in order, each at its first possible position.
    private static func passes(_ value: [UInt8], _ pattern: TextPattern) -> Bool {
        let value = pattern.ignoresCase ? value.map { $0 &- 65 < 26 ? $0 | 32 : $0 } : value
        if pattern.pieces.count == 1, pattern.isAtStart, pattern.isAtEnd { return value == pattern.pieces[0] }
        var rest = value[...], pieces = pattern.pieces[...]
        if pattern.isAtStart {
            let first = pieces.removeFirst()
            guard rest.starts(with: first) else { return false }
            rest = rest.dropFirst(first.count)
        }
        if pattern.isAtEnd, let last = pieces.popLast() {
            guard rest.count >= last.count, rest.suffix(last.count).elementsEqual(last) else { return false }
            rest = rest.dropLast(last.count)
        }
        for piece in pieces {
            guard let found = contains(rest, piece) else { return false }
            rest = rest[(found + piece.count)...]
        }
        return true
    }

    private static func pattern(_ dice: inout Random, _ letters: [UInt8]) -> TextPattern? {
        let pieces = (0..<(1 + (dice.below(3) == 0 ? dice.below(4) : 0))).map { _ in bytes(&dice, dice.below(10) == 0 ? 40 : 6, letters) }
        let isFolded = dice.below(4) == 0, ignoresCase = isFolded && dice.below(4) > 0
        return TextPattern(
            pieces: pieces, isAtStart: dice.below(4) == 0, isAtEnd: dice.below(4) == 0, ignoresCase: ignoresCase, isFolded: isFolded)
    }

    @Test(arguments: Seed.first(15))
    func `searching symbols for a pattern finds the same rows as decoding the text`(seed: Seed) throws {
        var dice = Random(seed), asked = 0, told = 0
        let alphabets: [[UInt8]] = [Array("ab".utf8), Array("abc ".utf8), Array("abABcC".utf8), [0, 255, 97], Array("aé\u{212A}k".utf8)]
        let letters = alphabets[Int(seed.number) % alphabets.count], table = Self.table(&dice, letters)
        // Vectors of every kind: incomplete ones, long strings and empty strings.
        for count in [1, 5, 700, 1050] {
            var text = Text()
            let most = [0, 3, 20, 100][dice.below(4)]
            for _ in 0..<count { text.append(Self.bytes(&dice, dice.below(50) == 0 ? most * 8 : most, letters)) }
            let stream = SymbolEncoder(table).encode(
                text, training: .inline(TrainedText.encode(symbols: table, level: 1)), profile: .standard)
            try withExactBytes(stream) { raw in
                let reader = try TextReader(raw, count: count, shared: [])
                for _ in 0..<14 {
                    guard let pattern = Self.pattern(&dice, letters) else { continue }
                    for vector in 0..<((count + 1023) / 1024) {
                        let rows = vector * 1024..<min(count, vector * 1024 + 1024)
                        var out = (0..<16).map { _ in dice.next() }
                        asked += 1
                        guard try out.withUnsafeMutableBufferPointer({ try reader.search(pattern, vector: vector, into: $0.baseAddress!) })
                        else {
                            #expect(
                                pattern.isFolded && rows.contains { row in text.array(row).contains { $0 >= 0x80 } },
                                "seed \(seed): no answer although all rows are ASCII")
                            continue
                        }
                        told += 1
                        var wanted = [UInt64](repeating: 0, count: 16)
                        for (i, row) in rows.enumerated() where Self.passes(text.array(row), pattern) {
                            wanted[i >> 6] |= 1 << UInt64(i & 63)
                        }
                        #expect(
                            out == wanted,
                            "seed \(seed): \(pattern.pieces) \(pattern.isAtStart) \(pattern.isAtEnd) \(pattern.ignoresCase), \(count) strings"
                        )
                    }
                }
            }
        }
        #expect(told > asked / 3 && told > 20, "seed \(seed): \(told) of \(asked)")
    }

    @Test func `patterns that cannot be compared byte by byte are refused`() {
        #expect(TextPattern(pieces: [], isAtStart: false, isAtEnd: false) == nil)
        #expect(TextPattern(pieces: [[]], isAtStart: true, isAtEnd: false) == nil)
        #expect(TextPattern(pieces: [[97], []], isAtStart: true, isAtEnd: false) == nil)
        #expect(TextPattern(pieces: [[UInt8](repeating: 97, count: 97)], isAtStart: false, isAtEnd: false) == nil)
        #expect(TextPattern(pieces: [Array("é".utf8)], isAtStart: false, isAtEnd: false, isFolded: true) == nil)
        #expect(TextPattern(pieces: [Array("A".utf8)], isAtStart: false, isAtEnd: false, ignoresCase: true, isFolded: true) == nil)
        #expect(TextPattern(pieces: [[]], isAtStart: true, isAtEnd: true) != nil)
    }

    @Test func `a code without a symbol is damage in a search too`() throws {
        let all = SymbolTable((0...255).map { [UInt8($0)] }), few = SymbolTable((0..<100).map { [UInt8($0)] })
        for count in [3, 1000] {
            var text = Text()
            for i in 0..<count { text.append(i == count / 2 ? [97, 200, 97] : [97, 98]) }
            let stream = SymbolEncoder(all).encode(text, training: .inline(TrainedText.encode(symbols: few, level: 1)), profile: .standard)
            try withExactBytes(stream) { raw in
                let reader = try TextReader(raw, count: count, shared: [])
                let pattern = TextPattern(pieces: [[97, 97]], isAtStart: false, isAtEnd: false)!
                var out = [UInt64](repeating: 0, count: 16)
                #expect(throws: Damage.self) {
                    _ = try out.withUnsafeMutableBufferPointer { try reader.search(pattern, vector: 0, into: $0.baseAddress!) }
                }
            }
        }
    }
}
