extension Collection<String> {
    /// The names for a message: `a, b, c`, or the first twelve and how many more there are. Files can have thousands of types and columns.
    package func listed() -> String {
        let shown = 12, rest = count - shown
        return prefix(shown).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
