import FirnBytes
import FirnModel

extension Changeset {
    /// A row that keeps the changes from being applied.
    package struct Conflict: Sendable {
        /// The values of the key, as text.
        package let key: String
        package let what: String
    }

    package enum Outcome: Sendable {
        /// Nothing was changed: the first of these, and how many there are.
        case refused([Conflict], count: Int)
        /// Done, but not committed. `hash`: what the rows are now; `isProven`: that they are those that the changes were to lead to.
        case applied(hash: Hash128, isProven: Bool)
    }

    /// Applies the changes to the rows of a type in a transaction that has changed nothing yet: all of them, or none.
    ///
    /// Every row that they change or remove must be as it was, and none that they add may be there; other rows may have come and gone, unless the
    /// columns change. Where the rows were exactly those that the changes were made from, they become exactly those they were made to, or an error is thrown.
    ///
    /// - `options`: threads and the file's name, as `newName`.
    package func apply(to type: String, in transaction: DatabaseTransaction, options: DifferenceOptions) throws(FirnError) -> Outcome {
        guard let rows = try transaction.baseSnapshot().table(named: type) else { preconditionFailure("apply changes to a type that is there") }
        guard rows.type.hasShape(of: before.table.type, in: rows.schema, other: before.table.schema) else {
            throw FirnError(.schema, "the columns of '\(type)' are not those that the changes were made from", at: .init(file: options.newName),
                            advice: "'firn schema \(options.newName)' and 'firn schema \(name):\(before.table.type.name)' show both")
        }
        let isSame = try hash(rows, options) == before.hash
        if isWhole {
            guard isSame else {
                return .refused([Conflict(key: "", what: "the changes are of columns, and the rows are not those that they were made from")], count: 1)
            }
            try replace(type, rows, in: transaction, options)
        } else {
            let (found, conflicts, count) = try rowIDs(in: rows, options)
            guard count == 0 else { return .refused(conflicts, count: count) }
            try edit(type, rows, found, in: transaction)
        }
        let reached = try hash(transaction.table(type), options)
        guard !isSame || reached == after.hash else {
            throw FirnError(.damaged, "the changes lead to other rows than they say", at: .init(file: name), advice: "make them anew with 'firn diff OLD NEW --changes FILE'")
        }
        return .applied(hash: reached, isProven: isSame)
    }

    private func hash(_ table: any Table, _ options: DifferenceOptions) throws(FirnError) -> Hash128 {
        var asked = ContentHash.Options()
        asked.key = key
        asked.name = options.newName
        asked.parallel = options.parallel
        return try ContentHash(of: table, options: asked).hash
    }

    // MARK: Rows

    /// The rows that are changed or removed, in the order of `before`; and what is not as it must be.
    private func rowIDs(in rows: StoredTable, _ given: DifferenceOptions) throws(FirnError) -> ([Int64], [Conflict], count: Int) {
        var options = given
        options.key = key
        options.oldName = name
        let found = try TableDifference.compute(old: before.table, new: rows, options: options)
        var conflicts: [Conflict] = [], count = 0
        let readers = found.readers(), most = 20
        func note(_ key: [Value], _ what: () -> String) {
            count += 1
            if count <= most { conflicts.append(Conflict(key: zip(self.key, key).map { "\($0)=\(nestedText($1))" }.joined(separator: ", "), what: what())) }
        }
        try found.forEachEntry(of: [.removed, .changed]) { entry throws(FirnError) in
            let key = try found.keyValues(entry, readers)
            if case .changed(_, _, let columns) = entry {
                note(key) { "another value in " + columns.map { found.columns[$0].name }.joined(separator: ", ") }
            } else {
                note(key) { "there is no such row" }
            }
            return true
        }
        // Of rows that are added, those that are there already.
        let first = pairs, source = name, starts = try reading { () throws(Damage) in try after.table.liveStarts() }
        options.kinds = [.removed]
        options.rows = { side, table, index throws(FirnError) in
            guard side == .old else { return nil }
            do throws(Damage) {
                var bits = Bits(count: try table.segment(index).rowCount)
                for row in 0..<bits.count where starts[index] + row >= first { bits[row] = true }
                return bits
            } catch { throw FirnError(error, in: source) }
        }
        let there = try TableDifference.compute(old: after.table, new: rows, options: options)
        if there.unchanged > 0 {
            let reader = RowReader(after.table, name: name)
            for index in 0..<there.removedRows.count {
                for row in 0..<there.removedRows[index].count where starts[index] + row >= first && !there.removedRows[index][row] {
                    var key: [Value] = []
                    for column in there.key { key.append(try reader.value(RowPlace(segment: index, row: row), column.old)) }
                    note(key) { "there is such a row already" }
                }
            }
        }
        guard count == 0 else { return ([], conflicts, count) }
        var ids = [Int64](repeating: -1, count: before.table.rowCount)
        try reading { () throws(Damage) in
            for (index, segment) in found.segments.enumerated() {
                let source = try rows.segment(index)
                for (row, partner) in segment.partners.enumerated() where partner < SegmentDifference.leftOut { ids[Int(partner)] = try source.rowID(at: row) }
            }
        }
        guard !ids.contains(-1) else { throw FirnError(.damaged, "rows of the changes that stand nowhere", at: .init(file: name)) }
        return (ids, [], 0)
    }

