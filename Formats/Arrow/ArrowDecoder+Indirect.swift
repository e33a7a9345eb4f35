import FirnBytes
import FirnExchange
import FirnTable

/// Values that are stored elsewhere: in a dictionary, once for each run, or in one of several columns.
extension ArrowDecoder {
    mutating func dictionary(_ plan: ArrowPlan, _ values: ArrowPlan, _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault) -> Column {
        guard let dictionary = plan.field.dictionary else { throw ArrowFault("no dictionary") }
        var present = try validity(plan, rows, within: outer)
        let isEmpty = present?.noneSet ?? rows.isEmpty
        guard !isEmpty else { return ArrowDecoder.nulls(plan, rows.count) }
        guard let (column, count) = try self.values(of: dictionary.id) else {
            throw ArrowFault("the dictionary \(dictionary.id) of \"\(plan.field.path)\" is missing", at: batch.header.offset)
        }
        try room.reserve(rows.count, times: 8)
        let order = try indexes(plan.field, dictionary.index, rows, present, count: count)
        var out = try gather(column, order)
        out.type = plan.type
        if let bits = column.present {
            var own = Bits(repeating: false, count: rows.count)
            for i in 0..<rows.count where bits[order[i]] { own[i] = true }
            present = Bits.both(present, own)
        }
        out.present = present.flatMap { $0.allSet ? nil : $0 }
        if plan.isRequired, let found = out.present, found != outer ?? Bits(repeating: true, count: rows.count) {
            throw ArrowFault(
                "\"\(plan.field.path)\" is declared as not null, and has nulls", at: batch.header.offset, code: .rejected,
                advice: "write it with a nullable column")
        }
        return out
    }

    /// A column without any value.
    private static func nulls(_ plan: ArrowPlan, _ count: Int) -> Column {
        var out = plan.emptyColumn
        out.appendNulls(count)
        return out
    }

    /// Reads indexes below `count`. Rows without a value get 0.
    private func indexes(_ field: ArrowField, _ type: ArrowType, _ rows: Range<Int>, _ present: Bits?, count: Int) throws(ArrowFault)
        -> [Int]
    {
        guard case .int(let bits, let isSigned) = type else { throw ArrowFault("the indexes of a dictionary are no integers") }
        let buffer = try buffer(field, 1, rows.upperBound, width: bits / 8)
        guard let base = buffer.bytes.baseAddress else { throw ArrowFault("no indexes", at: buffer.offset) }
        var wrong: Int?
        func read<T: FixedWidthInteger>(_ type: T.Type) -> [Int] {
            [Int](unsafeUninitializedCapacity: rows.count) { out, filled in
                filled = rows.count
                for i in 0..<rows.count {
                    let at = (rows.lowerBound &+ i) &* MemoryLayout<T>.size
                    let value = Int(truncatingIfNeeded: T(littleEndian: base.loadUnaligned(fromByteOffset: at, as: T.self)))
                    let isValid = value >= 0 && value < count
                    out[i] = isValid ? value : 0
                    if !isValid, wrong == nil, present?[i] ?? true { wrong = i }
                }
            }
        }
        let order: [Int] =
            switch (bits, isSigned) {
            case (8, true): read(Int8.self)
            case (8, false): read(UInt8.self)
            case (16, true): read(Int16.self)
            case (16, false): read(UInt16.self)
            case (32, true): read(Int32.self)
            case (32, false): read(UInt32.self)
            case (64, true): read(Int64.self)
            default: read(UInt64.self)
            }
        if let wrong {
            let row = rows.lowerBound + wrong
            throw ArrowFault(
                "row \(row) of \"\(field.path)\" is outside of the dictionary, which has \(count) values",
                at: buffer.offset + row * bits / 8)
        }
        return order
    }

    private func values(of id: Int64) throws(ArrowFault) -> (column: Column, count: Int)? {
        guard let (column, count) = try dictionarySource.values(id), count > 0 else {
            return dictionarySource.has(id) ? (Column(ColumnType(.bool)), 0) : nil
        }
        return (column, count)
    }

