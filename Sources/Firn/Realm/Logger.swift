import Foundation
import Synchronization

/// How much a logger records, and how important a message is. Each level includes those before it.
public enum LogLevel: Int, Sendable, CaseIterable, Comparable {
    /// Nothing.
    case off = 0
    /// Failures after which the program cannot continue.
    case fatal
    /// Damaged files and failed writes.
    case error
    /// Conditions that may become errors.
    case warn
    /// What a user of the program may want to know.
    case info
    /// Migrations and compactions.
    case detail
    /// Each opening and commit.
    case debug
    /// Each beginning of a transaction.
    case trace
    /// Everything.
    case all

    /// Returns whether the first level records less than the second.
    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Records what realms do: on standard error, or with a function of the program.
///
///     Logger.shared.level = .debug
///     Logger.shared = Logger(level: .detail) { level, message in print(level, message) }
public final class Logger: Sendable {
    /// A function that records a message. Any thread can call it.
    public typealias LogFunction = @Sendable (_ level: LogLevel, _ message: String) -> Void

    private static let current: Mutex<Logger> = Mutex(Logger(level: .info, logFunction: Logger.printed))
    /// The level of the shared logger, which is compared before a message is made.
    private static let threshold = Atomic<Int>(LogLevel.info.rawValue)

    private let detail: Mutex<LogLevel>
    private let record: LogFunction

    /// The logger of all realms of the program. By default it prints messages of level `.info` and above on standard error.
    public static var shared: Logger {
        get { current.withLock { $0 } }
        set {
            current.withLock {
                $0 = newValue
                threshold.store(newValue.level.rawValue, ordering: .relaxed)
            }
        }
    }

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - level: The least important level that is recorded.
    ///   - logFunction: Receives each message up to the level; it must not use a realm. nil: messages are printed on standard error.
    public init(level: LogLevel, logFunction: LogFunction? = nil) {
        detail = Mutex(level)
        record = logFunction ?? Logger.printed
    }

    /// The least important level that is recorded.
    public var level: LogLevel {
        get { detail.withLock { $0 } }
        set {
            detail.withLock { $0 = newValue }
            Logger.current.withLock { if $0 === self { Logger.threshold.store(newValue.rawValue, ordering: .relaxed) } }
        }
    }

    /// Records a message if the logger's level includes its level.
    public func log(level: LogLevel, message: String) {
        if level != .off, level <= self.level { record(level, message) }
    }

    /// Sets the level of the shared logger.
    public static func setLogLevel(_ level: LogLevel) { shared.level = level }
    /// The level of the shared logger.
    public static var logLevel: LogLevel { shared.level }

    private static func printed(_ level: LogLevel, _ message: String) {
        FileHandle.standardError.write(Data("realm \(level): \(message)\n".utf8))
    }

    /// Records a message of this library. Costs one comparison if the shared logger does not include the level.
    @inline(__always)
    static func note(_ level: LogLevel, _ message: @autoclosure () -> String) {
        if level.rawValue <= threshold.load(ordering: .relaxed) { shared.log(level: level, message: message()) }
    }
}
