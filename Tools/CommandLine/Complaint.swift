import FirnBytes

extension FirnError {
    /// Returns the error as the program prints it: one line with place and message, then one line with the advice, if there is one.
    package func complaint(program: String = "firn", style: Style = .plain) -> String {
        var out = style.strong("\(program): ") + style.red(DisplayWidth.visible(description)) + "\n"
        if let advice { out += String(repeating: " ", count: program.count + 2) + DisplayWidth.visible(advice) + "\n" }
        return out
    }
}
