import FirnBytes
import FirnTable

extension Changeset {
    /// A reason why the changes cannot be applied.
    package struct Conflict: Sendable {
        /// The key of the row as text, with the type if there are several types; empty if the conflict does not concern one row.
        package let key: String
        package let what: String
    }

    package enum Outcome: Sendable {
        /// The transaction must be cancelled. It has the first conflicts and the number of all; `isReached` is true if the rows already are
        /// those that the changes lead to.
        case refused([Conflict], count: Int, isReached: Bool)
        /// The changes are applied, but not committed. `hash` is the content hash of the rows, for several types as for a file. `isProven`
        /// is true if the rows are proven to be those that the changes lead to.
        case applied(hash: Hash128, isProven: Bool)
    }

    /// Applies the changes in a transaction that has changed nothing yet: all of them, or none.
    ///
    /// Changed and removed rows must match the recorded cells, keys of added rows must not exist yet, and rows that new links refer to must
    /// exist. Other rows may differ. If the rows were exactly those that the changes were made from, they become exactly those that the
    /// changes lead to, or an error is thrown.
    ///
    /// - Parameters:
    ///   - type: The name in the file of the one type that is changed, if it differs from the name in the changes.
    ///   - options: Threads, the name of the file as `newName`, and a function that can end the work.
    package func apply(to type: String? = nil, in transaction: any TableTransaction, options: DifferenceOptions) throws(FirnError)
        -> Outcome
    {
        var application = ChangesetApplication(self, type, transaction, options)
        return try application.run()
    }
}

/// Changes that are being applied.
struct ChangesetApplication {
    /// The changes of one type.
    struct Plan {
        let part: Changeset.Part
        /// The name of the type in the file.
        let name: String
        /// The current rows; nil if the file does not have the type.
        let rows: (any RowTable)?
        /// Whether the rows are those that the changes were made from.
        let isSame: Bool
        /// The row ids in the file of the rows of `part.before`.
        var ids: [Int64] = []
    }

    let changes: Changeset
    let transaction: any TableTransaction
    let options: DifferenceOptions
    /// The names in the file of types that have other names in the changes.
    let names: [String: String]
    var plans: [Plan] = []
    var conflicts = Conflicts()

    init(_ changes: Changeset, _ type: String?, _ transaction: any TableTransaction, _ options: DifferenceOptions) {
        self.changes = changes
        self.transaction = transaction
        self.options = options
        var names: [String: String] = [:]
        if let part = changes.single, let name = type ?? part.before?.name ?? part.after?.name {
            for side in [part.before, part.after] { if let side { names[side.name] = name } }
        }
        self.names = names
    }

    func rename(_ type: String) -> String { names[type] ?? type }

    mutating func run() throws(FirnError) -> Changeset.Outcome {
        guard try makePlans() else { return .refused(conflicts.first, count: conflicts.count, isReached: true) }
        for i in plans.indices where !plans[i].part.isUnchanged { try check(i) }
        try checkPositions()
        guard conflicts.count == 0 else { return .refused(conflicts.first, count: conflicts.count, isReached: try isReached()) }
        try removeRows()
        try changeTypes()
        let linked = try writeRows()
        try setKeys()
        try setLinks(linked)
        guard conflicts.count == 0 else { return .refused(conflicts.first, count: conflicts.count, isReached: try isReached()) }
        return try prove()
    }

    /// Returns false if the columns are not those that the changes were made from because the changes are applied already.
    private mutating func makePlans() throws(FirnError) -> Bool {
        let snapshot = try transaction.versionBefore()
        for part in changes.parts {
            let name = rename(part.name), rows = snapshot.rows(of: name)
            if rows?.type.isEmbedded ?? false {
                throw FirnError(
                    .schema, "type \"\(name)\" is an embedded type in this file, and a type of rows in the changes",
                    at: .init(file: options.newName))
            }
            guard let before = part.before else {
                if let rows, rows.rowCount > 0 { conflicts.note("", "type \"\(name)\" already exists and has rows") }
                plans.append(Plan(part: part, name: name, rows: rows, isSame: true))
                continue
            }
            guard let rows else {
                throw FirnError(.notFound, "there is no type \"\(name)\", which the changes apply to", at: .init(file: options.newName))
            }
            let types = before.types(rename)
            if let type = types.first, !rows.type.hasShape(of: type, in: rows.schema, other: Schema(types)) {
                if try isReached() {
                    conflicts.note("", "the columns of \"\(name)\" are those that the changes lead to")
                    return false
                }
                throw FirnError(
                    .schema, "the columns of \"\(name)\" are not those that the changes were made from", at: .init(file: options.newName),
                    advice:
                        "compare 'firn schema \(options.newName)' with the types \"old.…\" and \"new.…\" in 'firn schema \(changes.name)'")
            }
            checkKey(part, rows.type)
            let isSame = part.key.allSatisfy { rows.type.index(of: $0) != nil } ? try hash(rows, part.key) == before.hash : false
            plans.append(Plan(part: part, name: name, rows: rows, isSame: isSame))
        }
        return true
    }

