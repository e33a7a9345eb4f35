import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnThreads

/// Shows the progress of a command on standard error: on terminals after half a second, with `--progress` always.
final class ProgressDisplay {
    private let ticker: Ticker?

    /// `moreRows` returns rows that `progress` does not count; it is called on another thread.
    init(_ session: Session, _ progress: Progress = Progress(), moreRows: @escaping @Sendable () -> Int = { 0 }) {
        if let monitor = session.monitor {
            monitor.watch(progress, moreRows)
            ticker = nil
            return
        }
        let isTerminal = Machine.isTerminal(2), isAsked = session.arguments.has("progress")
        guard (isTerminal || isAsked) && !session.isQuiet else {
            ticker = nil
            return
        }
        // On a terminal, each line replaces the one before. Otherwise one line is printed each second.
        var line = ProgressLine(now: session.startedAt, delay: isTerminal ? 0.5 : 1, interval: isTerminal ? 0.1 : 1)
        var isShown = false
        ticker = Ticker(every: 0.05) { isLast in
            if isLast {
                if isShown && isTerminal {
                    Session.complain(TerminalLine.removal)
                    TerminalLine.didRemove()
                }
                return
            }
            guard
                let text = line.line(
                    now: Machine.seconds, rows: progress.rows + moreRows(), bytes: progress.bytes, total: progress.totalBytes)
            else {
                return
            }
            isShown = true
            if isTerminal { TerminalLine.willShow() }
            let width = Machine.terminalWidth(2) ?? 200
            Session.complain(isTerminal ? "\r\(DisplayWidth.fit(text, to: width - 1))\u{1B}[K" : text + "\n")
        }
    }

    /// Removes the line. Nothing is shown afterwards.
    func end() { ticker?.stop() }
}
