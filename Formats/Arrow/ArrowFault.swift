import FirnBytes

/// What is wrong with Arrow data, and where.
struct ArrowFault: Error {
    var code: FirnError.Code
    var what: String
    /// The offset in the file or stream; nil if it is not known yet, or if no byte is wrong.
    var offset: Int?
    var advice: String?

    init(_ what: String, at offset: Int? = nil, code: FirnError.Code = .damaged, advice: String? = nil) {
        self.code = code
        self.what = what
        self.offset = offset
        self.advice = advice
    }

    /// The fault of a feature that this program does not read.
    static func unknown(_ what: String, at offset: Int? = nil, advice: String? = nil) -> ArrowFault {
        ArrowFault(what, at: offset, code: .unsupported, advice: advice)
    }

    /// The fault for memory that the budget refused.
    static func beyondMemory(_ what: String, _ bytes: Int, _ budget: MemoryBudget) -> ArrowFault {
        let error = FirnError.beyondMemory(what, bytes, budget)
        return ArrowFault(error.message, code: error.code, advice: error.advice)
    }

    /// Returns the error for users. `part` names what was read: `column "age", batch 2`.
    func error(in file: String, _ part: String = "") -> FirnError {
        FirnError(
            code, part.isEmpty || code == .outOfMemory ? what : "\(part): \(what)",
            at: .init(file: file, byte: offset.map { UInt64(clamping: $0) }), advice: advice)
    }
}
