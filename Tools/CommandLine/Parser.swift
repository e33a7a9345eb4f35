import FirnBytes

extension Program {
    /// Parses the words after the program's name.
    ///
    /// - Throws: `FirnError.Code.usage`, with advice, if the table does not contain a word, or a value or operand is missing or invalid.
    package func parse(_ words: [String]) throws(FirnError) -> Invocation {
        guard let first = words.first else { return .help(nil, isLong: false) }
        switch first {
        case "-h": return .help(nil, isLong: false)
        case "--help": return .help(nil, isLong: true)
        case "--version", "-V": return .version
        case "help": return try parseHelp(Array(words.dropFirst()))
        default: break
        }
        guard let command = command(named: first) else {
            let known = nearestCommand(to: first)
            let what = first.hasPrefix("-") ? "a command is expected before \"\(first)\"" : "there is no command \"\(first)\""
            throw FirnError(.usage, what, advice: known.map { "did you mean '\(name) \($0)'?" } ?? "'\(name) -h' lists the commands")
        }
        return try parse(Array(words.dropFirst()), for: command)
    }

    /// Returns the arguments of a command from options without dashes, `NAME=VALUE` or `NAME` for a switch, as callers of the C library pass
    /// them. Options about the process are refused: colours, progress, memory.
    ///
    /// - Throws: `FirnError.Code.usage` as `parse`.
    package func arguments(of name: String, options: [String], operands: [String]) throws(FirnError) -> Arguments {
        guard let command = command(named: name) else { throw FirnError(.usage, "there is no command \"\(name)\"") }
        let refused: Set = ["color", "progress", "quiet", "memory", "no-mmap", "strict", "output", "help"]
        let flags = flags(of: command).filter { !refused.contains($0.name) }
        for option in options {
            let given = String(option.prefix { $0 != "=" })
            guard flags.contains(where: { $0.name == given }) else {
                throw FirnError(
                    .usage, "\(name) has no option \"\(given)\"",
                    advice: Suggestion.nearest(to: given, among: flags.map(\.name)).map { "did you mean \"\($0)\"?" })
            }
        }
        var scan = ArgumentScan(program: self, command: command, flags: flags, words: options.map { "--" + $0 } + ["--"] + operands)
        do throws(FirnError) {
            guard case .run(let arguments) = try scan.run() else { throw FirnError(.usage, "\(name) has no option \"help\"") }
            return arguments
        } catch {
            // The advice of the command line is to ask it for help.
            var plain = error
            if plain.advice?.hasSuffix("shows the usage") == true || plain.advice?.hasPrefix("usage: ") == true { plain.advice = nil }
            throw plain
        }
    }

    private func parseHelp(_ words: [String]) throws(FirnError) -> Invocation {
        let names = words.filter { !$0.hasPrefix("-") }
        guard let topic = names.first else { return .help(nil, isLong: true) }
        return .help(try command(explaining: topic, as: "help"), isLong: true)
    }

    /// Returns the command whose help or manual page is requested. Throws `.usage`, with the nearest name, if there is no such command.
    package func command(explaining topic: String, as verb: String = "man") throws(FirnError) -> Command {
        if let command = command(named: topic) { return command }
        let known = nearestCommand(to: topic)
        throw FirnError(
            .usage, "there is no command \"\(topic)\"",
            advice: known.map { "did you mean '\(name) \(verb) \($0)'?" } ?? "'\(name) -h' lists the commands")
    }

    private func parse(_ words: [String], for command: Command) throws(FirnError) -> Invocation {
        var scan = ArgumentScan(program: self, command: command, flags: flags(of: command), words: words)
        return try scan.run()
    }
}

/// Parses the words of one command.
private struct ArgumentScan {
    let program: Program
    let command: Command
    let flags: [Flag]
    let words: [String]
    var position = 0
    var operands: [String] = []
    var values: [String: [String]] = [:]
    var help: Invocation?

    init(program: Program, command: Command, flags: [Flag], words: [String]) {
        self.program = program
        self.command = command
        self.flags = flags
        self.words = words
    }

    mutating func run() throws(FirnError) -> Invocation {
        while position < words.count {
            let word = words[position]
            position += 1
            if word == "--" {
                operands += words[position...]
                break
            }
            // Two hyphens and a space or line break are the beginning of a comment in SQL, not a flag.
            let isComment = word.hasPrefix("--") && word.dropFirst(2).first?.isWhitespace ?? false
            if word.hasPrefix("--"), !isComment {
                try takeLong(word)
            } else if word.hasPrefix("-"), word != "-", !word.hasPrefix("--") {
                try takeShort(word)
            } else {
                operands.append(word)
            }
            if let help { return help }
        }
        try checkOperands()
        for flag in flags { try checkItems(of: flag) }
        return .run(Arguments(command: command, operands: operands, values: values))
    }

