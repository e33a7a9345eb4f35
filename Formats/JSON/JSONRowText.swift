import FirnBytes
import FirnExchange
import FirnTable

/// How a row is written: as an object of its columns, as the value of its only column, or as a member of an object that has the text of
/// the first column as its key.
struct JSONRowForm: Sendable {
    enum Content { case object, value, keyed }
    var content = Content.object
    /// What precedes the first row, and each of the others.
    var beforeFirst: [UInt8] = []
    var before: [UInt8] = []
    var after: [UInt8] = []
    /// The depth in an indented document; a negative one writes a row without line breaks.
    var indent = -1
}

/// The text of consecutive rows. Only one thread may use it at a time.
///
/// Members of objects are formatted column by column, some hundred rows at a time, so that they stay in the cache, and then joined.
final class JSONRowText: @unchecked Sendable {
    private var text = JSONBytes()
    private(set) var loss = JSONLoss()
    private var lanes: [JSONLane] = []

    /// At most how many rows and cells are formatted at a time, and how many columns have a lane.
    private static let rowsAtATime = 256
    private static let maximumCells = 1 << 15
    private static let maximumLanes = 1024

    deinit { for lane in lanes { lane.free() } }

    /// The text of the rows of the last call of `format`.
    var bytes: UnsafeRawBufferPointer { text.bytes }

    /// Formats rows of the columns in `fields`. `isFirst`: whether the first of them is the first that is written.
    func format(_ fields: [ColumnView], _ rows: Range<Int>, _ form: JSONRowForm, isFirst: Bool) {
        text.removeAll()
        loss = JSONLoss()
        let members = form.content == .keyed ? Array(fields.dropFirst()) : fields
        if form.content == .value || members.count > JSONRowText.maximumLanes {
            return formatEach(fields, rows, form, isFirst: isFirst)
        }
        while lanes.count <= members.count { lanes.append(JSONLane(rows: JSONRowText.rowsAtATime)) }
        for (i, field) in members.enumerated() { lanes[i].setLead(field.key, indent: form.indent) }
        let step = max(16, min(JSONRowText.rowsAtATime, JSONRowText.maximumCells / max(1, members.count)))
        var start = rows.lowerBound
        while start < rows.upperBound {
            let part = start..<min(start + step, rows.upperBound)
            for (i, field) in members.enumerated() { field.fill(part, lanes[i], &loss, indent: form.indent) }
            let keys = form.content == .keyed ? lanes[members.count] : nil
            if let keys { fields[0].fill(keys: part, keys, isPretty: form.indent >= 0) }
            join(part.count, of: members.count, keys: keys, form, isFirst: isFirst && start == rows.lowerBound)
            start = part.upperBound
        }
    }

    /// Formats rows one after the other: single values, and objects with so many columns that lanes would take too much memory.
    private func formatEach(_ fields: [ColumnView], _ rows: Range<Int>, _ form: JSONRowForm, isFirst: Bool) {
        let members = form.content == .keyed ? Array(fields.dropFirst()) : fields
        for row in rows {
            text.append(isFirst && row == rows.lowerBound ? form.beforeFirst : form.before)
            if form.content == .value {
                fields[0].write(row, to: &text, &loss, indent: form.indent)
            } else {
                if form.content == .keyed {
                    fields[0].append(key: row, to: &text)
                    text.append(form.indent >= 0 ? ": " : ":")
                }
                ColumnView.write(object: members, row, to: &text, &loss, indent: form.indent)
            }
            text.append(form.after)
        }
    }

    /// Joins the members in the first lanes to objects.
    private func join(_ rows: Int, of width: Int, keys: JSONLane?, _ form: JSONRowForm, isFirst: Bool) {
        var closing = JSONBytes()
        if form.indent >= 0 { closing.breakLine(form.indent) }
        let close = Array(closing.bytes), end = [UInt8(ascii: "}")] + form.after
        let constant = max(form.before.count, form.beforeFirst.count) + close.count + end.count + 1
        let out = text.room(lanes[...width].reduce(rows * constant + JSONLane.slack) { $0 + $1.text.pointee.count })
        var at = 0
        func put(_ bytes: [UInt8]) {
            for byte in bytes {
                out[at] = byte
                at &+= 1
            }
        }
        lanes.withUnsafeBufferPointer { lanes in
            for row in 0..<rows {
                put(isFirst && row == 0 ? form.beforeFirst : form.before)
                if let keys {
                    let length = keys.copy(row, skipping: 0, to: out + at)
                    at &+= length
                }
                out[at] = UInt8(ascii: "{")
                at &+= 1
                // Each member begins with a comma; that of the first one is left out.
                var skipped = 1
                for i in 0..<width {
                    let length = lanes[i].copy(row, skipping: skipped, to: out + at)
                    if length > 0 { skipped = 0 }
                    at &+= length
                }
                if skipped == 0 { put(close) }
                put(end)
            }
        }
        text.advance(at)
    }
}

/// The text of one column in consecutive rows; it is empty for rows without a value.
struct JSONLane {
    /// The number of bytes after a text that copies may read and overwrite.
    static let slack = 32
    let text: UnsafeMutablePointer<JSONBytes>
    /// Where the text of each row ends.
    let ends: UnsafeMutablePointer<Int>
    /// What precedes each value: a comma, a line break in an indented document, and the name. After its `leadCount` bytes, zeros make its
    /// length a multiple of 16.
    private(set) var lead: [UInt8] = []
    private(set) var leadCount = 0

    init(rows: Int) {
        text = .allocate(capacity: 1)
        text.initialize(to: JSONBytes(first: 0))
        ends = .allocate(capacity: rows)
        ends.initialize(repeating: 0, count: rows)
    }

    func free() {
        text.deinitialize(count: 1)
        text.deallocate()
        ends.deallocate()
    }

    /// `key`: the name of the column, as it is written.
    mutating func setLead(_ key: [UInt8], indent: Int) {
        var text = JSONBytes()
        text.append(UInt8(ascii: ","))
        if indent >= 0 { text.breakLine(indent + 1) }
        text.append(key)
        leadCount = text.count
        lead = Array(text.bytes) + [UInt8](repeating: 0, count: (16 - leadCount % 16) % 16)
    }

    func appendLead() { text.pointee.append(lead, count: leadCount) }

    /// Copies the text of a row without its first `skipped` bytes, and returns the number of bytes. It overwrites at most `slack` bytes
    /// after them.
    @inline(__always)
    func copy(_ row: Int, skipping skipped: Int, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let start = row == 0 ? 0 : ends[row &- 1], length = ends[row] &- start &- skipped
        guard length > 0 else { return 0 }
        let from = UnsafeRawPointer(text.pointee.base + start + skipped), to = UnsafeMutableRawPointer(out)
        if length <= 32 {
            to.storeBytes(of: from.loadUnaligned(as: SIMD4<UInt64>.self), as: SIMD4<UInt64>.self)
        } else {
            to.copyMemory(from: from, byteCount: length)
        }
        return length
    }
}
