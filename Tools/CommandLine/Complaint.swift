import FirnBytes

extension FirnError {
    /// The error as the program prints it: one line of what is wrong and where, and one of what to do about it.
    package func complaint(program: String = "firn", style: Style = .plain) -> String {
        var out = style.strong("\(program): ") + style.red(DisplayWidth.visible(description)) + "\n"
        if let advice { out += String(repeating: " ", count: program.count + 2) + DisplayWidth.visible(advice) + "\n" }
        return out
    }
}
