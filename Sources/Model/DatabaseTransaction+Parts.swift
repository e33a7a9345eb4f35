import FirnBytes
import FirnStore

/// What was kept of a transaction so far.
struct KeptPart {
    var schema: Schema
    var states: [Catalogue.TypeState]
    var schemaIsNew: Bool
    var earlySchema: (schema: Schema, ref: ExtentRef)?
    var entering: [Int: [IndexEntries]]
    /// What is known of keys: row ids that are given up are given again, to rows that nothing is known of, and types to others.
    var keys: [Int: TransactionKeys]
}

/// A transaction of several parts, one after the other: each is kept or given up by itself, and those that are kept become one version.
extension DatabaseTransaction {
    /// Keeps what was changed until now, whatever `rollBack` gives up later. After an error the transaction can only be cancelled.
    package func keepPart() throws(FirnError) {
        checkOpen()
        for type in tables.keys.sorted() { try writeEdits(type) }
        try finishBulk()
        for table in tables.values { table.begin() }
        store.setMark()
        kept = KeptPart(schema: schema, states: states, schemaIsNew: schemaIsNew, earlySchema: earlySchema, entering: entering, keys: keys)
    }

    /// Gives up what was changed since `keepPart`.
    package func rollBack() {
        checkOpen()
        guard let kept else { preconditionFailure("nothing of this transaction was kept: cancel it") }
        schema = kept.schema
        states = kept.states
        schemaIsNew = kept.schemaIsNew
        earlySchema = kept.earlySchema
        entering = kept.entering
        keys = kept.keys
        bulkWriters = [:]
        tables = tables.filter { $0.key < schema.types.count }
        forgetReadable()
        store.rollBack()
        for table in tables.values { table.giveUp() }
    }
}

extension WorkingTable {
    /// What was changed since the transaction kept a part is gone.
    func giveUp() {
        writer = nil
        begin()
    }
}
