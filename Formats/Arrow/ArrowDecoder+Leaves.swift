import FirnBytes
import FirnExchange
import FirnTable

/// Values of fields without children.
extension ArrowDecoder {
    /// Appends the values of some rows to a column of the plan's type.
    mutating func append(_ plan: ArrowPlan, _ form: ArrowForm, _ rows: Range<Int>, within outer: Bits?, to out: inout Column)
        throws(ArrowFault)
    {
        let count = rows.count
        if form == .null {
            guard rows.upperBound <= (try batch.header.node(plan.field.node).length) else {
                throw ArrowFault("\"\(plan.field.path)\" has fewer values than are needed", at: batch.header.offset)
            }
            try room.reserve(count, times: 9)
            return out.appendNulls(count)
        }
        let present = try validity(plan, rows, within: outer)
        if form == .textOfAny { return try appendAny(plan, rows, present, to: &out) }
        if let present, !present.allSet {
            var bits = out.present ?? Bits(repeating: true, count: out.count)
            bits.append(contentsOf: present)
            out.present = bits
        } else if out.present != nil {
            out.present?.append(repeating: true, count: count)
        }
        try room.reserve(count, times: form.footprint)
        guard count > 0 else { return }
        switch form {
        case .bool: try appendBits(plan.field, rows, to: &out)
        case .text, .bytes: try appendTexts(plan.field, rows, present, isText: form == .text, to: &out.text)
        case .textOfDecimal: try appendDecimals(plan, rows, present, to: &out)
        default:
            let buffer = try buffer(plan.field, 1, rows.upperBound, width: form.stride)
            guard form.stride > 0, let base = buffer.bytes.baseAddress else {
                out.text.appendEmpty(count: count)
                break
            }
            let values = ArrowValues(
                base: base + rows.lowerBound * form.stride, count: count, present: present,
                offset: buffer.offset + rows.lowerBound * form.stride, firstRow: rows.lowerBound, path: plan.field.path)
            try values.append(form, to: &out, &changes)
        }
        out.count += count
    }

    private func appendBits(_ field: ArrowField, _ rows: Range<Int>, to out: inout Column) throws(ArrowFault) {
        let buffer = try buffer(field, 1, (rows.upperBound + 7) / 8, width: 1)
        guard let base = buffer.bytes.baseAddress else { throw ArrowFault("no values", at: buffer.offset) }
        out.words.grow(rows.count, zero: 0) { out in
            var next = rows.lowerBound
            for i in 0..<rows.count {
                out[i] = Int64(base.load(fromByteOffset: next >> 3, as: UInt8.self) >> UInt8(next & 7) & 1)
                next &+= 1
            }
        }
    }

    /// Appends texts or byte strings. Those of rows without a value are empty.
    private func appendTexts(_ field: ArrowField, _ rows: Range<Int>, _ present: Bits?, isText: Bool, to text: inout Text)
        throws(ArrowFault)
    {
        let first = text.count
        switch field.type {
        case .bytes(.view), .text(.view): try appendViews(field, rows, present, to: &text)
        case .bytes(.large), .text(.large): try appendOffsets(field, rows, present, isLarge: true, to: &text)
        default: try appendOffsets(field, rows, present, isLarge: false, to: &text)
        }
        if isText, let wrong = TextCheck.firstInvalid(text, from: first) {
            throw ArrowFault(
                "row \(rows.lowerBound + wrong - first) of \"\(field.path)\" is not UTF-8", at: batch.header.offset, code: .rejected)
        }
    }

