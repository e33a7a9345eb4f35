import FirnBytes

// mixed    id 6 · m (u8, 1…16: number of forms) · m forms
//          · if m > 1: forms of the values: length (varint), integer stream, one for each value: the index of its form
//          · if m > 1 and count > 1,024: ranks: length (varint), integer stream: for each vector, for each form in turn, the number of
//            values of that form before the vector
//          · for each form: number of its values (varint) · length (varint) · integer stream: the numbers k of these values in row order
// form     kind (u8) and its parameters: 0 ordered bits · 1 ordered bits of the Float · 2 decimal: d (u8), k / 10^d
//          · 3 single decimal: d (u8), Double(Float(k / 10^d)) · 4 multiple: base (double), k · base · 5 quotient: base (double), k / base
//          · 6, 7 as 4, 5, then s (u8): rounded to s digits
//          · 8 ordered bits of the Float: s (u8), rounded to s significant digits · 9 single decimal: d (u8), s (u8), as 3, rounded so

/// How an integer represents a double. Larger integers represent larger or equal doubles.
enum FloatForm: Equatable {
    case ordered, single, decimal(Int), singleDecimal(Int), multiple(Double), quotient(Double)
    /// Rounded to a number of significant digits, as programs do that print 15.
    case roundedMultiple(Double, Int), roundedQuotient(Double, Int)
    /// Floats that a program has printed with this number of significant digits, and those of them that are decimals.
    case roundedSingle(Int), roundedSingleDecimal(Int, Int)

    init(parsing reader: inout ByteReader) throws(Damage) {
        switch try reader.read(UInt8.self) {
        case 0: self = .ordered
        case 1: self = .single
        case 2: self = .decimal(try FloatForm.digits(&reader))
        case 3: self = .singleDecimal(try FloatForm.digits(&reader))
        case 4: self = .multiple(try FloatForm.base(&reader))
        case 5: self = .quotient(try FloatForm.base(&reader))
        case 6: self = .roundedMultiple(try FloatForm.base(&reader), try FloatForm.significant(&reader))
        case 7: self = .roundedQuotient(try FloatForm.base(&reader), try FloatForm.significant(&reader))
        case 8: self = .roundedSingle(try FloatForm.significant(&reader))
        case 9:
            let d = try FloatForm.digits(&reader)
            self = .roundedSingleDecimal(d, try FloatForm.significant(&reader))
        case let kind: throw Damage(unknown: "form of doubles \(kind)")
        }
    }

    private static func digits(_ reader: inout ByteReader) throws(Damage) -> Int {
        let d = Int(try reader.read(UInt8.self))
        guard d <= maximumDecimals else { throw Damage("decimals with too many digits", at: reader.position) }
        return d
    }

    private static func significant(_ reader: inout ByteReader) throws(Damage) -> Int {
        let s = Int(try reader.read(UInt8.self))
        guard s >= 1, s <= 17 else { throw Damage("doubles rounded to an invalid number of digits", at: reader.position) }
        return s
    }

    private static func base(_ reader: inout ByteReader) throws(Damage) -> Double {
        let base = Double(bitPattern: try reader.read(UInt64.self))
        guard base > 0, base.isNormal else { throw Damage("the base of doubles is not a positive number", at: reader.position) }
        return base
    }

    func append(to out: inout ByteWriter) {
        switch self {
        case .ordered: out.append(UInt8(0))
        case .single: out.append(UInt8(1))
        case .decimal(let d):
            out.append(UInt8(2))
            out.append(UInt8(d))
        case .singleDecimal(let d):
            out.append(UInt8(3))
            out.append(UInt8(d))
        case .multiple(let base):
            out.append(UInt8(4))
            out.append(base)
        case .quotient(let base):
            out.append(UInt8(5))
            out.append(base)
        case .roundedMultiple(let base, let s):
            out.append(UInt8(6))
            out.append(base)
            out.append(UInt8(s))
        case .roundedQuotient(let base, let s):
            out.append(UInt8(7))
            out.append(base)
            out.append(UInt8(s))
        case .roundedSingle(let s):
            out.append(UInt8(8))
            out.append(UInt8(s))
        case .roundedSingleDecimal(let d, let s):
            out.append(UInt8(9))
            out.append(UInt8(d))
            out.append(UInt8(s))
        }
    }

    /// The features that the form needs, except that of the encoding.
    var features: EncodingFeatures {
        switch self {
        case .roundedSingle, .roundedSingleDecimal: .doubles
        default: []
        }
    }

    /// Whether the doubles are Floats with some digits after the point.
    var isSingle: Bool { if case .singleDecimal = self { true } else { false } }

