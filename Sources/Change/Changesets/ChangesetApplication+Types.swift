import FirnBytes
import FirnTable

/// Removing rows and changing types.
extension ChangesetApplication {
    func removeRows() throws(FirnError) {
        for plan in plans where plan.ids.count > plan.part.pairs {
            let ids = plan.ids[plan.part.pairs...]
            for (i, id) in ids.enumerated() {
                try pause(i)
                try transaction.delete(plan.name, rowID: id)
            }
            try transaction.deleteLinks(to: plan.name, rows: Array(ids))
        }
    }

    func changeTypes() throws(FirnError) {
        var fresh: [TypeSchema] = [], revised: [TypeSchema] = [], embedded: [TypeSchema] = []
        for plan in plans {
            guard let after = plan.part.after, after.table != nil else { continue }
            var types = after.types(rename)
            guard !types.isEmpty else { continue }
            types[0].name = plan.name
            guard let rows = plan.rows else {
                fresh.append(types[0])
                embedded += types[1...]
                continue
            }
            let wanted = Schema(types), key = try keyWhileWriting(plan)
            if rows.type.hasShape(of: types[0], in: rows.schema, other: wanted) {
                try widen(plan.name, transaction.schema, to: types[0], wanted)
                if key != transaction.schema[plan.name]!.keyNames { try rekey(plan.name, key) }
            } else {
                try clearObjects(of: plan, for: types[0], wanted)
                types[0].key = key.compactMap { types[0].index(of: $0) }
                try keepColumns(of: rows, plan, in: &types[0], wanted)
                revised.append(types[0])
                embedded += wanted.embedded(from: types[0])
            }
        }
        try change(embedded, beside: &fresh)
        if !fresh.isEmpty { try transaction.extendSchema(fresh) }
        for type in revised { try transaction.revise(type) }
    }

    /// Returns the type's own key after the changes: a new one if the changes replace the key, otherwise that of the file.
    private func key(of plan: Plan) -> [String] {
        guard let after = plan.part.after, let rows = plan.rows, plan.part.before?.primaryKey == after.primaryKey else {
            return plan.part.after?.primaryKey ?? []
        }
        let own = rows.type.keyNames
        return own.allSatisfy { after.table?.type.index(of: $0) != nil } ? own : after.primaryKey
    }

    /// Returns the key while rows are written. Rows get their values one after the other, so two of them can temporarily have the same key,
    /// unless it is the key of the changes and the changes do not alter it.
    private func keyWhileWriting(_ plan: Plan) throws(FirnError) -> [String] {
        let key = key(of: plan)
        guard key == plan.part.key, !key.isEmpty, plan.part.before != nil else { return [] }
        let cells = try RecordedCells(plan.part, name: changes.name)
        return key.allSatisfy(cells.isAlike) ? key : []
    }

    /// Sets the keys of types that had none while they were written.
    func setKeys() throws(FirnError) {
        for plan in plans where plan.part.after?.table != nil {
            guard plan.rows != nil, let type = transaction.schema[plan.name] else { continue }
            let key = key(of: plan)
            guard type.keyNames != key else { continue }
            try rekey(plan.name, key)
            try checkKey(plan.name)
        }
    }

    private func rekey(_ name: String, _ key: [String]) throws(FirnError) {
        guard let type = transaction.schema[name] else { return }
        let keyPositions = key.compactMap { type.index(of: $0) }
        guard keyPositions.count == key.count else { throw damaged("the key of \"\(name)\" does not consist of its columns") }
        try transaction.rekey(name, keyPositions)
    }

    /// Throws if two rows have the same key.
    private func checkKey(_ name: String) throws(FirnError) {
        let table = transaction.currentRows(of: name)
        guard !table.type.key.isEmpty else { return }
        var options = DifferenceOptions()
        options.kinds = []
        options.newName = self.options.newName
        _ = try TableDifference.compute(old: MemoryTable(table.type, schema: table.schema, batches: []), new: table, options: options)
    }

