/// Adds terminal colours to text, or leaves it plain. No information is expressed by colour alone.
package struct Style: Sendable {
    package let isColoured: Bool
    package static let plain = Style(isColoured: false)

    package init(isColoured: Bool) { self.isColoured = isColoured }

    /// `choice` is the value of `--color`. With `auto`, `NO_COLOR` turns colours off and `CLICOLOR_FORCE` turns them on; otherwise the
    /// terminal decides.
    package init(choice: String?, isTerminal: Bool, environment: (String) -> String?) {
        isColoured =
            switch choice ?? "auto" {
            case "always": true
            case "never": false
            default:
                if let no = environment("NO_COLOR"), !no.isEmpty {
                    false
                } else if let force = environment("CLICOLOR_FORCE"), !force.isEmpty, force != "0" {
                    true
                } else {
                    isTerminal && environment("TERM") != "dumb"
                }
            }
    }

    package func strong(_ text: String) -> String { paint(text, "1") }
    package func faint(_ text: String) -> String { paint(text, "2") }
    package func red(_ text: String) -> String { paint(text, "31") }
    package func green(_ text: String) -> String { paint(text, "32") }
    package func yellow(_ text: String) -> String { paint(text, "33") }

    private func paint(_ text: String, _ code: String) -> String { isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
