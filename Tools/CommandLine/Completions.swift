/// Shell completions, generated from the table of flags.
extension Program {
    /// Returns the completion script for a shell; nil if the shell is not `bash`, `zsh` or `fish`.
    package func completions(for shell: String) -> String? {
        switch shell {
        case "bash": bashCompletions
        case "zsh": zshCompletions
        case "fish": fishCompletions
        default: nil
        }
    }

    private var bashCompletions: String {
        var out =
            "_\(name)() {\n    local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\n    COMPREPLY=()\n"
        out +=
            "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"\(visibleCommands.map(\.name).joined(separator: " "))\"\n    else case \"${COMP_WORDS[1]} $before\" in\n"
        for command in visibleCommands {
            for flag in flags(of: command) where !flag.choices.isEmpty {
                out += "        \"\(command.name) --\(flag.name)\") words=\"\(flag.choices.joined(separator: " "))\" ;;\n"
            }
        }
        out += "        \"help \(name)\"|\"help help\"|\"man man\") words=\"\(visibleCommands.map(\.name).joined(separator: " "))\" ;;\n"
        out += "        *) case \"$current\" in -*) case \"${COMP_WORDS[1]}\" in\n"
        for command in visibleCommands {
            out += "            \(command.name)) words=\"\(flags(of: command).map { "--" + $0.name }.joined(separator: " ")) --help\" ;;\n"
        }
        out += "        esac ;; esac ;;\n    esac; fi\n    [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
        return out + "complete -o default -F _\(name) \(name)\n"
    }

    private var zshCompletions: String {
        var out = "#compdef \(name)\n_\(name)() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n"
        for command in visibleCommands { out += "      '\(command.name):\(Program.shellQuoted(command.summary).filter { $0 != ":" })'\n" }
        out += "    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n"
        for command in visibleCommands {
            out += "    \(command.name)) _arguments"
            for flag in flags(of: command) {
                let value =
                    flag.takesValue
                    ? (flag.choices.isEmpty ? ":\(flag.name):_files" : ":\(flag.name):(\(flag.choices.joined(separator: " ")))") : ""
                let summary = Program.shellQuoted(flag.summary).filter { $0 != "[" && $0 != "]" && $0 != ":" }
                out += " \\\n      '\(flag.repetition == .many ? "*" : "")--\(flag.name)[\(summary)]\(value)'"
            }
            out += " \\\n      '*:file:_files' ;;\n"
        }
        return out + "  esac\n}\n_\(name) \"$@\"\n"
    }

    private var fishCompletions: String {
        var out = ""
        for command in visibleCommands {
            out += "complete -c \(name) -n __fish_use_subcommand -f -a \(command.name) -d '\(Program.shellQuoted(command.summary))'\n"
        }
        for command in visibleCommands {
            for flag in flags(of: command) {
                out += "complete -c \(name) -n '__fish_seen_subcommand_from \(command.name)' -l \(flag.name)"
                if let short = flag.short { out += " -s \(short)" }
                if !flag.choices.isEmpty {
                    out += " -x -a '\(flag.choices.joined(separator: " "))'"
                } else if flag.takesValue {
                    out += " -r"
                }
                out += " -d '\(Program.shellQuoted(flag.summary))'\n"
            }
        }
        return out
    }

    /// Replaces single quotes, so that the text can be put in single quotes.
    private static func shellQuoted(_ text: String) -> String {
        text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "’")
    }
}
