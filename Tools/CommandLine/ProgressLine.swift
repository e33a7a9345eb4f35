/// The line that tells how far a long command has come. Draws nothing itself: the caller asks for a line when it may be time.
package struct ProgressLine: Sendable {
    private let startedAt: Double
    private var shownAt: Double
    /// What to wait before the first line, and between lines.
    private let delay: Double, interval: Double

    package init(now: Double, delay: Double = 0.5, interval: Double = 0.1) {
        startedAt = now
        shownAt = now - interval
        self.delay = delay
        self.interval = interval
    }

    /// A line to show in place of the last one, or nil while nothing is due. Times are in seconds of one clock.
    package mutating func line(now: Double, rows: Int, bytes: Int, total: Int?) -> String? {
        guard now - startedAt >= delay, now - shownAt >= interval else { return nil }
        shownAt = now
        return text(elapsed: now - startedAt, rows: rows, bytes: bytes, total: total)
    }

    func text(elapsed: Double, rows: Int, bytes: Int, total: Int?) -> String {
        let speed = Double(bytes) / max(elapsed, 0.001)
        var parts = [Quantity.count(rows, "row"), Quantity.bytes(bytes), "\(Quantity.bytes(Int(speed)))/s"]
        if let total, total > 0 {
            parts.insert("\(min(100, bytes * 100 / total)) %", at: 0)
            if bytes > 0, bytes < total { parts.append("\(Quantity.seconds(Double(total - bytes) / speed)) left") }
        }
        return parts.joined(separator: " · ")
    }
}
