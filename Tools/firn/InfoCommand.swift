import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// `firn info FILE`
struct InfoCommand {
    let session: Session

    func run() throws(FirnError) -> ExitCode {
        let operand = session.arguments.operands[0]
        if let other = try otherFormat(operand) {
            try describe(other)
            return .done
        }
        let file: OpenedFile
        do throws(FirnError) { file = try OpenedFile(stored: operand, keys: try KeyRing(session.arguments)) } catch {
            guard error.code == .encrypted else { throw error }
            return try sayEncrypted(operand, error)
        }
        guard case .stored(let database, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        var types = try snapshot.statistics()
        let used = types.reduce(0) { $0 + $1.bytes }, size = file.size ?? used
        if let name = try file.chosenType(session.arguments.text("type")) {
            guard types.contains(where: { $0.name == name }) else { throw unknownType(name, in: snapshot.schema, of: file.name) }
            types.removeAll { $0.name != name }
        }
        let versions = try database.versions().map { (number: $0.version, time: $0.time) }.sorted { $0.number < $1.number }
        let tags = try database.tags()
        let defects = types.flatMap(\.defects), code = defects.isEmpty ? ExitCode.done : .damaged
        if session.arguments.has("json") {
            try session.out.write(json(file, snapshot, types, size, used, versions, tags, try database.space()).object + "\n")
            try complain(of: defects, file)
            return code
        }
        try header(file, snapshot.version, size, used, versions, tags, try database.space())
        for entry in snapshot.schema.metadata { try session.out.write(InfoCommand.line(entry)) }
        for type in types { try print(type, snapshot.schema[type.name]) }
        try complain(of: defects, file)
        return code
    }

    /// Prints the first defects as errors. Everything else has been printed.
    private func complain(of defects: [Defect], _ file: OpenedFile) throws(FirnError) {
        try session.out.flush()
        let shown = min(defects.count, InfoCommand.shownDefects)
        for (number, defect) in defects.prefix(shown).enumerated() {
            var error = FirnError.damaged(file.name, what: "\(defect.subject): \(defect.damage.what)", byte: defect.damage.offset)
            if number + 1 < shown { error.advice = nil }
            Session.complain(error.complaint(style: session.errorStyle))
        }
        if defects.count > shown { session.remark("and \(Quantity.count(defects.count - shown, "more defect"))") }
    }

    /// The maximum number of defects that are listed.
    private static let shownDefects = 20

    /// Prints the facts that are known without the key.
    private func sayEncrypted(_ operand: String, _ error: FirnError) throws(FirnError) -> ExitCode {
        let path = Address(operand).path, size = Int(clamping: try Paths.size(path))
        if session.arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", path)
            line.add("bytes", size)
            line.add("encrypted", true)
            try session.out.write(line.object + "\n")
        } else {
            try session.out.write("\(session.outStyle.strong(DisplayWidth.visible(path))): \(Quantity.bytes(size)), encrypted\n")
            if let advice = error.advice { session.remark("to see the contents, \(advice)") }
        }
        return .done
    }

    private func header(
        _ file: OpenedFile, _ version: UInt64, _ size: Int, _ used: Int, _ versions: [(number: UInt64, time: Int64)],
        _ tags: [VersionTag], _ space: FileSpace
    ) throws(FirnError) {
        let style = session.outStyle, out = session.out
        try out.write("\(style.strong(DisplayWidth.visible(file.name))): \(Quantity.bytes(size)), version \(version)")
        if let time = versions.first(where: { $0.number == version })?.time { try out.write(" of \(InfoCommand.date(time))") }
        if file.key != nil { try out.write(", encrypted") }
        try out.write("\n")
        let others = versions.filter { $0.number != version }.map { String($0.number) }
        if !others.isEmpty { try out.write("other readable versions: \(others.joined(separator: ", "))\n") }
        if !tags.isEmpty {
            try out.write("tags: \(tags.map { "\(DisplayWidth.visible($0.name)) (version \($0.version))" }.joined(separator: ", "))\n")
        }
        try out.write(
            "\(Quantity.bytes(used)) are used by this version's rows, \(Quantity.bytes(space.dead)) by older versions, "
                + "\(Quantity.bytes(space.free)) are free, \(Quantity.bytes(max(0, size - used - space.dead - space.free))) are structure\n"
        )
    }

    private static func line(_ entry: MetadataEntry) -> String {
        DisplayWidth.visible("metadata \(entry.key): \(MetadataText.shown(entry.value))") + "\n"
    }

