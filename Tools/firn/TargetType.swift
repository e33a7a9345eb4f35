import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// The type of a `.firn` file whose rows a command changes, in one transaction.
struct TargetType {
    let path: String
    /// The type and the schema before the changes.
    let type: TypeSchema
    let schema: Schema
    let keys: KeyRing
    private let session: Session
    private var arguments: Arguments { session.arguments }

    /// Opens FILE, the first operand, and chooses its type.
    init(_ session: Session) throws(FirnError) {
        self.session = session
        let arguments = session.arguments, operand = arguments.operands[0], isDry = arguments.has("dry-run")
        keys = try KeyRing(arguments)
        if let version = Address(operand).version {
            throw FirnError(
                .usage, "only the newest version can be changed", at: .init(file: operand),
                advice: "omit \"@\(version)\", or restore that version first with 'firn revert'")
        }
        let file: OpenedFile
        do throws(FirnError) { file = try OpenedFile(stored: operand, keys: keys, restores: !isDry) } catch {
            throw TargetType.advised(error, operand, arguments.command.name)
        }
        path = file.address.path
        if isDry, case .stored(let database, _) = file.content, let fallback = database.fallback {
            // A transaction, even one that is cancelled, would remove what is left of that commit.
            throw FirnError(
                .damaged, "a commit was interrupted or the file is damaged: \(fallback.what)",
                at: .init(file: operand, byte: UInt64(clamping: fallback.offset)),
                advice: "try it on a copy: --dry-run changes nothing, and the next writer removes what is left of that commit")
        }
        let name = try file.typeName(try file.chosenType(arguments.text("type")))
        guard let type = file.schema[name] else { throw unknownType(name, in: file.schema, of: path) }
        guard !type.isEmbedded else {
            throw FirnError(.usage, "the rows of type \"\(name)\" belong to other rows", at: .init(file: path))
        }
        (self.type, schema) = (type, file.schema)
    }

    private static func advised(_ error: FirnError, _ operand: String, _ command: String) -> FirnError {
        var error = error
        switch error.code {
        case .notFound where !operand.isEmpty && command != "delete":
            error.advice = "create the file first: firn convert INPUT \(operand)"
        case .notThisFormat where FormatName(extensionOf: Address(operand).path) != .firn:
            error.advice = "'firn \(command)' changes .firn files; 'firn convert' makes one from another format"
        default: break
        }
        return error
    }

    /// Waits for other writers, and begins the transaction. The type must be the one that was chosen.
    func begin() throws(FirnError) -> DatabaseTransaction {
        let database = try keys.open(path: path, writable: true)
        let transaction = try database.begin(wait: .seconds(Session.turn), threads: try session.threads())
        guard transaction.schema[type.name]?.columns == type.columns, transaction.schema[type.name]?.key == type.key else {
            transaction.cancel()
            throw FirnError(
                .locked, "another process changed the columns of type \"\(type.name)\" after this command opened the file",
                at: .init(file: path), advice: "run it again")
        }
        return transaction
    }

    /// Ends a transaction that was not committed. After a failed write, the file keeps its length until it is opened again.
    func end(_ transaction: DatabaseTransaction, after error: FirnError?) {
        transaction.cancel()
        if error?.code == .noSpace { _ = try? keys.open(path: path, writable: true) }
    }

    /// Commits the changes, unless there are none or `--dry-run` is given, and returns the version. `finish` completes what belongs to them:
    /// it is called after the commit, or if there is nothing to commit, but not with `--dry-run`. A signal does not separate the two.
    func commit(
        _ rows: RowChanges, _ transaction: DatabaseTransaction, finish: () throws(FirnError) -> Void = {}
    ) throws(FirnError) -> UInt64? {
        try rows.settle()
        guard !arguments.has("dry-run") else { return nil }
        guard rows.added + rows.removed + rows.changed > 0 else {
            try finish()
            return nil
        }
        return try Interruption.duringCommit { () throws(FirnError) in
            let version = try transaction.commit()
            try finish()
            return version
        }
    }

    /// Prints what changed. `version`: the new version; nil if there is none.
    func report(_ rows: RowChanges, version: UInt64?, rejected: Int = 0, remarks: [String] = []) throws(FirnError) {
        let isDry = arguments.has("dry-run")
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", path)
            line.add("type", type.name)
            line.add("dryRun", isDry)
            line.add("added", rows.added)
            line.add("removed", rows.removed)
            line.add("changed", rows.changed)
            line.add("rejected", rejected)
            if let version { line.add("version", Int(clamping: version)) }
            line.add("remarks", remarks)
            return try session.out.write(line.object + "\n")
        }
        guard !session.isQuiet else { return }
        let facts = [
            "\(Quantity.count(rows.added)) added", "\(Quantity.count(rows.removed)) removed", "\(Quantity.count(rows.changed)) changed",
        ]
        var text = (facts + (rejected > 0 ? ["\(Quantity.count(rejected)) rejected"] : [])).joined(separator: ", ")
        if isDry {
            text = "would be \(text); nothing was written"
        } else if let version {
            text = "version \(version): \(text)"
        } else {
            text = "nothing to change, no new version" + (rejected > 0 ? "; \(Quantity.count(rejected)) rejected" : "")
        }
        try session.out.write(DisplayWidth.visible("\(path):\(type.name): \(text)") + "\n")
    }
}
