import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnThreads

/// `firn patch FILE CHANGES`
struct PatchCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let operand = arguments.operands[0], keys = try KeyRing(arguments), address = Address(operand)
        if let version = address.version {
            throw FirnError(
                .usage, "changes can only be applied to the newest version", at: .init(file: operand),
                advice: "omit \"@\(version)\", or restore that version first with 'firn revert'")
        }
        let source: OpenedFile
        do throws(FirnError) { source = try OpenedFile(stored: arguments.operands[1], keys: keys) } catch {
            throw error.code == .damaged ? Changeset.damaged(error) : error
        }
        guard case .stored(_, let snapshot) = source.content else { trap("OpenedFile(stored:) opens stored files") }
        var changes = try Changeset(snapshot, name: source.name)
        if arguments.has("reverse") { changes = changes.reversed }

        let file = try OpenedFile(stored: operand, keys: keys, restores: !arguments.has("check")), path = file.address.path,
            type = try typeName(changes, file)
        if arguments.has("check"), case .stored(let database, _) = file.content, let fallback = database.fallback {
            // A transaction, even one that is cancelled, would remove what is left of that commit.
            throw FirnError(
                .damaged, "a commit was interrupted or the file is damaged: \(fallback.what)",
                at: .init(file: operand, byte: UInt64(clamping: fallback.offset)),
                advice: "check a copy: --check changes nothing, and the next writer removes what is left of that commit")
        }
        let database = try keys.open(path: path, writable: true)
        let transaction = try database.begin(wait: .seconds(Session.turn), threads: try session.threads())
        defer { transaction.cancel() }
        var options = DifferenceOptions()
        options.execution.threads = try session.threads()
        options.newName = path
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        options.execution.progress = { (rows) throws(FirnError) in
            progress.add(rows: rows)
            try progress.check()
        }
        switch try changes.apply(to: type, in: transaction, options: options) {
        case .refused(let conflicts, let count, let isReached):
            try report(path, type, changes, conflicts, count: count)
            if isReached, !arguments.has("json") {
                session.remark(
                    arguments.has("reverse")
                        ? "the changes are already reverted: the file has exactly the rows before them"
                        : "the changes are already applied: the file has exactly the rows that they produce")
            }
            return .no
        case .applied(let hash, let isProven):
            let left = changes.parts.filter { $0.after == nil }.map { remaining(type ?? $0.name, path, transaction) }
            try progress.check()
            let isUnchanged = arguments.has("check") || changes.isEmpty
            let version = isUnchanged ? nil : try Interruption.duringCommit { () throws(FirnError) in try transaction.commit() }
            try report(path, type, changes, [], count: 0, version: version, hash: hash, isProven: isProven)
            for remark in left { session.remark(remark) }
            return .done
        }
    }

    /// Returns a remark about a type that the changes remove, which stays in the file.
    private func remaining(_ type: String, _ path: String, _ transaction: DatabaseTransaction) -> String {
        let rows = transaction.table(type).rowCount
        return
            "the type \"\(type)\" stays in \(path), with \(rows > 0 ? "\(Quantity.count(rows, "row")) that the changes do not contain" : "no rows")"
    }

    /// Returns the file's name for the only type of the changes; nil if the names are those of the changes.
    private func typeName(_ changes: Changeset, _ file: OpenedFile) throws(FirnError) -> String? {
        let given = try file.chosenType(arguments.text("type"))
        guard let single = changes.single else {
            if given != nil {
                throw FirnError(.usage, "the changes contain several types", at: .init(file: arguments.operands[1]), advice: "omit --type")
            }
            return nil
        }
        if single.before == nil { return given ?? single.name }
        return try file.typeName(given ?? (file.schema.roots.contains { $0.name == single.name } ? single.name : nil))
    }

    private func report(
        _ path: String, _ type: String?, _ changes: Changeset, _ conflicts: [Changeset.Conflict], count: Int, version: UInt64? = nil,
        hash: Hash128? = nil,
        isProven: Bool = false
    ) throws(FirnError) {
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", path)
            if let type {
                line.add("type", type)
            } else {
                line.add("types", changes.parts) { part, inner in
                    inner.add("type", part.name)
                    inner.add("added", part.added)
                    inner.add("removed", part.removed)
                    inner.add("changed", part.pairs)
                }
            }
            line.add("applied", version != nil)
            line.add("added", changes.added)
            line.add("removed", changes.removed)
            line.add("changed", changes.pairs)
            if let version { line.add("version", Int(clamping: version)) }
            if let hash {
                line.add("hash", "\(hash)")
                line.add("proven", isProven)
            }
            line.add("conflicts", count)
            line.add("rows", conflicts) { conflict, inner in
                inner.add("key", conflict.key)
                inner.add("what", conflict.what)
            }
            return try session.out.write(line.object + "\n")
        }
        for conflict in conflicts {
            try session.out.write(DisplayWidth.visible((conflict.key.isEmpty ? "" : conflict.key + ": ") + conflict.what) + "\n")
        }
        if count > conflicts.count { try session.out.write("and \(Quantity.count(count - conflicts.count, "row")) more\n") }
        let isCheck = arguments.has("check")
        if count > 0 { return session.remark(isCheck ? "the changes do not apply to \(path)" : "\(path) was not changed") }
        guard !session.isQuiet else { return }
        if changes.isEmpty {
            return try session.out.write("\(path)\(type.map { ":\($0)" } ?? ""): nothing to change\(isCheck ? "" : ", no new version")\n")
        }
        let target = path + (type.map { ":\($0)" } ?? "")
        try session.out.write(DisplayWidth.visible(target) + ": " + summary(changes, version: version, hash: isProven ? hash : nil) + "\n")
    }

    /// Describes the changes that were applied, or that apply. `hash`: the content hash of the rows, if they are exactly those that the
    /// changes lead to.
    private func summary(_ changes: Changeset, version: UInt64?, hash: Hash128?) -> String {
        let facts =
            "\(Quantity.count(changes.added)) added, \(Quantity.count(changes.removed)) removed, \(Quantity.count(changes.pairs)) changed"
        let proof =
            hash.map { "the rows \(version == nil ? "would be" : "are") exactly those that the changes lead to (\($0))" }
            ?? "rows that the changes do not contain differ from those that they were made from"
        return "\(version.map { "version \($0): " } ?? "the changes apply: ")\(facts); \(proof)"
    }
}
