import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk

/// `firn revert FILE VERSION|TAG`
struct RevertCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let operand = arguments.operands[0], address = Address(operand)
        if address.version != nil || address.type != nil {
            throw FirnError(
                .usage, "FILE takes no type and no version: revert restores the whole file", at: .init(file: operand),
                advice: "use 'firn revert \(address.path) \(address.version ?? "VERSION")'")
        }
        let keys = try KeyRing(arguments), file = try OpenedFile(stored: operand, keys: keys, restores: true), path = file.address.path
        let database = try keys.open(path: path, writable: true)
        let wanted: DatabaseSnapshot
        do throws(FirnError) { wanted = try database.snapshot(at: arguments.operands[1]) } catch { throw error.pointing(toLogOf: path) }
        guard wanted.version > 0 else {
            throw FirnError(.notFound, "version 0 is the empty file before the first commit", at: .init(file: path)).pointing(toLogOf: path)
        }
        let threads = try session.threads()
        let transaction = try database.begin(wait: .seconds(Session.turn), threads: threads)
        defer { transaction.cancel() }
        // This is the version that the transaction began from, because the write lock is held.
        let newest = try database.snapshot()
        var facts: [String] = [], reverted: [(name: String, counts: [(String, Int)])] = []
        for type in newest.schema.types {
            let changes: TableChanges
            do throws(Damage) { changes = try TableChanges.between(newest.table(named: type.name), wanted.table(named: type.name)) } catch {
                throw FirnError(error, in: path)
            }
            let counts = [
                ("added", changes.inserted.count), ("removed", changes.deleted.count), ("changed", changes.modified.rowIDs.count),
            ]
            guard counts.contains(where: { $0.1 > 0 }) else { continue }
            facts.append("\(type.name): \(counts.filter { $0.1 > 0 }.map { "\(Quantity.count($0.1)) \($0.0)" }.joined(separator: ", "))")
            reverted.append((type.name, counts))
        }
        let isSame =
            facts.isEmpty && newest.schema.hasAttributes(of: wanted.schema)
            && wanted.schema.types.allSatisfy { old in newest.schema[old.name].map { $0.id == old.id } ?? false }
        var version = newest.version
        if !isSame {
            try transaction.revert(to: wanted)
            version = try Interruption.duringCommit { () throws(FirnError) in try transaction.commit() }
        }
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", path)
            line.add("from", Int(clamping: newest.version))
            line.add("to", Int(clamping: wanted.version))
            line.add("version", Int(clamping: version))
            line.add("types", reverted) { type, inner in
                inner.add("name", type.name)
                for (name, count) in type.counts { inner.add(name, count) }
            }
            try session.out.write(line.object + "\n")
        } else if isSame {
            session.remark("version \(newest.version) already has the rows and metadata of version \(wanted.version): nothing was changed")
        } else if !session.isQuiet {
            try session.out.write("version \(version) now has the rows of version \(wanted.version)\n")
            for fact in facts { try session.out.write("    \(DisplayWidth.visible(fact))\n") }
        }
        return .done
    }
}
