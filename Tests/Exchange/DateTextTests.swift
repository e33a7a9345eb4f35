import FirnExchange
import FirnKit
import FirnTable
import Testing

@Suite struct DateTextTests {
    private func day(_ bytes: [UInt8]) -> [Int]? {
        bytes.withUnsafeBytes { DateText.day($0) }.map { [$0.year, $0.month, $0.day] }
    }

    /// A second, simple implementation.
    private func expectedDay(_ bytes: [UInt8]) -> [Int]? {
        let isDigit = bytes.map { $0 >= 48 && $0 <= 57 }
        guard isDigit == [true, true, true, true, false, true, true, false, true, true], bytes[4] == 45, bytes[7] == 45 else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "-").map { Int($0)! }
        let isLeap = parts[0] % 4 == 0 && parts[0] % 100 != 0 || parts[0] % 400 == 0
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(parts[1]) && (1...lengths[parts[1] - 1]).contains(parts[2]) ? parts : nil
    }

    @Test func `a day is read if and only if its ten bytes name one`() {
        for text in ["2024-02-29", "1900-01-31", "0000-12-10", "9999-11-30"] {
            for position in 0..<10 {
                for byte in UInt8.min...UInt8.max {
                    var bytes = Array(text.utf8)
                    bytes[position] = byte
                    let found = day(bytes), expected = expectedDay(bytes)
                    if found != expected { Issue.record("\(bytes): \(String(describing: found))") }
                }
            }
        }
        for (year, month) in [(1900, 2), (2000, 2), (2023, 2), (2024, 2), (2024, 4), (2024, 12), (2024, 13), (2024, 0)] {
            for number in 0...40 {
                let bytes = Array("\(year)-\(month < 10 ? "0" : "")\(month)-\(number < 10 ? "0" : "")\(number)".utf8)
                #expect(day(bytes) == expectedDay(bytes), "\(year) \(month) \(number)")
            }
        }
    }

    private func text(_ seconds: Int64, _ nanoseconds: Int64, _ notation: Notation) -> String {
        String(unsafeUninitializedCapacity: DateText.room) { out in
            DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, to: out.baseAddress!)
        }
    }

    private func read(_ text: String) -> DateText.Reading? { Array(text.utf8).withUnsafeBytes { DateText.parse($0) } }

    @Test func `a date in any layout with a time of day is read back, and its layout is found again`() throws {
        var random = Random(seed: 7), layouts = 0
        for code in UInt8(144)...191 {
            for parameter in UInt8.min...UInt8.max {
                let notation = Notation(code: code, parameter: parameter)
                guard let layout = DateTimeLayout(notation) else { continue }
                layouts += 1
                for unit: Int64 in [1_000_000_000, 1_000_000, 1_000, 1] {
                    let seconds = Int64.random(in: -60_000_000_000...200_000_000_000, using: &random)
                    let nanoseconds = Int64.random(in: 0..<1_000_000_000, using: &random) / unit * unit
                    let written = text(seconds, nanoseconds, notation)
                    let found = try #require(read(written), "\(notation) \(written)")
                    #expect(found.seconds == seconds && found.nanoseconds == nanoseconds, "\(notation) \(written)")
                    let time = try #require(found.time)
                    // Hours and minutes after a space are written as other layouts write them.
                    let isFull = layout.zone == .hours && layout.quarters % 4 != 0
                    #expect(time.followsT == layout.followsT && time.quarters == layout.quarters, "\(notation) \(written)")
                    #expect(time.zone == (isFull ? .colon : layout.zone), "\(notation) \(written)")
                    #expect(Int(time.digits) == layout.digits(nanoseconds))
                }
                // The simple notations have codes of their own.
                if let again = layout.notation, again.code >= 144 { #expect(again == notation) }
            }
        }
        #expect(layouts == 12 * (7 * 127 + 5))
    }

    @Test(arguments: [
        (144, 0, "2024-02-29T10:11:12"), (144, 1, "2024-02-29T10:11:12Z"), (144, 2, "2024-02-29 10:11:12"),
        (144, 3, "2024-02-29 10:11:12 UTC"),
        (144, 4, "2024-02-29 10:11:12Z"), (145, 72, "2024-02-29T12:11:12+02:00"), (146, 64, "2024-02-29T10:11:12+0000"),
        (147, 32, "2024-02-29 02:11:12-08:00"), (148, 86, "2024-02-29 15:41:12+05:30"), (148, 72, "2024-02-29 12:11:12+02"),
        (149, 42, "2024-02-29 04:41:12 -0530"), (150, 72, "2024-02-29 12:11:12 +02:00"), (151, 72, "2024-02-29 12:11:12+0200"),
        (145, 200, "2024-02-29T12:11:12.0+02:00"), (169, 200, "2024-02-29T12:11:12.0000000+02:00"),
        (177, 72, "2024-02-29T12:11:12.000000000+02:00"),
        (177, 200, "2024-02-29T12:11:12+02:00"), (185, 72, "2024-02-29T12:11:12+02:00"), (185, 200, "2024-02-29T12:11:12+02:00"),
    ])
    func `the bytes of a notation stay the same`(code: UInt8, parameter: UInt8, expected: String) {
        #expect(text(1_709_201_472, 0, Notation(code: code, parameter: parameter)) == expected)
    }

    @Test(arguments: [(145, 0), (144, 5), (151, 0), (192, 72), (143, 72)])
    func `bytes that are no layout are written as UTC`(code: UInt8, parameter: UInt8) {
        #expect(text(1_709_201_472, 0, Notation(code: code, parameter: parameter)) == "2024-02-29T10:11:12Z")
    }

    @Test func `zones are read in their forms only`() {
        let valid = ["Z", "+00:00", "+0000", "+00", "-08:00", "+05:45", "+0545", "+14", "-12:00", "+15:45"]
        for zone in valid { #expect(read("2024-02-29T12:00:00" + zone) != nil, "\(zone)") }
        for zone in [" UTC", " +02:00", " +0200", "Z", "+02"] { #expect(read("2024-02-29 12:00:00.5" + zone) != nil, "\(zone)") }
        #expect(read("2024-02-29T00:00:00+02:00")?.seconds == read("2024-02-28T22:00:00Z")?.seconds)
        #expect(read("2024-02-28T23:30:00-05:45")?.seconds == read("2024-02-29T05:15:00Z")?.seconds)
        for zone in [
            "-00:00", "-0000", "-00", "+16:00", "+02:07", "+2:00", "+02:0", "+02:000", "+020", "+", "-", " ", "z", "ZZ", " Z", " +02",
            "UTC", " utc",
            " GMT", "+02:60", "+0x:00", "+02-00", "  +02:00", "+02:00 ",
        ] {
            #expect(read("2024-02-29T12:00:00" + zone) == nil, "\(zone)")
            #expect(read("2024-02-29 12:00:00.25" + zone) == nil, "\(zone)")
        }
    }

    @Test func `the ways to write the fraction of a second are those that write the same digits`() {
        for digits in UInt8(0)...9 {
            for tail in 0...Int(digits) {
                // The last `tail` digits are zeros.
                let all = "123456789".prefix(Int(digits) - tail) + String(repeating: "0", count: tail)
                let nanoseconds = Int64(all + String(repeating: "0", count: 9 - Int(digits))) ?? 0
                let found = DateFractions(digits: digits, nanoseconds: nanoseconds)
                for (i, fraction) in DateTimeLayout.Fraction.all.enumerated() {
                    let layout = DateTimeLayout(followsT: true, zone: .none, fraction: fraction)
                    let isFixedLonger = if case .fixed(let count) = fraction { count != digits } else { false }
                    let fits = layout.digits(nanoseconds) == Int(digits) && !isFixedLonger
                    #expect(found.contains(DateFractions(rawValue: 1 << UInt16(i))) == fits, "\(all) \(fraction)")
                }
            }
        }
    }
}
