import FirnBytes
import FirnChange
import FirnCommandLine
import FirnExchange
import FirnModel

extension DiffCommand {
    /// Opens both operands, of any format, and compares the type they share.
    func run() throws(FirnError) -> ExitCode {
        let arguments = session.arguments
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        if arguments.has("where") { throw FirnError(.unsupported, "this version of diff cannot choose rows by --where") }
        let options = try ReadingOptions(arguments, threads: session.threads())
        let files = try arguments.operands.map { (operand) throws(FirnError) in try OpenedFile(operand, options, progress: progress) }
        let tables = try files.map { (file) throws(FirnError) in try file.table(arguments.text("type")) }
        display.end()
        let names = arguments.operands
        let code = try compare(tables[0], named: names[0], tables[1], named: names[1])
        try options.rejected?.finish()
        if let rejected = options.rejected, rejected.count > 0 {
            session.remark("\(Quantity.count(rejected.count, "row")) rejected: see \(rejected.path)")
            return .rejected
        }
        return code
    }
}