    var name: String {
        switch self {
        case .ordered: "double"
        case .single: "single"
        case .decimal(let d): "\(d)"
        case .singleDecimal(let d): "single \(d)"
        case .roundedSingle: "rounded single"
        case .roundedSingleDecimal(let d, _): "rounded single \(d)"
        case .multiple(let base), .roundedMultiple(let base, _): "× \(base)"
        case .quotient(let base), .roundedQuotient(let base, _): "/ \(base)"
        }
    }

    func double(_ k: Int64) -> Double {
        switch self {
        case .ordered: doubleFromOrdered(k)
        case .single: singleFromOrdered(k)
        case .decimal(let d): Double(k) / powersOfTen[d]
        case .singleDecimal(let d): Double(Float(Double(k) / powersOfTen[d]))
        case .multiple(let base): Double(k) * base
        case .quotient(let base): Double(k) / base
        case .roundedMultiple(let base, let s): FloatForm.rounded(Double(k) * base, digits: s)
        case .roundedQuotient(let base, let s): FloatForm.rounded(Double(k) / base, digits: s)
        case .roundedSingle(let s): FloatForm.printed(singleFromOrdered(k), digits: s)
        case .roundedSingleDecimal(let d, let s): FloatForm.printed(Double(Float(Double(k) / powersOfTen[d])), digits: s)
        }
    }

    /// Rounds to `s` significant digits, and to 18 decimals at most. Zeros after the point count as digits.
    private static func rounded(_ x: Double, digits s: Int) -> Double {
        let m = x.magnitude
        guard m < 1e18 else { return x }
        var n = 0
        while n < 18, powersOfTen[n] <= m { n &+= 1 }
        return rounded(x, decimals: min(18, max(0, s &- n)))
    }

    /// Rounds to `s` significant digits, and to 22 decimals at most.
    static func printed(_ x: Double, digits s: Int) -> Double {
        let m = x.magnitude
        guard m < 1e18 else { return x }
        var n = 0
        if m >= 1 {
            while n < 18, powersOfTen[n] <= m { n &+= 1 }
        } else {
            while n > s &- 22, m * powersOfTen[1 &- n] < 1 { n &-= 1 }
        }
        return rounded(x, decimals: max(0, s &- n))
    }

    /// Rounds x · 10^d to an integer, and divides it by 10^d. d is at most 22.
    private static func rounded(_ x: Double, decimals d: Int) -> Double {
        let m = x.magnitude, power = powersOfTen[d]
        // The product is `high` + `low`, exactly.
        let high = m * power, low = (-high).addingProduct(m, power)
        var whole = high.rounded(.toNearestOrEven)
        let rest = (high - whole) + low
        if rest > 0.5 { whole += 1 } else if rest < -0.5 { whole -= 1 }
        return x < 0 ? -(whole / power) : whole / power
    }

    /// Replaces integers by their doubles in place.
    func convert(_ numbers: UnsafeMutablePointer<Int64>, count n: Int) {
        let raw = UnsafeMutableRawPointer(numbers)
        @inline(__always)
        func each(_ body: (Int64) -> Double) {
            for i in 0..<n { raw.storeBytes(of: body(numbers[i]), toByteOffset: i &* 8, as: Double.self) }
        }
        switch self {
        case .ordered: each(doubleFromOrdered)
        case .single: each(singleFromOrdered)
        case .decimal(let d):
            let power = powersOfTen[d]
            each { Double($0) / power }
        case .singleDecimal(let d):
            let power = powersOfTen[d]
            each { Double(Float(Double($0) / power)) }
        case .multiple(let base): each { Double($0) * base }
        case .quotient(let base): each { Double($0) / base }
        case .roundedMultiple(let base, let s): each { FloatForm.rounded(Double($0) * base, digits: s) }
        case .roundedQuotient(let base, let s): each { FloatForm.rounded(Double($0) / base, digits: s) }
        case .roundedSingle(let s): each { FloatForm.printed(singleFromOrdered($0), digits: s) }
        case .roundedSingleDecimal(let d, let s):
            let power = powersOfTen[d]
            each { FloatForm.printed(Double(Float(Double($0) / power)), digits: s) }
        }
    }
}