    private mutating func takeLong(_ word: String) throws(FirnError) {
        let body = word.dropFirst(2)
        let name = String(body.prefix { $0 != "=" })
        let attached = body.count > name.count ? String(body.dropFirst(name.count + 1)) : nil
        if name == "help" {
            help = .help(command, isLong: true)
            return
        }
        guard let flag = flags.first(where: { $0.name == name }) else { throw unknown("--" + name) }
        if !flag.takesValue {
            guard attached == nil else { throw usage("--\(name) takes no value") }
            return try store(flag, "")
        }
        if let attached { try store(flag, attached) } else { try store(flag, nextValue(of: flag)) }
    }

    /// Parses a word of short flags: `-f`, `-n 5`, `-n5`, or combined switches such as `-fq`.
    private mutating func takeShort(_ word: String) throws(FirnError) {
        var rest = word.dropFirst()
        while let letter = rest.first {
            rest.removeFirst()
            if letter == "h" {
                help = .help(command, isLong: false)
                return
            }
            guard let flag = flags.first(where: { $0.short == letter }) else { throw unknown("-\(letter)") }
            if flag.takesValue {
                if rest.first == "=" { rest.removeFirst() }
                return try store(flag, rest.isEmpty ? nextValue(of: flag) : String(rest))
            }
            try store(flag, "")
        }
    }

    private mutating func nextValue(of flag: Flag) throws(FirnError) -> String {
        guard position < words.count else { throw usage("--\(flag.name) needs a value: \(flag.metavar ?? "")") }
        position += 1
        return words[position - 1]
    }

    private mutating func store(_ flag: Flag, _ value: String) throws(FirnError) {
        if !flag.permits(value) {
            let near = Suggestion.nearest(to: value, among: flag.choices)
            throw FirnError(
                .usage, "--\(flag.name) takes \(flag.choices.alternatives), not \"\(value)\"",
                advice: near.map { "did you mean \($0)?" })
        }
        if value.isEmpty, flag.takesValue, flag.value != .anyText {
            throw usage("the value of --\(flag.name) is empty")
        }
        if flag.takesValue, flag.repetition == .once, values[flag.name] != nil { throw usage("--\(flag.name) is given twice") }
        values[flag.name, default: []].append(value)
    }

    /// Throws if one of the items of a flag whose values are lists is empty or, for names, given twice.
    private func checkItems(of flag: Flag) throws(FirnError) {
        guard [.words, .names].contains(flag.value), let texts = values[flag.name] else { return }
        var seen: Set<String> = []
        for text in texts {
            for item in Arguments.items(text) {
                if item.isEmpty { throw usage("an item of --\(flag.name) is empty: \"\(text)\"") }
                let name = flag.name == "sort" && "+-".contains(item.first ?? " ") ? String(item.dropFirst()) : item
                if flag.value == .names, !seen.insert(name).inserted { throw usage("--\(flag.name) names \"\(name)\" twice") }
            }
        }
    }

    private func checkOperands() throws(FirnError) {
        guard !command.operandCount.contains(operands.count) else { return }
        let few = operands.count < command.operandCount.lowerBound
        // `FILE... STATEMENTS` needs both; operands in brackets are optional.
        let needed = command.operands.split(separator: " ").filter { !$0.hasPrefix("[") },
            missing = operands.count < needed.count ? String(needed[operands.count]) : "an operand"
        let what =
            few
            ? (operands.isEmpty ? "the operands of \"\(command.name)\" are missing" : "\(missing) is missing after \"\(operands.last!)\"")
            : "unexpected operand \"\(operands[command.operandCount.upperBound])\""
        throw FirnError(.usage, what, advice: "usage: \(program.usage(of: command))")
    }

    private func unknown(_ spelling: String) -> FirnError {
        // Without the dashes, which would make short names seem alike.
        let known = Suggestion.nearest(to: String(spelling.drop { $0 == "-" }), among: flags.map(\.name)).map { "--" + $0 }
        return FirnError(
            .usage, "\(program.name) \(command.name) has no flag \"\(spelling)\"",
            advice: known.map { "did you mean \($0)?" }
                ?? "'\(program.name) \(command.name) -h' lists the flags; words after -- are operands")
    }

    private func usage(_ message: String) -> FirnError {
        FirnError(.usage, message, advice: "'\(program.name) \(command.name) -h' shows the usage")
    }
}

extension [String] {
    /// The words as alternatives: `a, b or c`.
    fileprivate var alternatives: String { last.map { count < 2 ? $0 : dropLast().joined(separator: ", ") + " or " + $0 } ?? "" }
}
