import FirnBytes
import FirnCommandLine
import FirnModel
import Synchronization

/// What this run of the command has reported of files whose newest version is not what is read: an older version is, because a commit was interrupted or its root is damaged.
enum FallbackNotices {
    private static let said = Mutex<[String]>([])
    private static let strict = Mutex(false)

    /// `--strict`: a fallback is an error.
    static var isStrict: Bool {
        get { strict.withLock { $0 } }
        set { strict.withLock { $0 = newValue } }
    }

    static var all: [String] { said.withLock { $0 } }

    /// Prints the notice, once for each file; throws `.damaged` with `--strict`.
    static func report(_ name: String, _ fallback: Damage, version: UInt64) throws(FirnError) {
        if isStrict {
            throw FirnError(.damaged, "a commit was interrupted, or is damaged (\(fallback.what)), and only version \(version) can be read", at: .init(file: name, byte: fallback.offset),
                            advice: "leave --strict out to read version \(version)")
        }
        let text = "\(name): a commit was interrupted, or is damaged (\(fallback.what), at byte \(fallback.offset)): version \(version) is read"
        let isNew = said.withLock { said in
            if said.contains(text) { return false }
            said.append(text)
            return true
        }
        if isNew { Session.complain(DisplayWidth.visible("firn: \(text)") + "\n") }
    }
}

extension JSONLine {
    /// The version of the form, and what was reported of the files that were read.
    mutating func addHead() {
        add("v", 1)
        let notices = FallbackNotices.all
        if !notices.isEmpty { add("notices", notices) }
    }
}