    /// Whether the file contains exactly what the changes lead to.
    private func isReached() throws(FirnError) -> Bool {
        let snapshot = try transaction.versionBefore()
        for part in changes.parts {
            let rows = snapshot.rows(of: rename(part.name))
            guard let after = part.after else {
                guard (rows?.rowCount ?? 0) == 0 else { return false }
                continue
            }
            let types = after.types(rename)
            guard let rows, part.key.allSatisfy({ rows.type.index(of: $0) != nil }),
                types.first.map({ rows.type.hasShape(of: $0, in: rows.schema, other: Schema(types)) }) ?? true,
                try hash(rows, part.key) == after.hash
            else { return false }
        }
        return true
    }

    /// Records a conflict if the changes replace the key of a type, and the file has a third key.
    private mutating func checkKey(_ part: Changeset.Part, _ type: TypeSchema) {
        guard let before = part.before, let after = part.after, before.primaryKey != after.primaryKey, type.keyNames != before.primaryKey
        else { return }
        // Rows show whether the changes were applied already; if no rows are changed, only the key does.
        guard type.keyNames != after.primaryKey || before.hash == after.hash else { return }
        conflicts.note("", "the key of \"\(type.name)\" is not the one that the changes were made from")
    }

    func hash(_ table: any Table, _ key: [String]) throws(FirnError) -> Hash128 {
        var asked = ContentHash.Options()
        asked.key = key
        asked.name = options.newName
        asked.threads = options.execution.threads
        asked.progress = { [progress = options.execution.progress] rows in
            do throws(FirnError) { try progress(rows) } catch { return false }
            return true
        }
        return try ContentHash(of: table, options: asked).hash
    }

    /// Lets the caller stop a loop over rows.
    func pause(_ row: Int) throws(FirnError) { if row % 4096 == 0 { try options.execution.progress(0) } }

    func damaged(_ what: String) -> FirnError {
        Changeset.damaged(FirnError(.damaged, what, at: .init(file: changes.name)))
    }

    func reading<T>(_ body: () throws(Damage) -> T) throws(FirnError) -> T {
        do throws(Damage) { return try body() } catch {
            var error = FirnError(error, in: changes.name)
            // Not `firn recover`: a part of the changes is of no use.
            if error.code == .damaged { error.advice = damaged("").advice }
            throw error
        }
    }

    /// Hashes the rows. If they were exactly those that the changes were made from, they must be exactly those that the changes lead to.
    private func prove() throws(FirnError) -> Changeset.Outcome {
        // One thread opens them, then several read them.
        for type in transaction.schema.types { _ = transaction.currentRows(of: type.name).segmentCount }
        let isProven = plans.allSatisfy(\.isSame)
        var hashes: [(name: String, hash: Hash128)] = []
        for plan in plans {
            guard let after = plan.part.after else {
                if isProven, transaction.currentRows(of: plan.name).rowCount > 0 {
                    throw damaged("the changes do not lead to the rows of \"\(plan.name)\" that they record")
                }
                continue
            }
            let table = transaction.currentRows(of: plan.name)
            guard plan.part.key.allSatisfy({ table.type.index(of: $0) != nil }) else { continue }
            let reached = try hash(table, plan.part.key)
            guard !isProven || reached == after.hash else {
                throw damaged("the changes do not lead to the rows of \"\(plan.name)\" that they record")
            }
            hashes.append((plan.name, reached))
        }
        if let single = changes.single, let name = single.after.map({ rename($0.name) }),
            let found = hashes.first(where: { $0.name == name })
        {
            return .applied(hash: found.hash, isProven: isProven)
        }
        return .applied(hash: ContentHash.ofFile(hashes), isProven: isProven)
    }
}

/// The conflicts of a changeset: the first ones, and the number of all.
struct Conflicts {
    private(set) var first: [Changeset.Conflict] = []
    private(set) var count = 0
    private static let maximumCount = 20

    /// Whether further conflicts are only counted.
    var isFull: Bool { count >= Conflicts.maximumCount }

    mutating func note(_ key: String, _ what: String) {
        if !isFull { first.append(Changeset.Conflict(key: key, what: what)) }
        count += 1
    }
}
