import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnExchange
import FirnTable

/// `firn schema FILE`
struct SchemaCommand {
    let session: Session

    func run() throws(FirnError) -> ExitCode {
        if session.arguments.has("set-meta") { return try SetMetadata(session: session).run() }
        if session.arguments.has("of") {
            throw FirnError(.usage, "--of names what --set-meta changes, and --set-meta is not given", advice: "add it, or omit --of")
        }
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let (file, remarks) = try OpenedFile.input(
            session.arguments.operands, ReadingOptions(session.arguments, threads: session.threads()), progress: progress)
        display.end()
        try ReadingOptions.check(session.arguments, for: .init([file]))
        var schema = file.schema
        if let name = try file.chosenType(session.arguments.text("type")) {
            guard schema[name] != nil else { throw unknownType(name, in: schema, of: file.name) }
            schema = schema.reachable(from: name)
        }
        for remark in remarks { session.remark(remark) }
        if case .stream(let reader) = file.content { for remark in reader.remarks { session.remark(remark) } }
        if let form = session.arguments.text("as") {
            guard !session.arguments.has("json") else {
                throw FirnError(.usage, "--as and --json are two forms of a schema", advice: "omit one of them")
            }
            let printed = SchemaForm(rawValue: form)?.text(of: schema.visible) ?? (text: "", remarks: [])
            for remark in printed.remarks { session.remark(remark) }
            try session.out.write(printed.text)
            return .done
        }
        if session.arguments.has("json") {
            for (i, type) in schema.types.enumerated() {
                try session.out.write(FormatShelf.line(type, file: i == 0 ? schema : nil) + "\n")
            }
            return .done
        }
        for entry in schema.metadata { try session.out.write(line("metadata", entry)) }
        if !schema.metadata.isEmpty, !schema.types.isEmpty { try session.out.write("\n") }
        for (i, type) in schema.types.enumerated() {
            if i > 0 { try session.out.write("\n") }
            try session.out.write(session.outStyle.strong(DisplayWidth.visible(type.name)) + (type.isEmbedded ? " (embedded)" : "") + "\n")
            for entry in type.metadata { try session.out.write(line("metadata", entry)) }
            let type = type.visible
            let hasLogical = type.columns.contains { $0.logical != nil }, hasMetadata = type.columns.contains { !$0.metadata.isEmpty }
            let hasNotation = type.columns.contains { SchemaText.name(of: $0.notation) != nil }, hasKey = !type.key.isEmpty
            var table = TextTable(
                [.init("column"), .init("type")] + (hasLogical ? [.init("logical type")] : []) + (hasNotation ? [.init("notation")] : [])
                    + (hasKey ? [.init("key")] : [])
                    + (hasMetadata ? [.init("metadata")] : []))
            for (position, column) in type.columns.enumerated() {
                let keyPosition = type.key.firstIndex(of: position).map { type.key.count == 1 ? "key" : "key \($0 + 1)" }
                table.append(
                    [column.name, column.type.name] + (hasLogical ? [column.logical.map { "\($0)" } ?? ""] : [])
                        + (hasNotation ? [SchemaText.name(of: column.notation) ?? ""] : [])
                        + (hasKey ? [keyPosition ?? ""] : []) + (hasMetadata ? [MetadataText.shown(column.metadata)] : []))
            }
            for line in table.lines(style: session.outStyle) { try session.out.write(line) }
        }
        if case .stored(_, let snapshot) = file.content { try remarkOriginals(snapshot, schema, of: file.name) }
        return .done
    }

    private func line(_ word: String, _ entry: MetadataEntry) -> String {
        DisplayWidth.visible("\(word) \(entry.key): \(MetadataText.shown(entry.value))") + "\n"
    }

    /// Reports how many original texts the columns keep.
    private func remarkOriginals(_ snapshot: DatabaseSnapshot, _ schema: Schema, of path: String) throws(FirnError) {
        for type in schema.types where type.hasCompanions {
            guard let table = snapshot.table(named: type.name) else { continue }
            for (column, companion) in type.companions.sorted(by: { $0.key < $1.key }) {
                var count = 0
                do throws(Damage) {
                    for index in 0..<table.segmentCount {
                        let segment = try table.segment(index), reader = try segment.column(companion)
                        var cells = Column(reader.type)
                        for vector in 0..<segment.vectorCount {
                            try reader.read(vector: vector, into: &cells)
                            for (i, row) in segment.rows(ofVector: vector).enumerated()
                            where cells.isPresent(i) && (segment.live?[row] ?? true) {
                                count += 1
                            }
                        }
                    }
                } catch { throw FirnError(error, in: path) }
                session.remark("column \"\(type.columns[column].name)\" keeps \(Quantity.count(count, "original text"))")
            }
        }
    }
}
