import FirnExchange
import FirnKit
import Testing

@testable import FirnCSV

@Suite struct CSVShortNumberTests {
    /// Calls `body` with the memory of a text, which other bytes follow as in a block.
    private func withCell<R>(_ text: [UInt8], after: UInt8, _ body: (UnsafePointer<UInt8>) -> R) -> R {
        (text + [UInt8](repeating: after, count: scanSlack)).withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    private func checkCell(_ text: [UInt8], after: UInt8) {
        withCell(text, after: after) { memory in
            let bytes = UnsafeRawBufferPointer(start: memory, count: text.count), name = String(decoding: text, as: UTF8.self)
            let fast = cellShape(memory, text.count), slow = numberShape(memory, text.count)
            #expect(fast.shape == slow.shape && (fast.shape.isEmpty || fast.digits == slow.digits), "the shape of \(name)")
            #expect(CSVShortNumber.int(bytes) == NumberText.parseInt64(bytes), "the integer \(name)")
            #expect(
                CSVShortNumber.double(bytes).map(\.bitPattern) == NumberText.parseDouble(bytes).map(\.bitPattern), "the double \(name)")
        }
    }

    @Test(arguments: 1...4)
    func `short numbers have the shape and the value that reading byte by byte gives`(seed: UInt64) {
        var dice = Random(seed: seed)
        let kinds: [[UInt8]] = [
            Array("0123456789".utf8), Array("0123456789.".utf8), Array("00001.-".utf8), Array("0123456789.-+e xN".utf8),
        ]
        for _ in 0..<4_000 {
            let letters = kinds[Int(dice.next() % UInt64(kinds.count))], count = 1 + Int(dice.next() % 20)
            var text = (0..<count).map { _ in letters[Int(dice.next() % UInt64(letters.count))] }
            if dice.next() % 4 == 0 { text[0] = UInt8(ascii: "-") }
            if count > 2, dice.next() % 3 == 0 { text[1 + Int(dice.next() % UInt64(count - 1))] = UInt8(ascii: ".") }
            checkCell(text, after: [0, 48, 57, 46, 255][Int(dice.next() % 5)])
        }
    }

    @Test(arguments: [
        "0", "-0", "-", ".", "-.", "1.", ".1", "-.1", "00", "01", "-01", "0.0", "-0.0", "0.000001", "0.0000001", "9007199254740992",
        "9007199254740993", "9999999999999999", "123456789012345", "-12345678901234", "-123456789012345", "1.2.3", "1-2", "12345678.12345",
        "0.00000000000001", "99999999", "100000000", "12345678", "1e5", "1E-05", "+5", "NaN", "inf",
    ])
    func `numbers at the limits of the fast path have the same shape and value`(text: String) {
        for after: UInt8 in [0, 48, 57, 46, 255] { checkCell(Array(text.utf8), after: after) }
    }

    @Test func `every byte is found among sixteen`() {
        var dice = Random(seed: 7)
        for byte in UInt8.min...UInt8.max {
            var bytes = (0..<64).map { _ in UInt8(truncatingIfNeeded: dice.next() & 3) &+ byte &- 1 }
            bytes += [0]
            let others: (UInt8, UInt8) = (byte &+ 1, byte &- 1)
            bytes.withUnsafeBufferPointer { bytes in
                for at in 0..<48 {
                    let found = Bytes16(bytes.baseAddress! + at)
                    let expected = (0..<16).reduce(UInt32(0)) { $0 | (bytes[at + $1] == byte ? 1 << UInt32($1) : 0) }
                    #expect(found.equal(Bytes16(repeating: byte)).mask == expected)
                    let among = (0..<16).reduce(UInt32(0)) { $0 | (bytes[at + $1] &- byte < 2 ? 1 << UInt32($1) : 0) }
                    #expect(found.isAmong(byte, count: 2).mask == among)
                }
                let expected = (0..<64).reduce(UInt64(0)) {
                    $0 | ([byte, others.0, others.1].contains(bytes[$1]) ? 1 << UInt64($1) : 0)
                }
                #expect(marks64(bytes.baseAddress!, byte, others.0, others.1) == expected)
            }
        }
    }
}
