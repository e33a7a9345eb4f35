import FirnBytes

extension Column {
    /// Appends a row without a value.
    package mutating func appendNull() {
        notePresence(false)
        appendFiller()
    }

    /// Appends `more` rows without a value.
    package mutating func appendNulls(_ more: Int) {
        guard more > 0 else { return }
        if present == nil { present = Bits(repeating: true, count: count) }
        present!.append(repeating: false, count: more)
        count += more
        if type.isCollection {
            offsets.append(contentsOf: repeatElement(offsets.last!, count: more))
            return
        }
        switch type.kind {
        case .bool, .int, .link: words.append(contentsOf: repeatElement(0, count: more))
        case .float, .double: reals.append(contentsOf: repeatElement(0, count: more))
        case .string, .data: text.appendEmpty(count: more)
        case .date, .decimal, .objectID, .uuid:
            words.append(contentsOf: repeatElement(0, count: more))
            extra.append(contentsOf: repeatElement(0, count: more))
        case .any:
            tags.append(contentsOf: repeatElement(AnyTag.null, count: more))
            words.append(contentsOf: repeatElement(0, count: more))
            extra.append(contentsOf: repeatElement(0, count: more))
            reals.append(contentsOf: repeatElement(0, count: more))
            text.appendEmpty(count: more)
        case .embedded: for i in children.indices { children[i].appendNulls(more) }
        }
    }

    /// Appends one row and returns true. Returns false, and appends nothing, if the value does not fit the column. Integers also fit
    /// decimal and `any` columns, and float and double columns that represent them exactly.
    @discardableResult
    package mutating func append(_ value: Value) -> Bool {
        guard fits(value) else { return false }
        if value.isNull && type.kind != .any || value.isNull && type.isCollection {
            appendNull()
            return true
        }
        notePresence(!value.isNull || type.isCollection)
        if type.isCollection { appendCollection(value) } else { appendScalar(value) }
        return true
    }

    /// Whether `append` accepts the value.
    package func fits(_ value: Value) -> Bool {
        if value.isNull { return type.isOptional || (type.kind == .any && !type.isCollection) }
        switch (type.collection, value) {
        case (.none, _): return scalarFits(value)
        case (.list, .list(let values)), (.set, .set(let values)), (.set, .list(let values)), (.list, .set(let values)):
            return values.allSatisfy(children[0].fits)
        case (.map, .map(let entries)), (.map, .object(let entries)): return entries.allSatisfy { children[1].fits($0.value) }
        default: return false
        }
    }

    private func scalarFits(_ value: Value) -> Bool {
        switch (type.kind, value) {
        case (.any, _), (.bool, .bool), (.int, .int), (.float, .float), (.double, .double), (.double, .float), (.string, .string),
            (.data, .data),
            (.date, .date), (.decimal, .decimal), (.objectID, .objectID), (.uuid, .uuid), (.link, .link):
            true
        case (.double, .int(let x)): Int64(exactly: Double(x)) == x
        case (.float, .int(let x)): Int64(exactly: Float(x)) == x
        case (.decimal, .int): true
        case (.embedded, .object(let entries)), (.embedded, .map(let entries)):
            children.isEmpty
                ? false : entries.count <= children.count && entries.enumerated().allSatisfy { children[$0.offset].fits($0.element.value) }
        default: false
        }
    }

    private mutating func notePresence(_ value: Bool) {
        if present != nil {
            present!.append(value)
        } else if !value {
            var bits = Bits(repeating: true, count: count)
            bits.append(false)
            present = bits
        }
    }

    private mutating func appendFiller() {
        count += 1
        if type.isCollection {
            offsets.append(offsets.last!)
            return
        }
        switch type.kind {
        case .bool, .int, .link: words.append(0)
        case .date, .decimal, .objectID, .uuid:
            words.append(0)
            extra.append(0)
        case .float, .double: reals.append(0)
        case .string, .data: text.appendEmpty()
        case .any:
            appendAny(tag: AnyTag.null)
            text.appendEmpty()
        case .embedded: for i in children.indices { children[i].appendNull() }
        }
    }

