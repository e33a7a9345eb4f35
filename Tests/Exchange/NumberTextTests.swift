import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

private func text(_ body: (UnsafeMutablePointer<UInt8>) -> Int) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
        let count = body(buffer.baseAddress!)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

private func parsed(_ text: String) -> Double? { Array(text.utf8).withUnsafeBytes { NumberText.parseDouble($0) } }
private func parsedInt(_ text: String) -> Int64? { Array(text.utf8).withUnsafeBytes { NumberText.parseInt64($0) } }
private func plain(_ x: Double) -> String { text { NumberText.writePlain(x, to: $0) } }

@Suite struct NumberTextTests {
    @Test func `whole numbers are written and read at every width`() {
        var value: Int64 = 1
        for _ in 0..<19 {
            for near in [value - 1, value, value + 1, -value, -value + 1] {
                #expect(text { NumberText.write(near, to: $0) } == String(near))
                #expect(parsedInt(String(near)) == near)
            }
            value &*= 10
        }
        for edge in [Int64.max, .min] {
            #expect(text { NumberText.write(edge, to: $0) } == String(edge))
            #expect(parsedInt(String(edge)) == edge)
        }
        #expect(text { NumberText.write(UInt64.max, to: $0) } == "18446744073709551615")
        for bad in ["", "-", "+", "9223372036854775808", "-9223372036854775809", "1 ", "1.0", "x", "99999999999999999999"] {
            #expect(parsedInt(bad) == nil)
        }
    }

