import Foundation

/// Counts what an app verifies about itself, and reports what is wrong.
final class Checks: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    private var failures = 0
    private let name: String

    init(_ name: String) { self.name = name }

    /// Records whether `condition` holds, and prints a failure with its line.
    func check(_ condition: Bool, _ what: String, file: String = #fileID, line: UInt = #line) {
        lock.withLock {
            count += 1
            if !condition {
                failures += 1
                print("\(file):\(line): \(what)")
            }
        }
    }

    /// Records whether two values are equal, and prints both if they are not.
    func equal<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String, file: String = #fileID, line: UInt = #line) {
        check(found == expected, "\(what): found \(found), expected \(expected)", file: file, line: line)
    }

    /// Prints the result, and ends the process with code 1 after a failure.
    func finish() -> Never {
        #if swift(>=6)
            let mode = "Swift 6"
        #else
            let mode = "Swift 5"
        #endif
        print("\(name): \(mode) mode, \(count) checks, \(failures) failed")
        exit(failures == 0 && count > 0 ? 0 : 1)
    }
}
