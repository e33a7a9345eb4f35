import FirnBytes

/// A flag of a command, with everything that the parser, the help, the reference and the completions need.
package struct Flag: Sendable {
    /// The headings of flags in help, in this order.
    package enum Group: String, Sendable, CaseIterable {
        case reading = "Reading", choosing = "Choosing rows and columns", writing = "Writing", comparing = "Comparing", working = "Working",
            shared = "Every command"
    }

    /// How often the flag can be given with a value.
    package enum Repetition: Sendable { case once, many }

    /// What a value is.
    package enum Value: Sendable {
        /// A text that is not empty.
        case text
        /// A text that can be empty.
        case anyText
        /// Texts separated by commas, none of them empty.
        case words
        /// Names separated by commas, none of them empty or given twice. A sign before a name does not count.
        case names
    }

    package let name: String
    package let short: Character?
    /// The placeholder of the value in help; nil for a switch.
    package let metavar: String?
    package let group: Group
    /// The one-line help, without a full stop.
    package let summary: String
    /// What `--help` adds to the summary; can be empty.
    package let detail: String
    /// The default, as help shows it.
    package let preset: String?
    /// The permitted values; if empty, any value is.
    package let choices: [String]
    /// What may follow a permitted value after a dot, as `gz` in `csv.gz`.
    package let endings: [String]
    package let repetition: Repetition
    package let value: Value

    package init(
        _ name: String, _ short: Character? = nil, _ metavar: String? = nil, in group: Group, _ summary: String, detail: String = "",
        preset: String? = nil, choices: [String] = [], endings: [String] = [], repetition: Repetition = .once,
        value: Value = .text
    ) {
        self.name = name
        self.short = short
        self.metavar = metavar ?? (choices.isEmpty ? nil : choices.joined(separator: "|"))
        self.group = group
        self.summary = summary
        self.detail = detail
        self.preset = preset
        self.choices = choices
        self.endings = endings
        self.repetition = repetition
        self.value = value
    }

    /// The flag as help lists it: `-k, --key NAMES`.
    package var spelling: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (metavar.map { " \($0)" } ?? "")
    }

    /// Returns whether the flag takes the value.
    func permits(_ value: String) -> Bool {
        choices.isEmpty || choices.contains(value)
            || endings.contains { value.hasSuffix("." + $0) && choices.contains(String(value.dropLast($0.count + 1))) }
    }

    package var takesValue: Bool { metavar != nil }
}

/// A command of the program.
package struct Command: Sendable {
    package struct Example: Sendable {
        package let line: String
        package let does: String

        package init(_ line: String, _ does: String) {
            self.line = line
            self.does = does
        }
    }

    package let name: String
    /// The operands as the usage line shows them: `IN... OUT`.
    package let operands: String
    package let operandCount: ClosedRange<Int>
    package let summary: String
    /// The paragraphs of `--help`, separated by empty lines.
    package let detail: String
    package let examples: [Example]
    package let flags: [Flag]
    /// The meaning of the exit codes 0 and 1 of this command, as text.
    package let exit: String
    package let isHidden: Bool
    /// Names of commands of other programs that do the same, for advice.
    package let sought: [String]

    package init(
        _ name: String, operands: String, count: ClosedRange<Int>, _ summary: String, detail: String, examples: [Example], flags: [Flag],
        exit: String = "", isHidden: Bool = false, sought: [String] = []
    ) {
        self.name = name
        self.operands = operands
        operandCount = count
        self.summary = summary
        self.detail = detail
        self.examples = examples
        self.flags = flags
        self.exit = exit
        self.isHidden = isHidden
        self.sought = sought
    }
}

/// A program with its commands: the table from which arguments are parsed and all help is generated.
package struct Program: Sendable {
    package let name: String
    package let version: String
    package let summary: String
    package let commands: [Command]
    /// The flags that every command accepts.
    package let shared: [Flag]

    package init(name: String, version: String, summary: String, commands: [Command], shared: [Flag]) {
        self.name = name
        self.version = version
        self.summary = summary
        self.commands = commands
        self.shared = shared
    }

    package func command(named name: String) -> Command? { commands.first { $0.name == name } }
    /// Returns the name of the command that another program calls `word`, or whose name is similar; nil if there is none.
    func nearestCommand(to word: String) -> String? {
        visibleCommands.first { $0.sought.contains(word) }?.name ?? Suggestion.nearest(to: word, among: visibleCommands.map(\.name))
    }
    package func flags(of command: Command) -> [Flag] { command.flags + shared }
    package var visibleCommands: [Command] { commands.filter { !$0.isHidden } }
}
