import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange

/// `firn recover FILE OUT`
struct RecoverCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }
    /// The maximum number of losses that are listed; further ones are only counted.
    private static let listed = 50

    func run() throws(FirnError) -> ExitCode {
        let source = Address(arguments.operands[0]), target = arguments.operands[1]
        guard source.type == nil else {
            throw FirnError(.usage, "a file is recovered as a whole, not one of its types", advice: "omit \":\(source.type!)\"")
        }
        guard target != "-", Paths.kind(target) != .other else {
            throw FirnError(.usage, "OUT is a .firn file, which cannot be written to a pipe", advice: "name a file")
        }
        // Data that this recovery loses may still be recovered from the original, by hand or by a later release.
        guard !Paths.isSame(source.path, target) else {
            throw FirnError(
                .usage, "FILE and OUT are the same file, and the damaged original would be lost",
                advice: "recover to another name, check the result, and then rename it")
        }
        switch Paths.kind(source.path) {
        case .directory?: throw FirnError(.inputOutput, "cannot read: it is a directory", at: .init(file: source.path))
        case .other?:
            throw FirnError(.inputOutput, "it is a device or a pipe, and only files can be recovered", at: .init(file: source.path))
        default: break
        }
        let keys = try KeyRing(arguments), encryption = try CopyEncryption(arguments)
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let effort = WritingOptions(arguments, threads: try session.threads()).effort
        let recovery: Recovery
        do throws(FirnError) {
            recovery = try keys.trying { (key) throws(FirnError) in try recover(source, key, to: target, encryption, effort, progress) }
        } catch {
            var advised = error
            // If nothing can be recovered, the usual advice does not apply; only the recovery's own advice does.
            if error.code == .damaged, !(error.advice ?? "").contains("--unproven") { advised.advice = nil }
            if error.code == .notFound, source.version != nil { advised = error.pointing(toLogOf: source.path) }
            if error.code == .exists { advised.advice = error.advice ?? "choose another name for OUT" }
            throw advised
        }
        display.end()
        if arguments.has("json") {
            try session.out.write(json(recovery, arguments.operands[0], target).object + "\n")
        } else {
            try print(recovery, target)
        }
        return recovery.losses.isEmpty ? .done : .no
    }

    private func recover(
        _ source: Address, _ key: EncryptionKey?, to target: String, _ encryption: CopyEncryption, _ effort: WritingOptions.Effort,
        _ progress: Progress
    ) throws(FirnError) -> Recovery {
        let from = source.path, version = source.version, force = arguments.has("force"), unproven = arguments.has("unproven"),
            threads = try session.threads(), count = { (rows: Int) in progress.add(rows: rows) }
        return switch effort {
        case .fast:
            try .run(
                from: from, version: version, unproven: unproven, key: key, to: target, encryption: encryption, overwrite: force,
                profile: .fast, threads: threads, progress: count)
        case .standard:
            try .run(
                from: from, version: version, unproven: unproven, key: key, to: target, encryption: encryption, overwrite: force,
                profile: .standard, threads: threads, progress: count)
        case .small:
            try .run(
                from: from, version: version, unproven: unproven, key: key, to: target, encryption: encryption, overwrite: force,
                profile: .small, threads: threads, progress: count)
        }
    }

    private func print(_ recovery: Recovery, _ target: String) throws(FirnError) {
        for remark in recovery.remarks { session.remark(remark) }
        if recovery.withheldRows > 0 {
            session.remark(
                "\(Quantity.count(recovery.withheldRows, "row")) were not written, because no hash proves them; use --unproven to write them"
            )
        }
        for loss in recovery.losses.prefix(RecoverCommand.listed) {
            try session.out.write("\(loss.isUnproven ? "unproven" : "lost"): \(DisplayWidth.visible(loss.description))\n")
        }
        if recovery.losses.count > RecoverCommand.listed {
            try session.out.write("lost: and \(Quantity.count(recovery.losses.count - RecoverCommand.listed)) more\n")
        }
        guard !session.isQuiet else { return }
        let content = Quantity.content(recovery.saved.map { ($0.rows, $0.isEmbedded) }), style = session.outStyle
        let unproven = recovery.losses.count { $0.isUnproven }, count = recovery.losses.count - unproven
        var ends = count == 0 ? [] : [style.red(count == 1 ? "1 loss" : "\(Quantity.count(count)) losses")]
        if unproven > 0 { ends.append(style.red("\(unproven == 1 ? "1 range" : "\(Quantity.count(unproven)) ranges") unproven")) }
        let version = recovery.version > 0 ? "version \(recovery.version)" : "a version with unknown number"
        try session.out.write(
            "\(DisplayWidth.visible(target)): \(content) of \(version), \(ends.isEmpty ? style.green("nothing lost") : ends.joined(separator: ", "))\n"
        )
    }

    private func json(_ recovery: Recovery, _ source: String, _ target: String) -> JSONLine {
        var line = JSONLine()
        line.addHead()
        line.add("file", source)
        line.add("target", target)
        line.add("version", recovery.version > 0 ? Int(clamping: recovery.version) : nil)
        line.add("complete", recovery.losses.isEmpty)
        line.add("saved", recovery.saved) { saved, inner in
            inner.add("type", saved.type)
            inner.add("rows", saved.rows)
            if saved.isEmbedded { inner.add("embedded", true) }
        }
        line.add("losses", recovery.losses) { loss, inner in
            if let type = loss.type { inner.add("type", type) }
            if let column = loss.column { inner.add("column", column) }
            if let rows = loss.rows {
                inner.add("firstRow", Int(rows.lowerBound))
                inner.add("lastRow", Int(rows.upperBound))
            }
            if let count = loss.count { inner.add("rows", count) }
            if let version = loss.takenFrom { inner.add("takenFromVersion", Int(clamping: version)) }
            if loss.isUnproven { inner.add("unproven", true) }
            inner.add("what", loss.damage.what)
            inner.add("byte", Int(clamping: loss.damage.offset))
        }
        line.add("withheldRows", recovery.withheldRows)
        line.add("remarks", recovery.remarks)
        return line
    }
}
