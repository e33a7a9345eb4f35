import FirnBytes
import FirnTable

extension Changeset {
    /// Reads a changes file. Its description of its rows is checked before it is used.
    package init(_ snapshot: any TableVersion, name: String) throws(FirnError) {
        self = try ChangesetReader(snapshot: snapshot, name: name).read()
    }

    /// Returns the error for damage of a changes file with advice that fits it: recovery is of no use, because a part of the changes is not.
    package static func damaged(_ error: FirnError) -> FirnError {
        var advised = error
        advised.advice = "create the changes file again with 'firn diff OLD NEW --changes FILE'"
        return advised
    }
}

private struct ChangesetReader {
    let snapshot: any TableVersion
    let name: String

    func refusal(_ what: String) -> FirnError {
        FirnError(.notThisFormat, what, at: .init(file: name), advice: "'firn diff OLD NEW --changes FILE' writes what is expected")
    }

    func read() throws(FirnError) -> Changeset {
        guard let row = try rows(of: Changeset.facts, most: 1)?.first, snapshot.rows(of: "old") != nil,
            snapshot.rows(of: "new") != nil,
            case .int(let version) = row[0]
        else { throw refusal("this is not a changes file") }
        guard (1...Changeset.version).contains(version) else {
            throw FirnError(.unsupported, "this program does not support version \(version) of changes files", at: .init(file: name))
        }
        // The rows are copied to another file unchanged, so they are verified first.
        if let defect = snapshot.firstDefect() {
            throw Changeset.damaged(
                FirnError(.damaged, "\(defect.part): \(defect.damage.what)", at: .init(file: name, byte: defect.damage.offset)))
        }
        switch version {
        case 1: return try first(row)
        default: return try second(hasEdits: version > 2)
        }
    }

    /// Returns all rows of a type with these columns; nil if there is no such type, or if it has more than `most` rows.
    private func rows(of type: TypeSchema, most: Int) throws(FirnError) -> [[Value]]? {
        guard let table = snapshot.rows(of: type.name), table.rowCount <= most,
            table.type.columns.map(\.name) == type.columns.map(\.name),
            table.type.columns.map(\.type) == type.columns.map(\.type)
        else { return nil }
        do throws(Damage) {
            var rows: [[Value]] = []
            for id in try table.liveRowIDs() { rows.append(try table.row(id) ?? []) }
            return rows
        } catch { throw FirnError(error, in: name) }
    }

    private func words(_ value: Value) -> [String]? {
        guard case .list(let values) = value else { return nil }
        let words = values.compactMap { if case .string(let word) = $0 { word } else { nil } }
        return words.count == values.count ? words : nil
    }

    // MARK: Version 1

    private func first(_ row: [Value]) throws(FirnError) -> Changeset {
        guard case .string(let type) = row[1], let key = words(row[2]), case .int(let pairs) = row[3], case .bool(let whole) = row[4],
            case .string(let oldHash) = row[5],
            case .string(let newHash) = row[6], let before = Hash128(hexadecimal: oldHash), let after = Hash128(hexadecimal: newHash),
            !whole || pairs == 0, !key.isEmpty
        else {
            throw refusal("the description of its rows is wrong")
        }
        func side(_ side: String, _ hash: Hash128, _ names: SideNames) -> Changeset.Side {
            let table = snapshot.rows(of: side)
            return Changeset.Side(name: type, hash: hash, table: table, primaryKey: table?.type.keyNames ?? [], required: nil, names: names)
        }
        let part = try part(key, pairs, side("old", before, .old), side("new", after, .new), isWhole: true, isReplacing: whole)
        if let old = part.before?.table, let new = part.after?.table {
            for type in [old.type, new.type] where old.schema.links(of: type).columns.count > 0 {
                throw refusal("its rows have links, which version 1 does not support")
            }
            guard
                whole
                    || part.before!.types({ $0 })[0].hasShape(
                        of: part.after!.types { $0 }[0], in: Schema(part.before!.types { $0 }), other: Schema(part.after!.types { $0 }))
            else {
                throw refusal("its old and new rows have different columns")
            }
        }
        return Changeset(parts: [part], name: name)
    }

    // MARK: Versions 2 and 3