    /// Keeps what the changes do not determine in columns that remain: the names of their embedded types, and that they are optional
    /// because of other rows.
    private func keepColumns(of rows: any RowTable, _ plan: Plan, in type: inout TypeSchema, _ schema: Schema) throws(FirnError) {
        // The type is not changed during lookups: after each change a type rebuilds its map of names.
        let wanted = type
        for own in rows.type.columns where rows.type.hasColumn(own, of: wanted, in: rows.schema, other: schema) {
            let columnPosition = wanted.index(of: own.name)!
            if own.type.kind == .embedded, let target = own.type.target {
                // Whatever its name, the embedded type must accept the new rows.
                if let other = type.columns[columnPosition].type.target.flatMap({ schema[$0] }) {
                    try widen(target, transaction.schema, to: other, schema)
                }
                type.columns[columnPosition].type.target = target
            }
            if plan.isSame { continue }
            if own.type.isOptional { type.columns[columnPosition].type.isOptional = true }
            if own.type.elementIsOptional { type.columns[columnPosition].type.elementIsOptional = true }
        }
    }

    /// Removes the objects of columns that are removed or replaced, because embedded types do not record which rows own theirs.
    private func clearObjects(of plan: Plan, for wanted: TypeSchema, _ schema: Schema) throws(FirnError) {
        guard let rows = plan.rows, var own = transaction.schema[plan.name] else { return }
        let going = rows.type.columns.filter {
            $0.type.kind == .embedded && !rows.type.hasColumn($0, of: wanted, in: rows.schema, other: schema)
        }
        let required = going.filter { !$0.type.isCollection && !$0.type.isOptional }.compactMap { own.index(of: $0.name) }
        if !required.isEmpty {
            // These columns are optional while the types change.
            for columnPosition in required { own.columns[columnPosition].type.isOptional = true }
            try transaction.revise(own)
        }
        let names = Set(going.map(\.name))
        for column in own.columns where names.contains(column.name) {
            for id in try reading({ () throws(Damage) in try transaction.currentRows(of: plan.name).liveRowIDs() }) {
                try transaction.update(plan.name, rowID: id, column: column.name, Column.absentValue(column.type))
            }
        }
    }

    /// Adds or changes embedded types. Types in `fresh` are added together with them.
    private func change(_ types: [TypeSchema], beside fresh: inout [TypeSchema]) throws(FirnError) {
        var seen: Set<String> = [], revised: [TypeSchema] = []
        for wanted in types where seen.insert(wanted.name).inserted {
            guard let known = transaction.schema[wanted.name] else {
                fresh.insert(wanted, at: 0)
                continue
            }
            let hasShape = known.isEmbedded && known.hasShape(of: wanted, in: transaction.schema, other: Schema(types))
            if hasShape {
                try widen(known.name, transaction.schema, to: wanted, Schema(types))
            } else {
                guard known.isEmbedded, transaction.currentRows(of: wanted.name).rowCount == 0 else {
                    throw FirnError(
                        .unsupported, "the changes need a type \"\(wanted.name)\", but the file has a different type of that name",
                        at: .init(file: options.newName))
                }
                revised.append(wanted)
            }
        }
        if !revised.isEmpty, !fresh.isEmpty {
            // Revised types can refer to types that are added.
            try transaction.extendSchema(fresh)
            fresh = []
        }
        for wanted in revised { try transaction.revise(wanted) }
    }

    /// Makes columns optional that are optional in the new rows.
    private func widen(_ type: String, _ schema: Schema, to wanted: TypeSchema, _ wantedSchema: Schema, done: Set<String> = [])
        throws(FirnError)
    {
        guard var own = schema[type] else { return }
        var isWider = false
        for i in own.columns.indices {
            guard let columnPosition = wanted.index(of: own.columns[i].name) else { continue }
            let twin = wanted.columns[columnPosition]
            if twin.type.isOptional, !own.columns[i].type.isOptional {
                own.columns[i].type.isOptional = true
                isWider = true
            }
            if twin.type.elementIsOptional, !own.columns[i].type.elementIsOptional {
                own.columns[i].type.elementIsOptional = true
                isWider = true
            }
            if own.columns[i].type.kind == .embedded, let target = own.columns[i].type.target,
                let other = twin.type.target.flatMap({ wantedSchema[$0] }), !done.contains(target)
            {
                try widen(target, schema, to: other, wantedSchema, done: done.union([type, target]))
            }
        }
        if isWider { try transaction.revise(own) }
    }
}
