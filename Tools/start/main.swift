import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnThreads
import FirnTool

ProcessMemory.reportExhaustion()
// One heap for each processor: see the memory of wide tables in docs/benchmarks.md.
ProcessMemory.limitHeaps(to: Processors.count)
Interruption.endWithCode()
// The command handles paths as text. A path that is not UTF-8 would be converted to another path.
for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
    let error = FirnError(
        .usage, "\"\(DisplayWidth.visible(String(cString: word)))\" is not UTF-8",
        advice: "rename the file, or make a link to it with another name")
    Session.complain(error.complaint(style: Style(choice: nil, isTerminal: Machine.isTerminal(2), environment: Machine.environment)))
    Machine.exit(ExitCode.usage.rawValue)
}
Machine.exit(Session.run(Array(CommandLine.arguments.dropFirst())).rawValue)
