import FirnBytes
import FirnExchange
import FirnTable

/// Members of objects, formatted column by column.
extension ColumnView {
    /// Formats the texts of rows as keys.
    func fill(keys rows: Range<Int>, _ lane: JSONLane, isPretty: Bool) {
        lane.text.pointee.removeAll()
        for row in rows {
            append(key: row, to: &lane.text.pointee)
            lane.text.pointee.append(isPretty ? ": " : ":")
            lane.ends[row &- rows.lowerBound] = lane.text.pointee.count
        }
        _ = lane.text.pointee.room(JSONLane.slack)
    }

    /// Formats the members of rows: the lead of the lane and the value, or nothing if the row has no value.
    func fill(_ rows: Range<Int>, _ lane: JSONLane, _ loss: inout JSONLoss, indent: Int) {
        lane.text.pointee.removeAll()
        if !isFlat || rows.contains(where: { hasOriginal($0) }) {
            fillEach(rows, lane, &loss, indent: indent)
        } else {
            fillFlat(rows, lane, &loss, indent: indent)
        }
        _ = lane.text.pointee.room(JSONLane.slack)
    }

    private func fillEach(
        _ rows: Range<Int>, _ lane: JSONLane, _ loss: inout JSONLoss, indent: Int
    ) {
        for row in rows {
            if isWritten(row) {
                lane.appendLead()
                write(row, to: &lane.text.pointee, &loss, indent: indent < 0 ? indent : indent &+ 1)
            }
            lane.ends[row &- rows.lowerBound] = lane.text.pointee.count
        }
    }

    private func fillFlat(
        _ rows: Range<Int>, _ lane: JSONLane, _ loss: inout JSONLoss, indent: Int
    ) {
        switch kind {
        case .int, .link:
            words.withUnsafeBufferPointer { words in
                each(rows, lane, most: NumberText.room) { row, out in NumberText.write(words[row], to: out) }
            }
        case .double:
            reals.withUnsafeBufferPointer { reals in
                each(rows, lane, most: NumberText.room) { row, out in
                    if reals[row].isFinite { return NumberText.write(reals[row], notation, to: out) }
                    loss.nonFinite += 1
                    return ColumnView.writeNull(to: out)
                }
            }
        case .bool:
            words.withUnsafeBufferPointer { words in
                each(rows, lane, most: 8) { row, out in
                    let text: StaticString = words[row] != 0 ? "true" : "false"
                    out.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
                    return text.utf8CodeUnitCount
                }
            }
        case .date: fillDates(rows, lane)
        case .uuid:
            let isUpper = notation == .uuidUpper
            each(rows, lane, most: 38) { row, out in
                IdentifierText.write(uuid: Column.uuid(words[row], extra[row]), upper: isUpper, to: out + 1)
                return ColumnView.writeQuotes(around: 36, in: out)
            }
        case .objectID:
            each(rows, lane, most: 26) { row, out in
                IdentifierText.write(objectID: Column.objectID(words[row], extra[row]), to: out + 1)
                return ColumnView.writeQuotes(around: 24, in: out)
            }
        case .string: fillTexts(rows, lane)
        default: fillEach(rows, lane, &loss, indent: indent)
        }
    }

    private func fillDates(_ rows: Range<Int>, _ lane: JSONLane) {
        let writer = DateWriter(notation)
        words.withUnsafeBufferPointer { seconds in
            extra.withUnsafeBufferPointer { nanoseconds in
                each(rows, lane, most: DateText.room + 2) { row, out in
                    let count = writer.write(seconds: seconds[row], nanoseconds: nanoseconds[row], to: out + 1)
                    return ColumnView.writeQuotes(around: count, in: out)
                }
            }
        }
    }

    private func fillTexts(_ rows: Range<Int>, _ lane: JSONLane) {
        textOffsets.withUnsafeBufferPointer { offsets in
            textBytes.withUnsafeBufferPointer { bytes in
                for row in rows {
                    if isPresent(row) {
                        lane.appendLead()
                        let text = UnsafeBufferPointer(rebasing: bytes[offsets[row]..<offsets[row &+ 1]])
                        lane.text.pointee.append(quoted: UnsafeRawBufferPointer(text))
                    } else if writesNull {
                        lane.appendLead()
                        lane.text.pointee.append("null")
                    }
                    lane.ends[row &- rows.lowerBound] = lane.text.pointee.count
                }
            }
        }
    }

    /// Formats members whose values take at most `most` bytes. `write` writes the value of a row, and returns the number of its bytes.
    @inline(__always)
    private func each(
        _ rows: Range<Int>, _ lane: JSONLane, most: Int,
        _ write: (Int, UnsafeMutablePointer<UInt8>) -> Int
    ) {
        let out = lane.text.pointee.room(rows.count * (lane.leadCount + most) + 16), ends = lane.ends
        var at = 0
        lane.lead.withUnsafeBytes { bytes in
            for row in rows {
                let isPresent = isPresent(row)
                if isPresent || writesNull {
                    var i = 0
                    while i < lane.leadCount {
                        UnsafeMutableRawPointer(out + at + i).storeBytes(
                            of: bytes.loadUnaligned(fromByteOffset: i, as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
                        i &+= 16
                    }
                    at &+= lane.leadCount
                    at &+= isPresent ? write(row, out + at) : ColumnView.writeNull(to: out + at)
                }
                ends[row &- rows.lowerBound] = at
            }
        }
        lane.text.pointee.advance(at)
    }

    @inline(__always)
    private static func writeNull(to out: UnsafeMutablePointer<UInt8>) -> Int {
        for (i, byte) in "null".utf8.enumerated() { out[i] = byte }
        return 4
    }

    /// Puts the `count` bytes after the first one in quotes.
    @inline(__always)
    private static func writeQuotes(around count: Int, in out: UnsafeMutablePointer<UInt8>) -> Int {
        out[0] = UInt8(ascii: "\"")
        out[count &+ 1] = UInt8(ascii: "\"")
        return count &+ 2
    }
}
