import FirnBytes

/// How an integer stands for a double in the prediction of a column from other columns: one of the forms of mixed doubles
/// (`docs/format/codecs-numbers.md`, "Mixed").
package struct NumberForm: Sendable, Equatable {
    let form: FloatForm

    /// Reads the kind of a form and its parameters.
    package init(parsing reader: inout ByteReader) throws(Damage) { form = try FloatForm(parsing: &reader) }

    init(_ form: FloatForm) { self.form = form }

    /// The form of numbers with `digits` digits after the point, 0 … 18. `single`: of those that are Floats.
    package static func decimal(_ digits: Int, single: Bool = false) -> NumberForm {
        NumberForm(single ? .singleDecimal(digits) : .decimal(digits))
    }

    /// The digits after the point, if that is what the form says.
    package var digits: Int? {
        switch form {
        case .decimal(let digits), .singleDecimal(let digits): digits
        default: nil
        }
    }

    /// Whether the doubles are Floats with some digits after the point.
    package var isSingle: Bool { form.isSingle }

    /// Whether larger integers stand for numbers that are larger by a constant factor, so that sums mean something.
    package var isLinear: Bool {
        switch form {
        case .ordered, .single, .roundedSingle, .roundedSingleDecimal: false
        default: true
        }
    }

    /// Whether a number of this form may predict another one: it follows from the double without rounding to printed digits.
    package var canPredict: Bool {
        switch form {
        case .roundedSingle, .roundedSingleDecimal: false
        default: true
        }
    }

    /// The form of all doubles, or of all Floats: their bits, in the order of their values.
    package static func ordered(single: Bool) -> NumberForm { NumberForm(single ? .single : .ordered) }

    /// Whether the integers are the bits of doubles, in the order of their values.
    package var isOrderedDouble: Bool { form == .ordered }

    package func append(to out: inout ByteWriter) { form.append(to: &out) }

    /// Returns the integer that stands for a double bit for bit, or nil if there is none.
    @inline(__always)
    package func integer(_ value: Double) -> Int64? { FloatForm.integer(value, form) }

    /// Returns the integer that stands for about this number; 0 if there is none, or if it is too large for exact arithmetic.
    package func nearest(_ number: Double) -> Int64 {
        switch form {
        case .ordered: return number.isFinite ? order(number) : 0
        case .single, .roundedSingle:
            let single = Float(number)
            return single.isFinite ? order(single) : 0
        case .decimal(let d), .singleDecimal(let d), .roundedSingleDecimal(let d, _): return NumberForm.rounded(number * powersOfTen[d])
        case .multiple(let base), .roundedMultiple(let base, _): return NumberForm.rounded(number / base)
        case .quotient(let base), .roundedQuotient(let base, _): return NumberForm.rounded(number * base)
        }
    }

    /// Returns the nearest integer, ties to even; 0 if it is 2^51 or more, or not a number.
    @inline(__always)
    package static func rounded(_ number: Double) -> Int64 {
        guard number > -2_251_799_813_685_248, number < 2_251_799_813_685_248 else { return 0 }
        return Int64(number.rounded(.toNearestOrEven))
    }

    /// Returns the double with these bits in the order of values.
    @inline(__always)
    package static func double(ordered bits: Int64) -> Double { doubleFromOrdered(bits) }

    /// Returns the double that an integer stands for.
    package func double(_ integer: Int64) -> Double { form.double(integer) }

    /// Returns the doubles that integers stand for.
    package func doubles(_ integers: [Int64]) -> [Double] {
        var numbers = integers
        return numbers.withUnsafeMutableBufferPointer { numbers in
            guard let start = numbers.baseAddress else { return [] }
            form.convert(start, count: numbers.count)
            return numbers.map { Double(bitPattern: UInt64(bitPattern: $0)) }
        }
    }
}

extension FloatsReader {
    /// The form in which the stream stores most of its values as integers; nil if it stores none of them so.
    package var dominantForm: NumberForm? { body.dominantForm.map { NumberForm($0) } }
}
