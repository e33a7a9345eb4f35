import FirnBytes
import FirnStore
import FirnTable

/// The keys of one type that a transaction adds to those of its base version.
struct TransactionKeys {
    let shape: KeyShape
    /// The key index of the base version; nil if that does not have the type.
    let base: KeyIndex?
    /// The rows that were inserted or got another key, by their keys.
    var own: KeyEntries
    /// `own` has no rows from this row id on.
    var next: Int64
    /// The row ids before `next` that neither `own` nor the base has: rows written in bulk.
    var bulk: [Range<Int64>] = []
    /// The cost of searching the rows of `bulk` so far.
    var spent = 0

    /// Records the row ids from `next` to `rowID` as rows written in bulk.
    mutating func reach(_ rowID: Int64) {
        if next < rowID { bulk.append(next..<rowID) }
        next = max(next, rowID)
    }
}

/// Primary keys are unique; this extension enforces it.
extension DatabaseTransaction {
    /// Returns the row id of the row with this key (values in the order of the type's key) in the state of the transaction, or nil.
    /// Finishes the bulk writer of the type if it holds rows that may have the key. The type must have a key without embedded objects.
    package func find(_ type: String, key: [Value]) throws(FirnError) -> Int64? {
        let type = index(of: type)
        guard openKeys(type) else {
            trap("type \"\(schema.types[type].name)\" has no key, or a key with embedded objects: search its rows instead")
        }
        guard let wanted = keys[type]!.shape.wanted(key) else { return nil }
        return try row(type, wanted)
    }

    /// Returns, for each row of the columns of a key (in the order of the type's key), the row of the base version that may have this key;
    /// -1 if there is none, or more than one. The caller compares the key. Returns nil if there is no index of the keys of the base
    /// version, and these keys are too few to build one. The type must have a key without embedded objects.
    package func candidates(_ type: String, keys columns: [Column]) throws(FirnError) -> [Int64]? {
        let type = index(of: type)
        guard openKeys(type), let keys = keys[type], let index = keys.base, let count = columns.first?.count, count > 0,
            columns.allSatisfy({ $0.count == count })
        else { return nil }
        trap(unless: columns.map(\.type.kind) == keys.shape.types.map(\.kind), "give a column for each column of the key")
        return try reading { () throws(Damage) -> [Int64]? in
            var hashes = [UInt64](repeating: 0, count: count)
            for column in columns { try KeyShape.fold(column, dictionary: nil, into: &hashes) }
            for i in hashes.indices { hashes[i] &= keys.shape.mask }
            return try index.candidates(hashes, base, type: type, version: store.base.version)
        }
    }

    /// Returns the key of a row that is about to be inserted; nil if the type has no key. Throws `.duplicateKey` if a row has the key
    /// already.
    func freeKey(_ type: Int, of value: (_ column: Int) -> Value) throws(FirnError) -> WantedKey? {
        guard openKeys(type) else { return nil }
        let shape = keys[type]!.shape
        return try free(type, shape, shape.columns.map(value))
    }

    /// Returns the key that a new value gives a row; nil if the key does not change. Throws `.duplicateKey` if another row has the key.
    func freeKey(_ type: Int, changing column: Int, to value: Value, _ rowID: Int64) throws(FirnError) -> WantedKey? {
        guard schema.types[type].key.contains(column), openKeys(type) else { return nil }
        let shape = keys[type]!.shape
        guard let before = try key(type, shape, rowID) else { return nil }
        var after = before
        for (i, position) in shape.columns.enumerated() where position == column { after[i] = value }
        guard let wanted = shape.wanted(after) else { return nil }
        if shape.same(wanted.values, before) { return nil }
        return try free(type, shape, after)
    }

    /// Records the key of a row.
    func noteKey(_ key: WantedKey?, _ type: Int, _ rowID: Int64) {
        guard let key else { return }
        keys[type]!.own.add(key.hash, rowID)
        keys[type]!.reach(rowID)
        keys[type]!.next = max(keys[type]!.next, rowID + 1)
    }

    private func free(_ type: Int, _ shape: KeyShape, _ values: [Value]) throws(FirnError) -> WantedKey? {
        guard let wanted = shape.wanted(values) else { return nil }
        guard let taken = try row(type, wanted) else { return wanted }
        let texts = zip(wanted.values, shape.columns).map { nestedText($0, notation: schema.types[type].columns[$1].notation) }
        throw FirnError(
            .duplicateKey,
            "type \"\(schema.types[type].name)\" already has a row with the key (\(texts.joined(separator: ", "))): row id \(taken)",
            at: .init(file: database.path), advice: "update that row, or delete it first")
    }