    /// Returns rows of a column, which exist. The validity of the result is undefined.
    private func gather(_ column: Column, _ order: [Int]) throws(ArrowFault) -> Column {
        guard !order.isEmpty, column.count > 0 else { return column }
        guard !column.type.isCollection, column.children.isEmpty, column.type.kind != .any else {
            try room.reserve(column.footprint(gathering: order))
            return column.gather(order)
        }
        var out = Column(column.type)
        out.count = order.count
        if !column.words.isEmpty { out.words = try gather(column.words, order) }
        if !column.extra.isEmpty { out.extra = try gather(column.extra, order) }
        if !column.reals.isEmpty { out.reals = try gather(column.reals, order) }
        guard column.text.count > 0 else { return out }
        try room.reserve(order.count, times: 8)
        var total = 0
        let offsets = [Int](unsafeUninitializedCapacity: order.count + 1) { offsets, filled in
            filled = order.count + 1
            offsets[0] = 0
            column.text.offsets.withUnsafeBufferPointer { ends in
                for (i, row) in order.enumerated() {
                    total &+= ends[row &+ 1] &- ends[row]
                    offsets[i &+ 1] = total
                }
            }
        }
        try room.reserve(total)
        let bytes = [UInt8](unsafeUninitializedCapacity: total) { bytes, filled in
            filled = total
            column.text.bytes.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
                column.text.offsets.withUnsafeBufferPointer { ends in
                    for (i, row) in order.enumerated() {
                        let start = ends[row], count = ends[row &+ 1] &- start, at = offsets[i]
                        if count <= 16, start &+ 16 <= source.count, at &+ 16 <= total {
                            (to + at).storeBytes(of: (from + start).loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
                        } else if count > 0 {
                            (to + at).copyMemory(from: from + start, byteCount: count)
                        }
                    }
                }
            }
        }
        out.text = Text(offsets: offsets, bytes: bytes)
        return out
    }

    private func gather<T: BitwiseCopyable>(_ values: [T], _ order: [Int]) throws(ArrowFault) -> [T] {
        try room.reserve(order.count, times: 8)
        return [T](unsafeUninitializedCapacity: order.count) { out, filled in
            filled = order.count
            values.withUnsafeBufferPointer { values in for i in 0..<order.count { out[i] = values[order[i]] } }
        }
    }

    // MARK: Runs