    @Test func `exponents of two digits are written as the standard library writes them`() {
        func exponent(_ x: Double, _ pointZero: Bool) -> String {
            text { NumberText.writeTwoDigitExponent(x, pointZero: pointZero, to: $0) }
        }
        var random = Random(seed: 7)
        for _ in 0..<20_000 {
            let x = Double(bitPattern: random.next())
            guard x.isFinite, x.magnitude < 1e-4 || x.magnitude >= 1e16, x != 0 else { continue }
            #expect(exponent(x, false) == x.description && exponent(-x, true) == (-x).description)
        }
        let cases: [(Double, String, String)] = [
            (0, "0", "0.0"), (-0.0, "-0", "-0.0"), (1e-4, "0.0001", "0.0001"), (9.9e-5, "9.9e-05", "9.9e-05"), (1e16, "1e+16", "1e+16"),
            (9_999_999_999_999_998, "9999999999999998", "9999999999999998.0"), (-1e100, "-1e+100", "-1e+100"), (1234, "1234", "1234.0"),
            (.infinity, "inf", "inf"), (-.infinity, "-inf", "-inf"), (.nan, "NaN", "NaN"), (5e-324, "5e-324", "5e-324"),
        ]
        for (x, without, with) in cases { #expect(exponent(x, false) == without && exponent(x, true) == with) }
    }

    @Test func `numbers with a fixed number of digits after the point have exactly these digits`() {
        var random = Random(Seed(1))
        let edges = [0, 1, 9, 10, 99, 9_999, 10_000, 9_999_999, 10_000_000, 99_999_999, 100_000_000, 100_000_001, 9_999_999_999_999]
        for scaled in edges + (0..<4000).map({ _ in random.number(0...(1 << random.number(1...46))) }) {
            var power = 1.0
            for digits in 1...9 {
                power *= 10
                let whole = String(repeating: "0", count: max(0, digits + 1 - "\(scaled)".count)) + "\(scaled)"
                let expected = whole.dropLast(digits) + "." + whole.suffix(digits)
                let value = Double(scaled) / power
                #expect(text { NumberText.write(value, fixed: digits, to: $0) } == expected)
                if scaled > 0 { #expect(text { NumberText.write(-value, fixed: digits, to: $0) } == "-" + expected) }
            }
        }
    }

    @Test func `doubles are written in the documented layout`() {
        let cases: [(Double, String)] = [
            (0, "0"), (-0.0, "-0"), (1, "1"), (1.5, "1.5"), (-2.25, "-2.25"), (0.1, "0.1"), (1e-6, "0.000001"), (1.5e-7, "1.5e-7"),
            (1e21, "1e21"), (1e20, "100000000000000000000"),
            (123456789012345680, "123456789012345680"), (9007199254740992, "9007199254740992"),
            (1.7976931348623157e308, "1.7976931348623157e308"), (5e-324, "5e-324"),
            (0.30000000000000004, "0.30000000000000004"), (1234.5678901234567, "1234.5678901234567"), (1e-5, "0.00001"), (.nan, "NaN"),
            (-.infinity, "-inf"), (1.5e25, "1.5e25"),
        ]
        for (value, expected) in cases {
            #expect(plain(value) == expected)
        }
        #expect(text { NumberText.writePointZero(3, to: $0) } == "3.0")
        #expect(text { NumberText.writePointZero(3.25, to: $0) } == "3.25")
        #expect(text { NumberText.write(1.5, fixed: 2, to: $0) } == "1.50")
        #expect(text { NumberText.write(-0.0, fixed: 2, to: $0) } == "-0.00")
        #expect(text { NumberText.write(1.234, fixed: 2, to: $0) } == "1.234")
        #expect(text { NumberText.write(12.000001, fixed: 6, to: $0) } == "12.000001")
    }

    @Test func `every double survives a round trip with the same bits`() {
        let seed = Seed.one(58)
        var random = Random(seed)
        for round in 0..<200_000 {
            let value: Double
            switch round & 3 {
            case 0: value = Double(bitPattern: random.next())
            case 1: value = (Double.random(in: -1e6...1e6, using: &random) * 10_000).rounded() / 10_000
            case 2: value = Double.random(in: -1e3...1e3, using: &random)
            default: value = Double(Int64.random(in: -(1 << 60)...(1 << 60), using: &random))
            }
            guard value.isFinite else { continue }
            let written = plain(value)
            #expect(parsed(written)?.bitPattern == value.bitPattern, "seed \(seed): \(value) as \(written)")
            let fixed = text { NumberText.write(value, fixed: 4, to: $0) }
            #expect(parsed(fixed)?.bitPattern == value.bitPattern, "seed \(seed): \(value) as \(fixed)")
        }
    }

    @Test func `text that is not a number is refused, and unusual numbers are exact`() {
        for bad in ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "1_000", " 1", "1 ", "0x10", "1e400", "nan", "Infinity"] {
            #expect(parsed(bad) == nil, "\(bad)")
        }
        for good in [
            "1", "-1", "+1", ".5", "5.", "1e5", "1E-5", "123456789012345678901234567890", "0.1234567890123456789012345", "9007199254740993",
            "2.2250738585072014e-308", "1e-400",
        ] {
            #expect(
                parsed(good)?.bitPattern == Double(good.hasPrefix(".") ? "0" + good : good.hasSuffix(".") ? good + "0" : good)?.bitPattern,
                "\(good)")
        }
    }

    @Test func `dates are read only in their notations and are written back unchanged`() {
        for good in ["2016-09-29", "1970-01-01", "0000-01-01", "9999-12-31", "2000-02-29", "1600-02-29", "1969-12-31"] { check(good) }
        for good in [
            "2016-09-29 10:11:12", "2016-09-29T10:11:12", "2016-09-29T10:11:12Z", "2016-09-29T10:11:12.5Z", "1901-01-01 00:00:00.000000001",
            "1969-12-31T23:59:59.999",
        ] { check(good) }
        for bad in [
            "2016-02-30", "2015-02-29", "1900-02-29", "2016-13-01", "2016-00-01", "2016-01-00", "2016-1-1", "2016-01-01T24:00:00",
            "2016-01-01T10:11", "2016-01-01 10:11:12 Z",
            "2016-01-01T10:11:60", "2016-01-01T10:11:12.", "2016-01-01T10:11:12.1234567890", "2016/01/01", "2016-01-01T10:11:12-00:00",
            "20x6-01-01", "2016-01-01 ",
        ] {
            #expect(Array(bad.utf8).withUnsafeBytes { DateText.parse($0) } == nil, "\(bad)")
        }
        for days in stride(from: -800_000, to: 3_000_000, by: 977) {
            let written = text { DateText.write(seconds: Int64(days) * 86_400, nanoseconds: 0, notation: .dateOnly, to: $0) }
            if written.utf8.count == 10 {
                #expect(Array(written.utf8).withUnsafeBytes { DateText.parse($0)!.seconds } == Int64(days) * 86_400)
            }
        }
        #expect(text { DateText.write(seconds: .max, nanoseconds: 999_999_999, notation: .plain, to: $0) }.utf8.count <= DateText.room)
        #expect(text { DateText.write(seconds: .min, nanoseconds: 0, notation: .dateOnly, to: $0) }.utf8.count <= DateText.room)
    }