    private mutating func appendAny(tag: UInt8, word: Int64 = 0, extra more: Int64 = 0, real: Double = 0) {
        tags.append(tag)
        words.append(word)
        extra.append(more)
        reals.append(real)
    }

    private mutating func appendCollection(_ value: Value) {
        count += 1
        switch value {
        case .list(let values), .set(let values):
            var values = values
            if type.collection == .set { values = Value.distinctSorted(values) }
            for element in values { children[0].append(element) }
        case .map(let entries), .object(let entries):
            for entry in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                children[0].append(.string(entry.key))
                children[1].append(entry.value)
            }
        default: trap("append checks that the value fits")
        }
        offsets.append(children[0].count)
    }

    private mutating func appendScalar(_ value: Value) {
        if type.kind == .any { return appendToAny(value) }
        count += 1
        switch value {
        case .bool(let x): words.append(x ? 1 : 0)
        case .int(let x):
            switch type.kind {
            case .double, .float: reals.append(Double(x))
            case .decimal: appendPair(Column.pair(Decimal(x)))
            default: words.append(x)
            }
        case .link(let x): words.append(x)
        case .float(let x): reals.append(Double(x))
        case .double(let x): reals.append(x)
        case .string(let x): text.append(x)
        case .data(let x): text.append(x)
        case .date(let x): appendPair((x.seconds, Int64(x.nanoseconds)))
        case .decimal(let x): appendPair(Column.pair(x))
        case .uuid(let x): appendPair(Column.pair(uuid: x))
        case .objectID(let x): appendPair(Column.pair(objectID: x))
        case .object(let entries), .map(let entries):
            for (i, entry) in entries.enumerated() { children[i].append(entry.value) }
            for i in entries.count..<max(entries.count, children.count) { children[i].appendNull() }
        default: trap("append checks that the value fits")
        }
    }

    private mutating func appendPair(_ pair: (Int64, Int64)) {
        words.append(pair.0)
        extra.append(pair.1)
    }

    private mutating func appendToAny(_ value: Value) {
        count += 1
        switch value {
        case .null: appendAny(tag: AnyTag.null)
        case .bool(let x): appendAny(tag: ScalarKind.bool.rawValue, word: x ? 1 : 0)
        case .int(let x): appendAny(tag: ScalarKind.int.rawValue, word: x)
        case .link(let x): appendAny(tag: ScalarKind.link.rawValue, word: x)
        case .float(let x): appendAny(tag: ScalarKind.float.rawValue, real: Double(x))
        case .double(let x): appendAny(tag: ScalarKind.double.rawValue, real: x)
        case .date(let x): appendAny(tag: ScalarKind.date.rawValue, word: x.seconds, extra: Int64(x.nanoseconds))
        case .decimal(let x): appendAny(tag: ScalarKind.decimal.rawValue, pair: Column.pair(x))
        case .uuid(let x): appendAny(tag: ScalarKind.uuid.rawValue, pair: Column.pair(uuid: x))
        case .objectID(let x): appendAny(tag: ScalarKind.objectID.rawValue, pair: Column.pair(objectID: x))
        case .string(let x):
            appendAny(tag: ScalarKind.string.rawValue)
            text.append(x)
            return
        case .data(let x):
            appendAny(tag: ScalarKind.data.rawValue)
            text.append(x)
            return
        case .list, .set, .map, .object:
            appendAny(tag: value.collectionTag)
            text.append(value.encoded)
            return
        }
        text.appendEmpty()
    }

    private mutating func appendAny(tag: UInt8, pair: (Int64, Int64)) { appendAny(tag: tag, word: pair.0, extra: pair.1) }

    /// Returns the value of one row. Malformed bytes of a nested `any` value are read as null.
    package func value(at row: Int) -> Value {
        guard isPresent(row) else { return .null }
        if type.isCollection {
            let range = offsets[row]..<offsets[row + 1]
            switch type.collection {
            case .set: return .set(range.map(children[0].value(at:)))
            case .map: return .map(range.map { Value.Entry(children[0].text.string($0), children[1].value(at: $0)) })
            default: return .list(range.map(children[0].value(at:)))
            }
        }
        return type.kind == .any ? scalar(tag: tags[row], row) : scalar(tag: type.kind.rawValue, row)
    }

    private func scalar(tag: UInt8, _ row: Int) -> Value {
        switch ScalarKind(rawValue: tag) {
        case .bool: .bool(words[row] != 0)
        case .int: .int(words[row])
        case .link: .link(words[row])
        case .float: .float(Float(reals[row]))
        case .double: .double(reals[row])
        case .string: .string(text.string(row))
        case .data: .data(text.array(row))
        case .date: .date(Timestamp(seconds: words[row], nanoseconds: Int32(truncatingIfNeeded: extra[row])))
        case .decimal: .decimal(Decimal(high: UInt64(bitPattern: words[row]), low: UInt64(bitPattern: extra[row])))
        case .uuid: .uuid(Column.uuid(words[row], extra[row]))
        case .objectID: .objectID(Column.objectID(words[row], extra[row]))
        case .embedded: .object(children.map { .init("", $0.value(at: row)) })
        case .any, nil: tag == AnyTag.null ? .null : text.withBytes(row) { (try? Value(encoded: $0)) ?? .null }
        }
    }

    private static let flip = UInt64(1) << 63
    package static func pair(_ x: Decimal) -> (Int64, Int64) { (Int64(bitPattern: x.high), Int64(bitPattern: x.low)) }
    package static func pair(uuid x: Identifier) -> (Int64, Int64) { (Int64(bitPattern: x.high ^ flip), Int64(bitPattern: x.low ^ flip)) }
    package static func pair(objectID x: Identifier) -> (Int64, Int64) { (Int64(bitPattern: x.high ^ flip), Int64(bitPattern: x.low)) }
    package static func uuid(_ word: Int64, _ more: Int64) -> Identifier {
        Identifier(high: UInt64(bitPattern: word) ^ flip, low: UInt64(bitPattern: more) ^ flip)
    }
    package static func objectID(_ word: Int64, _ more: Int64) -> Identifier {
        Identifier(high: UInt64(bitPattern: word) ^ flip, low: UInt64(bitPattern: more))
    }
}

