import FirnBytes

extension FirnError {
    /// Returns the error as the program prints it: one line with location and message, then one line with the advice, if there is one.
    package func complaint(program: String = "firn", style: Style = .plain) -> String {
        var out = style.strong("\(program): ") + style.red(shortened(DisplayWidth.visible(description))) + "\n"
        if let advice { out += String(repeating: " ", count: program.count + 2) + shortened(DisplayWidth.visible(advice)) + "\n" }
        return out
    }

    /// Returns a text with its middle left out, if it is long: an argument or a name in it can have any length.
    private func shortened(_ text: String) -> String {
        let limit = 2000, scalars = text.unicodeScalars
        guard scalars.count > limit else { return text }
        return String(String.UnicodeScalarView(scalars.prefix(limit * 3 / 4))) + " … "
            + String(String.UnicodeScalarView(scalars.suffix(limit / 4)))
    }
}
