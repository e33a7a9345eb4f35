import FirnBytes
import FirnModel

extension Changeset {
    /// Something that keeps the changes from being applied.
    package struct Conflict: Sendable {
        /// The row: the values of its key, as text, with the type where there are several. Empty: it is not about one row.
        package let key: String
        package let what: String
    }

    package enum Outcome: Sendable {
        /// The transaction has to be cancelled: the first of these, and how many there are. `isReached`: the rows are those that the changes lead to already.
        case refused([Conflict], count: Int, isReached: Bool)
        /// Done, but not committed. `hash`: what the rows are now, of several types as of a file; `isProven`: that they are those that the changes were to lead to.
        case applied(hash: Hash128, isProven: Bool)
    }

    /// Applies the changes in a transaction that has changed nothing yet: all of them, or none.
    ///
    /// Every row that they change or remove must be as it was in all cells that they tell of, none that they add may be there, and every row that their links lead to must; other rows
    /// may have come and gone. Where the rows were exactly those that the changes were made from, they become exactly those they were made to, or an error is thrown.
    ///
    /// - `type`: what the one type that is changed is called in the file, if not as in the changes.
    /// - `options`: threads and the file's name, as `newName`.
    package func apply(to type: String? = nil, in transaction: DatabaseTransaction, options: DifferenceOptions) throws(FirnError) -> Outcome {
        var patch = Patch(self, type, transaction, options)
        return try patch.run()
    }
}

/// Changes that are being applied.
struct Patch {
    /// One type of them.
    struct Plan {
        let part: Changeset.Part
        /// What the type is called in the file.
        let name: String
        /// Its rows as they are; nil: the type is not there.
        let rows: StoredTable?
        /// The rows are those that the changes were made from.
        let isSame: Bool
        /// Where the rows of `part.before` stand.
        var ids: [Int64] = []
    }

    let changes: Changeset
    let transaction: DatabaseTransaction
    let options: DifferenceOptions
    /// What types of the changes are called in the file, where that is not the same.
    let names: [String: String]
    var plans: [Plan] = []
    var conflicts = Conflicts()

    init(_ changes: Changeset, _ type: String?, _ transaction: DatabaseTransaction, _ options: DifferenceOptions) {
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
        try checkPlaces()
        guard conflicts.count == 0 else { return .refused(conflicts.first, count: conflicts.count, isReached: try isReached()) }
        try removeRows()
        try changeTypes()
        let linked = try writeRows()
        try setKeys()
        try setLinks(linked)
        guard conflicts.count == 0 else { return .refused(conflicts.first, count: conflicts.count, isReached: try isReached()) }
        return try prove()
    }

    /// False: the columns are not those that the changes were made from, for they were applied already.
    private mutating func makePlans() throws(FirnError) -> Bool {
        let snapshot = try transaction.baseSnapshot()
        for part in changes.parts {
            let name = rename(part.name), rows = snapshot.table(named: name)
            if rows?.type.isEmbedded ?? false { throw FirnError(.schema, "'\(name)' is a type of objects in it, and one of rows in the changes", at: .init(file: options.newName)) }
            guard let before = part.before else {
                if let rows, rows.rowCount > 0 { conflicts.note("", "a type '\(name)' is there already, with rows") }
                plans.append(Plan(part: part, name: name, rows: rows, isSame: true))
                continue
            }
            guard let rows else { throw FirnError(.notFound, "there is no type '\(name)' in it, which the changes are of", at: .init(file: options.newName)) }
            let types = before.types(rename)
            if let type = types.first, !rows.type.hasShape(of: type, in: rows.schema, other: Schema(types)) {
                if try isReached() {
                    conflicts.note("", "the columns of '\(name)' are those that the changes lead to")
                    return false
                }
                throw FirnError(.schema, "the columns of '\(name)' are not those that the changes were made from", at: .init(file: options.newName),
                                advice: "'firn schema \(options.newName)' and 'firn schema \(changes.name)' show both")
            }
            checkKey(part, rows.type)
            let isSame = part.key.allSatisfy { rows.type.index(of: $0) != nil } ? try hash(rows, part.key) == before.hash : false
            plans.append(Plan(part: part, name: name, rows: rows, isSame: isSame))
        }
        return true
    }