    private func appendOffsets(_ field: ArrowField, _ rows: Range<Int>, _ present: Bits?, isLarge: Bool, to text: inout Text)
        throws(ArrowFault)
    {
        let places = try buffer(field, 1, rows.upperBound + 1, width: isLarge ? 8 : 4)
        let data = try batch.buffer(batch.header.firstBuffer(of: field).index + 2)
        let offsets = try ArrowDecoder.offsets(places, rows, isLarge: isLarge, end: data.count, field.path)
        let start = offsets[0], end = offsets.last ?? start
        try room.reserve(end - start)
        var hasGaps = false
        if let present { for i in 0..<rows.count where !present[i] && offsets[i + 1] > offsets[i] { hasGaps = true } }
        if hasGaps, let present {
            for i in 0..<rows.count {
                if present[i] {
                    text.append(UnsafeRawBufferPointer(rebasing: data.bytes[offsets[i]..<offsets[i + 1]]))
                } else {
                    text.appendEmpty()
                }
            }
            return
        }
        let shift = text.bytes.count &- start
        text.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: data.bytes[start..<end]))
        text.offsets.grow(rows.count, zero: 0) { out in for i in 0..<rows.count { out[i] = offsets[i &+ 1] &+ shift } }
    }

    private func appendViews(_ field: ArrowField, _ rows: Range<Int>, _ present: Bits?, to text: inout Text) throws(ArrowFault) {
        let views = try buffer(field, 1, rows.upperBound, width: 16), (first, count) = batch.header.firstBuffer(of: field)
        var data: [UnsafeRawBufferPointer] = []
        for i in 0..<count { data.append(try batch.buffer(first + 2 + i).bytes) }
        func length(_ row: Int) -> Int { Int(Int32(littleEndian: views.bytes.loadUnaligned(fromByteOffset: row * 16, as: Int32.self))) }
        // Views can refer to the same bytes again and again.
        var total = 0
        for (i, row) in rows.enumerated() where present?[i] ?? true { total = total &+ max(0, length(row)) }
        try room.reserve(total)
        text.bytes.reserveCapacity(text.bytes.count + total)
        for (i, row) in rows.enumerated() {
            guard present?[i] ?? true else {
                text.appendEmpty()
                continue
            }
            let length = length(row)
            func fault(_ what: String) -> ArrowFault {
                ArrowFault("row \(row) of \"\(field.path)\" \(what)", at: views.offset + row * 16)
            }
            guard length >= 0 else { throw fault("has \(length) bytes") }
            if length <= 12 {
                text.append(UnsafeRawBufferPointer(rebasing: views.bytes[row * 16 + 4..<row * 16 + 4 + length]))
                continue
            }
            let index = Int(Int32(littleEndian: views.bytes.loadUnaligned(fromByteOffset: row * 16 + 8, as: Int32.self)))
            let start = Int(Int32(littleEndian: views.bytes.loadUnaligned(fromByteOffset: row * 16 + 12, as: Int32.self)))
            guard index >= 0, index < data.count else { throw fault("is in buffer \(index) of \(data.count)") }
            guard start >= 0, start <= data[index].count, length <= data[index].count - start else {
                throw fault("has \(length) bytes at \(start), outside of its buffer of \(data[index].count) bytes")
            }
            text.append(UnsafeRawBufferPointer(rebasing: data[index][start..<start + length]))
        }
    }

    /// Appends values of any kind, which Firn wrote as JSON.
    private func appendAny(_ plan: ArrowPlan, _ rows: Range<Int>, _ present: Bits?, to out: inout Column) throws(ArrowFault) {
        try room.reserve(rows.count, times: ArrowForm.textOfAny.footprint)
        var texts = Text()
        try appendTexts(plan.field, rows, present, isText: true, to: &texts)
        for i in 0..<rows.count {
            guard present?[i] ?? true else {
                out.appendNull()
                continue
            }
            guard let value = ExactJSON.value(texts.array(i)), out.append(value) else {
                throw ArrowFault(
                    "row \(rows.lowerBound + i) of \"\(plan.field.path)\" is not a value as Firn writes them", at: batch.header.offset,
                    code: .rejected)
            }
        }
    }

    /// Appends decimals, which Firn wrote as texts.
    private func appendDecimals(_ plan: ArrowPlan, _ rows: Range<Int>, _ present: Bits?, to out: inout Column) throws(ArrowFault) {
        var texts = Text()
        try appendTexts(plan.field, rows, present, isText: true, to: &texts)
        for i in 0..<rows.count {
            var value = Decimal(high: 0, low: 0)
            if present?[i] ?? true {
                guard let parsed = Decimal(texts.string(i)) else {
                    throw ArrowFault(
                        "row \(rows.lowerBound + i) of \"\(plan.field.path)\" is not a decimal", at: batch.header.offset, code: .rejected)
                }
                value = parsed
            }
            let pair = Column.pair(value)
            out.words.append(pair.0)
            out.extra.append(pair.1)
        }
    }
}
