extension Program {
    /// The reference of all commands in Markdown: the contents of `docs/cli.md`.
    package var reference: String {
        var out =
            "# The `\(name)` command\n\n<!-- Written by `\(name) reference > docs/cli.md` from the table in Tools/CommandLine. -->\n\n"
        out += wrap(summary.prefix(1).uppercased() + summary.dropFirst() + ".") + "\n"
        out += "| command | does |\n|---|---|\n"
        for command in visibleCommands { out += "| [`\(name) \(command.name)`](#\(name)-\(command.name)) | \(command.summary) |\n" }
        out +=
            "\nData is written to standard output, everything else to standard error. `-` as a file means standard input or standard output. Nothing is overwritten without `--force`.\n\n"
        out += "| exit code | means |\n|---|---|\n"
        for code in ExitCode.allCases { out += "| \(code.rawValue) | \(code.meaning) |\n" }
        for command in visibleCommands { out += "\n" + section(command) }
        out += "\n## Flags for reading inputs\n\nCommands that read files of any format have these flags.\n\n" + rows(readingFlags)
        out += "\n## Flags of every command\n\n" + rows(shared)
        return out
    }

    /// The flags for reading that all commands have which read files of any format.
    private var readingFlags: [Flag] {
        let readers = visibleCommands.map { $0.flags.filter { $0.group == .reading } }.filter { $0.count > Program.fewFlags }
        return (readers.first ?? []).filter { flag in
            readers.allSatisfy { $0.contains { $0.name == flag.name && $0.sentence == flag.sentence } }
        }
    }

    /// A command with more flags for reading reads files of any format.
    private static let fewFlags = 10

    private func section(_ command: Command) -> String {
        var out = "## \(name) \(command.name)\n\n```\n\(usage(of: command))\n```\n\n\(command.sentence)\n"
        for paragraph in paragraphs(command.detail) { out += "\n\(paragraph)\n" }
        out += "\n```sh\n"
        for example in command.examples { out += "\(example.line)   # \(example.does)\n" }
        out += "```\n"
        for group in Flag.Group.allCases {
            let flags = command.flags.filter { $0.group == group }
            guard group == .reading, flags.count > Program.fewFlags else {
                if !flags.isEmpty { out += "\n**\(group.rawValue)**\n\n" + rows(flags) }
                continue
            }
            let common = Set(readingFlags.map(\.name)), own = flags.filter { !common.contains($0.name) }
            out +=
                "\n**\(group.rawValue)**: the [flags for reading inputs](#flags-for-reading-inputs)\(own.isEmpty ? "." : ", and these:")\n"
            if !own.isEmpty { out += "\n" + rows(own) }
        }
        if !command.exit.isEmpty { out += "\nExit codes: \(exitLine(command))\n" }
        return out
    }

    private func rows(_ flags: [Flag]) -> String {
        var out = "| flag | does |\n|---|---|\n"
        for flag in flags {
            let names =
                (flag.short.map { "`-\($0)`, " } ?? "") + "`--\(flag.name)" + (flag.metavar.map { " \(Program.escaped($0))" } ?? "") + "`"
            out += "| \(names) | \(Program.escaped(flag.sentence))\(flag.preset.map { " (default: \($0))" } ?? "") |\n"
        }
        return out
    }

    private static func escaped(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
