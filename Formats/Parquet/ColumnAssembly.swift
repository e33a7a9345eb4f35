import FirnBytes
import FirnExchange
import FirnTable

/// Builds a column from the levels and values of its leaves (Melnik et al., "Dremel", VLDB 2010).
///
/// A node of the plan has slots: one for each value, null or object of the column that it becomes. A slot of a leaf is the position of its
/// first level.
struct ColumnAssembly {
    private let leaves: [LeafRows]
    private let first: Int
    private let path: String
    /// What was changed in maps.
    private(set) var changes = MapChanges()

    /// The positions of levels, for one leaf; nil for all of them.
    typealias Slots = [Int]?

    /// `leaves` are those of the plan, in their order.
    init(_ leaves: [LeafRows], of plan: ParquetPlan) {
        self.leaves = leaves
        first = plan.leaves.lowerBound
        path = plan.name
    }

    mutating func column(_ plan: ParquetPlan, rows: Int) throws(ParquetFault) -> Column {
        let slots = leaves.map { leaf -> Slots in
            leaf.repetitions.isEmpty ? nil : leaf.repetitions.indices.filter { leaf.repetitions[$0] == 0 }
        }
        return try build(plan, rows, slots)
    }

    private func mismatch() -> ParquetFault { ParquetFault("the columns that store \"\(path)\" differ in their number of values or nulls") }

    /// Returns the rows with a value; nil if all have one.
    func present(_ leaf: LeafRows, _ slots: Slots, _ count: Int, from level: Int) throws(ParquetFault) -> Bits? {
        guard (slots?.count ?? leaf.count) == count else { throw mismatch() }
        guard !leaf.definitions.isEmpty, level > 0 else { return nil }
        var bits = Bits(repeating: true, count: count), hasNull = false
        let least = UInt8(level)
        leaf.definitions.withUnsafeBufferPointer { levels in
            if let slots {
                for i in 0..<count where levels[slots[i]] < least {
                    bits[i] = false
                    hasNull = true
                }
            } else {
                for i in 0..<count where levels[i] < least {
                    bits[i] = false
                    hasNull = true
                }
            }
        }
        return hasNull ? bits : nil
    }

    private mutating func build(_ plan: ParquetPlan, _ count: Int, _ slots: [Slots]) throws(ParquetFault) -> Column {
        let position = plan.leaves.lowerBound - first, leaf = leaves[position]
        var out = Column(plan.type)
        out.count = count
        switch plan.shape {
        case .given: throw mismatch()
        case .json(_, let empty, let schema):
            return try ColumnAssembly.values(
                leaf.values.text, present(leaf, slots[position], count, from: plan.definition), count, into: empty
            ) { (text, column) throws(ParquetFault) in try ColumnAssembly.append(json: text, to: &column, schema) }
        case .leaf(_, .number):
            return try ColumnAssembly.values(
                leaf.values.text, present(leaf, slots[position], count, from: plan.definition), count, into: Column(plan.type)
            ) { (text, column) throws(ParquetFault) in try ColumnAssembly.append(number: text, to: &column) }
        case .leaf:
            out.present = try present(leaf, slots[position], count, from: plan.definition)
            try ColumnAssembly.spread(leaf.values, count, &out, mismatch())
        case .object(let fields):
            out.present = try present(leaf, slots[position], count, from: plan.definition)
            out.children = []
            for field in fields { out.children.append(try build(field, count, slots)) }
        case .wrapped(let inner):
            out.present = try present(leaf, slots[position], count, from: plan.definition)
            out.children = [try build(inner, count, slots)]
        case .list(let element, let definition, let repetition):
            out.present = try present(leaf, slots[position], count, from: plan.definition)
            let inner = try elements(plan, count, slots, definition, repetition)
            out.offsets = inner.offsets
            out.children = [try build(element, inner.offsets[count], inner.slots)]
        case .map(let key, let value, let definition, let repetition):
            out.present = try present(leaf, slots[position], count, from: plan.definition)
            let inner = try elements(plan, count, slots, definition, repetition)
            out.offsets = inner.offsets
            out.children = [try build(key, inner.offsets[count], inner.slots), try build(value, inner.offsets[count], inner.slots)]
            changes.sortKeys(&out)
        }
        return out
    }

