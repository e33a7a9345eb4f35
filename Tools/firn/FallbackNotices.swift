import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnTable
import Synchronization

/// The notices of this run about files whose newest version cannot be read, because a commit was interrupted or its root is damaged.
enum FallbackNotices {
    private static let strict = Mutex(false)

    /// Whether a fallback to an older version is an error (`--strict`).
    static var isStrict: Bool {
        get { strict.withLock { $0 } }
        set { strict.withLock { $0 = newValue } }
    }

    static var all: [String] { RunNotices.current.fallbacks }

    /// Prints a notice, once for each file. Throws `.damaged` instead if `isStrict` is set.
    static func report(_ name: String, _ fallback: Damage, version: UInt64) throws(FirnError) {
        if isStrict {
            throw FirnError(
                .damaged,
                "a commit was interrupted or the file is damaged (\(fallback.what)); version \(version) is the newest readable version",
                at: .init(file: name, byte: fallback.offset),
                advice: "omit --strict to read version \(version)")
        }
        let text =
            "\(name): a commit was interrupted or the file is damaged (\(fallback.what), at byte \(fallback.offset)); reading version \(version), the newest readable version"
        if RunNotices.current.add(fallback: text) { Session.complain(DisplayWidth.visible("firn: \(text)") + "\n") }
    }
}

extension JSONLine {
    /// Adds the version of the output format, and the notices about files that were read.
    mutating func addHead() {
        add("v", 1)
        let notices = FallbackNotices.all
        if !notices.isEmpty { add("notices", notices) }
    }
}
