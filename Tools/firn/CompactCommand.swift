import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange

/// `firn compact FILE [OUT]`
struct CompactCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    /// Throws `.damaged` if an older version is read because the newest commit is damaged: replacing the file would delete what is left of
    /// that commit.
    private func refuseFallback(_ file: OpenedFile) throws(FirnError) {
        guard case .stored(let database, _) = file.content, let fallback = database.fallback else { return }
        throw FirnError(
            .damaged,
            "the newest version is damaged or was interrupted, and replacing the file would delete what is left of it: \(fallback.what)",
            at: .init(file: arguments.operands[0], byte: UInt64(clamping: fallback.offset)),
            advice: "compact to another file, and keep this one")
    }

    func run() throws(FirnError) -> ExitCode {
        if arguments.has("in-place") { return try ShrinkCommand(session: session).run() }
        let source = arguments.operands[0], isDry = arguments.has("dry-run")
        let keys = try KeyRing(arguments), encryption = try CopyEncryption(arguments)
        // OUT can be FILE under another name.
        let isInPlace = arguments.operands.count == 1 || Paths.isSame(Address(source).path, arguments.operands[1])
        var file = try OpenedFile(stored: source, keys: keys, restores: isInPlace && !isDry)
        if arguments.operands.count > 1, arguments.operands[1] == "-" {
            throw FirnError(.usage, "a .firn file cannot be written to a pipe", advice: "name a file")
        }
        if isInPlace { try checkReplaceable(file, isDry: isDry) }
        // The transaction blocks commits between the copy and the rename. Such a commit would be lost with the old file.
        let guardian = isInPlace && !isDry ? try keys.open(path: file.address.path, writable: true).begin(wait: .no) : nil
        defer { guardian?.cancel() }
        if guardian != nil { file = try OpenedFile(stored: source, keys: keys) }
        guard case .stored(let database, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        if isInPlace { try refuseFallback(file) }
        let target = isInPlace ? file.address.path : arguments.operands[1]
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }

        // A dry run writes the new file, measures it and deletes it.
        let (versions, dropped) = try versions(of: database, snapshot, file)
        if !dropped.isEmpty {
            session.remark(
                "\(isDry ? "would drop" : "dropping") \(Quantity.count(dropped.count, "tag")): \(dropped.joined(separator: ", "))")
        }
        let retention = try database.retention()
        let replacement = try Replacement(
            of: target, overwrite: isInPlace || isDry || arguments.has("force"), sources: SourceModes([file.address.path]))
        let effort = WritingOptions(arguments, threads: try session.threads()).effort
        try compact(versions, retention, to: replacement.temporaryPath, effort, encryption, progress)
        let size = Int(clamping: try Paths.size(replacement.temporaryPath)), before = file.size ?? 0
        let columns = try difference(
            try snapshot.statistics(), try statistics(of: replacement.temporaryPath, key: encryption.key(of: snapshot.key)))
        // The file is also replaced, whatever its size, if it gets another key or if versions are dropped.
        let isShed = try isShedding(database, snapshot, versions.map(\.snapshot.version))
        let isGain = !isInPlace || isShed || size < before || encryption.key(of: snapshot.key) != snapshot.key
        if isInPlace, isDry || isGain { try remarkOlder(database, snapshot, except: versions.map(\.snapshot.version), isDry: isDry) }
        if isDry || !isGain { replacement.cancel() } else { try replacement.finish() }
        display.end()

        let replaced = !isDry && isGain
        if arguments.has("json") {
            try session.out.write(json(before, size, columns, replaced: replaced, target: target).object + "\n")
        } else {
            try print(before, size, columns)
        }
        if !isDry, !isGain { session.remark("\(target) cannot be made smaller, and is unchanged") }
        return .done
    }

    /// Throws if the file cannot be replaced by its compacted copy.
    private func checkReplaceable(_ file: OpenedFile, isDry: Bool) throws(FirnError) {
        if let out = arguments.operands.dropFirst().first {
            do throws(FirnError) { try Replacement.check(out, overwrite: isDry || arguments.has("force")) } catch {
                var advised = error
                advised.advice = error.advice.map { "omit OUT to compact the file itself, or \($0)" }
                throw advised
            }
        }
        if file.address.version != nil {
            throw FirnError(.usage, "an old version can only be compacted to another file", advice: "add OUT")
        }
        if !isDry, case let names = try Paths.names(file.address.path), names > 1 {
            throw FirnError(
                .inputOutput, "the file has \(names) hard links, and only one of them would be the compacted file",
                at: .init(file: arguments.operands[0]),
                advice: "compact to another file")
        }
        try refuseFallback(file)
    }

    /// Returns the versions to keep with their tags, and the tags that are dropped.
    private func versions(of database: Database, _ snapshot: DatabaseSnapshot, _ file: OpenedFile) throws(FirnError) -> (
        kept: [(snapshot: DatabaseSnapshot, names: [String])], dropped: [String]
    ) {
        let wanted = arguments.names("keep"), tags = try database.tags()
        if file.address.version != nil {
            guard wanted.isEmpty else {
                throw FirnError(
                    .usage, "--keep cannot be combined with FILE@VERSION, which selects one version", at: .init(file: arguments.operands[0])
                )
            }
            return ([(snapshot, [])], [])
        }
        guard !wanted.isEmpty else {
            // A retention that was set applies to compacting too.
            guard try database.retention() != nil else { return (try database.versions(upTo: snapshot), []) }
            let all = try database.versions().map(\.version).filter { $0 <= snapshot.version }
            return (try database.versions(upTo: snapshot, besides: all), [])
        }
        var names: Set<String> = [], recent: [UInt64] = []
        for word in wanted {
            if let count = Int(word) {
                guard count > 0 else { throw FirnError(.usage, "--keep takes a number greater than 0, or tags") }
                recent += try database.versions().map(\.version).filter { $0 <= snapshot.version }.prefix(count)
            } else {
                guard tags.contains(where: { $0.name == word }) else {
                    throw FirnError(
                        .usage, "there is no tag \"\(word)\"", at: .init(file: file.name),
                        advice: tags.isEmpty ? "the file has no tags" : "its tags are \(tags.map(\.name).joined(separator: ", "))")
                }
                names.insert(word)
            }
        }
        // A kept version keeps all its tags.
        let stay = Set(recent + tags.filter { names.contains($0.name) }.map(\.version) + [snapshot.version])
        return (
            try database.versions(upTo: snapshot, tagged: { stay.contains($0.version) }, besides: recent),
            tags.filter { !stay.contains($0.version) }.map(\.name)
        )
    }

    /// Reports how many versions without a tag are dropped.
    private func remarkOlder(_ database: Database, _ newest: DatabaseSnapshot, except kept: [UInt64], isDry: Bool) throws(FirnError) {
        let tagged = Set(try database.tags().map(\.version))
        let older = try database.versions().count {
            $0.version < newest.version && !kept.contains($0.version) && !tagged.contains($0.version)
        }
        guard older > 0 else { return }
        session.remark(
            "\(isDry ? "would drop" : "dropping") \(Quantity.count(older, "older version")) without a tag; --keep N keeps the newest N")
    }

    /// Returns whether `--keep` drops versions of the file.
    private func isShedding(_ database: Database, _ newest: DatabaseSnapshot, _ kept: [UInt64]) throws(FirnError) -> Bool {
        guard arguments.has("keep") else { return false }
        let there = Set(try database.versions().map(\.version) + database.tags().map(\.version))
        return there.contains { $0 <= newest.version && !kept.contains($0) }
    }

    private func compact(
        _ versions: [(snapshot: DatabaseSnapshot, names: [String])], _ retention: VersionRetention?, to path: String,
        _ effort: WritingOptions.Effort,
        _ encryption: CopyEncryption, _ progress: Progress
    ) throws(FirnError) {
        let threads = try session.threads(),
            count = { (rows: Int) throws(FirnError) in
                progress.add(rows: rows)
                try progress.check()
            }
        progress.setTotal(rows: versions.first?.snapshot.tables.reduce(0) { $0 + $1.rowCount } ?? 0)
        switch effort {
        case .fast:
            try Database.compact(
                versions, retention: retention, to: path, encryption: encryption, profile: .fast, threads: threads, progress: count)
        case .standard:
            try Database.compact(
                versions, retention: retention, to: path, encryption: encryption, profile: .standard, threads: threads, progress: count)
        case .small:
            try Database.compact(
                versions, retention: retention, to: path, encryption: encryption, profile: .small, threads: threads, progress: count)
        }
    }

    private func statistics(of path: String, key: EncryptionKey?) throws(FirnError) -> [TypeStatistics] {
        try Database.open(path: path, key: key).snapshot().statistics()
    }

    private struct ColumnChange {
        let type: String, column: String, before: Int, after: Int
    }

    private func difference(_ before: [TypeStatistics], _ after: [TypeStatistics]) throws(FirnError) -> [ColumnChange] {
        var changes: [ColumnChange] = []
        for (old, new) in zip(before, after) {
            for (a, b) in zip(old.columns, new.columns) {
                changes.append(
                    ColumnChange(
                        type: old.name, column: a.name, before: a.bytes + a.sharedBytes + a.indexBytes,
                        after: b.bytes + b.sharedBytes + b.indexBytes))
            }
            changes.append(ColumnChange(type: old.name, column: "(structure)", before: old.overheadBytes, after: new.overheadBytes))
        }
        return changes
    }

    private func print(_ before: Int, _ after: Int, _ columns: [ColumnChange]) throws(FirnError) {
        guard !session.isQuiet else { return }
        var table = TextTable([
            .init("type"), .init("column"), .init("before", isNumber: true), .init("after", isNumber: true),
            .init("change", isNumber: true),
        ])
        let named = columns.reduce((0, 0)) { ($0.0 + $1.before, $0.1 + $1.after) }
        let (shown, others) = CompactCommand.mostChanged(columns)
        for change in shown { table.append([change.type, change.column] + figures(change.before, change.after)) }
        if !others.isEmpty {
            let rest = others.reduce((0, 0)) { ($0.0 + $1.before, $0.1 + $1.after) }
            table.append(["", "(\(Quantity.count(others.count, "other column")))"] + figures(rest.0, rest.1))
        }
        table.append(["", "(other versions, free space)"] + figures(max(0, before - named.0), max(0, after - named.1)))
        table.append(["", "file"] + figures(before, after))
        for line in table.lines(width: Machine.terminalWidth(1), style: session.outStyle) { try session.out.write(line) }
    }

    /// Splits the columns into those that are listed, in their order, and the others. Files with very many columns list only those whose
    /// sizes changed most; `--json` lists all.
    private static func mostChanged(_ columns: [ColumnChange]) -> (shown: [ColumnChange], others: [ColumnChange]) {
        guard columns.count > maximumListed else { return (columns, []) }
        let order = columns.indices.sorted { abs(columns[$0].after - columns[$0].before) > abs(columns[$1].after - columns[$1].before) }
        let listed = Set(order.prefix(maximumListed).filter { columns[$0].before != columns[$0].after })
        return (
            columns.indices.filter { listed.contains($0) }.map { columns[$0] },
            columns.indices.filter { !listed.contains($0) }.map { columns[$0] }
        )
    }
    private static let maximumListed = 60

    private func figures(_ before: Int, _ after: Int) -> [String] {
        let change = before > 0 ? "\(after > before ? "+" : "")\(Quantity.decimal(100 * (Double(after) / Double(before) - 1), 1)) %" : ""
        return [Quantity.bytes(before), Quantity.bytes(after), change]
    }

    private func json(_ before: Int, _ after: Int, _ columns: [ColumnChange], replaced: Bool, target: String) -> JSONLine {
        var line = JSONLine()
        line.addHead()
        line.add("file", target)
        line.add("bytesBefore", before)
        line.add("bytesAfter", after)
        line.add("replaced", replaced)
        line.add("columns", columns) { change, inner in
            inner.add("type", change.type)
            inner.add("column", change.column)
            inner.add("bytesBefore", change.before)
            inner.add("bytesAfter", change.after)
        }
        return line
    }
}