    /// Prepares the keys of a type. Returns false if its rows are not identified by a key.
    private func openKeys(_ type: Int) -> Bool {
        if keys[type] != nil { return true }
        guard let shape = KeyShape(schema.types[type], mask: database.keys.mask) else { return false }
        let isOld = type < base.schema.types.count
        keys[type] = TransactionKeys(
            shape: shape, base: isOld ? database.keys.index(base.schema.types[type])?.index : nil, own: KeyEntries(),
            next: isOld ? base.catalogue.types[type].nextRowID : 0)
        return true
    }

    /// Returns the row that has the key now: one of the transaction, one of the base version, or one written in bulk.
    private func row(_ type: Int, _ wanted: WantedKey) throws(FirnError) -> Int64? {
        let shape = keys[type]!.shape
        let isHolder = { (row: Int64) throws(FirnError) -> Bool in
            try self.key(type, shape, row).map { shape.same($0, wanted.values) } ?? false
        }
        if let row = try keys[type]!.own.candidates(wanted.hash).smallest(where: isHolder) { return row }
        if let index = keys[type]!.base {
            let found = try reading { () throws(Damage) -> KeyCandidates in
                if let known = try index.candidates(wanted, base, type: type, version: store.base.version) { return known }
                var scan = KeyScan(shape, wanted, work: database.keys.work)
                let rows = try scan.rows(base, type: type, one: false)
                index.spend(scan.cost)
                return KeyCandidates(rows)
            }
            if let row = try found.smallest(where: isHolder) { return row }
        }
        return try bulkRow(type, shape, wanted, isHolder)
    }

    /// Searches the segments written in bulk. Once searching has cost too much, enters their keys into `own`.
    private func bulkRow(_ type: Int, _ shape: KeyShape, _ wanted: WantedKey, _ isHolder: (Int64) throws(FirnError) -> Bool)
        throws(FirnError) -> Int64?
    {
        keys[type]!.reach(states[type].nextRowID)
        guard let first = keys[type]!.bulk.first?.lowerBound else { return nil }
        try finishBulk(of: type)
        let rows = keys[type]!.bulk.reduce(0) { $0 + $1.count }
        if keys[type]!.spent > (rows / vectorSize + 1) * shape.columns.count * KeyCost.vector * 2 {
            try enterBulk(type, shape, from: first)
            return try keys[type]!.own.candidates(wanted.hash).smallest(where: isHolder)
        }
        let found = try reading { () throws(Damage) -> KeyCandidates in
            let core = current()
            var scan = KeyScan(shape, wanted, work: database.keys.work)
            let rows = try scan.rows(
                core, type: type, from: try core.firstSegment(type: type, endingAtOrAfter: first), tail: false, one: false)
            keys[type]!.spent += scan.cost
            return KeyCandidates(rows)
        }
        return try found.smallest(where: isHolder)
    }

    private func enterBulk(_ type: Int, _ shape: KeyShape, from first: Int64) throws(FirnError) {
        try reading { () throws(Damage) in
            let core = current()
            for index in try core.firstSegment(type: type, endingAtOrAfter: first)..<states[type].segmentCount {
                let segment = try core.segment(type: type, index: index)
                let (hashes, vectors) = try shape.hashes(of: segment)
                database.keys.work.add(vectors: vectors)
                keys[type]!.own.add(hashes, firstRowID: segment.header.firstRowID, rowIDs: segment.rowIDs) { _ in false }
            }
        }
        keys[type]!.bulk = []
        keys[type]!.spent = 0
    }

    /// Returns the current key of a row; nil if there is no such row.
    private func key(_ type: Int, _ shape: KeyShape, _ rowID: Int64) throws(FirnError) -> [Value]? {
        let table = table(type)
        return try reading { () throws(Damage) -> [Value]? in
            guard let location = try table.location(of: rowID) else { return nil }
            var values: [Value] = []
            for column in shape.columns { values.append(try table.storedValue(at: location, column)) }
            return values
        }
    }

    /// Enters the keys that the transaction changed into the key indexes of the database, before a commit. Returns the indexes that will
    /// cover the new version.
    func settleKeys() throws(FirnError) -> [KeyIndex] {
        var settled: [KeyIndex] = []
        for (type, old) in base.schema.types.enumerated() {
            guard schema.types[type].id == old.id, !unsettled.contains(type), let index = database.keys.existing(old) else { continue }
            // Rows written in bulk are entered at the first look-up: not every load needs a key index.
            let next = keys[type]?.next ?? base.catalogue.types[type].nextRowID
            guard next >= states[type].nextRowID, keys[type]?.bulk.isEmpty ?? true else { continue }
            let isCovered = try reading { () throws(Damage) in
                try index.settle(keys[type]?.own, current(), type: type, base: store.base.version)
            }
            if isCovered { settled.append(index) }
        }
        return settled
    }
}