    private func second(hasEdits: Bool) throws(FirnError) -> Changeset {
        guard let old = try rows(of: Changeset.sideFacts("old"), most: Changeset.maximumTypes),
            let new = try rows(of: Changeset.sideFacts("new"), most: Changeset.maximumTypes), old.count == new.count
        else {
            throw refusal("it does not describe its contents")
        }
        var parts: [Changeset.Part] = []
        for (was, becomes) in zip(old, new) {
            let before = try side(was, .old), after = try side(becomes, .new)
            guard let facts = before ?? after, before == nil || after == nil || before!.key == after!.key && before!.pairs == after!.pairs
            else {
                throw refusal("the description of its rows is wrong")
            }
            var found = try part(facts.key, facts.pairs, before?.side, after?.side, isWhole: false, isReplacing: false)
            if hasEdits { found.edits = try edits(of: found) }
            parts.append(found)
        }
        for names in [parts.compactMap(\.before?.name), parts.compactMap(\.after?.name)] where Set(names).count < names.count {
            throw refusal("it describes one type twice")
        }
        return Changeset(parts: parts, name: name)
    }

    private func side(_ row: [Value], _ names: SideNames) throws(FirnError) -> (side: Changeset.Side, key: [String], pairs: Int64)? {
        guard !row[0].isNull else { return nil }
        guard case .string(let type) = row[0], let key = words(row[1]), let own = words(row[2]), case .int(let pairs) = row[3],
            let required = words(row[4]),
            case .string(let text) = row[5], let hash = Hash128(hexadecimal: text)
        else { throw refusal("the description of its rows is wrong") }
        return (
            Changeset.Side(
                name: type, hash: hash, table: snapshot.rows(of: names.type(type)), primaryKey: own, required: Set(required),
                names: names), key, pairs
        )
    }

    private func edits(of part: Changeset.Part) throws(FirnError) -> ReadEdits? {
        guard let table = snapshot.rows(of: CellEdits.typeName(part.name)) else { return nil }
        let expected = CellEdits.type(part.name).columns
        guard part.before?.table != nil, part.after?.table != nil, table.type.columns.map(\.name) == expected.map(\.name),
            table.type.columns.map(\.type) == expected.map(\.type)
        else {
            throw refusal("it contains invalid edits")
        }
        do throws(Damage) { return try ReadEdits(table, pairs: part.pairs, name: name) } catch { throw FirnError(error, in: name) }
    }

    // MARK: All

    private func part(
        _ key: [String], _ pairs: Int64, _ before: Changeset.Side?, _ after: Changeset.Side?, isWhole: Bool, isReplacing: Bool
    ) throws(FirnError) -> Changeset.Part {
        let sides = [before, after].compactMap { $0 }, tables = sides.compactMap(\.table)
        if let before, let after {
            guard (before.table == nil) == (after.table == nil), before.table != nil || before.hash == after.hash else {
                throw refusal("rows are missing")
            }
        } else if tables.count != sides.count {
            throw refusal("rows are missing")
        }
        let most = sides.count == 2 ? tables.map(\.rowCount).min() ?? 0 : 0
        guard pairs >= 0, pairs <= Int64(most) else { throw refusal("the description of its rows is wrong") }
        guard !key.isEmpty || tables.count < 2 || pairs == Int64(most) else { throw refusal("rows without key are missing") }
        for side in sides { if let table = side.table { try check(side, table, key) } }
        return Changeset.Part(key: key, pairs: Int(pairs), before: before, after: after, isWhole: isWhole, isReplacing: isReplacing)
    }

    private func check(_ side: Changeset.Side, _ table: any Table, _ key: [String]) throws(FirnError) {
        let type = table.type
        guard !type.isEmbedded, (key + side.primaryKey + (side.required.map(Array.init) ?? [])).allSatisfy({ type.index(of: $0) != nil }),
            Set(key).count == key.count, Set(side.primaryKey).count == side.primaryKey.count
        else {
            throw refusal("the recorded key of \"\(side.name)\" does not consist of its columns")
        }
        let embedded = table.schema.embedded(from: type)
        for other in embedded where side.names.bareType(other.name) == nil { throw refusal("it contains objects of the other side") }
        var tables: [any Table] = [table]
        for target in Set(table.schema.links(of: type).columns.map(\.target)) {
            guard side.names.bareKey(target) != nil, let rows = snapshot.rows(of: target), !rows.type.isEmbedded else {
                throw refusal("it contains links of the other side")
            }
            tables.append(rows)
        }
        do throws(Damage) {
            // Rows are identified by their positions.
            for table in tables {
                for index in 0..<table.segmentCount where try table.segment(index).live != nil {
                    throw Damage("deleted rows in a changes file")
                }
            }
        } catch { throw FirnError(error, in: name) }
    }
}
