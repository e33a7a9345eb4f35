import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnThreads

/// One run of the command: its arguments and its outputs. Data is written to `out`, everything else to standard error, or to the notices of
/// the caller.
package final class Session {
    /// The seconds that a small change waits for the write lock.
    static let turn = 5.0

    let arguments: Arguments
    let out: StreamOut
    /// What shows the progress to a caller of the library; nil in the program.
    let monitor: ProgressMonitor?
    /// The colours of standard error and of standard output.
    let errorStyle: Style
    let outStyle: Style
    let isQuiet: Bool
    let startedAt = Machine.seconds

    init(_ arguments: Arguments, monitor: ProgressMonitor? = nil) {
        self.arguments = arguments
        self.monitor = monitor
        out = monitor == nil ? .standardOutput() : StreamOut(memory: "the report")
        guard monitor == nil else {
            errorStyle = Style(choice: "never", isTerminal: false, environment: { _ in nil })
            outStyle = errorStyle
            isQuiet = false
            return
        }
        errorStyle = Session.style(arguments.text("color"), descriptor: 2)
        outStyle = Session.style(arguments.text("color"), descriptor: 1)
        isQuiet = arguments.has("quiet")
    }

    /// Runs the command line and returns its exit code. Errors are printed to standard error.
    package static func run(_ words: [String]) -> ExitCode {
        let colour = words.last { $0.hasPrefix("--color=") }.map { String($0.dropFirst("--color=".count)) }
        do throws(FirnError) {
            switch try Program.firn.parse(words) {
            case .version: return try say("\(Program.firn.name) \(Program.firn.version)\n")
            case .help(let command, let isLong): return try say(Program.firn.help(command, isLong: isLong))
            case .run(let arguments):
                if arguments.has("no-mmap") { FileReading.standard = .copied }
                FallbackNotices.isStrict = arguments.has("strict")
                ProcessMemory.isOwned = true
                MappedMemory.limit(to: MappedMemory.standard, of: .process)
                if let limit = try arguments.size("memory") { MemoryBudget.process.limit = limit }
                let session = Session(arguments)
                let code = try session.perform()
                if Mapping.faults.pointee > 0 {
                    throw FirnError(
                        .damaged, "a file was truncated while it was read",
                        advice: "the output can be wrong; run it again with --no-mmap, which reports the file")
                }
                try session.out.flush()
                return code
            }
        } catch {
            Session.complain(shown(error).complaint(style: style(colour, descriptor: 2)))
            return ExitCode(error.code)
        }
    }

    /// Returns an error for the user. Temporary files are deleted by now: messages name their target instead.
    static func shown(_ error: FirnError) -> FirnError {
        var named = error
        named.message = Replacement.shown(error.message)
        named.advice = error.advice.map(Replacement.shown)
        if let file = error.location?.file { named.location?.file = Replacement.shown(file) }
        return named
    }

    /// Returns the format in which rows are printed. With `--json`, `table` becomes `ndjson`. Throws `.usage` if `--json` contradicts
    /// `--format`.
    func rowFormat() throws(FirnError) -> String {
        let format = arguments.text("format") ?? "table"
        guard arguments.has("json") else { return format }
        guard ["table", "json", "ndjson"].contains(format) else {
            throw FirnError(.usage, "--json and --format \(format) request different formats", advice: "omit one of them")
        }
        return format == "table" ? "ndjson" : format
    }

    /// Throws `.usage` if `--explain` is combined with a flag about the form of rows.
    func checkExplain() throws(FirnError) {
        guard arguments.has("explain"), let flag = ["format", "json"].first(where: arguments.has) else { return }
        throw FirnError(.usage, "--explain prints a plan as text, and --\(flag) is about rows", advice: "omit one of them")
    }

    func perform() throws(FirnError) -> ExitCode {
        for flag in ["key-file", "new-key-file"] { if let path = arguments.text(flag) { warn(ofKeyFile: path) } }
        switch arguments.command.name {
        case "convert": return try ConvertCommand(session: self).run()
        case "query": return try QueryCommand(session: self).run()
        case "sql": return try SQLCommand(session: self).run()
        case "diff": return try DiffCommand(session: self).run()
        case "append": return try AppendCommand(session: self, replaces: false).run()
        case "upsert": return try AppendCommand(session: self, replaces: true).run()
        case "delete": return try DeleteCommand(session: self).run()
        case "patch": return try PatchCommand(session: self).run()
        case "compact": return try CompactCommand(session: self).run()
        case "info": return try InfoCommand(session: self).run()
        case "hash": return try HashCommand(session: self).run()
        case "verify": return try VerifyCommand(session: self).run()
        case "recover": return try RecoverCommand(session: self).run()
        case "schema": return try SchemaCommand(session: self).run()
        case "log": return try LogCommand(session: self).run()
        case "tag": return try TagCommand(session: self).run()
        case "revert": return try RevertCommand(session: self).run()
        case "index": return try IndexCommand(session: self).run()
        case "man": return try ManCommand(session: self).run()
        case "completions":
            guard let text = Program.firn.completions(for: arguments.operands[0]) else {
                throw FirnError(
                    .usage, "there are no completions for \"\(arguments.operands[0])\"", advice: "the shells are bash, zsh and fish")
            }
            try out.write(text)
            return .done
        case "reference":
            try out.write(Program.firn.reference)
            return .done
        default: trap("add the command \(arguments.command.name) to Session.perform")
        }
    }

    private func warn(ofKeyFile path: String) {
        guard let permissions = FilePermissions(path: path), permissions.othersCanRead else { return }
        remark("other users can read the key file \"\(path)\": prevent this with chmod go= \"\(path)\"")
    }

    /// Opens an operand, which can be a folder or a pattern, as one table, and prints what was changed to unite its files.
    func input(_ operand: String, _ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> OpenedFile {
        let (file, remarks) = try OpenedFile.input([operand], options, progress: progress)
        for remark in remarks + (file.union?.remarks ?? []) { self.remark(remark) }
        remark(guessesOf: [file], isOneOfSeveral: arguments.operands.count > 1)
        return file
    }

    /// Prints a remark to standard error, unless `--quiet` was given.
    func remark(_ text: String) {
        if !isQuiet { Session.complain(errorStyle.faint("firn: ") + DisplayWidth.visible(text) + "\n") }
    }

    /// Writes to standard error, or to the notices of the caller.
    package static func complain(_ text: String) { RunNotices.current.add(text) }

    /// Returns the number of threads to use: `--threads` (at most 256), or one for each core. Throws `.usage` if it is 0.
    func threads() throws(FirnError) -> Int {
        guard let threads = try arguments.count("threads") else { return Processors.count }
        guard threads > 0 else { throw FirnError(.usage, "--threads takes a number above 0, not \(threads)") }
        return min(threads, 256)
    }

    private static func say(_ text: String) throws(FirnError) -> ExitCode {
        let out = StreamOut.standardOutput()
        try out.write(text)
        try out.flush()
        return .done
    }

    private static func style(_ choice: String?, descriptor: Int32) -> Style {
        Style(choice: choice, isTerminal: Machine.isTerminal(descriptor), environment: Machine.environment)
    }
}
