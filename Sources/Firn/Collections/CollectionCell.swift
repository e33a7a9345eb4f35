import FirnBytes
import FirnDatabase
import FirnTable

struct CellKey: Hashable {
    var rowID: Int64
    var column: Int
}

struct WeakCell {
    weak var cell: CollectionCell?
}

/// The elements of one collection property of one managed object, shared by all instances of the collection. They are decoded once; of a large
/// collection, single elements are read before without the others. Changes are kept here until the table is read or the transaction is
/// committed.
final class CollectionCell {
    let access: TypeAccess
    let core: RealmCore
    let rowID: Int64
    let column: Int
    let type: ColumnType
    /// Whether elements are ints or bools, which can be passed as words.
    let takesWords: Bool
    // Exclusivity is unchecked because only one thread uses these, and operations on the elements never call code outside this module.
    @exclusivity(unchecked) private var known: Elements
    @exclusivity(unchecked) private(set) var isLoaded = false
    /// Reads single elements of a large collection that is not loaded.
    @exclusivity(unchecked) private var reader: StoredElements?
    @exclusivity(unchecked) private var isChanged = false
    /// The generation of the access at which the object was last known to exist.
    @exclusivity(unchecked) private var validGeneration: UInt32 = 0
    /// Increases whenever the elements may have changed.
    @exclusivity(unchecked) private(set) var stamp: UInt64 = 0

    private init(_ access: TypeAccess, rowID: Int64, column: Int) {
        self.access = access
        core = access.core
        self.rowID = rowID
        self.column = column
        type = access.type.columns[column].type
        takesWords = type.kind == .int || type.kind == .bool
        known = Elements(type)
    }

    static func of(_ object: ObjectBase, _ column: Int) -> CollectionCell { of(object, column, object._settled()) }

    /// As `of`, but also for an object that was deleted: then the collection is invalid.
    static func of(rowOf object: ObjectBase, _ column: Int) -> CollectionCell { of(object, column, object._managedAccess) }

    private static func of(_ object: ObjectBase, _ column: Int, _ access: TypeAccess) -> CollectionCell {
        // Any thread may use a frozen object, so its cells are created, loaded and kept under a lock.
        access.core.isFrozen ? frozen.pass { kept(object, column, access) } : kept(object, column, access)
    }

    private static let frozen = Gate()

    private static func kept(_ object: ObjectBase, _ column: Int, _ access: TypeAccess) -> CollectionCell {
        // Changes through another class of the same type, or a dynamic object, are seen by a cell that is loaded after them.
        if !access.core.isFrozen, access.core.bindings.hasSiblings {
            access.core.keptCells.removeAll()
            return shared(access, object._rowID, column)
        }
        for cell in object._cells where cell.column == column && cell.access === access { return cell }
        let cell = shared(access, object._rowID, column)
        access.core.keptCells.keep(cell, in: object)
        return cell
    }

    private static func shared(_ access: TypeAccess, _ rowID: Int64, _ column: Int) -> CollectionCell {
        let key = CellKey(rowID: rowID, column: column)
        if let cell = access.cells[key]?.cell { return cell }
        let cell = CollectionCell(access, rowID: rowID, column: column)
        if access.core.isFrozen { cell.load() }
        access.cells[key] = WeakCell(cell: cell)
        return cell
    }

    /// Whether the object that the collection belongs to still exists.
    var isValid: Bool { access.holds(rowID) }

    /// The same as `isValid`, with the answer cached for one generation.
    private var isStillValid: Bool {
        let generation = access.state.pointee.generation
        if generation == validGeneration, !access.isRetired { return true }
        guard isValid else { return false }
        validGeneration = generation
        return true
    }

    func forget() {
        known = Elements(type)
        isLoaded = false
        reader = nil
        isChanged = false
        stamp &+= 1
    }

    // MARK: Reading

    var elements: Elements {
        _read {
            core.check()
            if !isLoaded { load() }
            yield known
        }
    }

    /// Returns whether a set contains a word; nil if the elements are not stored as words, or are not loaded.
    func contains(word: Int64) -> Bool? {
        core.check()
        if !isLoaded, unloaded() != nil { return nil }
        return known.isWords ? known.contains(word: word) : nil
    }

    /// Returns the element at an index as a word; nil if it is null, or if the elements are not stored as words, or are not loaded.
    func word(at index: Int) -> Int64? {
        core.check()
        if !isLoaded, unloaded() != nil { return nil }
        return known.word(at: index)
    }

