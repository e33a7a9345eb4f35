/// Decodes modelled bytes exactly as docs/format/codecs-models.md describes it, without regard to speed: what `ModelledBytes` is compared
/// with.
struct ReferenceModel {
    struct EndsEarly: Error {}
    private struct Counter {
        var c: Int64 = 1 << 21, n: Int64 = 0
        let limit: Int64
        var prediction: Int64 { ReferenceModel.stretch[Int(c >> 10)] }
        mutating func learn(_ bit: Int64) {
            c += (((bit == 1 ? (1 << 22) - 1 : 0) - c) * (131_072 / (2 * n + 3))) >> 16
            n = min(n + 1, limit)
        }
    }

    static let points: [Int64] = [
        22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
        62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514,
    ]
    static func logistic(_ x: Int64) -> Int64 {
        let q = min(max(x, -2048), 2047) + 2048, a = points[Int(q / 128)], b = points[Int(q / 128) + 1]
        return a + (b - a) * (q % 128) / 128
    }
    static let stretch: [Int64] = (0..<4096).map { p in
        (Int64(-2048)...2046).first { x in logistic(x) >= 16 * Int64(p) + 8 } ?? 2047
    }

    private var counters: [String: Counter] = [:]
    private var weights: [Int: [Int64]] = [:], matchWeights: [Int: [Int64]] = [:]
    private var positions: [UInt64: Int] = [:]
    private var matchAt = 0, matchLength = 0

    static func decode(_ coded: [UInt8], size: Int, terminator: UInt8) throws -> [UInt8] {
        var model = ReferenceModel()
        return try model.run(coded, size, terminator)
    }

    private mutating func run(_ coded: [UInt8], _ size: Int, _ terminator: UInt8) throws -> [UInt8] {
        var out: [UInt8] = [], low: UInt64 = 0, high: UInt64 = 0xFFFF_FFFF, at = 0, code: UInt64 = 0
        func next() throws -> UInt64 {
            guard at < coded.count + 4 else { throw EndsEarly() }
            defer { at += 1 }
            return at < coded.count ? UInt64(coded[at]) : 0
        }
        for _ in 0..<4 { code = code << 8 | (try next()) }
        let levels = (6...15).first { 16 << $0 >= 6 * size } ?? 15
        while out.count < size {
            let contexts = contexts(out, terminator)
            var bits: [Int64] = []
            for bit in 0..<8 {
                let partial = bits.reduce(1) { $0 * 2 + $1 }, half = bits.suffix(bit % 4).reduce(1) { $0 * 2 + $1 }
                let upper = bit < 4 ? 0 : bits.prefix(4).reduce(1) { $0 * 2 + $1 }
                let names = contexts.enumerated().map { i, h -> String in
                    var a =
                        ((h &+ UInt64(i + 1) &* 0x9E37_79B9_7F4A_7C15) ^ (UInt64(upper) &* 0xC2B2_AE3D_27D4_EB4F)) &* 0xD6E8_FEB8_6659_FD93
                    a ^= a >> 32
                    a = a &* 0xD6E8_FEB8_6659_FD93
                    return "\(i) \(a >> UInt64(64 - levels)) \((a % 16 + 5 * UInt64(half)) % 16)"
                }
                var inputs = names.map { counters[$0, default: Counter(limit: 30)].prediction }, matchName: String?
                if matchLength > 0 {
                    let expected = (0..<8).map { Int64(out[matchAt] >> UInt8(7 - $0) & 1) }
                    if Array(expected.prefix(bit)) == bits {
                        let name = "match \(2 * min(matchLength, 31) + Int(expected[bit]))"
                        matchName = name
                        inputs.append(counters[name, default: Counter(limit: 255)].prediction)
                    } else {
                        matchLength = 0
                    }
                }
                if inputs.count == 7 { inputs.append(0) }
                let first = Int(partial), second = 8 * min(matchLength, 15) + bit, even = [Int64](repeating: 20_000, count: 8)
                func mix(_ w: [Int64]) -> Int64 { zip(inputs, w).reduce(0) { $0 + ($1.0 * $1.1) >> 3 } >> 13 }
                let a = mix(weights[first, default: even]), b = mix(matchWeights[second, default: even])
                let p = min(max(ReferenceModel.logistic((a + b) >> 1), 32), 65_504)
                let split = low + ((high - low) * UInt64(p)) >> 16, value: Int64 = code <= split ? 1 : 0
                if value == 1 { high = split } else { low = split + 1 }
                func learn(_ w: [Int64], _ mix: Int64) -> [Int64] {
                    let error = (65_536 * value - ReferenceModel.logistic(mix)) >> 4
                    return zip(inputs, w).map { x, w in min(max(w + (x * 16 * error + 32_768) >> 16, -524_287), 524_287) }
                }
                weights[first] = learn(weights[first, default: even], a)
                matchWeights[second] = learn(matchWeights[second, default: even], b)
                for name in names { counters[name, default: Counter(limit: 30)].learn(value) }
                if let matchName { counters[matchName, default: Counter(limit: 255)].learn(value) }
                bits.append(value)
                while low >> 24 == high >> 24 {
                    (low, high) = (low << 8 & 0xFFFF_FFFF, (high << 8 | 255) & 0xFFFF_FFFF)
                    code = (code << 8 | (try next())) & 0xFFFF_FFFF
                }
            }
            out.append(UInt8(bits.reduce(0) { $0 * 2 + $1 }))
            match(out)
        }
        return out
    }

    private func contexts(_ text: [UInt8], _ terminator: UInt8) -> [UInt64] {
        let history = text.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }, field = Array(text.suffix(while: { $0 != terminator }))
        var word: UInt64 = 0, hash: UInt64 = 0
        for byte in field {
            hash = (hash &+ UInt64(byte) &+ 1) &* 0x2F0B_4C47_9E37_79B9
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word = (word &+ UInt64(byte) &+ 33) &* 0x3D4D_51CB_A3B1_95EF
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 128...255:
                word = (word &+ UInt64(byte) &+ 1) &* 0x3D4D_51CB_A3B1_95EF
            default: word = 0
            }
        }
        return [1, 2, 3, 4].map { history & ((1 << (8 * $0)) - 1) } + [UInt64(field.count) << 8 | history & 255, word, hash]
    }

    private mutating func match(_ text: [UInt8]) {
        let history = text.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let key = ((history & 0xFF_FFFF_FFFF) &* 0x9E37_79B9_7F4A_7C15) >> 48
        if matchLength > 0 {
            (matchAt, matchLength) = (matchAt + 1, matchLength + 1)
        } else {
            matchAt = positions[key] ?? 0
            while matchLength < min(32, matchAt), text[matchAt - 1 - matchLength] == text[text.count - 1 - matchLength] { matchLength += 1 }
        }
        positions[key] = text.count
    }
}

extension Array {
    fileprivate func suffix(while belongs: (Element) -> Bool) -> ArraySlice<Element> {
        var start = endIndex
        while start > startIndex, belongs(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
