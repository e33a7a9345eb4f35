import FirnBytes

/// What is wrong with the data of a format, and where. Modules of formats throw it, and make a `FirnError` of it where they know what was read.
package struct FormatFault: Error {
    package var code: FirnError.Code
    package var what: String
    /// The offset in the file or stream; nil if it is not known yet, or if no byte is wrong.
    package var offset: Int?
    package var advice: String?

    package init(_ what: String, at offset: Int? = nil, code: FirnError.Code = .damaged, advice: String? = nil) {
        self.code = code
        self.what = what
        self.offset = offset
        self.advice = advice
    }

    /// The fault of a feature that this program does not read.
    package static func unknown(_ what: String, at offset: Int? = nil, advice: String? = nil) -> FormatFault {
        FormatFault(what, at: offset, code: .unsupported, advice: advice)
    }

    /// The fault for memory that the budget refused.
    package static func beyondMemory(_ what: String, _ bytes: Int, _ budget: MemoryBudget) -> FormatFault {
        let error = FirnError.beyondMemory(what, bytes, budget)
        return FormatFault(error.message, code: error.code, advice: error.advice)
    }

    /// Returns the error for users. `part` names what was read: `column "age", batch 2`.
    package func error(in file: String, _ part: String = "") -> FirnError {
        FirnError(
            code, part.isEmpty || code == .outOfMemory ? what : "\(part): \(what)",
            at: .init(file: file, byte: offset.map { UInt64(clamping: $0) }), advice: advice)
    }
}