extension Value {
    /// Returns the distinct values in ascending order.
    package static func distinctSorted(_ values: [Value]) -> [Value] {
        var out: [Value] = []
        for value in values.sorted(by: { order($0, $1) < 0 }) where out.last.map({ order($0, value) != 0 }) ?? true { out.append(value) }
        return out
    }

    var collectionTag: UInt8 {
        switch self {
        case .list: AnyTag.list
        case .set: AnyTag.set
        default: AnyTag.map
        }
    }
}

extension Column {
    /// Returns the value of a row that was written before the column existed: null, or the zero value of a type that is not optional.
    package static func absentValue(_ type: ColumnType) -> Value {
        if type.isOptional { return .null }
        switch type.collection {
        case .list: return .list([])
        case .set: return .set([])
        case .map: return .map([])
        case .none: break
        }
        switch type.kind {
        case .bool: return .bool(false)
        case .int: return .int(0)
        case .float: return .float(0)
        case .double: return .double(0)
        case .string: return .string("")
        case .data: return .data([])
        case .date: return .date(Timestamp(seconds: 0))
        case .decimal: return .decimal(Decimal(0 as Int64))
        case .objectID: return .objectID(Identifier(high: 0, low: 0))
        case .uuid: return .uuid(Identifier(high: 0, low: 0))
        case .any, .link, .embedded: return .null
        }
    }

    /// Appends `absentValue`.
    package mutating func appendAbsent() {
        if !append(Column.absentValue(type)) { appendNull() }
    }
}
