import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange

/// `firn verify FILE...`
struct VerifyCommand {
    let session: Session
    private var isFull: Bool { session.arguments.has("full") }
    /// The maximum number of defects that are listed; a badly damaged file has thousands, which are only counted.
    private static let listed = 50

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        var worst = ExitCode.done
        for operand in session.arguments.operands {
            let started = Machine.seconds
            do throws(FirnError) {
                if try !check(operand, progress, started) { worst = worse(worst, .no) }
            } catch {
                display.end()
                // A file that is too damaged to be opened is a result of this command, and is reported as a defect.
                let isAnswer = error.code == .damaged
                if isAnswer {
                    let offset = error.location?.byte.map { " (byte \($0))" } ?? ""
                    let defect = Defect(part: "structure", Damage(error.message, at: Int(clamping: error.location?.byte ?? 0)))
                    try report(
                        operand, "damaged: \(error.message)\(offset)", defects: [defect], isIntact: false, isAnswer: true,
                        seconds: Machine.seconds - started)
                } else {
                    if session.arguments.has("json") {
                        try report(operand, error.message, defects: [], isIntact: false, seconds: Machine.seconds - started)
                        try session.out.flush()
                    }
                    guard session.arguments.operands.count > 1 else { throw error }
                    Session.complain(error.complaint(style: session.errorStyle))
                }
                worst = worse(worst, isAnswer ? .no : ExitCode(error.code))
            }
        }
        return worst
    }

    /// Checks one file and prints the result. Returns whether the file is intact.
    private func check(_ operand: String, _ progress: Progress, _ started: Double) throws(FirnError) -> Bool {
        let file = try OpenedFile(stored: operand, keys: try KeyRing(session.arguments), allowsEmpty: true)
        guard case .stored(let database, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        progress.setTotal(rows: snapshot.tables.reduce(0) { $0 + $1.rowCount })
        var defects = try database.verify(snapshot, full: isFull, others: file.address.version == nil) { (rows) throws(FirnError) in
            progress.add(rows: rows)
            try progress.check()
        }
        if isFull, defects.isEmpty { defects = try repeatedKeys(snapshot) }
        // Values that did not fit in memory were not checked, so the result is unknown. So is that of encodings of a newer version, unless
        // something else is damaged.
        if let unread = defects.first(where: { $0.damage.isBeyondMemory }) { throw FirnError(unread.damage, in: operand) }
        if let unknown = defects.first, defects.allSatisfy(\.damage.isUnknownID) {
            throw FirnError(unknown.damage.naming(unknown.subject), in: operand)
        }
        let content = Quantity.content(snapshot.tables.map { ($0.rowCount, $0.type.isEmbedded) })
        let summary =
            defects.isEmpty
            ? "intact (version \(snapshot.version), \(content), \(isFull ? "every value decoded" : "structure and hashes"))"
            : "\(Quantity.count(defects.count, "defect")) found"
        // A damaged root without any loss of data is a notice, not a defect.
        let notice = try database.rootNotice().map { "\($0.what) (byte \($0.offset))" }
        if let notice, !session.arguments.has("json") {
            Session.complain("firn: \(DisplayWidth.visible("\(operand): notice: \(notice)"))\n")
        }
        try report(operand, summary, defects: defects, notice: notice, isIntact: defects.isEmpty, seconds: Machine.seconds - started)
        return defects.isEmpty
    }

    /// Returns a defect for each type in which rows have the same key.
    private func repeatedKeys(_ snapshot: DatabaseSnapshot) throws(FirnError) -> [Defect] {
        var options = DifferenceOptions(), defects: [Defect] = []
        options.execution.threads = try session.threads()
        for table in snapshot.tables where !table.type.key.isEmpty && !table.type.isEmbedded {
            guard let found = try KeyUniqueness.firstRepeated(in: table, options: options) else { continue }
            let more = found.others > 0 ? ", and \(Quantity.count(found.others, "more key")) repeated" : ""
            defects.append(
                Defect(
                    type: table.type.name, part: "key", Damage("rows \(found.earlier) and \(found.later) have the key \(found.key)\(more)"))
            )
        }
        return defects
    }

    private func worse(_ a: ExitCode, _ b: ExitCode) -> ExitCode { a.rawValue >= b.rawValue ? a : b }

    /// `isAnswer`: the summary is the whole result, and is printed with `--quiet` too.
    private func report(
        _ name: String, _ summary: String, defects: [Defect], notice: String? = nil, isIntact: Bool, isAnswer: Bool = false, seconds: Double
    ) throws(FirnError) {
        if session.arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", name)
            line.add("intact", isIntact)
            line.add("full", isFull)
            line.add("seconds", seconds)
            line.add("summary", summary)
            if let notice { line.add("notices", [notice]) }
            line.add("defects", defects) { defect, inner in
                inner.add("subject", defect.subject)
                if let version = defect.version { inner.add("version", Int(clamping: version)) }
                if let type = defect.type { inner.add("type", type) }
                if let column = defect.column { inner.add("column", column) }
                if let rows = defect.rows {
                    inner.add("firstRow", Int(rows.lowerBound))
                    inner.add("lastRow", Int(rows.upperBound))
                }
                inner.add("part", defect.part)
                inner.add("what", defect.damage.what)
                inner.add("byte", Int(clamping: defect.damage.offset))
            }
            return try session.out.write(line.object + "\n")
        }
        let name = DisplayWidth.visible(name)
        for defect in isAnswer ? [] : defects.prefix(VerifyCommand.listed) {
            try session.out.write("\(name): \(DisplayWidth.visible(defect.description))\n")
        }
        if defects.count > VerifyCommand.listed {
            try session.out.write("\(name): and \(Quantity.count(defects.count - VerifyCommand.listed)) more\n")
        }
        guard isAnswer || !session.isQuiet else { return }
        let style = session.outStyle, summary = DisplayWidth.visible(summary)
        try session.out.write("\(name): \(isIntact ? style.green(summary) : style.red(summary))\n")
    }
}
