import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnTable

/// `firn log FILE`
struct LogCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    /// The changes of a type from the version listed before to this one.
    private struct TypeChange {
        var name: String
        var rows: Int
        var added = 0, removed = 0, changed = 0
        /// The change of the type itself.
        var note: String?
        var isEmpty: Bool { added + removed + changed == 0 && note == nil }
    }

    private struct Entry {
        var version: UInt64
        var time: Int64
        var tags: [String] = []
    }

    func run() throws(FirnError) -> ExitCode {
        let operand = arguments.operands[0]
        let address = Address(operand), keys = try KeyRing(arguments)
        if arguments.has("keep") || arguments.has("keep-for") {
            try retain(address, keys)
            return .done
        }
        // Read the pins of others before this process pins a version.
        let pins = (try? keys.open(path: address.path).pinnedVersions()) ?? []
        let file = try OpenedFile(stored: operand, keys: keys)
        guard case .stored(let database, let newest) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        let wanted = try file.chosenType(arguments.text("type"))
        if let wanted, newest.schema[wanted] == nil { throw unknownType(wanted, in: newest.schema, of: file.name) }
        let limit = try arguments.count("limit") ?? .max
        var entries = try entries(database).filter { $0.version <= newest.version }
        let last = entries.count > limit ? entries[limit] : nil
        entries = Array(entries.prefix(limit))
        var after: (entry: Entry, snapshot: DatabaseSnapshot)?
        for entry in entries + (last.map { [$0] } ?? []) {
            // A version can be dropped while later ones are compared: the log ends there.
            let snapshot: DatabaseSnapshot
            do throws(FirnError) {
                snapshot = entry.version == newest.version ? newest : try database.snapshot(version: entry.version)
            } catch {
                if error.code == .notFound { break }
                throw error
            }
            if let after { try write(after.entry, after.snapshot, since: (entry.version, snapshot), wanted, pins) }
            after = (entry, snapshot)
        }
        if let after, after.entry.version != last?.version { try write(after.entry, after.snapshot, since: nil, wanted, pins) }
        return .done
    }

    /// Returns the versions that can be read, newest first.
    private func entries(_ database: Database) throws(FirnError) -> [Entry] {
        var entries: [UInt64: Entry] = [:]
        for version in try database.versions() { entries[version.version] = Entry(version: version.version, time: version.time) }
        for tag in try database.tags() { entries[tag.version, default: Entry(version: tag.version, time: tag.time)].tags.append(tag.name) }
        return entries.values.sorted { $0.version > $1.version }
    }

    // MARK: One version

    private func changes(_ snapshot: DatabaseSnapshot, since before: DatabaseSnapshot?, _ wanted: String?, _ path: String) throws(FirnError)
        -> [TypeChange]
    {
        var list: [TypeChange] = []
        let gone = (before?.schema.types ?? []).filter { snapshot.schema[$0.name] == nil }
        for type in snapshot.schema.types + gone where wanted.map({ $0 == type.name }) ?? true {
            let new = snapshot.table(named: type.name), old = before?.table(named: type.name)
            var change = TypeChange(name: type.name, rows: new?.rowCount ?? 0)
            if before != nil {
                let found: TableChanges
                do throws(Damage) { found = try TableChanges.between(old, new) } catch { throw FirnError(error, in: path) }
                (change.added, change.removed, change.changed) = (found.inserted.count, found.deleted.count, found.modified.rowIDs.count)
                if let old, let new {
                    if LogCommand.shape(old.type) != LogCommand.shape(new.type) { change.note = "other columns" }
                } else {
                    change.note = old == nil ? "new" : "gone"
                }
            } else if snapshot.version == 1 {
                change.added = change.rows
            }
            list.append(change)
        }
        return list
    }

    private static func shape(_ type: TypeSchema) -> [String] {
        let type = type.visible
        return type.columns.map { "\($0.name) \($0.type.name)" } + type.key.map(String.init)
    }

    private func write(
        _ entry: Entry, _ snapshot: DatabaseSnapshot, since before: (version: UInt64, snapshot: DatabaseSnapshot)?, _ wanted: String?,
        _ pins: [UInt64]
    ) throws(FirnError) {
        let types = try changes(snapshot, since: before?.snapshot, wanted, snapshot.path), isRead = pins.contains(entry.version)
        let style = session.outStyle, out = session.out
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("version", Int(clamping: entry.version))
            line.add("time", InfoCommand.date(entry.time))
            line.add("tags", entry.tags)
            line.add("read", isRead)
            line.add("since", before.map { Int(clamping: $0.version) })
            line.add("types", types) { type, inner in
                inner.add("name", type.name)
                inner.add("rows", type.rows)
                let isKnown = before != nil || entry.version == 1
                inner.add("added", isKnown ? type.added : nil)
                inner.add("removed", isKnown ? type.removed : nil)
                inner.add("changed", isKnown ? type.changed : nil)
                inner.add("note", type.note)
            }
            return try out.write(line.object + "\n")
        }
        var head = "version \(entry.version), \(InfoCommand.date(entry.time))"
        if !entry.tags.isEmpty { head += ", tagged \(entry.tags.joined(separator: ", "))" }
        if isRead { head += ", being read" }
        if let before, before.version + 1 != entry.version { head += " (since version \(before.version))" }
        try out.write("\(style.strong(DisplayWidth.visible(head)))\n")
        let shown = before == nil ? types.filter { $0.rows > 0 } : types.filter { !$0.isEmpty }
        if shown.isEmpty { try out.write("    \(before == nil ? "no rows" : "no changes")\n") }
        for type in shown {
            var parts: [String] = []
            if type.added > 0 { parts.append("\(Quantity.count(type.added)) added") }
            if type.removed > 0 { parts.append("\(Quantity.count(type.removed)) removed") }
            if type.changed > 0 { parts.append("\(Quantity.count(type.changed)) changed") }
            if let note = type.note { parts.append(note) }
            try out.write(
                "    \(DisplayWidth.visible(type.name)): \(Quantity.count(type.rows, "row"))\(parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")\n"
            )
        }
    }

    // MARK: Retention

    private func retain(_ address: Address, _ keys: KeyRing) throws(FirnError) {
        if address.version != nil || address.type != nil {
            throw FirnError(.usage, "--keep and --keep-for apply to the whole file", at: .init(file: arguments.operands[0]))
        }
        let count = try arguments.count("keep"),
            seconds = try arguments.text("keep-for").map { (text) throws(FirnError) in try LogCommand.seconds(text, of: "keep-for") }
        if let count, count == 1 {
            throw FirnError(
                .usage, "--keep takes at least 2 versions, not \(count)", advice: "use --keep 2, or --keep 0 for the default")
        }
        let database = try keys.open(path: address.path, writable: true), now = try database.retention()
        let isCustomary = count == 0 && (seconds ?? 0) == 0
        let wanted =
            isCustomary
            ? nil
            : VersionRetention(versions: count ?? now?.versions ?? VersionRetention.standard.versions, seconds: seconds ?? now?.seconds)
        if wanted != now { try database.retain(wanted, wait: .seconds(Session.turn)) }
        let kept = wanted ?? .standard
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", address.path)
            line.add("keep", kept.versions)
            line.add("keepSeconds", kept.seconds)
            return try session.out.write(line.object + "\n")
        }
        session.remark(
            "\(address.path) keeps its \(Quantity.count(kept.versions)) newest versions"
                + (kept.seconds.map { ", and those of the last \(LogCommand.span($0))" } ?? ""))
    }

    /// Parses a time such as `90m`, `12h`, `7d` or `30` (seconds). Returns seconds.
    static func seconds(_ text: String, of flag: String) throws(FirnError) -> Int {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text : String(text.dropLast())), number >= 0,
            case let (product, overflow) = number.multipliedReportingOverflow(by: unit ?? 1), !overflow
        else {
            throw FirnError(.usage, "--\(flag) takes a time such as 30 (seconds), 90m, 12h or 7d, not \"\(text)\"")
        }
        return product
    }

    private static func span(_ seconds: Int) -> String {
        for (size, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] where seconds % size == 0 {
            return Quantity.count(seconds / size, name)
        }
        return Quantity.count(seconds, "second")
    }
}
