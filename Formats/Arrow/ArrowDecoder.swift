import FirnBytes
import FirnExchange
import FirnTable

/// Decodes columns of a batch, or of a part of its rows.
struct ArrowDecoder {
    let batch: ArrowBatch
    let dictionarySource: ArrowDictionaries
    /// A vector needs less than what is not charged.
    let room = DecodingRoom(free: 1 << 18)
    /// What was changed in maps, and in dates with a time.
    var changes = ArrowChanges()

    init(_ batch: ArrowBatch, dictionaries: ArrowDictionaries? = nil) {
        self.batch = batch
        dictionarySource = dictionaries ?? batch.dictionaries
    }

    /// Returns the values of some rows.
    mutating func column(_ plan: ArrowPlan, _ rows: Range<Int>) throws(ArrowFault) -> Column {
        let length = try batch.header.node(plan.field.node).length
        guard length >= batch.rowCount else {
            throw ArrowFault("the column has \(length) values, and the batch \(batch.rowCount) rows", at: batch.header.offset)
        }
        var out = try decode(plan, rows, within: nil)
        // The charge lives as long as the values.
        if room.charge.bytes > 0 { out.text.charge = room.charge }
        return out
    }

    // MARK: Nodes

    /// Returns the rows that have a value of their own and within the objects around them; nil if all have.
    func validity(_ plan: ArrowPlan, _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault) -> Bits? {
        let field = plan.field, (length, nulls) = try batch.header.node(field.node)
        guard rows.upperBound <= length else { throw tooShort(field, length, rows) }
        let hasValidity: Bool
        switch field.dictionary == nil ? field.type : .bool {
        case .null, .runs: hasValidity = false
        case .union: hasValidity = batch.header.hasUnionValidity
        default: hasValidity = true
        }
        guard hasValidity, nulls != 0 else { return outer }
        let buffer = try batch.buffer(batch.header.firstBuffer(of: field).index)
        if buffer.count == 0 {
            guard nulls < 0 else { throw ArrowFault("the column has \(nulls) nulls and no validity", at: batch.header.offset) }
            return outer
        }
        guard (rows.upperBound + 7) / 8 <= buffer.count, let base = buffer.bytes.baseAddress else {
            throw ArrowFault("the validity of the column is too short", at: buffer.offset)
        }
        // Once for each batch.
        if rows.lowerBound == 0, nulls > 0, (length + 7) / 8 <= buffer.count {
            let found = length - Bits(base, from: 0, count: length).ones
            guard found == nulls else {
                throw ArrowFault("the column has \(found) nulls, and its batch lists \(nulls)", at: batch.header.offset)
            }
        }
        let own = Bits(base, from: rows.lowerBound, count: rows.count)
        if own.allSet { return outer }
        let both = Bits.both(own, outer)
        if plan.isRequired, let both, both != outer ?? Bits(repeating: true, count: rows.count) { throw nullInRequired(plan) }
        return both
    }

    private func tooShort(_ field: ArrowField, _ length: Int, _ rows: Range<Int>) -> ArrowFault {
        ArrowFault("\"\(field.path)\" has \(length) values, and \(rows.upperBound) are needed", at: batch.header.offset)
    }

    private func nullInRequired(_ plan: ArrowPlan) -> ArrowFault {
        ArrowFault(
            "\"\(plan.field.path)\" is declared as not null, and has nulls", at: batch.header.offset, code: .rejected,
            advice: "write it with nullable columns, or save the stream to a file and read that")
    }

