import FirnBytes

/// The exit code of the program. The numbers never change.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case no = 1
    case usage = 2
    case rejected = 3
    case damaged = 4
    case inputOutput = 5
    case interrupted = 130

    package var meaning: String {
        switch self {
        case .done: "done; the files are the same; rows matched"
        case .no: "the answer is no: files differ, no row matched, damage was found"
        case .usage: "the command line is wrong, or names a type, column, version or tag that does not exist"
        case .rejected: "data was rejected"
        case .damaged: "a file is damaged, not of the expected format or too new for this program, or its key is missing or wrong"
        case .inputOutput: "reading or writing failed, or memory was not enough"
        case .interrupted: "interrupted; the target is unchanged"
        }
    }

    /// The exit code for an error that ends a command.
    package init(_ code: FirnError.Code) {
        self =
            switch code {
            case .usage, .notEncrypted: .usage
            case .rejected, .duplicateKey, .schema: .rejected
            case .damaged, .notThisFormat, .unsupported, .encrypted, .wrongKey: .damaged
            case .interrupted: .interrupted
            default: .inputOutput
            }
    }
}
