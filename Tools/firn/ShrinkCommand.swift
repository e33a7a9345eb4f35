import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange

/// `firn compact --in-place FILE`
struct ShrinkCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let source = arguments.operands[0]
        if arguments.operands.count > 1 {
            throw FirnError(.usage, "--in-place shortens the file itself, and takes no OUT", advice: "omit one of them")
        }
        for flag in ["new-key-file", "plain", "keep", "dry-run", "force"] where arguments.has(flag) {
            throw FirnError(.usage, "--\(flag) applies to a new file, and --in-place writes none", advice: "omit one of them")
        }
        let keys = try KeyRing(arguments), (path, gain) = try checked(source, keys)
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        var options = ShrinkOptions(), written: UInt64 = 0
        options.threads = try session.threads()
        switch WritingOptions(arguments, threads: options.threads).effort {
        case .fast: options.profile = .fast
        case .standard: options.profile = .standard
        case .small: options.profile = .small
        }
        if gain < ShrinkCommand.leastGain {
            // A file that cannot be written is an error in any case.
            _ = try keys.open(path: path, writable: true)
            display.end()
            return try leave(source, size: try Paths.size(path), gain: gain)
        }
        let report = try shrink(path, keys, options) { report in
            progress.add(bytes: Int(clamping: report.bytesWritten - written))
            written = report.bytesWritten
        }
        display.end()
        let database = try keys.open(path: path)
        if arguments.has("json") { try session.out.write(json(report, source).object + "\n") } else { try print(report, source) }
        try tellWaiting(report, database, source)
        guard !report.ranOutOfSpace else {
            throw FirnError(
                .noSpace,
                "the disk is full: \(Quantity.bytes(Int(clamping: report.bytesBefore) - Int(clamping: report.bytesAfter))) were released, and the rest needs some free space to start with",
                at: .init(file: source), advice: "nothing is lost: run it again with a few hundred kilobytes of free space")
        }
        return .done
    }

    private func shrink(_ path: String, _ keys: KeyRing, _ options: ShrinkOptions, _ progress: (ShrinkReport) -> Void) throws(FirnError)
        -> ShrinkReport
    {
        // One of the given keys opens the file.
        let key = try keys.open(path: path).key
        do throws(FirnError) { return try Database.shrink(path: path, key: key, options: options, progress: progress) } catch {
            guard error.code == .noSpace else { throw error }
            var advised = error
            advised.advice = "nothing is lost: run it again with a few hundred kilobytes of free space"
            throw advised
        }
    }

    /// The least number of bytes that must be releasable. The commits of a run leave up to about as many bytes behind, which would make a small
    /// file larger.
    private static let leastGain = 4096
    /// The size below which no file shrinks in place: that of two roots.
    private static let leastSize = 4608

    /// Reports that the file is left as it is.
    private func leave(_ source: String, size: UInt64, gain: Int) throws(FirnError) -> ExitCode {
        if arguments.has("json") {
            var report = ShrinkReport()
            (report.bytesBefore, report.bytesAfter) = (size, size)
            try session.out.write(json(report, source).object + "\n")
        } else if !session.isQuiet {
            let most =
                gain == 0 ? "nothing can be released" : "at most \(Quantity.bytes(gain)) can be released, and that needs as much space"
            try session.out.write("\(DisplayWidth.visible(source)): \(Quantity.bytes(Int(clamping: size))), left as it is: \(most)\n")
        }
        return .done
    }

    /// Returns the path of the file, and at most how many bytes can be released. Throws if the file cannot be shrunk. Closes the file again,
    /// so that it holds no version.
    private func checked(_ source: String, _ keys: KeyRing) throws(FirnError) -> (path: String, gain: Int) {
        let file = try OpenedFile(stored: source, keys: keys)
        if file.address.version != nil {
            throw FirnError(.usage, "an old version can only be compacted to another file", advice: "add OUT, and omit --in-place")
        }
        guard case .stored(let database, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        if let fallback = database.fallback {
            throw FirnError(
                .damaged, "a commit was interrupted or the file is damaged: \(fallback.what)",
                at: .init(file: source, byte: UInt64(clamping: fallback.offset)),
                advice: "compact to another file, and keep this one")
        }
        AbandonedFiles.remove(beside: Paths.linkEnd(file.address.path))
        let size = file.size ?? .max, space = try database.space()
        guard size < ShrinkCommand.smallFile else { return (file.address.path, .max) }
        let rows = try snapshot.statistics().reduce(0) { sum, type in
            let stored = type.rows + type.deletedRows
            return sum + type.deltaBytes + (stored > 0 ? type.bytes / stored * type.deletedRows : 0)
        }
        return (file.address.path, max(0, min(space.free + space.dead + rows, size - ShrinkCommand.leastSize)))
    }

    /// From this size on, what the commits of a run leave behind does not matter.
    private static let smallFile = 1 << 20

    private func print(_ report: ShrinkReport, _ source: String) throws(FirnError) {
        guard !session.isQuiet else { return }
        let before = Int(clamping: report.bytesBefore), after = Int(clamping: report.bytesAfter)
        var parts = ["\(Quantity.bytes(before)) → \(Quantity.bytes(after))"]
        if report.rowsDropped > 0 { parts.append("\(Quantity.count(report.rowsDropped, "deleted row")) dropped") }
        parts.append("\(Quantity.bytes(Int(clamping: report.bytesWritten))) written")
        try session.out.write("\(DisplayWidth.visible(source)): \(parts.joined(separator: ", "))\n")
    }

    private func tellWaiting(_ report: ShrinkReport, _ database: Database, _ source: String) throws(FirnError) {
        if report.waitingForReaders > 0 {
            let holders = try database.pinHolders().sorted { $0.key < $1.key }.map {
                "version \($0.key): \($0.value.map(\.description).joined(separator: ", "))"
            }
            session.remark(
                "\(source): \(Quantity.bytes(Int(clamping: report.waitingForReaders))) are held by readers of older versions"
                    + (holders.isEmpty ? "" : " (\(holders.joined(separator: "; ")))") + ": run it again when they have released them")
        }
        if report.waitingForTags > 0 {
            let names = try database.tags().map(\.name)
            session.remark(
                "\(source): \(Quantity.bytes(Int(clamping: report.waitingForTags))) are held by the \(names.count == 1 ? "tag" : "tags") \(names.joined(separator: ", "))"
            )
        }
        // Smaller amounts belong to the kept versions before the newest.
        if report.free + report.waitingForVersions > 65_536 {
            session.remark(
                "\(source): \(Quantity.bytes(Int(clamping: report.free + report.waitingForVersions))) inside the file are free now or after the next commits, and will be used for new data"
            )
        }
    }

    private func json(_ report: ShrinkReport, _ source: String) -> JSONLine {
        var line = JSONLine()
        line.addHead()
        line.add("file", source)
        line.add("bytesBefore", Int(clamping: report.bytesBefore))
        line.add("bytesAfter", Int(clamping: report.bytesAfter))
        line.add("bytesWritten", Int(clamping: report.bytesWritten))
        line.add("commits", report.commits)
        line.add("rowsDropped", report.rowsDropped)
        line.add("waitingForReaders", Int(clamping: report.waitingForReaders))
        line.add("waitingForTags", Int(clamping: report.waitingForTags))
        line.add("waitingForVersions", Int(clamping: report.waitingForVersions))
        line.add("free", Int(clamping: report.free))
        line.add("complete", !report.ranOutOfSpace)
        return line
    }
}
