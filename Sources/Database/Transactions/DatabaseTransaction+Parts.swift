import FirnBytes
import FirnStore
import FirnTable

/// The state of a transaction at its last `keepPart`.
struct KeptPart {
    var schema: Schema
    var states: [Catalogue.TypeState]
    var schemaIsNew: Bool
    var earlySchema: (schema: Schema, ref: ExtentRef)?
    var entering: [Int: [IndexEntries]]
    /// Keys are restored too, because row ids and types that are rolled back are assigned again, to other rows and types.
    var keys: [Int: TransactionKeys]
}

/// A transaction of several consecutive parts. Each is kept or rolled back separately; those that were kept become one version.
extension DatabaseTransaction {
    /// Keeps the changes made so far: a later `rollBack` does not undo them. After an error the transaction can only be cancelled.
    package func keepPart() throws(FirnError) {
        checkOpen()
        let written = try writeEdits()
        try finishBulk()
        renewTables(written)
        store.setMark()
        kept = KeptPart(schema: schema, states: states, schemaIsNew: schemaIsNew, earlySchema: earlySchema, entering: entering, keys: keys)
    }

    /// Undoes the changes since the last `keepPart`, of which there must be one.
    package func rollBack() {
        checkOpen()
        guard let kept else { trap("no part of this transaction was kept: cancel the transaction instead") }
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
    /// Drops the changes since the transaction last kept a part.
    func giveUp() {
        writer = nil
        begin()
    }
}
