import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads

/// What was recovered from a damaged file, and what was not.
package struct Recovery: Sendable {
    /// The number of rows of one type that were recovered.
    package struct Saved: Sendable {
        package var type: String
        package var rows: Int
        /// Whether the rows are embedded objects, which belong to rows of other types.
        package var isEmbedded: Bool
    }
    /// The version that was read; 0 if its number is not known.
    package var version: UInt64
    /// The wall-clock time of its commit in nanoseconds since 1970 UTC; 0 if it is not known.
    package var time: Int64
    package var saved: [Saved] = []
    package var losses: [Loss] = []
    /// What was damaged without a loss, or was repaired.
    package var remarks: [String] = []
    /// The number of rows that were left out because no hash proves them.
    package var withheldRows = 0

    /// Copies everything in a file that matches its hashes into a new file, with the same row ids. Reads the newest version for which this
    /// is possible. In rows of which other values are left, lost values are replaced by those of an older version or by null; their columns
    /// become optional.
    ///
    /// `wanted` selects another version, by number or tag. If `unproven`, also writes what is found without a hash that proves it, and
    /// reports it in
    /// `losses`. `key` is that of an encrypted file; the copy is encrypted as `encryption` specifies.
    ///
    /// - Throws: `.damaged` if nothing is left. Nothing is written then.
    package static func run(
        from path: String, version wanted: String? = nil, unproven: Bool = false, key: EncryptionKey? = nil, to target: String,
        encryption: CopyEncryption = .same, overwrite: Bool = false,
        profile: Profile = .standard, threads: Int = Processors.count, progress: (_ rows: Int) -> Void = { _ in }
    ) throws(FirnError) -> Recovery {
        let salvage = try Salvage(path: path, key: key)
        let version: SalvagedVersion
        do throws(FirnError) { version = try SalvagedVersion(salvage, wanted: wanted, unproven: unproven) } catch {
            throw unproven ? error : advising(error, salvage, wanted)
        }
        defer { version.core.close() }
        var recovery = Recovery(version: version.version, time: version.time, losses: version.losses, remarks: version.remarks)
        let types = version.core.schema.types.indices.map {
            SalvagedType(version, salvage, type: $0, unproven: unproven, progress: progress)
        }
        // What could not be checked for lack of memory, or in an encoding of a newer version, is not lost: fail instead.
        if let unread = (version.losses + types.flatMap(\.losses)).first(where: { $0.damage.isBeyondMemory || $0.damage.isUnknownID }) {
            throw FirnError(unread.damage, in: path)
        }
        if wanted == nil, !types.allSatisfy(\.losses.isEmpty),
            let older = wholeVersion(path, key, before: version.version, withMoreRowsThan: rows(types))
        {
            let whole = try run(
                from: path, version: String(older), key: key, to: target, encryption: encryption, overwrite: overwrite, profile: profile,
                threads: threads, progress: progress)
            return whole.noting(older, insteadOf: version.version)
        }
        for type in types {
            recovery.losses += type.losses
            recovery.withheldRows += type.withheldRows
            recovery.losses += lostObjects(type, version.core.schema)
        }
        recovery.remarks += Recovery.indexRemarks(version.core)

        let schema = recovery.adapted(version.core.schema, to: types)
        guard recovery.losses.isEmpty || types.contains(where: { !$0.parts.isEmpty }) else {
            let first = recovery.losses[0]
            let error = FirnError(
                .damaged, "nothing can be recovered: no row is left (\(first))", at: .init(file: path, byte: first.damage.offset))
            throw unproven ? error : advising(error, salvage, wanted)
        }

        let database = try Database.create(
            path: target, overwrite: overwrite, atFirstCommit: true, key: encryption.key(of: key), sources: SourceModes([path]))
        let transaction = try database.begin(threads: threads)
        transaction.profile = profile
        try transaction.adopt(schema)
        for (index, type) in types.enumerated() {
            let writer = try transaction.bulkWriter(schema.types[index].name)
            let rows = try write(type, to: writer, as: schema.types[index].columns, of: path, progress)
            writer.skip(to: version.core.catalogue.types[index].nextRowID)
            recovery.saved.append(Saved(type: schema.types[index].name, rows: rows, isEmbedded: schema.types[index].isEmbedded))
        }
        try transaction.commit()
        return recovery
    }

    /// Returns this recovery of an intact version, with a loss of the newer one that has fewer rows.
    private func noting(_ older: UInt64, insteadOf version: UInt64) -> Recovery {
        var recovery = self
        recovery.losses.insert(
            Loss(Damage("version \(version) has lost rows: version \(older), which is intact and has more rows, is recovered instead")),
            at: 0)
        recovery.remarks.append("to recover what is left of version \(version), give its number, as in FILE@\(version)")
        return recovery
    }

    /// Returns the schema for the rows that are left: columns with lost values are optional, and types whose keys may repeat have no key.
    private mutating func adapted(_ schema: Schema, to types: [SalvagedType]) -> Schema {
        var schema = schema
        for (index, type) in types.enumerated() {
            remarks += Recovery.makeOptional(
                &schema.types[index], lost: type.parts.reduce(into: []) { $0.formUnion($1.lost.union($1.gaps)) })
        }
        for (index, type) in types.enumerated()
        where !schema.types[index].key.isEmpty && !type.losses.isEmpty && !type.hasDistinctKeys(as: schema.types[index].columns) {
            remarks.append("\(schema.types[index].name) no longer has a primary key: recovered rows have the same keys as others")
            schema.types[index].key = []
        }
        return schema
    }

    /// Writes what is left of a type. Returns the number of rows.
    private static func write(
        _ type: SalvagedType, to writer: BulkWriter, as schemas: [ColumnSchema], of path: String, _ progress: (_ rows: Int) -> Void
    ) throws(FirnError) -> Int {
        var count = 0
        for part in type.parts {
            let (columns, rowIDs): ([Column], [Int64])
            do throws(Damage) { (columns, rowIDs) = try type.rows(part, as: schemas) } catch { throw FirnError(error, in: path) }
            try writer.append(stored: columns, rowIDs: rowIDs)
            count += rowIDs.count
            progress(rowIDs.count)
        }
        return count
    }

    /// Returns losses for the columns whose objects are lost rows of an embedded type.
    private static func lostObjects(_ type: SalvagedType, _ schema: Schema) -> [Loss] {
        guard type.schema.isEmbedded,
            let loss = type.losses.first(where: { $0.rows != nil && $0.column == nil && $0.takenFrom == nil && !$0.isUnproven })
        else { return [] }
        return schema.owners(of: type.schema.name).map { owner in
            Loss(
                type: owner.type, column: owner.path,
                Damage("objects are lost with rows of \(type.schema.name): their fields are null", at: Int(clamping: loss.damage.offset)))
        }
    }

    private static func rows(_ types: [SalvagedType]) -> Int {
        types.reduce(0) { $0 + $1.parts.reduce(0) { $0 + ($1.tail?.rowIDs.count ?? $1.entry.map { $0.rowCount - $0.deletedCount } ?? 0) } }
    }

    /// Returns the version that is read in place of a damaged newest one, if nothing in it is damaged and it has more rows than were found.
    private static func wholeVersion(_ path: String, _ key: EncryptionKey?, before version: UInt64, withMoreRowsThan rows: Int) -> UInt64? {
        guard let database = try? Database.open(path: path, key: key), let snapshot = try? database.snapshot(), snapshot.version > 0,
            snapshot.version < version,
            snapshot.tables.reduce(0, { $0 + $1.rowCount }) > rows, snapshot.verify(full: false).isEmpty
        else { return nil }
        return snapshot.version
    }

    /// Returns the error, with the advice to request unproven rows if there are any.
    private static func advising(_ error: FirnError, _ salvage: Salvage, _ wanted: String?) -> FirnError {
        guard error.code == .damaged, let version = try? SalvagedVersion(salvage, wanted: wanted, unproven: true) else { return error }
        defer { version.core.close() }
        let types = version.core.schema.types.indices.map { SalvagedType(version, salvage, type: $0, unproven: true, progress: { _ in }) }
        let rows = rows(types)
        guard rows > 0 else { return error }
        var advised = error
        advised.advice = "\(rows) rows are found that no hash proves: use --unproven to write them, reported as unproven"
        return advised
    }

    /// Makes columns with lost values optional. Removes a key that contains such a column, because it no longer identifies rows. Returns
    /// remarks about both.
    private static func makeOptional(_ type: inout TypeSchema, lost: Set<Int>) -> [String] {
        var remarks: [String] = []
        for column in lost.sorted() where !type.columns[column].type.isOptional {
            type.columns[column].type.isOptional = true
            remarks.append("column \"\(type.name).\(type.columns[column].name)\" is now optional: its lost values are null")
        }
        if type.key.contains(where: lost.contains) {
            remarks.append("\(type.name) no longer has a primary key: values of the key are lost")
            type.key = []
        }
        return remarks
    }

    /// Returns remarks about damaged indexes. Damage in them loses nothing: they are built again from the recovered rows, as far as it is
    /// known which indexes there were.
    private static func indexRemarks(_ core: SnapshotCore) -> [String] {
        core.schema.types.indices.filter { core.catalogue.types[$0].inner == nil }.flatMap { type -> [String] in
            if let damage = core.catalogue.types[type].indexDamage {
                return ["\(core.schema.types[type].name) no longer has indexes: \(damage.what) (byte \(damage.offset))"]
            }
            return core.verifyIndexes(type, full: false).map { "built again: \($0)" }
        }
    }
}

extension Schema {
    /// Returns the columns that hold objects of an embedded type, each with the type of its rows and its path in them. If several paths
    /// lead to an owner, only the shortest is used.
    fileprivate func owners(of embedded: String) -> [(type: String, path: String)] {
        var paths: [String: (type: String, path: String)] = [:], found: [(type: String, path: String)] = []
        var reached = types.filter { !$0.isEmbedded }[...]
        while let owner = reached.popFirst() {
            for column in owner.columns where column.type.kind == .embedded {
                guard let target = column.type.target, let type = self[target] else { continue }
                let columnPath = paths[owner.name].map { ($0.type, "\($0.path).\(column.name)") } ?? (owner.name, column.name)
                if target == embedded { found.append(columnPath) }
                if type.isEmbedded, paths[target] == nil {
                    paths[target] = columnPath
                    reached.append(type)
                }
            }
        }
        return found
    }
}
