import FirnBytes
import FirnExchange
import FirnTable

/// The levels and values of some rows of a leaf, to be written as a page.
struct LeafPage: Sendable {
    var rows = 0
    /// The number of levels: values, nulls and empty lists.
    var count = 0
    /// Empty if all levels are the maximum.
    var definitions: [UInt8] = []
    /// Empty if nothing is repeated.
    var repetitions: [UInt8] = []
    var values: LeafValues
    /// The number of values that were changed because the type of the leaf cannot express them.
    var changed = 0
}

/// Takes lists, maps and objects apart into the levels and values of their leaves (Melnik et al., "Dremel", VLDB 2010).
struct LevelBuilder {
    private(set) var pages: [LeafPage] = []
    private let rowCount: Int

    /// Builds the pages of some rows of a column: one for each leaf of its shape.
    init(_ shape: ParquetShape, _ column: Column, _ rows: Range<Int>) throws(FirnError) {
        rowCount = rows.count
        if case .leaf(let leaf) = shape.content {
            try addFlat(shape, leaf, column, rows)
        } else {
            try add(shape, column, Slots(rows), level: 0)
        }
    }

    /// For each value, null or empty list so far: its levels, and its position in the column, or -1 if nothing is below it.
    private struct Slots {
        var definitions: [UInt8]
        var repetitions: [UInt8]
        var positions: [Int]

        init(_ rows: Range<Int>) {
            definitions = [UInt8](repeating: 0, count: rows.count)
            repetitions = definitions
            positions = Array(rows)
        }

        init() { (definitions, repetitions, positions) = ([], [], []) }

        mutating func append(_ definition: UInt8, _ repetition: UInt8, _ position: Int) {
            definitions.append(definition)
            repetitions.append(repetition)
            positions.append(position)
        }
    }

    private static func missing(_ name: String) -> FirnError {
        FirnError(.schema, "column \"\(name)\" is not optional, and a row has no value in it")
    }

    private mutating func addFlat(_ shape: ParquetShape, _ leaf: LeafShape, _ column: Column, _ rows: Range<Int>) throws(FirnError) {
        var definitions: [UInt8] = [], present = PresentRows.range(rows)
        if let bits = column.present, bits.count == column.count {
            var positions: [Int] = []
            positions.reserveCapacity(rows.count)
            for row in rows where bits[row] { positions.append(row) }
            if positions.count < rows.count {
                guard shape.isOptional else { throw LevelBuilder.missing(shape.name) }
                definitions.grow(rows.count, zero: 0) { out in for (i, row) in rows.enumerated() { out[i] = bits[row] ? 1 : 0 } }
                present = .positions(positions)
            }
        }
        var flattening = LeafFlattening(leaf, column, present)
        let values = try flattening.values()
        pages.append(
            LeafPage(
                rows: rowCount, count: rowCount, definitions: definitions, repetitions: [], values: values, changed: flattening.changed))
    }

    private mutating func add(_ leaf: LeafShape, _ column: Column, _ slots: Slots, level: UInt8) throws(FirnError) {
        var flattening = LeafFlattening(leaf, column, .positions(slots.positions.filter { $0 >= 0 }))
        let values = try flattening.values()
        pages.append(
            LeafPage(
                rows: rowCount, count: slots.positions.count, definitions: slots.definitions,
                repetitions: level > 0 ? slots.repetitions : [], values: values, changed: flattening.changed))
    }

    private mutating func add(_ shape: ParquetShape, _ column: Column, _ outer: Slots, level: UInt8) throws(FirnError) {
        var slots = outer
        for i in slots.positions.indices where slots.positions[i] >= 0 {
            let isPresent = column.isPresent(slots.positions[i])
            if shape.isOptional {
                if isPresent { slots.definitions[i] += 1 } else { slots.positions[i] = -1 }
            } else if !isPresent {
                throw LevelBuilder.missing(shape.name)
            }
        }
        switch shape.content {
        case .leaf(let leaf): try add(leaf, column, slots, level: level)
        case .object(let fields):
            for (i, field) in fields.enumerated() {
                // Fields of objects that do not occur can be without a column.
                try add(field, i < column.children.count ? column.children[i] : Column(ColumnType(.int)), slots, level: level)
            }
        case .wrapped(let inner): try add(inner, column.children.first ?? Column(ColumnType(.int)), slots, level: level)
        case .list(let element):
            try add(element, column.children[0], LevelBuilder.elements(column, slots, level: level + 1), level: level + 1)
        case .map(let value):
            let entries = LevelBuilder.elements(column, slots, level: level + 1)
            let key = LeafShape(physical: .byteArray, logical: .string, form: .text, column: ColumnSchema("key", ColumnType(.string)))
            try add(key, column.children[0], entries, level: level + 1)
            try add(value, column.children[1], entries, level: level + 1)
        }
    }

    /// Returns a slot for each element, and those without elements as they are.
    private static func elements(_ column: Column, _ slots: Slots, level: UInt8) -> Slots {
        var out = Slots()
        for i in slots.positions.indices {
            let position = slots.positions[i]
            guard position >= 0, column.offsets[position + 1] > column.offsets[position] else {
                out.append(slots.definitions[i], slots.repetitions[i], -1)
                continue
            }
            for element in column.offsets[position]..<column.offsets[position + 1] {
                out.append(slots.definitions[i] + 1, element == column.offsets[position] ? slots.repetitions[i] : level, element)
            }
        }
        return out
    }
}
