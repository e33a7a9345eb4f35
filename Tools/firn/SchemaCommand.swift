import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnExchange
import FirnTable

/// `firn schema FILE`
struct SchemaCommand {
    let session: Session

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let (file, remarks) = try OpenedFile.input(
            session.arguments.operands, ReadingOptions(session.arguments, threads: session.threads()), progress: progress)
        display.end()
        try ReadingOptions.check(session.arguments, for: [file])
        var schema = file.schema
        if let name = session.arguments.text("type") ?? (file.formats == [.firn] ? file.address.type : nil) {
            guard schema[name] != nil else { throw unknownType(name, in: schema, of: file.name) }
            schema = schema.reachable(from: name)
        }
        for remark in remarks { session.remark(remark) }
        if case .stream(let reader) = file.content { for remark in reader.remarks { session.remark(remark) } }
        if session.arguments.has("json") {
            for type in schema.types { try session.out.write(FormatShelf.line(type) + "\n") }
            return .done
        }
        for (i, type) in schema.types.enumerated() {
            if i > 0 { try session.out.write("\n") }
            try session.out.write(session.outStyle.strong(DisplayWidth.visible(type.name)) + (type.isEmbedded ? " (embedded)" : "") + "\n")
            let hasNotation = type.columns.contains { SchemaText.name(of: $0.notation) != nil }, hasKey = !type.key.isEmpty
            var table = TextTable(
                [.init("column"), .init("type")] + (hasNotation ? [.init("notation")] : []) + (hasKey ? [.init("key")] : []))
            for (position, column) in type.columns.enumerated() {
                let keyPosition = type.key.firstIndex(of: position).map { type.key.count == 1 ? "key" : "key \($0 + 1)" }
                table.append(
                    [column.name, column.type.name] + (hasNotation ? [SchemaText.name(of: column.notation) ?? ""] : [])
                        + (hasKey ? [keyPosition ?? ""] : []))
            }
            for line in table.lines(style: session.outStyle) { try session.out.write(line) }
        }
        return .done
    }
}
