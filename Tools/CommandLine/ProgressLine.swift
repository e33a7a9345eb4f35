/// Formats the line that shows the progress of a long command, and limits its rate. It prints nothing itself: the caller polls `line`.
package struct ProgressLine: Sendable {
    private let startedAt: Double
    private var shownAt: Double
    /// The seconds before the first line, and between lines.
    private let delay: Double, interval: Double

    package init(now: Double, delay: Double = 0.5, interval: Double = 0.1) {
        startedAt = now
        shownAt = now - interval
        self.delay = delay
        self.interval = interval
    }

    /// Returns the line that replaces the previous one, or nil if no line is due yet. All times are in seconds of the same clock.
    package mutating func line(now: Double, rows: Int, bytes: Int, total: Int?) -> String? {
        guard now - startedAt >= delay, now - shownAt >= interval else { return nil }
        shownAt = now
        return text(elapsed: now - startedAt, rows: rows, bytes: bytes, total: total)
    }

    func text(elapsed: Double, rows: Int, bytes: Int, total: Int?) -> String {
        // Statements of SQL read no bytes, only rows.
        if bytes == 0, total == nil {
            return [Quantity.count(rows, "row"), "\(Quantity.count(Int(Double(rows) / max(elapsed, 0.001))))/s", Quantity.seconds(elapsed)]
                .joined(separator: " · ")
        }
        let speed = Double(bytes) / max(elapsed, 0.001)
        var parts = [Quantity.count(rows, "row"), Quantity.bytes(bytes), "\(Quantity.bytes(Int(speed)))/s"]
        if let total, total > 0 {
            parts.insert("\(min(100, bytes * 100 / total)) %", at: 0)
            if bytes > 0, bytes < total { parts.append("\(Quantity.seconds(Double(total - bytes) / speed)) left") }
        }
        return parts.joined(separator: " · ")
    }
}
