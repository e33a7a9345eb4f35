/// The layout of help text: no line is wider than `Help.width` columns.
package enum Help {
    package static let width = 79
}

extension Program {
    package func usage(of command: Command) -> String {
        "\(name) \(command.name) [flags]" + (command.operands.isEmpty ? "" : " \(command.operands)")
    }

    /// Returns the help of a command, or of the whole program if `command` is nil. `isLong`: with all details (`--help`).
    package func help(_ command: Command?, isLong: Bool) -> String {
        guard let command else { return overview(isLong: isLong) }
        return isLong ? longHelp(command) : shortHelp(command)
    }

    private func overview(isLong: Bool) -> String {
        var out = wrap("\(name): \(summary)") + "\n"
        out += "usage: \(name) COMMAND [flags] FILES\n\ncommands:\n"
        let widest = visibleCommands.map(\.name.count).max() ?? 0
        for command in visibleCommands { out += entry("  " + command.name, command.summary, column: widest + 4) }
        out += "\nfirst steps:\n"
        for command in visibleCommands { if let example = command.examples.first { out += "  \(example.line)\n" } }
        out += "\n'\(name) COMMAND -h' prints short help, '\(name) help COMMAND' complete help.\n"
        guard isLong else { return out }
        out += "\nflags of every command:\n" + list(shared, isLong: true)
        out += "\nexit codes:\n"
        for code in ExitCode.allCases { out += entry("  \(code.rawValue)", code.meaning, column: 6) }
        return out
    }

    private func shortHelp(_ command: Command) -> String {
        var out = ""
        for example in command.examples { out += entry("  " + example.line, example.does, column: 46) }
        out = "usage: \(usage(of: command))\n" + wrap(command.sentence) + "\nexamples:\n" + out + "\n"
        for group in Flag.Group.allCases where group != .shared {
            let flags = command.flags.filter { $0.group == group }
            if !flags.isEmpty { out += "\(group.rawValue.lowercased()):\n" + list(flags, isLong: false) }
        }
        return out + "\n'\(name) help \(command.name)' prints all details.\n"
    }

    private func longHelp(_ command: Command) -> String {
        var out = "usage: \(usage(of: command))\n\n" + wrap(command.sentence)
        for paragraph in paragraphs(command.detail) { out += "\n" + wrap(paragraph) }
        out += "\nexamples:\n"
        for example in command.examples { out += "  \(example.line)\n" + wrap(example.does, indent: 6) }
        for group in Flag.Group.allCases {
            let flags = flags(of: command).filter { $0.group == group }
            if !flags.isEmpty { out += "\n\(group.rawValue.lowercased()):\n" + list(flags, isLong: true) }
        }
        if !command.exit.isEmpty { out += "\n" + wrap("exit codes: " + exitLine(command)) }
        return out
    }

    func exitLine(_ command: Command) -> String {
        command.exit + "; 2 usage, 3 data rejected, \(command.exit.contains(" 4 ") ? "" : "4 damaged or not of that format, ")"
            + "5 input or output failed, 130 interrupted."
    }

    private func list(_ flags: [Flag], isLong: Bool) -> String {
        var out = ""
        for flag in flags {
            let preset = flag.preset.map { " (default: \($0))" } ?? ""
            if isLong {
                out += "  \(flag.spelling)\n" + wrap(flag.sentence + preset, indent: 10)
            } else {
                out += entry("  " + flag.spelling, flag.summary + preset, column: 28)
            }
        }
        return out
    }

    /// Returns a term and its explanation. The explanation begins in `column`, on the same line if the term is short enough, otherwise on
    /// the next.
    private func entry(_ term: String, _ text: String, column: Int) -> String {
        let body = wrap(text, indent: column)
        guard term.count + 2 <= column else { return term + "\n" + body }
        return term + String(repeating: " ", count: column - term.count) + body.dropFirst(column)
    }

    func paragraphs(_ text: String) -> [String] {
        var out: [String] = [], current = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                if !current.isEmpty { out.append(current) }
                current = ""
            } else {
                current += (current.isEmpty ? "" : " ") + line
            }
        }
        return current.isEmpty ? out : out + [current]
    }
}

extension Command {
    var sentence: String { summary.prefix(1).uppercased() + summary.dropFirst() + "." }
}

extension Flag {
    /// The summary, followed by the detail.
    var sentence: String { detail.isEmpty ? summary : "\(summary). \(detail)" }
}

/// Breaks a paragraph at spaces into lines of at most `width` columns. Each line begins with `indent` spaces and ends with a line feed.
package func wrap(_ text: String, indent: Int = 0, width: Int = Help.width) -> String {
    let margin = String(repeating: " ", count: indent)
    var out = "", line = margin
    for word in text.split(separator: " ") {
        if line.count > indent, line.count + 1 + word.count > width {
            out += line + "\n"
            line = margin
        }
        line += (line.count > indent ? " " : "") + word
    }
    return out + line + "\n"
}
