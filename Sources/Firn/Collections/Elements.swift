import FirnTable

/// The elements of one collection in memory. Ints, bools and links are stored as 64-bit words where the collection allows it, all others as
/// they were read, until many change, or as values. Sets are in ascending order.
struct Elements {
    let type: ColumnType
    let isWords: Bool
    private var words = BlockArray<Int64>()
    private var values = BlockArray<Value>()
    /// The keys of a map, ascending by their bytes; `values` has the same order.
    private var keys = BlockArray<String>()
    /// The elements as they were read, with few changes; `keys` and `values` are empty then.
    private var spliced: SplicedElements?
    /// Whether a set of words contains null. Null is ordered before all words.
    private var hasNull = false

    init(_ type: ColumnType) {
        self.type = type
        isWords =
            switch type.kind {
            case .bool, .int, .link: type.collection == .set || type.collection == .list && !type.elementIsOptional
            default: false
            }
    }

    /// Decodes the stored form of a column.
    init(_ type: ColumnType, _ stored: Value) {
        self.init(type)
        switch stored {
        case .list(let elements), .set(let elements): replaceAll(with: elements)
        case .map(let entries):
            keys = BlockArray(entries.map(\.key))
            values = BlockArray(entries.map(\.value))
        default: break
        }
    }

    /// Decodes the only row of a column.
    init(_ type: ColumnType, row: Column) {
        self.init(type)
        guard isWords, row.isPresent(0), row.children.count == 1, row.children[0].words.count == row.children[0].count else {
            if !isWords { spliced = SplicedElements(row) }
            if spliced == nil { self = Elements(type, row.value(at: 0)) }
            return
        }
        let elements = row.children[0]
        guard elements.present != nil else {
            words = BlockArray(elements.words)
            return
        }
        for i in 0..<elements.count where elements.isPresent(i) { words.append(contentsOf: [elements.words[i]]) }
        hasNull = type.collection == .set && elements.nullCount > 0
    }

    /// The elements as the only row of a column of this type; nil if they are stored as values, or are words and null.
    func row(of type: ColumnType) -> Column? {
        if let spliced { return spliced.row(of: type) }
        guard isWords, !hasNull else { return nil }
        var row = Column(type)
        row.count = 1
        row.children[0].words = words.all
        row.children[0].count = words.count
        row.offsets = [0, words.count]
        return row
    }

    /// The elements in the stored form of a column.
    var stored: Value {
        switch type.collection {
        case .set: .set(all)
        case .map: .map(zip(allKeys, all).map { Value.Entry($0, $1) })
        default: .list(all)
        }
    }

    var count: Int {
        if let spliced { return spliced.count }
        return isWords ? words.count + (hasNull ? 1 : 0) : values.count
    }

    /// Makes values of all elements.
    private mutating func unfold() {
        guard let old = spliced else { return }
        keys = BlockArray(old.allKeys)
        values = BlockArray(old.all)
        spliced = nil
    }

    /// Replaces a range of elements that are kept as they were read. Returns nil, and makes values of all, if they are not, or no longer.
    private mutating func splice(_ range: Range<Int>, with new: [Value], keys: [String] = []) -> [Value]? {
        guard spliced != nil else { return nil }
        guard let old = spliced?.replaceSubrange(range, with: new, keys: keys) else {
            unfold()
            return nil
        }
        if spliced?.isFull ?? false { unfold() }
        return old
    }

    // MARK: Words and values

    private func value(_ word: Int64) -> Value {
        switch type.kind {
        case .bool: .bool(word != 0)
        case .link: .link(word)
        default: .int(word)
        }
    }

    /// Returns the word of a value; nil if the value is not of this kind.
    private func word(_ value: Value) -> Int64? {
        switch (value, type.kind) {
        case (.bool(let x), .bool): x ? 1 : 0
        case (.int(let x), .int), (.link(let x), .link): x
        default: nil
        }
    }

    subscript(index: Int) -> Value {
        guard isWords else { return spliced?[index] ?? values[index] }
        if hasNull { return index == 0 ? .null : value(words[index - 1]) }
        return value(words[index])
    }

    /// Returns the element at an index as a word; nil if it is null or if the elements are not stored as words.
    func word(at index: Int) -> Int64? {
        guard isWords else { return nil }
        if hasNull { return index == 0 ? nil : words[index - 1] }
        return words[index]
    }

    var all: [Value] {
        guard isWords else { return spliced?.all ?? values.all }
        return (hasNull ? [.null] : []) + words.all.map(value)
    }

    /// Returns the key of an entry of a map.
    func key(at index: Int) -> String { spliced?.key(at: index) ?? keys[index] }

    /// The keys of a map, ascending by their bytes.
    var allKeys: [String] { spliced?.allKeys ?? keys.all }

    /// The ids of the rows that the elements link to.
    var rowIDs: [Int64] {
        if isWords { return words.all }
        var found: [Int64] = []
        for value in spliced?.all ?? [] { value.forEachLink { found.append($0) } }
        for block in values.blocks { for value in block { value.forEachLink { found.append($0) } } }
        return found
    }

    mutating func replaceAll(with elements: [Value]) {
        hasNull = false
        guard isWords else {
            spliced = nil
            values = BlockArray(elements)
            return
        }
        words = BlockArray(elements.compactMap(word))
        if type.collection == .set { hasNull = elements.contains { $0.isNull } }
    }

    // MARK: Lists

