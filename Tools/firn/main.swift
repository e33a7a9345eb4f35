import FirnBytes
import FirnCommandLine
import FirnDisk

Interruption.endWithCode()
// Paths are text here: one that is not would name another file, or none.
for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
    let error = FirnError(.usage, "\"\(DisplayWidth.visible(String(cString: word)))\" is not UTF-8", advice: "give the file another name, or a link with one")
    Session.complain(error.complaint(style: Style(choice: nil, isTerminal: Machine.isTerminal(2), environment: Machine.environment)))
    Machine.exit(ExitCode.usage.rawValue)
}
Machine.exit(Session.run(Array(CommandLine.arguments.dropFirst())).rawValue)