    /// Returns a buffer of a field, by its position among those of the field, with at least `count` values of `width` bytes.
    func buffer(_ field: ArrowField, _ position: Int, _ count: Int, width: Int) throws(ArrowFault) -> ArrowBatch.Buffer {
        let buffer = try batch.buffer(batch.header.firstBuffer(of: field).index + position)
        let (needed, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, needed <= buffer.count else {
            throw ArrowFault("a buffer of \"\(field.path)\" has \(buffer.count) bytes, and \(needed) are needed", at: buffer.offset)
        }
        return buffer
    }

    // MARK: Shapes

    mutating func decode(_ plan: ArrowPlan, _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault) -> Column {
        switch plan.shape {
        case .leaf(let form):
            var out = Column(plan.type)
            try append(plan, form, rows, within: outer, to: &out)
            return out
        case .object(let fields):
            var out = Column(plan.type)
            (out.count, out.present) = (rows.count, try validity(plan, rows, within: outer))
            for field in fields { out.children.append(try decode(field, rows, within: out.present)) }
            return out
        case .wrapped(let inner):
            let only = try decode(inner, rows, within: outer)
            var out = Column(plan.type)
            (out.count, out.present, out.children) = (rows.count, only.present, [only])
            return out
        case .list(let element): return try list(plan, element, rows, within: outer)
        case .map(let key, let value): return try map(plan, key, value, rows, within: outer)
        case .union(let alternatives): return try union(plan, alternatives, rows, within: outer)
        case .dictionary(let values): return try dictionary(plan, values, rows, within: outer)
        case .runs(let values): return try runs(plan, values, rows, within: outer)
        case .absent:
            var out = Column(plan.type)
            out.appendNulls(rows.count)
            return out
        }
    }

    /// The elements of each list: a range of the rows of the child.
    private struct Elements {
        var offsets: [Int]
        var child: Range<Int>
        /// The elements in their order, if they are not all of `child`, one after the other.
        var gathered: [Int]?
    }

    private mutating func list(_ plan: ArrowPlan, _ element: ArrowPlan, _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault)
        -> Column
    {
        var out = Column(plan.type)
        (out.count, out.present) = (rows.count, try validity(plan, rows, within: outer))
        let elements = try elements(plan.field, rows, out.present)
        var inner = try decode(element, elements.child, within: nil)
        if let order = elements.gathered {
            try room.reserve(inner.footprint(gathering: order))
            inner = inner.gather(order)
        }
        (out.offsets, out.children) = (elements.offsets, [inner])
        if plan.type.collection == .set { try ArrowDecoder.sort(set: &out) }
        return out
    }

    private mutating func map(_ plan: ArrowPlan, _ key: ArrowPlan, _ value: ArrowPlan, _ rows: Range<Int>, within outer: Bits?)
        throws(ArrowFault) -> Column
    {
        var out = Column(plan.type)
        (out.count, out.present) = (rows.count, try validity(plan, rows, within: outer))
        let elements = try elements(plan.field, rows, out.present)
        // The entries are structs. One that is null has no key.
        let entry = plan.field.children[0], pair = ArrowPlan("entry", .absent, ColumnType(.embedded, optional: true), of: entry)
        let present = try validity(pair, elements.child, within: nil)
        var keys = try decode(key, elements.child, within: present), values = try decode(value, elements.child, within: present)
        keys.type.isOptional = false
        if let order = elements.gathered {
            try room.reserve(keys.footprint(gathering: order) + values.footprint(gathering: order))
            (keys, values) = (keys.gather(order), values.gather(order))
        }
        (out.offsets, out.children) = (elements.offsets, [keys, values])
        changes.maps.sortKeys(&out)
        return out
    }

    private mutating func elements(_ field: ArrowField, _ rows: Range<Int>, _ present: Bits?) throws(ArrowFault) -> Elements {
        try room.reserve(rows.count, times: 8)
        let length = try batch.header.node(field.children[0].node).length
        switch field.type {
        case .fixedList(let size):
            let (end, overflow) = rows.upperBound.multipliedReportingOverflow(by: size)
            guard !overflow, end <= length else {
                throw ArrowFault("\"\(field.path)\" needs \(end) elements, and has \(length)", at: batch.header.offset)
            }
            let child = rows.lowerBound * size..<end
            return try without(nulls: present, starts: { $0 * size }, counts: { _ in size }, rows.count, child)
        case .list(.view), .largeListView: return try viewed(field, rows, present, length)
        default: break
        }
        let isLarge = field.type == .list(.large), width = isLarge ? 8 : 4
        let buffer = try batch.buffer(batch.header.firstBuffer(of: field).index + 1)
        // Without rows, the offsets may be left out.
        if rows.upperBound == 0 || rows.isEmpty { return Elements(offsets: [Int](repeating: 0, count: rows.count + 1), child: 0..<0) }
        guard (rows.upperBound + 1) * width <= buffer.count else {
            throw ArrowFault("the offsets of \"\(field.path)\" are too short", at: buffer.offset)
        }
        let offsets = try ArrowDecoder.offsets(buffer, rows, isLarge: isLarge, end: length, field.path)
        let first = offsets[0], child = first..<(offsets.last ?? first)
        return try without(
            nulls: present, starts: { offsets[$0] - first }, counts: { offsets[$0 + 1] - offsets[$0] }, rows.count, child)
    }

    /// Reads offsets, which must ascend, and lead at most to `end`.
    static func offsets(_ buffer: ArrowBatch.Buffer, _ rows: Range<Int>, isLarge: Bool, end: Int, _ path: String) throws(ArrowFault)
        -> [Int]
    {
        let count = rows.count + 1
        var isWrong = false
        let offsets = [Int](unsafeUninitializedCapacity: count) { out, filled in
            filled = count
            var last = 0
            for i in 0..<count {
                let value =
                    isLarge
                    ? Int(buffer.bytes.loadUnaligned(fromByteOffset: (rows.lowerBound &+ i) &* 8, as: Int64.self))
                    : Int(buffer.bytes.loadUnaligned(fromByteOffset: (rows.lowerBound &+ i) &* 4, as: Int32.self))
                isWrong = isWrong || value < last
                last = value
                out[i] = value
            }
        }
        guard !isWrong, (offsets.last ?? 0) <= end else {
            throw ArrowFault(
                "the offsets of \"\(path)\" " + (isWrong ? "do not ascend" : "lead to \(offsets.last ?? 0), beyond the end at \(end)"),
                at: buffer.offset + rows.lowerBound * (isLarge ? 8 : 4))
        }
        return offsets
    }

    /// Returns the elements of consecutive lists: those of rows that are null are left out.
    private mutating func without(
        nulls present: Bits?, starts: (Int) -> Int, counts: (Int) -> Int, _ rows: Int, _ child: Range<Int>
    ) throws(ArrowFault) -> Elements {
        var offsets = [0], hasGaps = false
        offsets.reserveCapacity(rows + 1)
        for i in 0..<rows {
            let isPresent = present?[i] ?? true, count = counts(i)
            if !isPresent, count > 0 { hasGaps = true }
            offsets.append((offsets.last ?? 0) + (isPresent ? count : 0))
        }
        guard hasGaps else { return Elements(offsets: offsets, child: child) }
        let total = offsets.last ?? 0
        try room.reserve(total, times: 8)
        var order: [Int] = []
        order.reserveCapacity(total)
        for i in 0..<rows where present?[i] ?? true { order.append(contentsOf: starts(i)..<starts(i) + counts(i)) }
        return Elements(offsets: offsets, child: child, gathered: order)
    }

    /// The elements of list views, which can be in any order and overlap.
    private mutating func viewed(_ field: ArrowField, _ rows: Range<Int>, _ present: Bits?, _ length: Int) throws(ArrowFault) -> Elements {
        let isLarge = field.type == .largeListView, width = isLarge ? 8 : 4
        let starts = try buffer(field, 1, rows.upperBound, width: width), sizes = try buffer(field, 2, rows.upperBound, width: width)
        func number(_ buffer: ArrowBatch.Buffer, _ row: Int) -> Int {
            isLarge
                ? Int(buffer.bytes.loadUnaligned(fromByteOffset: row * 8, as: Int64.self))
                : Int(buffer.bytes.loadUnaligned(fromByteOffset: row * 4, as: Int32.self))
        }
        var low = Int.max, high = 0, next = -1, isDense = true, offsets = [0]
        offsets.reserveCapacity(rows.count + 1)
        for i in 0..<rows.count {
            guard present?[i] ?? true else {
                offsets.append(offsets[i])
                continue
            }
            let start = number(starts, rows.lowerBound + i), count = number(sizes, rows.lowerBound + i)
            guard start >= 0, count >= 0, start <= length, count <= length - start else {
                throw ArrowFault(
                    "row \(rows.lowerBound + i) of \"\(field.path)\" has \(count) elements at \(start), beyond the end at \(length)",
                    at: starts.offset + (rows.lowerBound + i) * width)
            }
            if count > 0 {
                isDense = isDense && (next < 0 || next == start)
                next = start + count
                (low, high) = (min(low, start), max(high, next))
            }
            let (end, overflow) = offsets[i].addingReportingOverflow(count)
            guard !overflow else { throw ArrowFault.beyondMemory("a batch", .max, .process) }
            offsets.append(end)
        }
        let child = high == 0 ? 0..<0 : low..<high
        if isDense { return Elements(offsets: offsets, child: child) }
        let total = offsets.last ?? 0
        try room.reserve(total, times: 8)
        var order: [Int] = []
        order.reserveCapacity(total)
        for i in 0..<rows.count where offsets[i + 1] > offsets[i] {
            let start = number(starts, rows.lowerBound + i) - low
            order.append(contentsOf: start..<start + offsets[i + 1] - offsets[i])
        }
        return Elements(offsets: offsets, child: child, gathered: order)
    }

    /// Puts the elements of sets into their order, if another program changed it.
    private static func sort(set column: inout Column) throws(ArrowFault) {
        func isSorted(_ row: Int) -> Bool {
            let range = column.offsets[row]..<column.offsets[row + 1]
            guard range.count > 1 else { return true }
            for i in range.dropLast() where Value.order(column.children[0].value(at: i), column.children[0].value(at: i + 1)) >= 0 {
                return false
            }
            return true
        }
        guard !(0..<column.count).allSatisfy(isSorted) else { return }
        var out = column.emptyCopy
        for row in 0..<column.count { if !out.append(column.value(at: row)) { out.appendNull() } }
        column = out
    }
}
