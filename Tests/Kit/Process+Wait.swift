import Foundation

extension Process {
    /// Waits until the process exits. After `seconds` the process is killed, so that a command that hangs fails its test and does not stop
    /// the whole run: its `terminationReason` is then `.uncaughtSignal`.
    public func wait(seconds: Double = 600) {
        let end = Date(timeIntervalSinceNow: seconds)
        var pause: UInt32 = 500
        while isRunning, Date() < end {
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
        if isRunning {
            print("\(executableURL?.path ?? "a process") \(arguments ?? []) was killed after \(seconds) seconds")
            kill(processIdentifier, SIGKILL)
        }
        waitUntilExit()
    }
}
