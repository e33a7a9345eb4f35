import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

/// Bytes as existing files have them. A change here is a change of the format.
@Suite struct GoldenNumbersTests {
    private func integers(_ values: [Int64], _ profile: Profile = .fast, present: Bits? = nil) -> [UInt8] {
        values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) }
    }
    private func floats(_ values: [Double], single: Bool = false) -> [UInt8] {
        values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: .fast) }
    }

    @Test func `encodings keep their ids`() {
        #expect(
            IntegersEncoding.allCases.map { "\($0) \($0.rawValue)" } == [
                "empty 0", "constant 1", "sequence 2", "packed 3", "scaled 4", "delta 5", "dictionary 6", "runLength 7", "entropy 8",
                "pages 9", "modelled 10",
            ])
        #expect(
            FloatsEncoding.allCases.map { "\($0) \($0.rawValue)" } == [
                "empty 0", "raw 1", "decimals 2", "single 3", "singleDecimals 4", "split 5", "mixed 6",
                "dictionary 7", "corrected 8",
            ])
        #expect(
            BooleansEncoding.allCases.map { "\($0) \($0.rawValue)" } == [
                "zeros 0", "ones 1", "raw 2", "sparseOnes 3", "sparseZeros 4", "runs 5", "bytes 6",
            ])
        #expect(LengthsEncoding.allCases.map { "\($0) \($0.rawValue)" } == ["empty 0", "starts 1"])
    }

    @Test func `small streams have the bytes of the specification`() {
        #expect(integers([]) == [0])
        #expect(integers([5, 6], present: Bits(repeating: false, count: 2)) == [0])
        #expect(integers([7, 7, 7]) == [1, 14])
        #expect(integers([10, 7, 4]) == [2, 20, 5])
        #expect(integers([0, 3, 1, 2, 3]) == [3, 0, 0, 3, 0, 2, 0b1001_1100, 0b11])
        // 4: minimum 100, factor 10, then 0, 5, 1, 3 in three bits each.
        #expect(integers([100, 150, 110, 130]) == [4, 200, 1, 10, 3, 0, 0, 5, 0, 3, 0b0110_1000, 0b0110])
        // Two decimals, no exceptions, then 50, 150, 150, 25 = 25 + 25·{1, 5, 5, 0}.
        #expect(floats([0.5, 1.5, 1.5, 0.25]) == [2, 2, 0, 4, 50, 25, 3, 0, 0, 5, 0, 3, 0b0110_1001, 0b0001])
        #expect(BooleansEncoder.encode(Bits(repeating: true, count: 9), profile: .fast) == [1])
        #expect(BooleansEncoder.encode(Bits(words: [0b1_0110_1001], count: 9), profile: .fast) == [2, 0b0110_1001, 1])
        var one = Bits(repeating: false, count: 1000)
        one[513] = true
        #expect(BooleansEncoder.encode(one, profile: .fast) == [3, 1, 1, 2])
    }

    @Test func `small streams of zstd pages and of mixed doubles have the bytes of the specification`() throws {
        // Flags 0, one byte a value, pages of 2^6, minimum 10, span 3; one page in an uncompressed block: 0, 3, 1.
        let frame: [UInt8] = [0, 7 << 3, 3 << 3 | 1, 0, 0, 0, 3, 1]
        let pages: [UInt8] = [9, 0, 1, 6, 20, 3, 8] + frame
        try withExactBytes(pages) { raw in
            let reader = try IntegersReader(raw, count: 3)
            #expect(try (0..<3).map { try reader.value(at: $0) } == [10, 13, 11])
            #expect(reader.bounds().map { [$0.0, $0.1] } == [10, 13])
        }
        // Byte planes of two bytes a value: 1, 258, 3.
        let planes: [UInt8] = [9, 4, 2, 6, 0, 200, 3, 11, 0, 7 << 3, 6 << 3 | 1, 0, 0, 1, 2, 3, 0, 1, 0]
        try withExactBytes(planes) { raw in
            let reader = try IntegersReader(raw, count: 3)
            #expect(try (0..<3).map { try reader.value(at: $0) } == [1, 258, 3])
        }
        // Two forms, decimals of one digit and quotients of 4; the forms of the values are 0, 1, 0; the numbers 3 and 5, and 9.
        let quarter = withUnsafeBytes(of: (4.0).bitPattern.littleEndian) { Array($0) }
        let mixed: [UInt8] =
            [6, 2, 2, 1, 5] + quarter + [7, 3, 0, 0, 1, 0, 1, 0b010, 2, 3, 2, 6, 4, 1, 2, 1, 18]
        try withExactBytes(mixed) { raw in
            let reader = try FloatsReader(raw, count: 3)
            #expect(try (0..<3).map { try reader.value(at: $0) } == [0.3, 2.25, 0.5])
        }
        // Floats with two decimals, printed with 15 digits: 0.43, 44.45, −0.05.
        let printed: [UInt8] = [6, 1, 9, 2, 15, 3, 12, 3, 0, 9, 226, 34, 0, 13, 0x30, 0x40, 0x2C, 0x02, 0x00]
        try withExactBytes(printed) { raw in
            let reader = try FloatsReader(raw, count: 3)
            #expect(try (0..<3).map { try reader.value(at: $0) } == [0.430000007152557, 44.4500007629395, -0.0500000007450581])
        }
        // The Float 1/3 printed with 14 digits.
        try withExactBytes([6, 1, 8, 14, 3, 6, 1] + varint(Int(Float(1.0 / 3).bitPattern) * 2)) { raw in
            let reader = try FloatsReader(raw, count: 3)
            #expect(try reader.value(at: 2) == 0.33333334326744)
        }
        // Two decimals of one digit, 0.5 and 0.7, and the codes 1, 0, 1.
        let dictionary: [UInt8] = [7, 2, 6, 2, 1, 0, 2, 10, 4, 3, 0, 0, 1, 0, 1, 0b101]
        try withExactBytes(dictionary) { raw in
            let reader = try FloatsReader(raw, count: 3)
            #expect(try (0..<3).map { try reader.value(at: $0) } == [0.7, 0.5, 0.7])
            #expect(reader.bounds().map { [$0.0, $0.1] } == [0.5, 0.7])
        }
    }

    @Test func `small streams of corrected doubles have the bytes of the specification`() throws {
        func values(_ bytes: [UInt8]) throws -> [Double] {
            try withExactBytes(bytes) { raw in
                let reader = try FloatsReader(raw, count: 3)
                #expect(reader.features == .corrections)
                return try (0..<3).map { try reader.value(at: $0) }
            }
        }
        // Decimals with one digit: the sequence 3, 4, 5, with the corrections 1, 0, 0.
        #expect(try values([8, 2, 1, 3, 2, 6, 2, 3, 0, 0, 1, 0, 1, 0b001]) == [0.1 + 0.2, 0.4, 0.5])
        // Floats with one digit, each with the correction 1.
        #expect(try values([8, 3, 1, 3, 2, 6, 2, 1, 2]) == [0.3, 0.4, 0.5].map { Double(Float($0).nextUp) })
        // Quotients of 3, and multiples of 0.1, with the corrections −1 and 0.
        func base(_ number: Double) -> [UInt8] { withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        #expect(try values([8, 5] + base(3) + [3, 2, 2, 2, 1, 1]) == [1.0 / 3, 2.0 / 3, 1].map(\.nextDown))
        #expect(try values([8, 4] + base(0.1) + [3, 2, 2, 2, 1, 0]) == [0.1, 0.2, 3 * 0.1])
        // Below 0, the ordered bits descend with the magnitude.
        #expect(try values([8, 2, 1, 3, 2, 5, 1, 1, 2]) == [-0.3, -0.4, -0.5].map(\.nextUp))
    }

    /// Compares larger streams by their hash.
    @Test func `streams of every encoding keep their bytes`() {
        var dump: [String] = []
        for (name, values) in sampleIntegers(count: 3000, seed: 1) {
            for profile in [Profile.fast, .standard] {
                let bytes = integers(values, profile)
                dump.append("\(name) \(profile) \(bytes.count) \(Hash128(of: bytes).low & 0xFFFF_FFFF)")
            }
        }
        for (name, values, single) in sampleFloats(count: 3000, seed: 1) {
            let bytes = floats(values, single: single)
            dump.append("\(name) \(bytes.count) \(Hash128(of: bytes).low & 0xFFFF_FFFF)")
        }
        let text = dump.joined(separator: "\n")
        #expect(text == goldenStreams)
        if text != goldenStreams { print(text) }
    }

    @Test func `constant, short and ascending columns need few bytes`() {
        #expect(integers([Int64](repeating: .min, count: 65_536)).count <= 12)
        var dice = Random(seed: 3)
        let short = (0..<249).map { _ in Int64(dice.below(32)) }
        #expect(integers(short, .standard).count <= 249 * 5 / 8 + 12)
        #expect(integers((0..<65_536).map { Int64($0) }).count <= 6)
    }

    @Test func `equal runs and steps that repeat need few bytes`() throws {
        var dice = Random(seed: 7)
        // Six rows for each id; some ids are skipped.
        var ids: [Int64] = [], id: Int64 = 0
        for _ in 0..<1500 {
            id += dice.below(40) == 0 ? Int64(dice.below(9000)) : 1
            ids += [Int64](repeating: id, count: 6)
        }
        // The same days for each of five groups, so that the steps have a negative exception.
        var day: Int64 = 11_000
        let days = (0..<2400).map { _ in
            day += dice.below(5) == 0 ? 3 : 1
            return day
        }
        for (values, limit) in [(ids, 700), (days + days + days + days + days, 1100)] {
            for profile in [Profile.standard, .small, .modelled] {
                let bytes = integers(values, profile)
                #expect(bytes.count <= limit, "\(profile)")
                try withExactBytes(bytes) { raw in
                    let reader = try IntegersReader(raw, count: values.count)
                    var decoded = [Int64](repeating: 0, count: (values.count + 1023) / 1024 * 1024)
                    try decoded.withUnsafeMutableBufferPointer {
                        for vector in 0..<$0.count / 1024 { try reader.decode(vector: vector, into: $0.baseAddress! + vector * 1024) }
                    }
                    #expect(Array(decoded[..<values.count]) == values)
                    for index in stride(from: 0, to: values.count, by: 997) { #expect(try reader.value(at: index) == values[index]) }
                }
            }
        }
    }

    @Test func `steps are modelled where that is smaller`() throws {
        var dice = Random(seed: 8)
        var value: Int64 = 5000, step = 0
        // Steps depend on the step before, which digits of values do not show.
        let values = (0..<4000).map { _ in
            step = dice.below(8) == 0 ? dice.below(90) : (step * 7 + 11) % 90
            value += Int64(step)
            return value
        }
        let small = integers(values, .small), modelled = integers(values, .modelled)
        #expect(modelled.count * 100 <= small.count * 97)
        try withExactBytes(modelled) { raw in
            let reader = try IntegersReader(raw, count: values.count)
            #expect(reader.encodingName == "delta+modelled")
            for index in values.indices { #expect(try reader.value(at: index) == values[index]) }
        }
    }

    @Test func `equal values give equal bytes`() {
        for (_, values) in sampleIntegers(count: 5000, seed: 4) { #expect(integers(values, .standard) == integers(values, .standard)) }
    }
}

/// Name, profile, bytes, low 32 bits of the hash. The choice between encodings may change, and these lines with it. The meaning of an
/// encoding may not change.
let goldenStreams = """
    constant fast 2 727775837
    constant standard 2 727775837
    row ids fast 3 3394879560
    row ids standard 3 3394879560
    steps of -3 fast 4 310151077
    steps of -3 standard 4 310151077
    booleans fast 381 527998256
    booleans standard 381 527998256
    small fast 3760 2711063604
    small standard 3760 2711063604
    wide fast 24045 2949446088
    wide standard 24045 2949446088
    forty bits fast 15026 993576441
    forty bits standard 15026 993576441
    outliers fast 2471 187642864
    outliers standard 2471 187642864
    extremes fast 424 843850592
    extremes standard 424 843850592
    hundreds fast 4890 1121283589
    hundreds standard 4890 1121283589
    years fast 25 1434560517
    years standard 25 1434560517
    descending in groups fast 3501 3412671495
    descending in groups standard 1476 184984148
    timestamps fast 4294 573391341
    timestamps standard 4294 573391341
    noisy walk fast 2380 3760962986
    noisy walk standard 2380 3760962986
    few far apart fast 1179 2506998395
    few far apart standard 992 3706565076
    zipf fast 1972 82440727
    zipf standard 1212 3494048437
    skewed fast 544 1783796382
    skewed standard 368 930543287
    runs fast 435 709447770
    runs standard 435 709447770
    negative fast 7516 1914577825
    negative standard 7516 1914577825
    panel fast 2382 2052309288
    panel standard 255 2903905368
    panel with wide values fast 723 562129884
    panel with wide values standard 309 481521338
    passages that repeat fast 4300 423793924
    passages that repeat standard 1357 2634849905
    steps that repeat fast 3194 3231881465
    steps that repeat standard 257 3788937876
    growth fast 10791 2843081815
    growth standard 1560 2700432107
    prices 9019 3688752738
    whole 3763 799024882
    uniform 21043 627594922
    signed 21182 3456700555
    any bits 24046 3012537725
    some odd 4400 2793817154
    floats 10032 1123625226
    float decimals 5263 4105137261
    sensor 16900 375199965
    negative zero 3 2923730814
    coordinates 21172 436371282
    mixed digits and others 6219 1781051183
    years of days 21043 147823653
    years of days with 15 digits 21043 722222698
    multiples of a tenth 11790 4278549742
    many digits that repeat 1210 585687362
    printed floats 18839 355202639
    printed small floats 21416 135314125
    printed floats that repeat 7909 876466358
    incomes 9048 214365368
    sums of decimals 18253 471430978
    sums of floats 12024 712301543
    sums of thirds 20911 1551226
    """