    private func check(_ good: String) {
        let reading = Array(good.utf8).withUnsafeBytes { DateText.parse($0) }
        guard let reading else { Issue.record("\(good) is not read as a date"); return }
        #expect(
            text { DateText.write(seconds: reading.seconds, nanoseconds: reading.nanoseconds, notation: reading.notation, to: $0) } == good)
    }

    @Test func `a UUID is written in the case of the letters that were read`() {
        let lower = "0f8fad5b-d9cb-469f-a165-70867728950e"
        for (sample, letters) in [(lower, IdentifierText.LetterCase.lower), (lower.uppercased(), .upper)] {
            let reading = Array(sample.utf8).withUnsafeBytes { IdentifierText.parseUUID($0) }
            #expect(reading?.letters == letters)
            #expect(reading?.value == Identifier(uuidText: sample))
            #expect(
                text {
                    IdentifierText.write(uuid: reading!.value, upper: letters == .upper, to: $0); return 36
                } == sample)
        }
        for bad in ["0f8fad5b-d9cb-469f-a165-70867728950", "0F8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5bxd9cb-469f-a165-70867728950e"] {
            #expect(Array(bad.utf8).withUnsafeBytes { IdentifierText.parseUUID($0) } == nil)
        }
    }

    @Test func `a text equals a double exactly only if all digits agree with its value`() {
        func exactly(_ text: String, _ value: Double) -> Bool { Array(text.utf8).withUnsafeBytes { NumberText.isExactly($0, value) } }
        #expect(
            exactly("0.5", 0.5) && exactly("-0.5", -0.5) && exactly("5e-1", 0.5) && exactly("0.50000", 0.5) && exactly("1e3", 1000)
                && exactly("1e22", 1e22))
        #expect(exactly("0.1000000000000000055511151231257827021181583404541015625", 0.1))
        #expect(exactly("0.100000001490116119384765625", Double(Float(0.1))))
        #expect(exactly("9223372036854775808", 0x1p63) && exactly("9007199254740992", 0x1p53))
        #expect(exactly("0.\(String(repeating: "0", count: 64))542101086242752217003726400434970855712890625e45", 0x1p-64))
        #expect(
            !exactly("0.1", 0.1) && !exactly("9223372036854775809", 0x1p63) && !exactly("0.5", -0.5) && !exactly("0.51", 0.5)
                && !exactly("1e23", 1e23))
        #expect(
            !exactly("", 0.5) && !exactly("e", 0.5) && !exactly("0.5x", 0.5) && !exactly("5e", 5) && !exactly("1", .infinity)
                && !exactly("1e-5000", 0.5))
        for power in -1074..<1024 {
            let value = Double(sign: .plus, exponent: power, significand: 1), text = String(format: "%.1100f", value)
            #expect(text.utf8.count > 1024 || exactly(text, value), "2^\(power)")
        }
    }

    @Test func `an integer may be written with a decimal point and an exponent`() {
        func whole(_ text: String) -> Int64? { Array(text.utf8).withUnsafeBytes { NumberText.wholeNumber($0) } }
        #expect(
            whole("1.0") == 1 && whole("-1e3") == -1000 && whole("0.5e1") == 5 && whole("9223372036854775807.000") == .max
                && whole("-9223372036854775808") == .min && whole("0.0") == 0)
        #expect(
            whole("1.5") == nil && whole("-0.0") == nil && whole("9223372036854775808") == nil && whole("1e19") == nil && whole("x") == nil
                && whole("") == nil && whole("1e400") == nil)
    }
}