final class FloatsMixed: FloatsBody, @unchecked Sendable {
    static let maximumForms = 16
    private let forms: [FloatForm], streams: [IntegersBody], choices: IntegersBody?, ranks: IntegersBody?

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        let many = Int(try reader.read(UInt8.self))
        guard many >= 1, many <= FloatsMixed.maximumForms else { throw Damage("mixed doubles have an invalid header") }
        var forms: [FloatForm] = [], streams: [IntegersBody] = []
        for _ in 0..<many { forms.append(try FloatForm(parsing: &reader)) }
        choices = many == 1 ? nil : try openIntegers(try reader.readLengthPrefixed(), count: count, depth: 1)
        ranks =
            many == 1 || count <= vectorLength
            ? nil
            : try openIntegers(
                try reader.readLengthPrefixed(), count: (count &+ vectorLength &- 1) / vectorLength &* many, depth: 1)
        for _ in 0..<many {
            let values = try reader.readCount(limit: count)
            streams.append(try openIntegers(try reader.readLengthPrefixed(), count: values, depth: 1))
        }
        guard reader.isAtEnd else { throw Damage("mixed doubles are followed by other bytes", at: reader.position) }
        guard many > 1 || streams[0].count == count else { throw Damage("doubles are missing") }
        (self.forms, self.streams) = (forms, streams)
        super.init(count: count)
    }

    override var features: EncodingFeatures {
        var all = ownFeatures
        for form in forms { all.formUnion(form.features) }
        for stream in streams { all.formUnion(stream.features) }
        return all.union(choices?.features ?? []).union(ranks?.features ?? [])
    }

    override var name: String {
        let parts = zip(forms, streams).map { "\($0.name): \($1.name)" }.joined(separator: ", ")
        return choices.map { "mixed(\($0.name), \(parts))" } ?? "scaled(\(parts))"
    }

    override var dominantForm: FloatForm? { streams.indices.max { streams[$0].count < streams[$1].count }.map { forms[$0] } }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        if choices == nil {
            guard let range = vector.map({ streams[0].bounds(ofVector: $0) }) ?? streams[0].bounds else { return nil }
            return ordered(forms[0].double(range.0), forms[0].double(range.1))
        }
        var union: (Double, Double)?
        for (form, stream) in zip(forms, streams) where stream.count > 0 {
            guard let range = stream.bounds, let part = ordered(form.double(range.0), form.double(range.1)) else { return nil }
            union = union.map { (min($0.0, part.0), max($0.1, part.1)) } ?? part
        }
        return union
    }

    private func ordered(_ least: Double, _ most: Double) -> (Double, Double)? { least <= most ? (least, most) : nil }

    override func value(at index: Int) throws(Damage) -> Double {
        guard let choices else { return forms[0].double(try streams[0].value(at: index)) }
        let first = index & ~(vectorLength &- 1), n = index &- first &+ 1
        var form = 0, before = 0
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try choices.decode(from: first, count: n, into: scratch)
            let own = scratch[n &- 1]
            guard own >= 0, own < forms.count else { throw Damage("unknown form of a double") }
            form = Int(own)
            for i in 0..<(n &- 1) { before &+= scratch[i] == own ? 1 : 0 }
        }
        let at = try rank(first / vectorLength, form) &+ before
        guard at < streams[form].count else { throw Damage("rank outside the values") }
        return forms[form].double(try streams[form].value(at: at))
    }

    /// Returns the number of values of a form before a vector.
    private func rank(_ vector: Int, _ form: Int) throws(Damage) -> Int {
        guard let ranks else { return 0 }
        let rank = try ranks.value(at: vector &* forms.count &+ form)
        guard rank >= 0, rank <= streams[form].count else { throw Damage("rank outside the values") }
        return Int(rank)
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        let start = vector &* vectorLength
        guard let choices else {
            try inPlace(out) { (target) throws(Damage) in
                try streams[0].decode(from: start, count: n, into: target)
                forms[0].convert(target, count: n)
            }
            return
        }
        try withScratch(of: Int64.self, count: vectorLength &* 2) { (scratch) throws(Damage) in
            let numbers = scratch + vectorLength
            try choices.decode(from: start, count: n, into: scratch)
            var placed = 0
            for form in forms.indices {
                var own = 0
                for i in 0..<n { own &+= scratch[i] == Int64(form) ? 1 : 0 }
                if own == 0 { continue }
                placed &+= own
                let first = try rank(vector, form)
                guard first &+ own <= streams[form].count else { throw Damage("rank outside the values") }
                try streams[form].decode(from: first, count: own, into: numbers)
                forms[form].convert(numbers, count: own)
                var next = UnsafeRawPointer(numbers)
                for i in 0..<n where scratch[i] == Int64(form) {
                    out[i] = next.load(as: Double.self)
                    next += 8
                }
            }
            guard placed == n else { throw Damage("unknown form of a double") }
        }
    }
}
