import CArrow
import FirnBytes

/// The values of an array that are used, counted from its own first one.
struct ImportedRange {
    var start: Int
    var count: Int
}

/// The nodes and buffers of some columns, in the order in which files list them, without offsets: buffers begin at the first value.
struct ImportedBuffers {
    private var nodes: [(length: Int64, nulls: Int64)] = []
    private var buffers: [UnsafeRawBufferPointer] = []
    private var views: [Int] = []
    /// Validity whose first bit is not the first of a byte.
    private var shifted: [ShiftedBits] = []
    private(set) var dictionaries: [(id: Int64, field: ArrowField, array: CArrow.ArrowArray)] = []

    private final class ShiftedBits {
        let words: [UInt64]
        init(_ bits: Bits) { words = bits.words + [0] }
    }

    private final class Owners {
        let array: ArrayOwner, shifted: [ShiftedBits]
        init(_ array: ArrayOwner, _ shifted: [ShiftedBits]) { (self.array, self.shifted) = (array, shifted) }
    }

    func batch(rows: Int, index: Int, _ owner: ArrayOwner, _ dictionaries: ArrowDictionaries) -> ArrowBatch {
        let header = ArrowBatchHeader(rows: rows, nodes: nodes, bufferCount: buffers.count, views: views)
        return ArrowBatch(header, index: index, buffers: buffers, owner: Owners(owner, shifted), dictionaries: dictionaries)
    }

    mutating func add(_ field: ArrowField, _ array: CArrow.ArrowArray, _ range: ImportedRange) throws(ArrowFault) {
        let values = try ImportedValues(field, array, range)
        nodes.append((Int64(values.count), values.isWhole || array.null_count == 0 ? array.null_count : -1))
        if let dictionary = field.dictionary { return try add(dictionary, values) }
        switch field.type {
        case .null: break
        case .runs:
            guard values.start == 0 else {
                throw ArrowFault.unknown("\"\(field.path)\" is a slice of run-end-encoded values", advice: "decode the column first")
            }
            try add(children: values) { (index) throws(ArrowFault) in try values.all(index) }
        case .union(let isDense, _):
            buffers.append(values.buffer(0, 1))
            if isDense { buffers.append(values.buffer(1, 4)) }
            try add(children: values) { (index) throws(ArrowFault) in isDense ? try values.all(index) : values.range }
        default:
            addBits(values.pointer(0), values.start, values.count)
            try addContents(field, values)
        }
    }

    /// Appends the buffers after the validity.
    private mutating func addContents(_ field: ArrowField, _ values: ImportedValues) throws(ArrowFault) {
        switch field.type {
        case .bool: addBits(values.pointer(1), values.start, values.count)
        case .structure: try add(children: values) { (_) throws(ArrowFault) in values.range }
        case .fixedList(let size):
            let (first, tooFar) = values.start.multipliedReportingOverflow(by: size)
            let (total, tooMany) = values.count.multipliedReportingOverflow(by: size)
            guard !tooFar, !tooMany else { throw ArrowFault("\"\(field.path)\" has too many elements", code: .rejected) }
            try add(children: values) { (_) throws(ArrowFault) in ImportedRange(start: first, count: total) }
        case .list(.view), .largeListView:
            let width = field.type == .largeListView ? 8 : 4
            buffers += [values.buffer(1, width), values.buffer(2, width)]
            try add(children: values) { (index) throws(ArrowFault) in try values.all(index) }
        case .list, .map:
            buffers.append(values.buffer(1, field.type == .list(.large) ? 8 : 4, more: 1))
            try add(children: values) { (index) throws(ArrowFault) in try values.all(index) }
        case .bytes(.view), .text(.view):
            buffers.append(values.buffer(1, 16))
            let data = values.viewed
            views.append(data.count)
            buffers += data
        case .bytes(let width), .text(let width):
            let offsets = values.buffer(1, width == .large ? 8 : 4, more: 1)
            buffers += [offsets, values.texts(offsets, isLarge: width == .large)]
        default: buffers.append(values.buffer(1, field.type.byteWidth))
        }
    }

    private mutating func add(children values: ImportedValues, _ range: (Int) throws(ArrowFault) -> ImportedRange) throws(ArrowFault) {
        for (i, inner) in values.field.children.enumerated() { try add(inner, try values.child(i), try range(i)) }
    }