    /// Returns the element at an index, in a map the value; null if damage prevents reading it.
    func value(at index: Int) -> Value {
        core.check()
        guard let reader = unloaded() else { return known[index] }
        return core.reading(.null) { () throws(Damage) in try reader.value(at: index) }
    }

    /// Returns whether a set contains a value.
    func contains(_ value: Value) -> Bool {
        core.check()
        guard let reader = unloaded() else { return known.contains(value) }
        return core.reading(false) { () throws(Damage) in try reader.search(value).isThere }
    }

    /// Returns the value of a key of a map; nil if there is none.
    func value(forKey key: String) -> Value? {
        core.check()
        guard let reader = unloaded() else {
            let (index, isThere) = known.position(ofKey: key)
            return isThere ? known[index] : nil
        }
        return core.reading(nil) { () throws(Damage) -> Value? in
            let (index, isThere) = try reader.search(key: key)
            return isThere ? try reader.value(at: index) : nil
        }
    }

    /// The least key of a map.
    var firstKey: String? {
        core.check()
        guard let reader = unloaded() else { return known.count > 0 ? known.key(at: 0) : nil }
        return core.reading(nil) { () throws(Damage) -> String? in reader.count > 0 ? try reader.key(at: 0) : nil }
    }

    /// The elements in their stored form; of a map, the values in the order of `keys`.
    var values: [Value] { elements.all }
    var keys: [String] { elements.allKeys }
    var count: Int {
        core.check()
        return unloaded()?.count ?? known.count
    }

    /// Decodes all elements, unless they are.
    func loadAll() {
        core.check()
        if !isLoaded { load() }
    }

    /// Returns a reader of single elements if the collection is not loaded and need not be; otherwise loads it and returns nil. Collections
    /// of frozen objects are loaded when they are created, because any thread may use them.
    private func unloaded() -> StoredElements? {
        if isLoaded { return nil }
        if reader == nil, !access.isRetired, let row = access.position(of: rowID) {
            reader = core.reading(nil) { () throws(Damage) in try access.storedElements(row.segment, row.position, column) }
        }
        if let reader, !reader.isCostly { return reader }
        load()
        return nil
    }

    private func load() {
        trap(unless: !access.isRetired, "Access to invalidated \(type.collection) object: the realm was invalidated.")
        // Code may have changed the same collection through another class or as a dynamic object. Such changes must be in the table before
        // it is read.
        if !core.changedCells.isEmpty, access.schema == nil || !core.bindings.siblings(of: access).isEmpty {
            core.flushCellsNotingErrors()
        }
        var stored: Column?
        if let row = access.position(of: rowID) {
            stored = core.reading(nil) { () throws(Damage) in try access.collection(row.segment, row.position, column) }
        }
        known = stored.map { Elements(type, row: $0) } ?? Elements(type)
        isLoaded = true
        reader = nil
    }

    // MARK: Changing

    /// Runs `body` on the elements and records the change. Traps outside of a write transaction.
    @inline(__always)
    func change<R>(_ action: StaticString, _ body: (inout Elements) -> R) -> R {
        prepareChange(action)
        let result = body(&known)
        if !isChanged {
            isChanged = true
            core.changedCells[ObjectIdentifier(self)] = self
        }
        stamp &+= 1
        core.noteChange()
        return result
    }

    /// Inserts a word. Returns false, and changes nothing, if the set's elements are not ints or bools.
    func insertIntoSet(word: Int64) -> Bool {
        guard takesWords else { return false }
        change("MutableSet") { _ = $0.insert(word: word) }
        return true
    }

    /// Appends a word. Returns false, and changes nothing, if the list's elements are not ints or bools, or can be null.
    func appendToList(word: Int64) -> Bool {
        guard takesWords, !type.elementIsOptional else { return false }
        change("List") { $0.append(word: word) }
        return true
    }

    private func prepareChange(_ action: StaticString) {
        core.check()
        core.requireTransaction("modify a \(action)")
        trap(unless: isStillValid, "the object that this \(action) belongs to has been deleted or invalidated")
        if !isLoaded { load() }
    }

    /// Writes the changed elements into the table.
    func flush() throws(FirnError) {
        guard isChanged, isLoaded, access.position(of: rowID) != nil else { return }
        isChanged = false
        if let row = known.row(of: type.stored) {
            try access.working.set(rowID, column, row: row)
        } else {
            try access.working.set(rowID, column, known.stored)
        }
        access.changed(column)
    }
}
