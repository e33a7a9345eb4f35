import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// `firn man [COMMAND]`
struct ManCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let program = Program.firn, topic = arguments.operands.first
        guard let folder = arguments.text("dir") else {
            if arguments.has("force") { throw FirnError(.usage, "--force applies to --dir only", advice: "omit it") }
            try session.out.write(program.manual(of: try topic.map { (name) throws(FirnError) in try program.command(explaining: name) }))
            return .done
        }
        guard topic == nil else { throw FirnError(.usage, "--dir writes the pages of all commands", advice: "omit \"\(topic!)\"") }
        try Paths.makeDirectories(folder)
        let pages = program.manualPages.map { (path: "\(folder)/\($0.name).1", text: $0.text) }
        // If one page exists and must not be overwritten, none is written.
        for page in pages { try Replacement.check(page.path, overwrite: arguments.has("force")) }
        for page in pages {
            let output = try Output(path: page.path, force: arguments.has("force"))
            try output.write(page.text)
            try output.finish()
        }
        session.remark("\(Quantity.count(pages.count, "page")) in \(folder)")
        return .done
    }
}