    private func reading<T>(_ body: () throws(Damage) -> T) throws(FirnError) -> T {
        do throws(Damage) { return try body() } catch { throw .damaged(name, what: error.what, byte: error.offset) }
    }

    /// Where each row stands: files of changes hold no deleted ones.
    private func places(_ table: any Table) throws(FirnError) -> [RowPlace] {
        try reading { () throws(Damage) in
            var places: [RowPlace] = []
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                for row in 0..<segment.rowCount { places.append(RowPlace(segment: index, row: row)) }
            }
            return places
        }
    }

    private func edit(_ type: String, _ rows: StoredTable, _ ids: [Int64], in transaction: DatabaseTransaction) throws(FirnError) {
        let old = try places(before.table), new = try places(after.table)
        try widen(type, rows.schema, to: after.table.type, after.table.schema, in: transaction)
        for id in ids[pairs...] { try transaction.delete(type, rowID: id) }
        let columns = rows.type.columns.map { (name: $0.name, before: before.table.type.index(of: $0.name)!, after: after.table.type.index(of: $0.name)!) }
        let was = RowReader(before.table, name: name), becomes = RowReader(after.table, name: name)
        for column in columns {
            for i in 0..<pairs {
                let value = try becomes.value(new[i], column.after)
                if try was.value(old[i], column.before) != value { try transaction.update(type, rowID: ids[i], column: column.name, value) }
            }
        }
        for place in new[pairs...] {
            var values: [Value] = []
            for column in columns { values.append(try becomes.value(place, column.after)) }
            try transaction.insert(type, values)
        }
    }

    // MARK: Columns

    /// Lets be null what may be in the rows to come.
    private func widen(_ type: String, _ schema: Schema, to wanted: TypeSchema, _ wantedSchema: Schema, in transaction: DatabaseTransaction, done: Set<String> = []) throws(FirnError) {
        guard var own = schema[type] else { return }
        var isWider = false
        for i in own.columns.indices {
            let twin = wanted.columns[wanted.index(of: own.columns[i].name)!]
            if twin.type.isOptional, !own.columns[i].type.isOptional {
                own.columns[i].type.isOptional = true
                isWider = true
            }
            if twin.type.elementIsOptional, !own.columns[i].type.elementIsOptional {
                own.columns[i].type.elementIsOptional = true
                isWider = true
            }
            if own.columns[i].type.kind == .embedded, let target = own.columns[i].type.target, let other = twin.type.target.flatMap({ wantedSchema[$0] }), !done.contains(target) {
                try widen(target, schema, to: other, wantedSchema, in: transaction, done: done.union([type, target]))
            }
        }
        if isWider { try transaction.revise(own) }
    }

    /// Puts all rows of `after`, with their columns, in the place of all rows.
    private func replace(_ type: String, _ rows: StoredTable, in transaction: DatabaseTransaction, _ options: DifferenceOptions) throws(FirnError) {
        let ids: [Int64]
        do throws(Damage) { ids = try rows.liveRowIDs() } catch { throw FirnError(error, in: options.newName) }
        for id in ids { try transaction.delete(type, rowID: id) }
        func own(_ other: TypeSchema, _ name: String) -> TypeSchema {
            var copy = other
            copy.name = name
            for i in copy.columns.indices { copy.columns[i].type.target = copy.columns[i].type.target.map { String($0.dropFirst(after.prefix.count)) } }
            return copy
        }
        let former = rows.schema.embedded(from: rows.type).map(\.name)
        var fresh: [TypeSchema] = [], revised: [TypeSchema] = []
        for other in after.table.schema.embedded(from: after.table.type) {
            guard other.name.hasPrefix(after.prefix) else { throw FirnError(.damaged, "an embedded type of another side", at: .init(file: name)) }
            let wanted = own(other, String(other.name.dropFirst(after.prefix.count)))
            guard let known = rows.schema[wanted.name] else {
                fresh.append(wanted)
                continue
            }
            if known.isEmbedded, known.columns.map(\.name) == wanted.columns.map(\.name), known.columns.map(\.type) == wanted.columns.map(\.type) { continue }
            let isShared = rows.schema.types.contains { other in
                other.name != type && !former.contains(other.name) && other.columns.contains { $0.type.target == wanted.name }
            }
            guard known.isEmbedded, !isShared else {
                throw FirnError(.unsupported, "the changes need a type '\(wanted.name)', and the file has another of that name", at: .init(file: options.newName))
            }
            revised.append(wanted)
        }
        if !fresh.isEmpty { try transaction.extendSchema(fresh) }
        for wanted in revised { try transaction.revise(wanted) }
        var wanted = own(after.table.type, type)
        if wanted.key.isEmpty, !rows.type.key.isEmpty { wanted.key = key.map { wanted.index(of: $0)! } }
        try transaction.revise(wanted)

        let reader = RowReader(after.table, name: name), places = try places(after.table), schema = transaction.table(type).schema, writer = try transaction.bulkWriter(type)
        var start = 0
        while start < places.count {
            let end = min(places.count, start + segmentSize)
            var batch = Batch(wanted, in: schema)
            for column in wanted.columns.indices {
                for place in places[start..<end] where try !batch.columns[column].append(reader.value(place, column)) {
                    throw FirnError(.damaged, "a value that does not fit its column", at: .init(file: name))
                }
            }
            batch.count = end - start
            try writer.append(batch)
            start = end
        }
    }
}