    /// Replaces a range and returns the elements that were there.
    @discardableResult
    mutating func replaceSubrange(_ range: Range<Int>, with new: [Value]) -> [Value] {
        if isWords {
            let old = range.isEmpty ? [] : words.slice(range).map(value)
            words.replaceSubrange(range, with: new.map { word($0) ?? 0 })
            return old
        }
        if let old = splice(range, with: new) { return old }
        let old = range.isEmpty ? [] : values.slice(range)
        values.replaceSubrange(range, with: new)
        return old
    }

    /// Appends a word. Only for lists of words.
    mutating func append(word: Int64) { words.insert(word, at: words.count) }

    mutating func move(from: Int, to: Int) {
        if let moved = splice(from..<from + 1, with: []) {
            replaceSubrange(to..<to, with: moved)
            return
        }
        if isWords { words.insert(words.remove(at: from), at: to) } else { values.insert(values.remove(at: from), at: to) }
    }

    mutating func swapAt(_ first: Int, _ second: Int) {
        if spliced != nil {
            let moved = self[first]
            let other = replaceSubrange(second..<second + 1, with: [moved])
            replaceSubrange(first..<first + 1, with: other)
            return
        }
        if isWords {
            (words[first], words[second]) = (words[second], words[first])
        } else {
            (values[first], values[second]) = (values[second], values[first])
        }
    }

    // MARK: Sets

    @inline(__always)
    private func location(_ word: Int64) -> (block: Int, offset: Int, isThere: Bool) {
        let (block, offset) = words.search(word: word)
        return (block, offset, block < words.blocks.count && offset < words.blocks[block].count && words.blocks[block][offset] == word)
    }

    private func location(_ value: Value) -> (block: Int, offset: Int, isThere: Bool) {
        let (block, offset) = values.search { Value.order($0, value) < 0 }
        return (
            block, offset,
            block < values.blocks.count && offset < values.blocks[block].count && Value.order(values.blocks[block][offset], value) == 0
        )
    }

    func contains(word: Int64) -> Bool { location(word).isThere }

    func contains(_ value: Value) -> Bool {
        if let spliced { return spliced.search(value).isThere }
        guard isWords else { return location(value).isThere }
        if value.isNull { return hasNull }
        return word(value).map(contains(word:)) ?? false
    }

    /// Inserts a word; returns false if the set already contains it.
    @discardableResult
    mutating func insert(word: Int64) -> Bool {
        let (block, offset, isThere) = location(word)
        if isThere { return false }
        words.insert(word, block: block, offset: offset)
        return true
    }

    @discardableResult
    mutating func insert(_ value: Value) -> Bool {
        if isWords {
            if let word = word(value) { return insert(word: word) }
            defer { hasNull = true }
            return !hasNull
        }
        if let found = spliced?.search(value) {
            if found.isThere { return false }
            if splice(found.index..<found.index, with: [value]) != nil { return true }
        }
        let (block, offset, isThere) = location(value)
        if isThere { return false }
        values.insert(value, block: block, offset: offset)
        return true
    }

    /// Removes a value; returns false if the set does not contain it.
    @discardableResult
    mutating func remove(_ value: Value) -> Bool {
        if isWords {
            guard let word = word(value) else {
                defer { hasNull = false }
                return hasNull
            }
            let (block, offset, isThere) = location(word)
            if isThere { words.remove(block: block, offset: offset) }
            return isThere
        }
        if let found = spliced?.search(value) { return found.isThere && splice(found.index..<found.index + 1, with: []) != nil }
        let (block, offset, isThere) = location(value)
        if isThere { values.remove(block: block, offset: offset) }
        return isThere
    }

    /// Returns the index of an element of a set; nil if the set does not contain it.
    func index(of value: Value) -> Int? {
        if let found = spliced?.search(value) { return found.isThere ? found.index : nil }
        if isWords {
            guard let word = word(value) else { return hasNull && value.isNull ? 0 : nil }
            let (block, offset, isThere) = location(word)
            return isThere ? words.index(block: block, offset: offset) + (hasNull ? 1 : 0) : nil
        }
        let (block, offset, isThere) = location(value)
        return isThere ? values.index(block: block, offset: offset) : nil
    }

    // MARK: Maps

    func position(ofKey key: String) -> (index: Int, isThere: Bool) {
        if let spliced { return spliced.search(key: key) }
        let (block, offset) = keys.search { $0.precedes(key) }
        let isThere =
            block < keys.blocks.count && offset < keys.blocks[block].count && keys.blocks[block][offset].utf8.elementsEqual(key.utf8)
        return (keys.index(block: block, offset: offset), isThere)
    }

    /// Sets the value of a key and returns the previous value.
    mutating func set(_ value: Value, forKey key: String) -> Value? {
        let (index, isThere) = position(ofKey: key)
        if let old = splice(index..<(isThere ? index + 1 : index), with: [value], keys: [key]) { return old.first }
        guard isThere else {
            keys.insert(key, at: index)
            values.insert(value, at: index)
            return nil
        }
        let old = values[index]
        values[index] = value
        return old
    }

    mutating func removeEntry(at index: Int) -> Value {
        if let old = splice(index..<index + 1, with: []) { return old[0] }
        keys.remove(at: index)
        return values.remove(at: index)
    }

    mutating func removeAllEntries() { (keys, values, spliced) = (BlockArray(), BlockArray(), nil) }
}