    /// Appends indexes. The dictionary comes after those within its values.
    private mutating func add(_ dictionary: ArrowField.Dictionary, _ values: ImportedValues) throws(ArrowFault) {
        guard case .int(let bits, _) = dictionary.index, let array = values.array.dictionary?.pointee else {
            throw ArrowFault("\"\(values.field.path)\" has no dictionary", code: .rejected)
        }
        addBits(values.pointer(0), values.start, values.count)
        buffers.append(values.buffer(1, bits / 8))
        var inner = ImportedBuffers()
        try inner.add(dictionary.values, array, ImportedRange(start: 0, count: Int(array.length)))
        dictionaries += inner.dictionaries
        dictionaries.append((dictionary.id, dictionary.values, array))
    }

    /// Appends a bitmap that begins at a bit of `base`; an empty buffer if it is NULL.
    private mutating func addBits(_ base: UnsafeRawPointer?, _ start: Int, _ count: Int) {
        guard let base, count > 0 else { return buffers.append(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard start & 7 != 0 else { return buffers.append(UnsafeRawBufferPointer(start: base + start >> 3, count: (count + 7) / 8)) }
        let bits = ShiftedBits(Bits(base, from: start, count: count))
        shifted.append(bits)
        buffers.append(bits.words.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[..<((count + 7) / 8)]) })
    }
}

/// The used values of an array: its buffers from the first of them on.
private struct ImportedValues {
    let field: ArrowField
    let array: CArrow.ArrowArray
    /// The position of the first value in the buffers.
    let start: Int
    let count: Int
    /// Whether all values of the array are used.
    let isWhole: Bool

    init(_ field: ArrowField, _ array: CArrow.ArrowArray, _ range: ImportedRange) throws(ArrowFault) {
        let (start, overflow) = Int(array.offset).addingReportingOverflow(range.start)
        guard array.offset >= 0, array.length >= 0, range.start >= 0, range.count >= 0, !overflow, range.start <= Int(array.length),
            range.count <= Int(array.length) - range.start
        else {
            throw ArrowFault(
                "\"\(field.path)\" has \(array.length) values at \(array.offset), and \(range.count) are needed", code: .rejected)
        }
        (self.field, self.array, self.start, count) = (field, array, start, range.count)
        isWhole = range.start == 0 && range.count == Int(array.length)
    }

    /// The values as values of a child that has no offsets into it.
    var range: ImportedRange { ImportedRange(start: start, count: count) }

    func pointer(_ index: Int) -> UnsafeRawPointer? { index >= 0 && index < array.n_buffers ? array.buffers?[index] : nil }

    /// Returns a buffer of values of `width` bytes, and `more` of them after the last.
    func buffer(_ index: Int, _ width: Int, more: Int = 0) -> UnsafeRawBufferPointer {
        let (bytes, tooMany) = (count + more).multipliedReportingOverflow(by: width)
        guard let base = pointer(index), !tooMany else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: base + start * width, count: bytes)
    }

    func child(_ index: Int) throws(ArrowFault) -> CArrow.ArrowArray {
        guard index < array.n_children, let child = array.children?[index] else {
            throw ArrowFault("\"\(field.path)\" has \(array.n_children) children", code: .rejected)
        }
        return child.pointee
    }

    func all(_ index: Int) throws(ArrowFault) -> ImportedRange { ImportedRange(start: 0, count: Int(try child(index).length)) }

    /// The bytes of texts up to the last offset.
    func texts(_ offsets: UnsafeRawBufferPointer, isLarge: Bool) -> UnsafeRawBufferPointer {
        let width = isLarge ? 8 : 4, base = pointer(2)
        guard base != nil, offsets.count >= width else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let last = offsets.count - width
        let end =
            isLarge
            ? Int(offsets.loadUnaligned(fromByteOffset: last, as: Int64.self))
            : Int(offsets.loadUnaligned(fromByteOffset: last, as: Int32.self))
        return UnsafeRawBufferPointer(start: base, count: max(0, end))
    }

    /// The buffers of texts of views, whose sizes are in the last buffer.
    var viewed: [UnsafeRawBufferPointer] {
        let sizes = pointer(Int(array.n_buffers) - 1)
        return (0..<max(0, Int(array.n_buffers) - 3)).map { i in
            let size = sizes?.loadUnaligned(fromByteOffset: i * 8, as: Int64.self) ?? 0
            return UnsafeRawBufferPointer(start: pointer(2 + i), count: pointer(2 + i) == nil ? 0 : Int(max(0, size)))
        }
    }
}
