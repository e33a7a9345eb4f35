import FirnBytes

/// Encodes doubles as integers in several forms, where one form does not fit all: decimals with different numbers of digits, decimals that
/// were Floats, multiples and fractions of one number.
struct MixedEncoder {
    private static let sampleSize = 1024
    private let values: UnsafeBufferPointer<Double>, present: Bits?
    private(set) var forms: [FloatForm] = []
    /// The saving that the forms are expected to bring over decimals with the maximum number of digits, in hundredths.
    private(set) var expectedSaving = 0
    /// Whether some values have none of the forms, and whether half of the values are repetitions.
    private(set) var hasOthers = true, hasRepeats = true
    /// Whether many values are multiples or fractions of a number that is no power of ten, or Floats that were rounded to some digits.
    private(set) var isUnusual = false

    /// Chooses forms for a sample.
    init(_ values: UnsafeBufferPointer<Double>, present: Bits?) {
        self.values = values
        self.present = present
        choose(FloatsEncoder.sample(values, present: present, size: MixedEncoder.sampleSize, least: 64))
    }

    private mutating func choose(_ sample: [Double]) {
        guard sample.count >= 16, !chooseRoundedSingles(sample) else { return }
        // Digits that are needed, by form; many digits are a hint at a base that is no power of ten.
        var decimals = [Int](repeating: 0, count: 19), singles = [Int](repeating: 0, count: 19), others: [Double] = []
        for value in sample {
            let (form, _) = MixedEncoder.fewestDigits(value)
            switch form {
            case .decimal(let d) where d <= 9: decimals[d] += 1
            case .singleDecimal(let d): singles[d] += 1
            default: others.append(value)
            }
        }
        if others.count * 5 > sample.count, let base = FloatBase.find(others) {
            forms.append(base)
            isUnusual = true
            others.removeAll { FloatForm.integer($0, base) != nil }
        }
        for value in others { if case .decimal(let d) = MixedEncoder.fewestDigits(value).form { decimals[d] += 1 } }
        for d in MixedEncoder.merged(decimals, of: sample.count) { forms.append(.decimal(d)) }
        for d in MixedEncoder.merged(singles, of: sample.count) { forms.append(.singleDecimal(d)) }
        if let most = decimals.lastIndex(where: { $0 * 50 > sample.count }), others.count * 50 < sample.count {
            var saved = 0
            for d in decimals.indices where forms.contains(.decimal(d)) && d < most { saved += (most - d) * decimals[d] }
            expectedSaving = saved * 100 / (max(6, most + 2) * sample.count)
        }
        forms = Array(forms.prefix(FloatsMixed.maximumForms - 1))
        let unknown = sample.count { value in !forms.contains { FloatForm.integer(value, $0) != nil } }
        hasOthers = unknown * 50 > sample.count
        hasRepeats = Set(sample.map(\.bitPattern)).count * 2 < sample.count
    }

    /// Chooses the forms of Floats that a program has printed with some significant digits, if nearly all values are such.
    private mutating func chooseRoundedSingles(_ sample: [Double]) -> Bool {
        // Floats that need few digits are not rounded, so a value with many digits decides.
        guard let s = [15, 16, 14].first(where: { s in sample.count { FloatForm.isRoundedSingle($0, s) } * 20 > sample.count * 19 }),
            sample.count(where: { !FloatForm.isDecimal($0, 9) && Double(Float($0)) != $0 }) * 10 > sample.count
        else { return false }
        var decimals = [Int](repeating: 0, count: 9), others = 0
        for value in sample where FloatForm.isRoundedSingle(value, s) {
            if let d = decimals.indices.first(where: { FloatForm.integer(value, .roundedSingleDecimal($0, s)) != nil }) {
                decimals[d] += 1
            } else {
                others += 1
            }
        }
        forms = MixedEncoder.merged(decimals, of: sample.count).map { .roundedSingleDecimal($0, s) }
        if others * 50 > sample.count || forms.isEmpty { forms.append(.roundedSingle(s)) }
        (isUnusual, hasOthers) = (true, false)
        hasRepeats = Set(sample.map(\.bitPattern)).count * 2 < sample.count
        return true
    }

    /// Returns the numbers of digits that are worth a form of their own. Among numbers with d digits, a tenth has fewer by chance: they are
    /// stored with d digits.
    private static func merged(_ counts: [Int], of total: Int) -> [Int] {
        var kept: [Int] = [], above = 0
        for d in counts.indices.reversed() where counts[d] > 0 {
            let isRare = counts[d] * 100 < total
            if !isRare, counts[d] * 4 > above || kept.isEmpty {
                kept.append(d)
                above = counts[d]
            } else if kept.isEmpty {
                // A few with more digits than all others become exceptions.
                continue
            } else {
                above += counts[d]
            }
        }
        return kept.reversed()
    }

    /// Returns the form with the fewest digits, and the integer.
    static func fewestDigits(_ value: Double) -> (form: FloatForm, k: Int64) {
        let single = Float(value), isSingle = Double(single).bitPattern == value.bitPattern
        for d in 0...17 {
            if let k = FloatForm.integer(value, .decimal(d)) { return (.decimal(d), k) }
            if isSingle, d <= 10, let k = FloatForm.integer(value, .singleDecimal(d)) { return (.singleDecimal(d), k) }
        }
        return isSingle ? (.single, order(single)) : (.ordered, order(value))
    }

