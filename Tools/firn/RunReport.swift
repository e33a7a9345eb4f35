import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The result of a command that a caller of the library ran.
package struct RunReport {
    /// The exit code that the command has: 0 or 1, or 3 if rows were rejected.
    package let code: ExitCode
    /// What the command prints with `--json`: one line of JSON.
    package let result: [UInt8]
    package let remarks: [String]

    /// The report as JSON: `{"code":0,"result":{…},"remarks":["…"]}`.
    package var text: [UInt8] {
        var text = Array("{\"code\":\(code.rawValue),\"result\":".utf8)
        let lines = result.split(separator: UInt8(ascii: "\n"))
        text += lines.first ?? Array("null".utf8)[...]
        text += Array(",\"remarks\":[".utf8) + Array(remarks.map { JSONString.quoted($0) }.joined(separator: ",").utf8) + Array("]}".utf8)
        return text
    }
}

extension Session {
    /// What a caller of the library passes to a command, next to operands and options.
    package struct Caller {
        /// The contents of the files of `--key-file` and `--new-key-file`.
        package var key: [UInt8]?, newKey: [UInt8]?
        package let monitor: ProgressMonitor

        package init(monitor: ProgressMonitor = ProgressMonitor()) { self.monitor = monitor }
    }

    /// Runs a command for a caller of the library. Nothing is read from standard input or written to standard output or error.
    /// - Parameter options: `NAME=VALUE`, or `NAME` for a switch: the flags of the command, without dashes.
    package static func report(
        of command: String, options: [String], operands: [String], caller: Caller
    ) throws(FirnError) -> RunReport {
        guard !operands.contains("-") else {
            throw FirnError(.usage, "standard input and output are not available here", advice: "name a file")
        }
        if let empty = operands.firstIndex(of: "") { throw FirnError(.usage, "the name of file \(empty + 1) is empty") }
        var arguments = try Program.firn.arguments(of: command, options: options + ["json"], operands: operands)
        arguments.keys["key-file"] = caller.key
        arguments.keys["new-key-file"] = caller.newKey
        let notices = RunNotices(), session = Session(arguments, monitor: caller.monitor), faults = Mapping.faults.pointee
        do throws(FirnError) {
            let code = try notices.collect { () throws(FirnError) in try session.perform() }
            guard Mapping.faults.pointee == faults else {
                throw FirnError(.damaged, "a file was truncated while it was read", advice: "the output can be wrong")
            }
            try session.out.flush()
            return RunReport(code: code, result: session.out.bytes, remarks: notices.all)
        } catch { throw shown(error) }
    }
}