    mutating func runs(_ plan: ArrowPlan, _ values: ArrowPlan, _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault) -> Column {
        let field = plan.field, ends = field.children[0], length = try batch.header.node(field.node).length
        guard rows.upperBound <= length else {
            throw ArrowFault("\"\(field.path)\" has \(length) values, and \(rows.upperBound) are needed", at: batch.header.offset)
        }
        guard !rows.isEmpty else { return ArrowDecoder.nulls(plan, 0) }
        guard case .int(let bits, _) = ends.type else { throw ArrowFault("run ends of another type") }
        let count = try batch.header.node(ends.node).length, buffer = try buffer(ends, 1, count, width: bits / 8)
        func end(_ run: Int) -> Int {
            switch bits {
            case 16: Int(Int16(littleEndian: buffer.bytes.loadUnaligned(fromByteOffset: run * 2, as: Int16.self)))
            case 32: Int(Int32(littleEndian: buffer.bytes.loadUnaligned(fromByteOffset: run * 4, as: Int32.self)))
            default: Int(Int64(littleEndian: buffer.bytes.loadUnaligned(fromByteOffset: run * 8, as: Int64.self)))
            }
        }
        try batch.checkOnce(ends.node) { () throws(ArrowFault) in
            var last = 0
            for run in 0..<count {
                guard end(run) > last else {
                    throw ArrowFault(
                        "run \(run) of \"\(field.path)\" ends at \(end(run)), and the one before it at \(last)",
                        at: buffer.offset + run * bits / 8)
                }
                last = end(run)
            }
            guard last >= length else {
                throw ArrowFault("the runs of \"\(field.path)\" end at \(last) of \(length) values", at: buffer.offset)
            }
        }
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if end(middle) > rows.lowerBound { high = middle } else { low = middle + 1 }
        }
        try room.reserve(rows.count, times: 8)
        var order: [Int] = [], run = low
        order.reserveCapacity(rows.count)
        for row in rows {
            if end(run) <= row { run += 1 }
            order.append(run - low)
        }
        let column = try decode(values, low..<run + 1, within: nil)
        var out = try gather(column, order)
        out.type = plan.type
        var present = outer
        if let bits = column.present {
            var own = Bits(repeating: false, count: rows.count)
            for i in 0..<rows.count where bits[order[i]] { own[i] = true }
            present = Bits.both(own, outer)
        }
        out.present = present.flatMap { $0.allSet ? nil : $0 }
        return out
    }

    // MARK: Unions

    mutating func union(_ plan: ArrowPlan, _ alternatives: [ArrowPlan], _ rows: Range<Int>, within outer: Bits?) throws(ArrowFault)
        -> Column
    {
        let field = plan.field, present = try validity(plan, rows, within: outer)
        guard case .union(let isDense, let declared) = field.type else { throw ArrowFault("no union") }
        var positions = [Int](repeating: -1, count: 128)
        for (position, id) in (declared.isEmpty ? alternatives.indices.map { Int32($0) } : declared).enumerated() {
            positions[Int(id)] = position
        }
        let first = batch.header.hasUnionValidity ? 1 : 0
        let ids = try buffer(field, first, rows.upperBound, width: 1)
        try room.reserve(rows.count, times: 56)
        var chosen: [Int] = []
        chosen.reserveCapacity(rows.count)
        for (i, row) in rows.enumerated() {
            let id = ids.bytes.loadUnaligned(fromByteOffset: row, as: Int8.self)
            guard id >= 0, positions[Int(id)] >= 0 else {
                guard present?[i] ?? true else {
                    chosen.append(0)
                    continue
                }
                throw ArrowFault(
                    "row \(row) of \"\(field.path)\" has the type id \(id), which the union does not have", at: ids.offset + row)
            }
            chosen.append(positions[Int(id)])
        }
        let at = isDense ? try denseRows(field, rows, chosen, present, alternatives.count) : [Int](rows)
        var columns: [Column] = [], starts: [Int] = []
        for (position, alternative) in alternatives.enumerated() {
            var low = Int.max, high = 0
            for i in 0..<rows.count where chosen[i] == position && present?[i] ?? true {
                (low, high) = (min(low, at[i]), max(high, at[i] + 1))
            }
            columns.append(try decode(alternative, high == 0 ? 0..<0 : low..<high, within: nil))
            starts.append(high == 0 ? 0 : low)
        }
        var out = Column(plan.type)
        for i in 0..<rows.count {
            guard present?[i] ?? true else {
                out.appendNull()
                continue
            }
            let value = ArrowDecoder.value(columns[chosen[i]], alternatives[chosen[i]], at[i] - starts[chosen[i]])
            if !out.append(value) { out.appendNull() }
            if i % 1024 == 1023 { try room.reserve(out.text.bytes.count / max(1, i / 1024)) }
        }
        return out
    }

    /// Reads the rows of the alternatives to which the rows of a dense union refer.
    private func denseRows(_ field: ArrowField, _ rows: Range<Int>, _ chosen: [Int], _ present: Bits?, _ count: Int) throws(ArrowFault)
        -> [Int]
    {
        let first = batch.header.hasUnionValidity ? 2 : 1, offsets = try buffer(field, first, rows.upperBound, width: 4)
        var lengths: [Int] = [], out: [Int] = []
        for child in field.children { lengths.append(try batch.header.node(child.node).length) }
        out.reserveCapacity(rows.count)
        for (i, row) in rows.enumerated() {
            let offset = Int(Int32(littleEndian: offsets.bytes.loadUnaligned(fromByteOffset: row * 4, as: Int32.self)))
            guard offset >= 0, offset < lengths[chosen[i]] else {
                guard present?[i] ?? true else {
                    out.append(0)
                    continue
                }
                throw ArrowFault(
                    "row \(row) of \"\(field.path)\" refers to value \(offset) of \(lengths[chosen[i]])", at: offsets.offset + row * 4)
            }
            out.append(offset)
        }
        return out
    }

    /// Returns a value as one of any kind: objects become maps.
    private static func value(_ column: Column, _ plan: ArrowPlan, _ row: Int) -> Value {
        guard column.isPresent(row) else { return .null }
        switch plan.shape {
        case .leaf, .union, .absent: return column.value(at: row)
        case .dictionary(let values), .runs(let values): return value(column, values, row)
        case .wrapped(let inner): return value(column.children[0], inner, row)
        case .object(let fields):
            var entries = zip(fields, column.children).map { Value.Entry($0.name, value($1, $0, row)) }
            entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return .map(entries)
        case .list(let element):
            return .list((column.offsets[row]..<column.offsets[row + 1]).map { value(column.children[0], element, $0) })
        case .map(_, let element):
            return .map(
                (column.offsets[row]..<column.offsets[row + 1]).map {
                    Value.Entry(column.children[0].text.string($0), value(column.children[1], element, $0))
                })
        }
    }
}

/// What was changed so that values fit, counted.
struct ArrowChanges {
    var maps = MapChanges()
    /// Dates with a time, which was left out.
    var timesOfDates = 0

    static func + (a: ArrowChanges, b: ArrowChanges) -> ArrowChanges {
        var sum = a
        sum.maps += b.maps
        sum.timesOfDates += b.timesOfDates
        return sum
    }

    func remarks(_ column: String) -> [String] {
        var out = maps.remarks(column)
        if timesOfDates > 0 { out.append("column \"\(column)\": \(timesOfDates) dates have a time, which is left out") }
        return out
    }
}