    /// Returns the stream, or nil if there is nothing to choose from or it does not become smaller than `goal`.
    func encode(profile: Profile, goal: Int) -> [UInt8]? {
        guard !forms.isEmpty else { return nil }
        // The fewest digits first: the first form that fits is taken.
        var forms = forms.sorted { $0.digits < $1.digits }
        forms.append(.ordered)
        var numbers = [[Int64]](repeating: [], count: forms.count), choices = [Int64](repeating: 0, count: values.count)
        var last = 0, waiting = 0
        for i in values.indices {
            if present?[i] ?? true {
                let (form, k) = number(values[i], forms)
                for _ in 0..<waiting { numbers[form].append(k) }
                if waiting > 0 { for j in (i &- waiting)..<i { choices[j] = Int64(form) } }
                waiting = 0
                last = form
                numbers[form].append(k)
            } else if numbers[last].isEmpty {
                waiting &+= 1
                continue
            } else {
                numbers[last].append(numbers[last].last!)
            }
            choices[i] = Int64(last)
        }
        return write(forms, numbers, choices, profile: profile, goal: goal)
    }

    @inline(__always)
    private func number(_ value: Double, _ forms: [FloatForm]) -> (Int, Int64) {
        for (index, form) in forms.enumerated() { if let k = FloatForm.integer(value, form) { return (index, k) } }
        return (forms.count &- 1, order(value))
    }

    private func write(_ all: [FloatForm], _ numbers: [[Int64]], _ choice: [Int64], profile: Profile, goal: Int) -> [UInt8]? {
        let used = all.indices.filter { !numbers[$0].isEmpty }
        var position = [Int64](repeating: 0, count: all.count)
        for (k, index) in used.enumerated() { position[index] = Int64(k) }
        var out = ByteWriter(reserving: goal)
        out.append(FloatsEncoding.mixed.rawValue)
        out.append(UInt8(used.count))
        for index in used { all[index].append(to: &out) }
        if used.count > 1 {
            let choices = choice.map { position[Int($0)] }
            out.append(lengthPrefixed: choices.withUnsafeBufferPointer { encodeIntegers($0, profile: profile, depth: 1) })
            if values.count > vectorLength {
                out.append(
                    lengthPrefixed: ranks(choices, forms: used.count).withUnsafeBufferPointer {
                        encodeIntegers($0, profile: .fast, depth: nestingLimit)
                    })
            }
        }
        for index in used {
            guard out.count < goal else { return nil }
            out.appendVarint(numbers[index].count)
            out.append(lengthPrefixed: numbers[index].withUnsafeBufferPointer { encodeIntegers($0, profile: profile, depth: 1) })
        }
        return out.count < goal ? out.bytes : nil
    }

    private func ranks(_ choices: [Int64], forms: Int) -> [Int64] {
        var counts = [Int64](repeating: 0, count: forms), ranks: [Int64] = []
        for (i, choice) in choices.enumerated() {
            if i % vectorLength == 0 { ranks += counts }
            counts[Int(choice)] &+= 1
        }
        return ranks
    }
}

extension FloatForm {
    /// Forms with few digits have small integers.
    fileprivate var digits: Int {
        switch self {
        case .multiple, .quotient, .roundedMultiple, .roundedQuotient: 0
        case .decimal(let d): d * 2 + 1
        case .singleDecimal(let d), .roundedSingleDecimal(let d, _): d * 2 + 2
        case .single, .roundedSingle: 40
        case .ordered: 41
        }
    }

    /// Returns the integer that represents a value bit for bit, or nil if there is none below 2^51.
    @inline(__always)
    static func integer(_ value: Double, _ form: FloatForm) -> Int64? {
        switch form {
        case .decimal(let d): nearest(value * powersOfTen[d]) { Double($0) / powersOfTen[d] == value && bitsAgree(value, $0) }
        case .singleDecimal(let d):
            nearest(value * powersOfTen[d]) { Double(Float(Double($0) / powersOfTen[d])) == value && bitsAgree(value, $0) }
        case .multiple(let base): nearest(value / base) { Double($0) * base == value && bitsAgree(value, $0) }
        case .quotient(let base): nearest(value * base) { Double($0) / base == value && bitsAgree(value, $0) }
        case .roundedMultiple(let base, _): nearest(value / base) { form.double($0) == value && bitsAgree(value, $0) }
        case .roundedQuotient(let base, _): nearest(value * base) { form.double($0) == value && bitsAgree(value, $0) }
        case .single: Double(Float(value)).bitPattern == value.bitPattern ? order(Float(value)) : nil
        case .roundedSingle(let s): isRoundedSingle(value, s) ? order(Float(value)) : nil
        case .roundedSingleDecimal(let d, _):
            nearest(value * powersOfTen[d]) {
                // Most candidates differ in the first digits already.
                Float(Double($0) / powersOfTen[d]) == Float(value) && form.double($0) == value && bitsAgree(value, $0)
            }
        case .ordered: order(value)
        }
    }

    /// Whether a value is a Float rounded to `s` significant digits, bit for bit.
    static func isRoundedSingle(_ value: Double, _ s: Int) -> Bool {
        printed(Double(Float(value)), digits: s).bitPattern == value.bitPattern
    }

    /// Whether a value has at most `d` decimals.
    static func isDecimal(_ value: Double, _ d: Int) -> Bool { integer(value, .decimal(d)) != nil }

    /// Equal doubles have the same bits, except 0 and −0.
    @inline(__always)
    private static func bitsAgree(_ value: Double, _ k: Int64) -> Bool { k != 0 || value.sign == .plus }

    @inline(__always)
    private static func nearest(_ scaled: Double, _ holds: (Int64) -> Bool) -> Int64? {
        guard scaled > -2_251_799_813_685_248, scaled < 2_251_799_813_685_248 else { return nil }
        let magic = 6_755_399_441_055_744.0, k = Int64((scaled + magic) - magic)
        return holds(k) ? k : nil
    }
}