    /// Finds the elements of lists: those of all leaves must have the same offsets.
    private func elements(_ plan: ParquetPlan, _ count: Int, _ slots: [Slots], _ definition: Int, _ repetition: Int) throws(ParquetFault)
        -> (offsets: [Int], slots: [Slots])
    {
        var common: [Int]?, next = slots
        let least = UInt8(definition), level = UInt8(repetition)
        for index in plan.leaves.lowerBound - first..<plan.leaves.upperBound - first {
            let leaf = leaves[index], total = leaf.count
            guard leaf.repetitions.count == total, leaf.definitions.count == total, (slots[index]?.count ?? total) == count else {
                throw mismatch()
            }
            var offsets: [Int] = [], found: [Int] = []
            offsets.reserveCapacity(count + 1)
            offsets.append(0)
            leaf.definitions.withUnsafeBufferPointer { definitions in
                leaf.repetitions.withUnsafeBufferPointer { repetitions in
                    for i in 0..<count {
                        let slot = slots[index]?[i] ?? i
                        if definitions[slot] >= least {
                            found.append(slot)
                            var j = slot + 1
                            while j < total, repetitions[j] >= level {
                                if repetitions[j] == level { found.append(j) }
                                j += 1
                            }
                        }
                        offsets.append(found.count)
                    }
                }
            }
            if let common, common != offsets { throw mismatch() }
            common = offsets
            next[index] = found
        }
        return (common ?? [Int](repeating: 0, count: count + 1), next)
    }

    // MARK: Values

    /// Puts values without nulls where `out.present` has a bit.
    private static func spread(_ values: Column, _ count: Int, _ out: inout Column, _ fault: ParquetFault) throws(ParquetFault) {
        let have = max(values.words.count, values.reals.count, values.text.count)
        guard let present = out.present else {
            guard have == count || out.type.kind == .string && count == 0 else { throw fault }
            (out.words, out.extra, out.reals, out.text) = (values.words, values.extra, values.reals, values.text)
            return
        }
        guard have == present.ones else { throw fault }
        out.words = spread(values.words, present, count)
        out.extra = spread(values.extra, present, count)
        out.reals = spread(values.reals, present, count)
        switch out.type.kind {
        case .string, .data: break
        case .float, .double:
            if have == 0 { out.reals = [Double](repeating: 0, count: count) }
            return
        case .bool, .int, .link:
            if have == 0 { out.words = [Int64](repeating: 0, count: count) }
            return
        default:
            if have == 0 { (out.words, out.extra) = ([Int64](repeating: 0, count: count), [Int64](repeating: 0, count: count)) }
            return
        }
        var offsets = [Int](repeating: 0, count: count + 1), next = 0
        offsets.withUnsafeMutableBufferPointer { offsets in
            values.text.offsets.withUnsafeBufferPointer { ends in
                for i in 0..<count {
                    if present[i] { next += 1 }
                    offsets[i + 1] = ends[next]
                }
            }
        }
        out.text = Text(offsets: offsets, bytes: values.text.bytes)
        out.text.charge = values.text.charge
    }

    /// Returns a column of texts that are read as other values.
    private static func values(
        _ texts: Text, _ present: Bits?, _ count: Int, into empty: Column,
        _ append: (UnsafeRawBufferPointer, inout Column) throws(ParquetFault) -> Void
    ) throws(ParquetFault) -> Column {
        var out = empty, next = 0
        guard texts.count == present?.ones ?? count else {
            throw ParquetFault("a column has \(texts.count) values where \(present?.ones ?? count) are expected")
        }
        for row in 0..<count {
            guard present?[row] ?? true else {
                out.appendNull()
                continue
            }
            let range = texts.range(next)
            try texts.bytes.withBytes { (bytes) throws(ParquetFault) in
                try append(UnsafeRawBufferPointer(rebasing: bytes[range]), &out)
            }
            next += 1
        }
        return out
    }

    private static func append(number text: UnsafeRawBufferPointer, to column: inout Column) throws(ParquetFault) {
        guard text.count <= 64, let number = Decimal(String(decoding: text, as: UTF8.self)), column.append(.decimal(number)) else {
            throw ParquetFault("a text in a column of decimals is not a decimal", code: .rejected)
        }
    }

    private static func append(json text: UnsafeRawBufferPointer, to column: inout Column, _ schema: Schema) throws(ParquetFault) {
        guard let value = ExactJSON.value(text), column.append(value.positioned(schema, column.type)) else {
            throw ParquetFault("a text in a column of JSON is not a value of type \(column.type.name)", code: .rejected)
        }
    }

    private static func spread<T: BitwiseCopyable & ExpressibleByIntegerLiteral>(_ values: [T], _ present: Bits, _ count: Int) -> [T] {
        guard !values.isEmpty else { return [] }
        return [T](unsafeUninitializedCapacity: count) { out, filled in
            filled = count
            values.withUnsafeBufferPointer { values in
                var next = 0
                for i in 0..<count {
                    let has = present[i]
                    out[i] = has ? values[next] : 0
                    next += has ? 1 : 0
                }
            }
        }
    }
}
