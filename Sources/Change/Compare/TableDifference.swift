import FirnBytes
import FirnTable

/// The difference of two tables by key: which rows were added, removed or changed, and in which columns.
///
/// Keys and cells are compared by value across types (`ComparisonMode`): 1 = 1.0; text equals a number or date with the same canonical
/// text; sets and maps have no order; a link equals the key of its row; null is a key value like any other. Keys with equal hashes are
/// compared by value. It needs about 20 bytes of memory for each old row, 4 for each new row, and one column of one segment for each
/// thread.
package final class TableDifference: Sendable {
    /// A column that both tables have.
    package struct ComparedColumn: Sendable {
        package let name: String
        /// Its positions in the two types.
        package let old: Int
        package let new: Int
        /// The number of cells that differ, in rows that both tables have.
        package internal(set) var changed = 0
    }

    /// How rows of the two tables are matched.
    package enum Matching: Sendable, Equatable {
        /// By the key of the options or of the types.
        case key
        /// By columns that were found to be unique in both tables.
        case foundKey([String])
        /// Rows that are equal in all compared columns are the same row, as often as both tables have it. No row is changed.
        /// `nearly`: a column that would be the key, but for a few rows.
        case wholeRows(nearly: Nearly?)
    }

    /// A column whose values identify all rows of both tables but a few.
    package struct Nearly: Sendable, Equatable {
        package let name: String
        package let rows: Int
    }

    package var matching: Matching { options.matching }
    package let schema: SchemaDifference
    /// The columns of the key (none if whole rows are matched), and the other columns that are compared.
    package let key: [ComparedColumn]
    package let columns: [ComparedColumn]
    package let added: Int
    package let removed: Int
    /// The number of rows with a changed cell; 0 unless the options request `.changed`.
    package let changed: Int
    package let changedCells: Int
    /// The number of rows with the same key on both sides and no changed cell.
    package let unchanged: Int
    /// The number of rows that are not compared because an earlier one has their key (`Duplicates.takeFirst`).
    package let leftOutOld: Int
    package let leftOutNew: Int
    /// Whether there is no row of the requested kinds, and no column that only one side has.
    package var isEmpty: Bool { isEmpty(of: options.kinds) }

    /// Whether there is no row of these kinds, and no column that only one side has.
    package func isEmpty(of kinds: Set<DifferenceEntry.Kind>) -> Bool {
        !schema.hasOtherColumns && (added == 0 || !kinds.contains(.added)) && (removed == 0 || !kinds.contains(.removed))
            && (changed == 0 || !kinds.contains(.changed))
    }

    /// The first column of the key that is a field of objects in one of the tables (`a.b`).
    package var memberKey: String? { key.first { $0.old >= plain.old.type.columns.count || $0.new >= plain.new.type.columns.count }?.name }

    package var types: (old: TypeSchema, new: TypeSchema) { (old.type, new.type) }

    /// The compared tables, with link-resolved columns.
    let old: any Table
    let new: any Table
    /// The original tables.
    let plain: (old: any Table, new: any Table)
    let options: DifferenceOptions
    let segments: [SegmentDifference]
    /// By segment of the old table: the rows without a partner.
    let removedRows: [Bits]
    let oldStarts: [Int]

    /// Computes the difference.
    /// - Throws: `FirnError.usage` for columns that do not exist or if there is no key, `.duplicateKey`, `.unsupported` for too many rows,
    ///   `.damaged`, `.outOfMemory`, and the errors of `options.scope.rows`.
    package static func compute(old: any Table, new: any Table, options: DifferenceOptions) throws(FirnError) -> TableDifference {
        let old = VisibleTable.of(old), new = VisibleTable.of(new)
        var resolved = try LinkResolution.pair(old, new)
        let fields = options.key + options.columns.filter { !options.key.contains($0) }
        resolved.old = try MemberTable.with(fields, resolved.old, options.oldName)
        resolved.new = try MemberTable.with(fields, resolved.new, options.newName)
        if options.comparesMissing { resolved = FilledTable.filled(resolved.old, resolved.new, except: options.key) }
        var options = options
        if options.matchesSingleRows {
            let numbered = FilledTable.numbered(resolved.old, resolved.new)
            resolved = (numbered.old, numbered.new)
            options.key = [numbered.name]
        }
        guard options.findsKey, !ChosenColumns.haveKey(resolved.old, resolved.new, options) else {
            return try compute(resolved, plain: (old, new), options)
        }
        let guess = try KeyGuess(resolved.old, resolved.new, options)
        if let names = guess.names {
            (options.key, options.matching) = (names, .foundKey(names))
            return try compute(resolved, plain: (old, new), options)
        }
        let rows = try WholeRows(resolved.old, resolved.new, options)
        (options.key, options.matching) = (rows.key, .wholeRows(nearly: guess.nearly.map { Nearly(name: $0.name, rows: $0.rows) }))
        return try compute((rows.old, rows.new), plain: (old, new), options)
    }

    /// Computes the difference of `tables`, which must be link-resolved.
    static func compute(_ tables: (old: any Table, new: any Table), plain: (old: any Table, new: any Table), _ options: DifferenceOptions)
        throws(FirnError) -> TableDifference
    {
        let (old, new) = tables, chosen = try ChosenColumns(old, new, options)
        var hasty = options
        hasty.scope.shared = try SharedRows(old, new, key: chosen.key.map(\.name), options)
        if hasty.scope.shared.isEmpty, old.rowCount > 2 * options.execution.windowRows,
            let windows = try KeyWindows(old, new, chosen.key, options)
        {
            return try byWindows(windows, old: old, new: new, plain: plain, chosen: chosen, options: options)
        }
        if !hasty.scope.shared.isEmpty {
            if let difference = try ofChangedSegments(old: old, new: new, plain: plain, chosen: chosen, options: hasty) {
                return difference
            }
            if let difference = try TableDifference(old, new, plain, chosen, hasty) { return difference }
        }
        return try TableDifference(old, new, plain, chosen, options)!
    }

    /// Returns nil if a shared row can have the key of a row that is not shared: then no row may be left out.
    init?(
        _ old: any Table, _ new: any Table, _ plain: (old: any Table, new: any Table), _ chosen: ChosenColumns, _ options: DifferenceOptions
    ) throws(FirnError) {
        let key = chosen.key, compared = chosen.compared
        try KeyHashes.check(rows: new.rowCount, new.segmentCount, .new, options)
        let hashes = try KeyHashes(of: old, .old, key: key, options: options)
        // Keys that ascend are unique. If most rows are shared, their order would cost reading keys that are not needed.
        let landmarks = options.scope.shared.isEmpty ? try KeyOrder(old, .old, key, options).landmarks() : nil
        let index = KeyIndex(hashes, landmarks, options)
        var repeated = DuplicateKeys(.old, old, key: key, options: options)
        if landmarks == nil {
            try repeated.settle(index.table(), hash: { hashes.hashes[Int($0)] }, position: { hashes.position(of: Int($0)) })
        }
        if !repeated.found.isEmpty {
            if options.duplicates == .refuse { throw try repeated.error() }
            for row in repeated.found { hashes.leaveOut(row.later) }
        }
        try Self.checkCount(old, options.oldName)
        try Self.checkCount(new, options.newName)
        let matching = SegmentMatching(old: old, new: new, key: key, compared: compared, hashes: hashes, index: index, options: options)
        var segments = try matching.matchAll()
        if !options.scope.keysAreUnique, try options.scope.shared.hasKeyOfOther(new, key, index, segments.flatMap(\.addedHashes), options) {
            return nil
        }
        let same = try options.scope.shared.count(new, options)
        var taken = Bits(count: hashes.count)
        leftOutNew = try Self.leaveOutRepeated(&segments, &taken, new, key, options)
        leftOutOld = repeated.found.count

        removedRows = (0..<old.segmentCount).map { i in
            let range = hashes.starts[i]..<hashes.starts[i + 1]
            var rows = hashes.chosen[i] ?? Bits(repeating: true, count: range.count)
            let partnered = taken.slice(range)
            for w in rows.words.indices { rows.words[w] &= ~partnered.words[w] }
            return rows
        }
        schema = SchemaDifference(
            old: plain.old.type, new: plain.new.type, key: options.key, renamed: options.renamed, isCompared: options.compares)
        self.key = Self.shownKey(key, options)
        columns = compared.enumerated().map { i, pairing in
            let changed = segments.reduce(0) { $0 + (i < $1.changedCells.count ? $1.changedCells[i]?.ones ?? 0 : 0) }
            return ComparedColumn(name: pairing.name, old: pairing.old.index, new: pairing.new.index, changed: changed)
        }
        changedCells = columns.reduce(0) { $0 + $1.changed }
        added = segments.reduce(0) { $0 + $1.addedHashes.count }
        removed = removedRows.reduce(0) { $0 + $1.ones }
        changed = segments.reduce(0) { $0 + $1.changed.ones }
        unchanged = taken.ones - changed + same + options.scope.equalRows
        self.old = old
        self.new = new
        self.plain = plain
        self.options = options
        if !options.execution.keepsPartners { for i in segments.indices { segments[i].compact() } }
        self.segments = segments
        oldStarts = hashes.starts
    }

    /// Creates the difference from those of parts of the tables.
    init(
        old: any Table, new: any Table, plain: (old: any Table, new: any Table), chosen: ChosenColumns, sum: PartSum,
        options: DifferenceOptions
    ) {
        schema = SchemaDifference(
            old: plain.old.type, new: plain.new.type, key: options.key, renamed: options.renamed, isCompared: options.compares)
        key = Self.shownKey(chosen.key, options)
        columns = zip(chosen.compared, sum.cells).map {
            ComparedColumn(name: $0.name, old: $0.old.index, new: $0.new.index, changed: $1)
        }
        changedCells = sum.cells.reduce(0, +)
        (added, changed, unchanged) = (sum.added, sum.changed, sum.unchanged + options.scope.equalRows)
        (leftOutOld, leftOutNew) = (sum.leftOutOld, sum.leftOutNew)
        removedRows = sum.removedRows
        removed = removedRows.reduce(0) { $0 + $1.ones }
        segments = sum.segments
        oldStarts = sum.starts
        self.old = old
        self.new = new
        self.plain = plain
        self.options = options
    }

    private static func shownKey(_ key: [ColumnPairing], _ options: DifferenceOptions) -> [ComparedColumn] {
        if case .wholeRows = options.matching { return [] }
        return key.map { ComparedColumn(name: $0.name, old: $0.old.index, new: $0.new.index) }
    }

    /// Throws if a table does not contain as many rows as its file records, because totals are computed from that number.
    static func checkCount(_ table: any Table, _ name: String) throws(FirnError) {
        var live = 0
        do throws(Damage) {
            for i in 0..<table.segmentCount { live += try table.segment(i).liveCount }
        } catch { throw FirnError(error, in: name) }
        try checkCount(table, name, live: live)
    }

    static func checkCount(_ table: any Table, _ name: String, live: Int) throws(FirnError) {
        guard live == table.rowCount else {
            throw FirnError(Damage("\(live) rows of type \"\(table.type.name)\" instead of \(table.rowCount)"), in: name)
        }
    }

    /// Marks the old rows that have a partner. New rows that repeat a key are an error or are left out; returns the number of those left
    /// out.
    private static func leaveOutRepeated(
        _ segments: inout [SegmentDifference], _ taken: inout Bits, _ table: any Table,
        _ key: [ColumnPairing], _ options: DifferenceOptions
    ) throws(FirnError) -> Int {
        var repeated = DuplicateKeys(.new, table, key: key, options: options)
        var addedPositions: [UInt32] = [], addedHashes: [UInt64] = []
        for (s, segment) in segments.enumerated() {
            for (row, partner) in segment.partners.enumerated() {
                if partner == SegmentDifference.added {
                    addedPositions.append(UInt32(s) << 16 | UInt32(row))
                } else if partner != SegmentDifference.leftOut {
                    if taken[Int(partner)] { repeated.append(later: UInt32(s) << 16 | UInt32(row), earlier: partner) }
                    taken[Int(partner)] = true
                }
            }
            addedHashes.append(contentsOf: segment.addedHashes)
        }
        if !repeated.found.isEmpty { repeated.findEarlier(segments) }
        try addedHashes.withUnsafeBufferPointer { hashes throws(FirnError) in
            guard let base = hashes.baseAddress else { return }
            let table = KeyHashTable(base, count: hashes.count, threads: options.execution.threads, isChosen: nil)
            try repeated.settle(table, hash: { hashes[Int($0)] }, position: { addedPositions[Int($0)] })
        }
        guard !repeated.found.isEmpty else { return 0 }
        if options.duplicates == .refuse { throw try repeated.error() }
        for (later, _) in repeated.found { segments[Int(later >> 16)].leaveOut(Int(later & 0xFFFF)) }
        return repeated.found.count
    }
}

