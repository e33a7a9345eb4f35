import FirnBytes
import FirnCommandLine
import FirnDatabase

/// `firn tag FILE [NAME[@VERSION]...]`
struct TagCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let names = Array(arguments.operands.dropFirst()), keys = try KeyRing(arguments),
            file = try OpenedFile(stored: arguments.operands[0], keys: keys, restores: !names.isEmpty)
        guard case .stored(let database, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        if names.isEmpty {
            if arguments.has("delete") { throw FirnError(.usage, "name the tags to delete", advice: "'firn tag FILE' lists the tags") }
            try print(try database.tags())
            return .done
        }
        if file.address.type != nil {
            throw FirnError(
                .usage, "a tag names a version of the whole file, not of one type", at: .init(file: arguments.operands[0]),
                advice: "name the file without a type")
        }
        let writable = try keys.open(path: file.address.path, writable: true)
        return arguments.has("delete") ? try delete(names, writable, of: file.name) : try add(names, file, snapshot, writable)
    }

    private func add(_ names: [String], _ file: OpenedFile, _ meant: DatabaseSnapshot, _ database: Database) throws(FirnError) -> ExitCode {
        // A fast writer can already have dropped the version that was read at first. The database that writes the tag pins this one.
        let meant = file.address.version == nil ? try database.snapshot() : meant
        let existing = try database.tags()
        var wanted: [(name: String, snapshot: DatabaseSnapshot)] = []
        for word in names {
            let at = word.utf8.lastIndex(of: UInt8(ascii: "@"))
            let name = at.map { String(word[..<$0]) } ?? word
            if at != nil, name.isEmpty || name.utf8.count == word.utf8.count - 1 {
                throw FirnError(
                    .usage, "\"\(word)\" \(name.isEmpty ? "has no name for the tag" : "names no version")",
                    advice: "write NAME@VERSION, or NAME for the newest version")
            }
            if let refusal = VersionTag.refusal(of: name) { throw FirnError(.usage, "\"\(name)\": \(refusal)") }
            if at != nil, file.address.version != nil {
                throw FirnError(.usage, "\(arguments.operands[0]) and \(word) both name a version", advice: "name it once")
            }
            let snapshot: DatabaseSnapshot
            do throws(FirnError) {
                snapshot =
                    try at.map { (separator) throws(FirnError) in
                        try database.snapshot(at: String(word[word.utf8.index(after: separator)...]))
                    }
                    ?? meant
            } catch { throw error.pointing(toLogOf: file.name) }
            if let other = existing.first(where: { $0.name == name }), other.version != snapshot.version, !arguments.has("force") {
                throw FirnError(
                    .exists, "the tag \"\(name)\" names version \(other.version)", at: .init(file: file.name),
                    advice: "use --force to move it to version \(snapshot.version)")
            }
            wanted.append((name, snapshot))
        }
        // All tags are added in one commit.
        try database.tag(wanted, wait: .seconds(Session.turn))
        if arguments.has("json") || !session.isQuiet {
            try print(try database.tags().filter { tag in wanted.contains { $0.name == tag.name } })
        }
        return .done
    }

    private func delete(_ names: [String], _ database: Database, of file: String) throws(FirnError) -> ExitCode {
        if arguments.has("force") { throw FirnError(.usage, "--force applies to moving tags, not to deleting them") }
        let missing = try database.untag(names, wait: .seconds(Session.turn))
        for name in missing { session.remark("\(file): there is no tag \"\(name)\"") }
        if arguments.has("json") {
            for name in names {
                var line = JSONLine()
                line.addHead()
                line.add("tag", name)
                line.add("deleted", !missing.contains(name))
                try session.out.write(line.object + "\n")
            }
        }
        return missing.isEmpty ? .done : .no
    }

    private func print(_ tags: [VersionTag]) throws(FirnError) {
        if arguments.has("json") {
            for tag in tags {
                var line = JSONLine()
                line.addHead()
                line.add("tag", tag.name)
                line.add("version", Int(clamping: tag.version))
                line.add("time", InfoCommand.date(tag.time))
                try session.out.write(line.object + "\n")
            }
            return
        }
        guard !tags.isEmpty else { return session.remark("no tags") }
        var table = TextTable([.init("tag"), .init("version", isNumber: true), .init("committed")])
        for tag in tags { table.append([tag.name, String(tag.version), InfoCommand.date(tag.time)]) }
        for line in table.lines(style: session.outStyle) { try session.out.write(line) }
    }
}