    private func print(_ type: TypeStatistics, _ schema: TypeSchema?) throws(FirnError) {
        let style = session.outStyle, out = session.out
        let whole = type.bytes
        var facts = [Quantity.count(type.rows, "row"), Quantity.bytes(whole)]
        if type.rows > 0 { facts.append("\(Quantity.decimal(Double(whole) / Double(type.rows), 1)) B per row") }
        facts.append(Quantity.count(type.segments, "segment"))
        if type.deltaRows + type.deltaChanges > 0 {
            facts.append("\(Quantity.count(type.deltaRows + type.deltaChanges)) recent changes not yet in segments")
        }
        if type.deletedRows > 0 { facts.append("\(Quantity.count(type.deletedRows)) deleted rows not yet dropped") }
        try out.write(
            "\n\(style.strong(DisplayWidth.visible(type.name)))\(type.isEmbedded ? " (embedded)" : ""): \(facts.joined(separator: ", "))\n")
        for entry in schema?.metadata ?? [] { try out.write(InfoCommand.line(entry)) }
        guard !type.columns.isEmpty else { return }
        var table = TextTable([
            .init("column"), .init("type"), .init("bytes", isNumber: true), .init("share", isNumber: true), .init("encodings"),
        ])
        for column in type.columns {
            let bytes = column.bytes + column.sharedBytes + column.indexBytes + column.originalTextBytes
            table.append([
                column.name, column.type.name + (schema?.logical(of: column.name).map { " \($0)" } ?? ""), Quantity.bytes(bytes),
                whole > 0 ? "\(Quantity.decimal(100 * Double(bytes) / Double(whole), 1)) %" : "",
                encodings(column, segments: type.segments)
                    + (column.originalTextBytes > 0 ? ", original texts \(Quantity.bytes(column.originalTextBytes))" : "")
                    + (column.indexBytes > 0 ? ", index \(Quantity.bytes(column.indexBytes))" : ""),
            ])
        }
        table.append([
            "(structure)", "", Quantity.bytes(type.overheadBytes),
            whole > 0 ? "\(Quantity.decimal(100 * Double(type.overheadBytes) / Double(whole), 1)) %" : "", "",
        ])
        for line in table.lines(width: Machine.terminalWidth(1), style: style) { try out.write(line) }
    }

    /// How many encodings of a column are shown: those of most segments. `--json` prints all.
    private static let shownEncodings = 2

    /// Returns the encodings of a column, with the number of segments of each if there are several.
    private func encodings(_ column: ColumnStatistics, segments: Int) -> String {
        guard column.encodings.count != 1 else { return column.encodings[0].name }
        let shown = column.encodings.prefix(InfoCommand.shownEncodings).map { "\($0.name) ×\($0.segments)" }.joined(separator: ", ")
        return column.encodings.count > InfoCommand.shownEncodings
            ? "\(shown), \(column.encodings.count - InfoCommand.shownEncodings) more" : shown
    }

    private func json(
        _ file: OpenedFile, _ snapshot: DatabaseSnapshot, _ types: [TypeStatistics], _ size: Int, _ used: Int,
        _ versions: [(number: UInt64, time: Int64)], _ tags: [VersionTag], _ space: FileSpace
    ) -> JSONLine {
        let schema = snapshot.schema
        var line = JSONLine()
        line.addHead()
        line.add("file", file.name)
        line.add("bytes", size)
        line.add("encrypted", file.key != nil)
        line.add("version", Int(clamping: snapshot.version))
        line.add("liveBytes", used)
        line.add("deadBytes", space.dead)
        line.add("freeBytes", space.free)
        line.add("versions", versions) { each, inner in
            inner.add("version", Int(clamping: each.number))
            inner.add("time", InfoCommand.date(each.time))
        }
        line.add("tags", tags) { tag, inner in
            inner.add("tag", tag.name)
            inner.add("version", Int(clamping: tag.version))
            inner.add("time", InfoCommand.date(tag.time))
        }
        if !schema.metadata.isEmpty { line.add("metadata", schema.metadata, InfoCommand.add) }
        line.add("types", types) { type, inner in
            let described = schema[type.name]
            inner.add("name", type.name)
            if let entries = described?.metadata, !entries.isEmpty { inner.add("metadata", entries, InfoCommand.add) }
            inner.add("embedded", type.isEmbedded)
            inner.add("rows", type.rows)
            inner.add("bytes", type.bytes)
            inner.add("structureBytes", type.overheadBytes)
            inner.add("segments", type.segments)
            inner.add("deltaRows", type.deltaRows)
            inner.add("deltaChanges", type.deltaChanges)
            inner.add("deletedRows", type.deletedRows)
            inner.add("columns", type.columns) { column, cell in
                cell.add("name", column.name)
                cell.add("type", column.type.name)
                if let logical = described?.logical(of: column.name) { cell.add("logical", "\(logical)") }
                if let entries = described?.metadata(of: column.name), !entries.isEmpty {
                    cell.add("metadata", entries, InfoCommand.add)
                }
                cell.add("bytes", column.bytes + column.sharedBytes + column.indexBytes + column.originalTextBytes)
                cell.add("sharedBytes", column.sharedBytes)
                cell.add("indexBytes", column.indexBytes)
                if column.originalTextBytes > 0 { cell.add("originalTextBytes", column.originalTextBytes) }
                cell.add("encodings", column.encodings) { encoding, part in
                    part.add("name", encoding.name)
                    part.add("segments", encoding.segments)
                }
            }
        }
        return line
    }

    private static func add(_ entry: MetadataEntry, to line: inout JSONLine) {
        line.add("key", entry.key)
        line.add("value", MetadataText.shown(entry.value))
    }

    /// Formats nanoseconds since 1970 as `2026-11-21T10:11:12Z`.
    static func date(_ nanoseconds: Int64) -> String {
        let seconds = nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : (nanoseconds - 999_999_999) / 1_000_000_000
        return CellText.text(.date(Timestamp(seconds: seconds)), ColumnSchema("", ColumnType(.date), notation: .dateTimeZ(0)), in: Schema())
    }
}

extension TypeSchema {
    fileprivate func logical(of column: String) -> LogicalType? { index(of: column).flatMap { columns[$0].logical } }
    fileprivate func metadata(of column: String) -> [MetadataEntry] { index(of: column).map { columns[$0].metadata } ?? [] }
}