    /// The file holds exactly what the changes lead to.
    private func isReached() throws(FirnError) -> Bool {
        let snapshot = try transaction.baseSnapshot()
        for part in changes.parts {
            let rows = snapshot.table(named: rename(part.name))
            guard let after = part.after else {
                guard (rows?.rowCount ?? 0) == 0 else { return false }
                continue
            }
            let types = after.types(rename)
            guard let rows, part.key.allSatisfy({ rows.type.index(of: $0) != nil }), types.first.map({ rows.type.hasShape(of: $0, in: rows.schema, other: Schema(types)) }) ?? true,
                  try hash(rows, part.key) == after.hash else { return false }
        }
        return true
    }

    /// Notes it where the changes give a type another key than it had, and it has a third.
    private mutating func checkKey(_ part: Changeset.Part, _ type: TypeSchema) {
        guard let before = part.before, let after = part.after, before.primaryKey != after.primaryKey, type.keyNames != before.primaryKey else { return }
        // Rows tell whether changes were applied already; where none are changed, the key alone does.
        guard type.keyNames != after.primaryKey || before.hash == after.hash else { return }
        conflicts.note("", "the key of '\(type.name)' is not the one that the changes were made from")
    }

    func hash(_ table: any Table, _ key: [String]) throws(FirnError) -> Hash128 {
        var asked = ContentHash.Options()
        asked.key = key
        asked.name = options.newName
        asked.parallel = options.parallel
        return try ContentHash(of: table, options: asked).hash
    }

    func damaged(_ what: String) -> FirnError { FirnError(.damaged, what, at: .init(file: changes.name), advice: "make the changes anew with 'firn diff OLD NEW --changes FILE'") }

    func reading<T>(_ body: () throws(Damage) -> T) throws(FirnError) -> T {
        do throws(Damage) { return try body() } catch { throw FirnError(error, in: changes.name) }
    }

    /// Where rows were exactly what the changes were made from, they are now exactly what they lead to.
    private func prove() throws(FirnError) -> Changeset.Outcome {
        // Opened by one thread, and read by several.
        for type in transaction.schema.types { _ = transaction.table(type.name).segmentCount }
        let isProven = plans.allSatisfy(\.isSame)
        var hashes: [(name: String, hash: Hash128)] = []
        for plan in plans {
            guard let after = plan.part.after else {
                if isProven, transaction.table(plan.name).rowCount > 0 { throw damaged("the changes lead to other rows of '\(plan.name)' than they say") }
                continue
            }
            let table = transaction.table(plan.name)
            guard plan.part.key.allSatisfy({ table.type.index(of: $0) != nil }) else { continue }
            let reached = try hash(table, plan.part.key)
            guard !isProven || reached == after.hash else { throw damaged("the changes lead to other rows of '\(plan.name)' than they say") }
            hashes.append((plan.name, reached))
        }
        if let single = changes.single, let name = single.after.map({ rename($0.name) }), let found = hashes.first(where: { $0.name == name }) { return .applied(hash: found.hash, isProven: isProven) }
        return .applied(hash: ContentHash.ofFile(hashes), isProven: isProven)
    }
}

/// What keeps changes from being applied: the first ones, and how many there are.
struct Conflicts {
    private(set) var first: [Changeset.Conflict] = []
    private(set) var count = 0
    private static let most = 20

    /// No more of them are told, only counted.
    var isFull: Bool { count >= Conflicts.most }

    mutating func note(_ key: String, _ what: String) {
        if !isFull { first.append(Changeset.Conflict(key: key, what: what)) }
        count += 1
    }
}
