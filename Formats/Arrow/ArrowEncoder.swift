import FirnBytes
import FirnExchange
import FirnTable

/// Makes the nodes and buffers of a column.
struct ArrowEncoder {
    private let schema: Schema
    private(set) var nodes: [Int64] = []
    private(set) var buffers: [ArrowBuffer] = []
    private(set) var loss = ArrowLoss()

    init(_ schema: Schema) { self.schema = schema }

    /// Appends a column. `present` are the rows that have a value; nil: all.
    mutating func append(_ field: ArrowField, _ column: Column, _ description: ColumnSchema, present: Bits?, depth: Int = 0)
        throws(ArrowFault)
    {
        if column.type.isCollection {
            if column.type.collection == .map { return try appendMap(field, column, description, present, depth) }
            return try appendList(field, column, description, present, depth)
        }
        guard column.type.kind == .embedded else { return try appendLeaf(field, column, description, present) }
        guard let target = column.type.target.flatMap({ schema[$0] }) else {
            throw ArrowFault("the type of objects is missing", code: .schema)
        }
        var children = column.children
        if children.count < target.columns.count {
            children = target.columns.map { field in
                var filler = Column(field, in: schema, depth: 0)
                filler.appendNulls(column.count)
                return filler
            }
        }
        if target.isBareList {
            return try append(field, children[0], target.columns[0], present: present, depth: depth + 1)
        }
        addNode(field, column.count, present)
        let mapping = ArrowMapping(schema)
        var next = 0
        for (i, inner) in target.columns.enumerated() {
            guard mapping.field(inner, depth: depth + 1) != nil, next < field.children.count else {
                loss.tooDeep += children[i].count - children[i].nullCount
                continue
            }
            try append(field.children[next], children[i], inner, present: children[i].present, depth: depth + 1)
            next += 1
        }
    }

    /// Adds the node of a field, with its validity.
    private mutating func addNode(_ field: ArrowField, _ count: Int, _ present: Bits?) {
        // Where a required field has no value, an object around it has none.
        let bits = field.isNullable ? present : nil, nulls = bits.map { count - $0.ones } ?? 0
        nodes += [Int64(count), Int64(nulls)]
        buffers.append(nulls == 0 ? .none : ArrowBuffer(bits))
    }

    static func bytes<T: FixedWidthInteger>(_ count: Int, as type: T.Type, _ value: (Int) -> T) -> [UInt8] {
        let width = MemoryLayout<T>.size
        return [UInt8](unsafeUninitializedCapacity: count * width) { out, filled in
            filled = count * width
            let raw = UnsafeMutableRawBufferPointer(out)
            for i in 0..<count { raw.storeBytes(of: value(i).littleEndian, toByteOffset: i &* width, as: T.self) }
        }
    }

    private func offsets(_ offsets: [Int], _ field: ArrowField) throws(ArrowFault) -> ArrowBuffer {
        guard (offsets.last ?? 0) <= Int(Int32.max) else { throw ArrowFault("a row has more than 2 GiB", code: .rejected) }
        return .bytes(ArrowEncoder.bytes(offsets.count, as: Int32.self) { Int32(truncatingIfNeeded: offsets[$0]) })
    }

    // MARK: Collections

    private mutating func appendList(_ field: ArrowField, _ column: Column, _ description: ColumnSchema, _ present: Bits?, _ depth: Int)
        throws(ArrowFault)
    {
        var element = description
        element.type = column.type.element
        element.otherAttributes = []
        let inner = column.children[0]
        guard case .fixedList(let size) = field.type else {
            addNode(field, column.count, present)
            buffers.append(try offsets(column.offsets, field))
            return try append(field.children[0], inner, element, present: inner.present, depth: depth)
        }
        var bits = present, order: [Int] = []
        for row in 0..<column.count {
            let range = column.offsets[row]..<column.offsets[row + 1]
            if range.count == size, present?[row] ?? true {
                order.append(contentsOf: range)
                continue
            }
            if present?[row] ?? true {
                try misfit(field, description, nestedText(column.value(at: row)))
                ArrowEncoder.clear(row, &bits, column.count)
            }
            // Elements of lists that are null are any values.
            order.append(contentsOf: repeatElement(0, count: size))
        }
        var filled = inner
        if inner.count == 0, !order.isEmpty { filled.appendNulls(1) }
        addNode(field, column.count, bits)
        let gathered = filled.gather(order)
        try append(field.children[0], gathered, element, present: gathered.present, depth: depth)
    }

    private mutating func appendMap(_ field: ArrowField, _ column: Column, _ description: ColumnSchema, _ present: Bits?, _ depth: Int)
        throws(ArrowFault)
    {
        addNode(field, column.count, present)
        buffers.append(try offsets(column.offsets, field))
        let entries = field.children[0], keys = column.children[0], values = column.children[1]
        addNode(entries, keys.count, nil)
        try append(entries.children[0], keys, ColumnSchema("key", keys.type), present: keys.present, depth: depth)
        var element = description
        element.type = column.type.element
        element.otherAttributes = []
        try append(entries.children[1], values, element, present: values.present, depth: depth)
    }

    static func clear(_ row: Int, _ bits: inout Bits?, _ count: Int) {
        if bits == nil { bits = Bits(repeating: true, count: count) }
        bits?[row] = false
    }

    /// Counts a value that the type cannot express, or throws if there is no null to write in its place.
    private mutating func misfit(_ field: ArrowField, _ description: ColumnSchema, _ text: @autoclosure () -> String) throws(ArrowFault) {
        guard field.isNullable else {
            throw ArrowFault(
                "\(field.typeName) cannot express the value \"\(text())\", and the column cannot be null", code: .rejected,
                advice: "convert to .firn with a --schema in which the column is optional or has another type")
        }
        loss.addMisfit(description.name, field.typeName, text())
    }

    // MARK: Leaves

    private mutating func appendLeaf(_ field: ArrowField, _ column: Column, _ description: ColumnSchema, _ present: Bits?)
        throws(ArrowFault)
    {
        var present = present, wrong: [Int] = []
        if column.type.kind == .any {
            for row in 0..<column.count where column.tags[row] == AnyTag.null { ArrowEncoder.clear(row, &present, column.count) }
        }
        let own = ArrowLeaf(field: field, column: column, present: present).encode(&wrong)
        for row in wrong {
            try misfit(field, description, canonicalText(column.value(at: row)))
            ArrowEncoder.clear(row, &present, column.count)
        }
        addNode(field, column.count, present)
        guard own.total <= Int(Int32.max) else { throw ArrowFault("the texts of a batch have more than 2 GiB", code: .rejected) }
        buffers += own.buffers
    }
}

extension TypeSchema {
    /// Whether outside formats show the list of the only field in place of the object.
    fileprivate var isBareList: Bool { isBare }
}