extension KeyHashes {
    func leaveOut(_ position: UInt32) {
        let segment = Int(position >> 16)
        var bits = chosen[segment] ?? Bits(repeating: true, count: starts[segment + 1] - starts[segment])
        bits[Int(position & 0xFFFF)] = false
        chosen[segment] = bits
    }
}

extension SegmentDifference {
    mutating func leaveOut(_ row: Int) {
        if partners[row] == SegmentDifference.added {
            addedHashes.removeLast()  // only their number is used from here on
        }
        partners[row] = SegmentDifference.leftOut
        changed[row] = false
        for i in changedCells.indices { changedCells[i]?[row] = false }
    }
}

extension DuplicateKeys {
    /// Replaces the common partner in the old table by the first new row that has it.
    mutating func findEarlier(_ segments: [SegmentDifference]) {
        var first: [UInt32: UInt32] = [:]
        for pair in found { first[pair.earlier] = pair.later }
        for (s, segment) in segments.enumerated() {
            for (row, partner) in segment.partners.enumerated() where partner < SegmentDifference.leftOut {
                guard let known = first[partner] else { continue }
                first[partner] = min(known, UInt32(s) << 16 | UInt32(row))
            }
        }
        found = found.map { ($0.later, first[$0.earlier]!) }
    }
}
