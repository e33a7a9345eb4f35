/// What users of Firn see when something fails: a code to branch on, a sentence to read, a place to look at.
public struct FirnError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. A struct over a private enum, so that codes can be added without breaking callers.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case usage, rejected, damaged, notThisFormat, unsupported, inputOutput, exists, notFound, noSpace, locked, interrupted, duplicateKey, schema, encrypted, wrongKey, notEncrypted, outOfMemory }
        private let kind: Kind
        /// The request itself is wrong (exit code 2 of the tool).
        public static let usage = Code(kind: .usage)
        /// Input data was refused; the place says where (exit code 3).
        public static let rejected = Code(kind: .rejected)
        /// A stored file is damaged (exit code 4).
        public static let damaged = Code(kind: .damaged)
        /// The file is not of the format it was opened as (exit code 4).
        public static let notThisFormat = Code(kind: .notThisFormat)
        /// The file needs a feature that this version does not have (exit code 4).
        public static let unsupported = Code(kind: .unsupported)
        /// The operating system refused (exit code 5).
        public static let inputOutput = Code(kind: .inputOutput)
        public static let exists = Code(kind: .exists)
        public static let notFound = Code(kind: .notFound)
        public static let noSpace = Code(kind: .noSpace)
        public static let locked = Code(kind: .locked)
        public static let interrupted = Code(kind: .interrupted)
        /// A key that must be unique is not (exit code 3).
        public static let duplicateKey = Code(kind: .duplicateKey)
        /// Types or columns do not fit (exit code 3).
        public static let schema = Code(kind: .schema)
        /// The file is encrypted, and no key was given (exit code 4).
        public static let encrypted = Code(kind: .encrypted)
        /// The key is not the one that the file was encrypted with (exit code 4).
        public static let wrongKey = Code(kind: .wrongKey)
        /// A key was given for a file that is not encrypted (exit code 2).
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// What was asked for needs more memory than the limit allows or the system has (exit code 5). Nothing is known against the file.
        public static let outOfMemory = Code(kind: .outOfMemory)
        public var description: String { kind.rawValue }
    }

    /// Where in a file: line and column count from 1.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        public var file: String
        public var line: Int?
        public var column: Int?
        public var byte: UInt64?

        public init(file: String, line: Int? = nil, column: Int? = nil, byte: UInt64? = nil) {
            self.file = file
            self.line = line
            self.column = column
            self.byte = byte
        }

        public var description: String {
            var text = file
            if let line { text += ":\(line)" }
            if let column, line != nil { text += ":\(column)" }
            if let byte, line == nil { text += " at byte \(byte)" }
            return text
        }
    }

    public var code: Code
    public var message: String
    public var place: Place?
    /// What to do about it, one line; nil if nothing can be said.
    public var advice: String?

    public init(_ code: Code, _ message: String, at place: Place? = nil, advice: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.advice = advice
    }

    /// A damaged structure of the named file.
    public static func damaged(_ file: String, what: String, byte: UInt64) -> FirnError {
        FirnError(.damaged, what, at: Place(file: file, byte: byte),
                  advice: "'firn verify \(file)' tells what is intact, and 'firn recover \(file) OUT' saves that")
    }

    /// What a fault in the bytes of the named file is to users: damage, or an error of the machine's.
    package init(_ damage: Damage, in file: String) {
        if damage.isBeyondMemory {
            self.init(.outOfMemory, damage.what, at: file.isEmpty ? nil : Place(file: file), advice: FirnError.memoryAdvice)
            return
        }
        self = damage.isUnread ? FirnError(.inputOutput, damage.what, at: Place(file: file, byte: damage.offset)) : .damaged(file, what: damage.what, byte: damage.offset)
    }

    public var description: String {
        (place.map { "\($0): " } ?? "") + message
    }
}
