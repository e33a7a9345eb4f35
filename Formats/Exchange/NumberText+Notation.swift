import FirnTable

extension NumberText {
    /// Writes a double in the notation of its column, and returns the number of bytes.
    package static func write(_ value: Double, _ notation: Notation, to out: UnsafeMutablePointer<UInt8>) -> Int {
        switch notation.code {
        case Notation.fixed(0).code: write(value, fixed: Int(notation.parameter), to: out)
        case Notation.pointZero.code: writePointZero(value, to: out)
        case Notation.twoDigitExponent(pointZero: false).code:
            writeTwoDigitExponent(value, pointZero: notation.parameter == 1, to: out)
        default: NumberLayout(notation).map { write(value, $0.digits, to: out) } ?? writePlain(value, to: out)
        }
    }

    /// Writes the shortest text that reads back as the same float, and returns the number of bytes.
    package static func write(_ value: Float, to out: UnsafeMutablePointer<UInt8>) -> Int {
        writePlain(value.isFinite ? Double(value.description)! : Double(value), to: out)
    }
}
