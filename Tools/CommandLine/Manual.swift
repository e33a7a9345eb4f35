/// Manual pages with the macros of man(7), generated from the table of flags.
extension Program {
    /// All pages with their names, without the section: `firn`, `firn-convert` and so on.
    package var manualPages: [(name: String, text: String)] {
        [(name, manual(of: nil))] + visibleCommands.map { ("\(name)-\($0.name)", manual(of: $0)) }
    }

    /// Returns the page of a command, or of the whole program if `command` is nil.
    package func manual(of command: Command?) -> String {
        guard let command else { return overviewPage }
        var page = head("\(name)-\(command.name)", command.summary)
        page +=
            ".SH SYNOPSIS\n.B \(Roff.text("\(name) \(command.name)"))\n[\\fIflags\\fR]\(command.operands.isEmpty ? "" : " " + Roff.italic(command.operands))\n"
        page += ".SH DESCRIPTION\n" + Roff.paragraphs([command.sentence] + paragraphs(command.detail))
        page += options(flags(of: command))
        if !command.examples.isEmpty {
            page += ".SH EXAMPLES\n"
            for example in command.examples {
                page +=
                    ".PP\n\(Roff.line(example.does.prefix(1).uppercased() + example.does.dropFirst() + ":"))\n.PP\n.RS 4\n.EX\n\(Roff.line(example.line))\n.EE\n.RE\n"
            }
        }
        page += exitStatus(command.exit)
        return page + ".SH SEE ALSO\n" + Roff.references([name] + related(to: command))
    }

    private var overviewPage: String {
        var page = head(name, summary)
        page += ".SH SYNOPSIS\n.B \(Roff.text(name))\n\\fICOMMAND\\fR [\\fIflags\\fR] \\fIFILES\\fR\n.SH DESCRIPTION\n"
        page += Roff.paragraphs([
            summary.prefix(1).uppercased() + summary.dropFirst() + ".",
            "Data is written to standard output, everything else to standard error. - as a file means standard input or standard output. Nothing is overwritten without --force.",
        ])
        page += ".SH COMMANDS\n"
        for command in visibleCommands { page += ".TP\n.B \(Roff.text(command.name))\n\(Roff.line(command.sentence))\n" }
        page += options(shared) + exitStatus("")
        return page + ".SH SEE ALSO\n" + Roff.references(visibleCommands.map { "\(name)-\($0.name)" })
    }

    private func head(_ title: String, _ summary: String) -> String {
        ".\\\" Written by '\(name) man' from the table in Tools/CommandLine.\n.TH \(Roff.text(title.uppercased())) 1 \"\" \"\(name) \(version)\" \"\(name.prefix(1).uppercased() + name.dropFirst())\"\n.nh\n.ad l\n"
            + ".SH NAME\n\(Roff.text(title)) \\- \(Roff.text(summary))\n"
    }

    private func options(_ flags: [Flag]) -> String {
        var out = ".SH OPTIONS\n"
        for group in Flag.Group.allCases {
            let members = flags.filter { $0.group == group }
            if members.isEmpty { continue }
            out += ".SS \(Roff.text(group.rawValue))\n"
            for flag in members {
                out +=
                    ".TP\n" + (flag.short.map { Roff.bold("-\($0)") + ", " } ?? "") + Roff.bold("--\(flag.name)")
                    + (flag.metavar.map { " " + Roff.italic($0) } ?? "") + "\n"
                let text = flag.sentence + (flag.preset.map { " (default: \($0))" } ?? "")
                out += Roff.line(text.hasSuffix(".") ? text : text + ".") + "\n"
            }
        }
        return out
    }

    /// Returns the section on exit codes: `own` is the command's text for its codes (`0 found, 1 not found`), followed by the codes of all
    /// commands.
    private func exitStatus(_ own: String) -> String {
        var out = ".SH EXIT STATUS\n"
        if !own.isEmpty { out += Roff.line("Exit codes of this command: \(own).") + "\n" }
        for code in ExitCode.allCases where own.isEmpty || code.rawValue > 1 {
            out += ".TP\n.B \(code.rawValue)\n\(Roff.line(code.meaning))\n"
        }
        return out
    }

    /// Returns the commands that the help of a command mentions as `firn NAME`.
    private func related(to command: Command) -> [String] {
        let text = ([command.detail] + command.examples.flatMap { [$0.line, $0.does] } + command.flags.map(\.sentence)).joined(
            separator: " ")
        let words = text.split { !($0.isLetter || $0 == "-") }.map(String.init)
        let named = Set(zip(words, words.dropFirst()).filter { $0.0 == name }.map(\.1))
        return visibleCommands.filter { $0.name != command.name && named.contains($0.name) }.map { "\(name)-\($0.name)" }
    }
}

/// Escapes text for roff.
private enum Roff {
    /// Escapes text within a line. The result is ASCII.
    static func text(_ text: some StringProtocol) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\e"
            case "-": out += "\\-"
            case "'": out += "\\(aq"
            case "`": out += "\\(ga"
            case "^": out += "\\(ha"
            case "~": out += "\\(ti"
            case "\"": out += "\\(dq"
            case _ where scalar.isASCII: out.unicodeScalars.append(scalar)
            default:
                let hex = String(scalar.value, radix: 16, uppercase: true)
                out += "\\[u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex + "]"
            }
        }
        return out
    }

    /// Escapes a whole line: a leading full stop or quote would make it a request.
    static func line(_ text: some StringProtocol) -> String {
        let line = Roff.text(text)
        return line.hasPrefix(".") ? "\\&" + line : line
    }

    static func bold(_ text: String) -> String { "\\fB\(Roff.text(text))\\fR" }
    static func italic(_ text: String) -> String { "\\fI\(Roff.text(text))\\fR" }

    static func paragraphs(_ paragraphs: [String]) -> String { paragraphs.map { ".PP\n\(line($0))\n" }.joined() }

    static func references(_ names: [String]) -> String {
        names.enumerated().map { ".BR \(text($0.element)) (1)\($0.offset + 1 < names.count ? "," : "")\n" }.joined()
    }
}
