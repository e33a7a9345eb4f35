/// The error that users of Firn receive: a code to branch on, a message to read, and the location in a file.
public struct FirnError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. A struct over a private enum, so that codes can be added without breaking callers.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case usage, rejected, damaged, notThisFormat, unsupported, inputOutput, exists, notFound, noSpace, locked, interrupted,
                duplicateKey, schema, encrypted, wrongKey, notEncrypted, outOfMemory
        }
        private let kind: Kind
        /// The request itself is wrong (exit code 2 of the tool).
        public static let usage = Code(kind: .usage)
        /// Input data was rejected; `location` contains the position (exit code 3).
        public static let rejected = Code(kind: .rejected)
        /// A stored file is damaged (exit code 4).
        public static let damaged = Code(kind: .damaged)
        /// The file is not of the format it was opened as (exit code 4).
        public static let notThisFormat = Code(kind: .notThisFormat)
        /// The file needs a feature that this version does not have (exit code 4).
        public static let unsupported = Code(kind: .unsupported)
        /// A call of the operating system failed (exit code 5).
        public static let inputOutput = Code(kind: .inputOutput)
        /// The target exists already (exit code 5).
        public static let exists = Code(kind: .exists)
        /// A file, type, row, version or tag does not exist (exit code 5).
        public static let notFound = Code(kind: .notFound)
        /// The disk is full (exit code 5).
        public static let noSpace = Code(kind: .noSpace)
        /// The file is in use, or was changed by another writer (exit code 5).
        public static let locked = Code(kind: .locked)
        /// The operation was interrupted (exit code 130).
        public static let interrupted = Code(kind: .interrupted)
        /// A value of a unique key occurs twice (exit code 3).
        public static let duplicateKey = Code(kind: .duplicateKey)
        /// Types or columns do not match (exit code 3).
        public static let schema = Code(kind: .schema)
        /// The file is encrypted, and no key was given (exit code 4).
        public static let encrypted = Code(kind: .encrypted)
        /// The key is not the one that the file was encrypted with (exit code 4).
        public static let wrongKey = Code(kind: .wrongKey)
        /// A key was given for a file that is not encrypted (exit code 2).
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// The operation needs more memory than the limit allows or the system has (exit code 5). The file is not known to be damaged.
        public static let outOfMemory = Code(kind: .outOfMemory)
        /// The name of the code, such as "damaged".
        public var description: String { kind.rawValue }
    }

    /// A position in a file. Lines and columns count from 1.
    public struct Location: Hashable, Sendable, CustomStringConvertible {
        /// The path of the file, or its name in messages.
        public var file: String
        /// The line, from 1; nil if it is not known.
        public var line: Int?
        /// The column, from 1; nil if it is not known.
        public var column: Int?
        /// The offset of the byte in the file, from 0; nil if it is not known.
        public var byte: UInt64?

        /// Makes a location in a file.
        public init(file: String, line: Int? = nil, column: Int? = nil, byte: UInt64? = nil) {
            self.file = file
            self.line = line
            self.column = column
            self.byte = byte
        }

        /// The location in the form of messages, such as `people.csv:1024:7`.
        public var description: String {
            var text = file
            if let line { text += ":\(line)" }
            if let column, line != nil { text += ":\(column)" }
            if let byte, line == nil { text += " at byte \(byte)" }
            return text
        }
    }

    /// The kind of failure.
    public var code: Code
    /// What failed and why, without the location.
    public var message: String
    /// The position in a file that the error concerns, if there is one.
    public var location: Location?
    /// What the user can do, in one line; nil if there is no advice.
    public var advice: String?
    /// The `errno` of the system call that failed; nil if none did.
    package var systemCode: Int32?

    /// Makes an error.
    public init(_ code: Code, _ message: String, at location: Location? = nil, advice: String? = nil) {
        self.code = code
        self.message = message
        self.location = location
        self.advice = advice
    }

    /// A damaged structure of the named file.
    public static func damaged(_ file: String, what: String, byte: UInt64) -> FirnError {
        FirnError(
            .damaged, what, at: Location(file: file, byte: byte),
            advice: "'firn verify \(file)' reports what is damaged, and 'firn recover \(file) OUT' copies what is intact into a new file")
    }

    /// The error that users receive for a fault in the bytes of the named file: damage, or an error of input and output or of memory.
    package init(_ damage: Damage, in file: String) {
        if damage.isBeyondMemory {
            self.init(.outOfMemory, damage.what, at: file.isEmpty ? nil : Location(file: file), advice: FirnError.memoryAdvice)
            return
        }
        if damage.isUnknownID {
            self.init(
                .unsupported, damage.what, at: file.isEmpty ? nil : Location(file: file, byte: damage.offset),
                advice: FirnError.newerVersion)
            return
        }
        self =
            damage.isUnread
            ? FirnError(.inputOutput, damage.what, at: Location(file: file, byte: damage.offset))
            : .damaged(file, what: damage.what, byte: damage.offset)
    }

    /// The advice for files that newer versions of Firn wrote.
    package static let newerVersion = "use a newer version of Firn"

    /// The location and the message, without the advice.
    public var description: String {
        (location.map { "\($0): " } ?? "") + message
    }
}

extension FirnError {
    /// The former name of `Location`.
    @available(*, deprecated, renamed: "Location")
    public typealias Place = Location

    /// The former name of `location`.
    @available(*, deprecated, renamed: "location")
    public var place: Location? {
        get { location }
        set { location = newValue }
    }
}
