import FirnBytes
import FirnCodecs
import FirnTable

/// How the numbers of a chunk are predicted from other columns of its segment, so that the chunk stores differences only
/// (`docs/format/model.md`, "Predicted numbers"): the head of the stream of kind 11.
struct Prediction: Equatable {
    /// A column whose numbers take part in a linear prediction or a product. `form`: nil if its numbers are its integers.
    struct Term: Equatable {
        /// The position in the segment header.
        var column: Int
        /// In a product: 1 multiplies, −1 divides.
        var factor: Int64
        var form: NumberForm?
    }

    enum Rule: Equatable {
        /// (constant + Σ factor · number) >> shift
        case linear([Term], shift: Int, constant: Int64)
        /// The number of the last earlier row of the block with the same code in the column. A block has 2^(block − 1) vectors; 0: all.
        case last(column: Int, keys: Int, block: Int, start: Int64)
        /// (Π number, or 1 / number) · scale + offset, in doubles
        case product([Term], scale: Double, offset: Double)
    }

    var rule: Rule
    /// How an integer stands for a double; nil if the numbers are the integers of the column.
    var form: NumberForm?
    /// The number of rows that are stored as doubles. They are 0 without a form.
    var exceptions = 0

    static let maximumTerms = 4
    static let maximumShift = 62
    static let maximumBlock = 7
    /// In place of a form: the numbers are integers.
    private static let noForm: UInt8 = 255
    private static let linearID: UInt8 = 3, lastID: UInt8 = 4, productID: UInt8 = 6

    init(rule: Rule, form: NumberForm?, exceptions: Int = 0) { (self.rule, self.form, self.exceptions) = (rule, form, exceptions) }

    /// Whether a stream of kind 11 is a prediction, and not a map or a copy.
    static func isPrediction(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first.map { $0 == linearID || $0 == lastID || $0 == productID } ?? false
    }

    /// The name of the rule, as `firn info` prints it.
    var name: String {
        switch rule {
        case .linear: "linear"
        case .last: "last"
        case .product(let terms, _, _): terms.contains { $0.factor < 0 } ? "quotient" : "product"
        }
    }

    var isProduct: Bool { if case .product = rule { true } else { false } }

    /// The positions in the segment header of the columns that it refers to.
    var sources: [Int] {
        switch rule {
        case .linear(let terms, _, _), .product(let terms, _, _): terms.map(\.column)
        case .last(let column, _, _, _): [column]
        }
    }

    /// The number of rows in a block of the rule `last`.
    static func blockRows(_ block: Int) -> Int { block == 0 ? segmentSize : vectorSize << (block - 1) }

    func encoded(exceptions rows: [Int], profile: Profile) -> [UInt8] {
        var out = ByteWriter()
        func append(_ form: NumberForm?) { if let form { form.append(to: &out) } else { out.append(Prediction.noForm) } }
        func append(_ terms: [Term]) {
            out.append(UInt8(terms.count))
            for term in terms {
                out.appendVarint(term.column)
                out.appendSignedVarint(term.factor)
                append(term.form)
            }
        }
        switch rule {
        case .linear(let terms, let shift, let constant):
            out.append(Prediction.linearID)
            append(form)
            append(terms)
            out.append(UInt8(shift))
            out.appendSignedVarint(constant)
        case .last(let column, let keys, let block, let start):
            out.append(Prediction.lastID)
            append(form)
            out.appendVarint(column)
            out.appendVarint(keys)
            out.append(UInt8(block))
            out.appendSignedVarint(start)
        case .product(let terms, let scale, let offset):
            out.append(Prediction.productID)
            append(form)
            append(terms)
            out.append(scale)
            out.append(offset)
        }
        out.appendVarint(rows.count)
        if !rows.isEmpty {
            out.append(contentsOf: rows.map(Int64.init).withUnsafeBufferPointer { IntegersEncoder.encodeBasic($0, profile: profile) })
        }
        return out.bytes
    }

    /// Reads the head of the stream. `positions` are the bytes of the integer stream of exceptions; empty if there are none.
    init(_ bytes: UnsafeRawBufferPointer, rowCount: Int, positions: inout UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let id = try reader.read(UInt8.self)
        form = try Prediction.form(&reader)
        switch id {
        case Prediction.linearID:
            let terms = try Prediction.terms(&reader)
            let shift = Int(try reader.read(UInt8.self))
            guard shift <= Prediction.maximumShift else { throw Damage("a prediction with too large a shift") }
            rule = .linear(terms, shift: shift, constant: try reader.readSignedVarint())
        case Prediction.lastID:
            let column = try reader.readCount(limit: Int(UInt32.max)), keys = try reader.readCount(limit: Relation.maximumKeys)
            let block = Int(try reader.read(UInt8.self))
            guard keys > 0, block <= Prediction.maximumBlock else { throw Damage("a prediction with a wrong number of keys or vectors") }
            rule = .last(column: column, keys: keys, block: block, start: try reader.readSignedVarint())
        case Prediction.productID:
            let terms = try Prediction.terms(&reader)
            guard terms.allSatisfy({ $0.factor.magnitude == 1 && $0.form?.isOrderedDouble ?? true }) else {
                throw Damage("a product with an invalid power, or of numbers that are no doubles")
            }
            let scale = Double(bitPattern: try reader.read(UInt64.self)), offset = Double(bitPattern: try reader.read(UInt64.self))
            guard scale.isFinite, offset.isFinite else { throw Damage("a product with a factor that is not a number") }
            rule = .product(terms, scale: scale, offset: offset)
        default: throw Damage(unknown: "relation \(id)")
        }
        exceptions = try reader.readCount(limit: rowCount)
        positions = try reader.read(count: reader.remaining)
        guard exceptions > 0 || positions.isEmpty else { throw Damage("a relation without exceptions lists some") }
        guard exceptions == 0 || form != nil else { throw Damage("integers that are predicted have exceptions") }
    }

    private static func terms(_ reader: inout ByteReader) throws(Damage) -> [Term] {
        let count = Int(try reader.read(UInt8.self))
        guard count >= 1, count <= maximumTerms else { throw Damage("a prediction with a wrong number of terms") }
        var terms: [Term] = []
        for _ in 0..<count {
            let column = try reader.readCount(limit: Int(UInt32.max)), factor = try reader.readSignedVarint()
            let form = try Prediction.form(&reader)
            guard form?.canPredict ?? true else { throw Damage("a prediction from numbers of a form that cannot predict") }
            terms.append(Term(column: column, factor: factor, form: form))
        }
        return terms
    }

    private static func form(_ reader: inout ByteReader) throws(Damage) -> NumberForm? {
        guard reader.remaining > 0 else { throw Damage("a relation that ends early", at: reader.position) }
        var ahead = reader
        if try ahead.read(UInt8.self) == noForm {
            reader = ahead
            return nil
        }
        return try NumberForm(parsing: &reader)
    }
}
