import FirnBytes
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import Firn

@Suite struct Decimal128Tests {
    @Test func `literals and conversions give the number as it is written`() throws {
        let real: Decimal128 = 3.14159, whole: Decimal128 = 123, text: Decimal128 = "9.876543"
        #expect(real.description == "3.14159" && whole.description == "123" && text.description == "9.876543")
        #expect(Decimal128(0.1).description == "0.1" && Decimal128(Float(0.1)).description == "0.1")
        #expect(Decimal128(1e300) == "1E+300" && Decimal128(5e-324) == "5E-324")
        #expect(Decimal128() == 0 && Decimal128(exactly: 5 as Int8) == 5)
        #expect(Decimal128(UInt64.max).description == "18446744073709551615")
        #expect(Decimal128(Int.min).description == "-9223372036854775808")
        #expect(Decimal128(Int128.max).description == "1.701411834604692317316873037158841E+38")
        #expect(Decimal128(exactly: Int128.max) == nil && Decimal128(exactly: UInt64.max) == "18446744073709551615")
        #expect(Decimal128(Foundation.Decimal(string: "-12.50")!) == "-12.5")
        #expect(
            Decimal128(Foundation.Decimal(string: "12345678901234567890123456789012345678")!) == "1.234567890123456789012345678901235E+37")
        #expect(
            Decimal128(number: 3.14159) == 3.14159 && Decimal128(number: 7) == 7 && Decimal128(number: NSNumber(value: Float(0.1))) == 0.1)
        #expect(Decimal128(number: NSNumber(value: UInt64.max)) == "18446744073709551615")
        #expect(Decimal128(number: NSDecimalNumber(string: "1.1")) == 1.1)
    }

    @Test func `any value that is a number can be converted to a decimal`() {
        let inputs: [Any] = [
            3, Int8(3), UInt64(3), Float(3), 3.0, "3.00", NSNumber(value: 3), NSNumber(value: 3.0), NSDecimalNumber(string: "3"),
            Foundation.Decimal(3), Decimal128(3),
        ]
        for input in inputs { #expect(Decimal128(value: input) == 3, "\(type(of: input))") }
        #expect(Decimal128(value: NSNull()).isNaN && Decimal128(value: nil).isNaN)
        #expect(Decimal128(value: NSNull()).isSignaling && Decimal128(value: NSNull()).isSignalingNaN)
    }

    @Test(arguments: [
        "", " ", "x", "1.2.3", "12 ", " 12", "0x10", "1e", "--1", "1\u{0}2", "1E+7000", "1E99999999999999999999",
        "12345678901234567890123456789012345.6", "in", "nano",
    ])
    func `text that is no decimal, or that would lose digits, is refused`(text: String) {
        let error = #expect(throws: FirnError.self) { _ = try Decimal128(string: text) }
        #expect(error?.code == .usage && error?.message.contains("\"\(text)\"") == true)
        #expect(throws: FirnError.self) { _ = try Decimal128(text) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Decimal128].self, from: JSONEncoder().encode([text])) }
    }

    @Test func `infinities, NaN and the limits of the range are ordered and round correctly`() throws {
        #expect(Decimal128.max.description == "9.999999999999999999999999999999999E+6144")
        #expect(Decimal128.min.description == "-9.999999999999999999999999999999999E+6144")
        #expect(Decimal128.max + Decimal128.max == .infinity && Decimal128.max.isFinite && !Decimal128.infinity.isFinite)
        #expect(try Decimal128(string: "Inf") == .infinity && Decimal128(string: "-Infinity") == -Decimal128.infinity)
        #expect(try Decimal128(string: "NaN").isNaN && !Decimal128(string: "nan").isInfinite)
        #expect(
            Decimal128(Double.infinity) == .infinity && Decimal128(-Double.infinity) == -Decimal128.infinity && Decimal128(Double.nan).isNaN
        )
        #expect(
            Decimal128.infinity.isInfinite && (-Decimal128.infinity).isInfinite && !Decimal128.max.isInfinite && !Decimal128.nan.isFinite)
        #expect(1 / (0 as Decimal128) == .infinity && (0 / (0 as Decimal128)).isNaN && (Decimal128.infinity - .infinity).isNaN)
        let ascending: [Decimal128] = [.nan, -.infinity, .min, -1, "-0.5", 0, "1E-6143", 1, .max, .infinity]
        var random = Random(seed: 63)
        for _ in 0..<20 { #expect(ascending.shuffled(using: &random).sorted() == ascending) }
        #expect(Decimal128.nan == .nan && !(Decimal128.nan < .nan) && Decimal128.nan <= .nan && Decimal128.nan < -.infinity)
        #expect(Decimal128.infinity == .infinity && Decimal128.infinity <= .infinity && !(Decimal128.infinity < .infinity))
    }

    @Test func `arithmetic is exact if 34 digits are enough`() {
        let a: Decimal128 = "1.234567", b: Decimal128 = "9.876543"
        #expect((a + b).description == "11.111110" && ("2.5" - "3.5" as Decimal128).description == "-1.0")
        #expect(0.1 + 0.2 == (0.3 as Decimal128) && "0.21" / "0.7" == (0.3 as Decimal128) && 0.21 * 0.7 == (0.147 as Decimal128))
        #expect((1 / 3 as Decimal128).description == "0.3333333333333333333333333333333333")
        var x: Decimal128 = -123.321
        #expect(x.magnitude == 123.321 && -x == 123.321)
        x.negate()
        #expect(x == 123.321)
        x += 1; x -= 0.321; x *= 2; x /= 4
        #expect(x == 62)
        #expect(
            ("1234567890123456789012345678901234" as Decimal128).magnitude == "1234567890123456789012345678901234",
            "the digits were converted through a double")
        #expect([1.5, 2.25, "0.25" as Decimal128].reduce(0, +) == 4)
        #expect((10 as Decimal128).distance(to: 5) == -5 && (-150 as Decimal128).advanced(by: 300) == 150)
        #expect(Array(stride(from: 0 as Decimal128, to: 0.3, by: 0.1)) == [0, 0.1, 0.2])
    }

    @Test(arguments: Seed.first(50))
    func `equality, hash and order are by value`(seed: Seed) throws {
        var random = RandomTables(seed)
        for _ in 0..<40 {
            let digits = (0..<random.number(1...30)).map { _ in "\(random.number(0...9))" }.joined()
            let zeros = random.number(0...34 - digits.count), exponent = random.number(-6000...6000)
            let sign = random.chance(50) ? "-" : ""
            let short = try Decimal128(string: "\(sign)\(digits)E\(exponent)")
            let long = try Decimal128(string: "\(sign)\(digits)\(String(repeating: "0", count: zeros))E\(exponent - zeros)")
            #expect(
                short == long && !(short < long) && !(short > long) && short.hashValue == long.hashValue, "seed \(seed): \(short) \(long)")
            let other = try Decimal128(string: "\(sign)\(digits)1E\(exponent - 1)")
            #expect(
                short != other && (short < other) != (other < short) && short.hashValue != other.hashValue,
                "seed \(seed): \(short) \(other)")
            #expect(-(-short) == short && short.magnitude == (short < 0 ? -short : short))
            #expect(try Decimal128(string: short.description) == short)
        }
    }

    @Test func `zeros of any sign, exponent and form are equal`() throws {
        let zeros: [Decimal128] = try [
            0, -0.0, -(0 as Decimal128), "0.000", "0E+6000", Decimal128(string: "-0E-6000"),
            Decimal128(FirnTable.Decimal(high: 0x6000_0000_0000_0000, low: 5)),
            Decimal128(FirnTable.Decimal(high: 0x3041_FFFF_FFFF_FFFF, low: .max)),
        ]
        for zero in zeros { #expect(zero == 0 && zero.hashValue == zeros[0].hashValue, "\(zero)") }
        let nans = [Decimal128.nan, -Decimal128.nan, Decimal128(FirnTable.Decimal(high: 0x7E00_0000_0000_0000, low: 7))]
        for nan in nans { #expect(nan == .nan && nan.hashValue == Decimal128.nan.hashValue && nan.isNaN) }
        #expect(Decimal128(FirnTable.Decimal(high: 0x7800_0000_0000_0001, low: 7)).hashValue == Decimal128.infinity.hashValue)
    }

    @Test func `coding keeps all digits, and JSON numbers can be decoded too`() throws {
        let values: [Decimal128] = [0, "-1.00", "1234567890123456789012345678901234", "1E+6000", .infinity, .nan]
        let back = try JSONDecoder().decode([Decimal128].self, from: JSONEncoder().encode(values))
        #expect(back.map(\.description) == values.map(\.description))
        let numbers = try JSONDecoder().decode(
            [Decimal128].self, from: Data("[1, -2.5, 0.1, 1e200, 9223372036854775807, 12345678901234567890.5]".utf8))
        #expect(numbers.map(\.description) == ["1", "-2.5", "0.1", "1E+200", "9223372036854775807", "12345678901234567890.5"])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Decimal128].self, from: Data("[true]".utf8)) }
        #expect(("1.50" as Decimal128).decimalValue == Foundation.Decimal(string: "1.5")! && ("1E+200" as Decimal128).decimalValue.isNaN)
        #expect((0.1 as Decimal128).doubleValue == 0.1 && Decimal128.max.doubleValue == .infinity)
    }
}
