import FirnBytes
import FirnExchange
import FirnTable

/// Memory for decoding, which the pages of a leaf share.
final class LeafScratch {
    var room = DecodingRoom()
    private let wordMemory = PageBuffer()

    /// Memory for codes of a dictionary.
    func codes(_ count: Int) throws(ParquetFault) -> UnsafeMutablePointer<UInt32> {
        try wordMemory.reserve(count * 8)
        return wordMemory.base.bindMemory(to: UInt32.self, capacity: count)
    }

    func words(_ count: Int) throws(ParquetFault) -> UnsafeMutablePointer<Int64> {
        try wordMemory.reserve(count * 8)
        return wordMemory.base.bindMemory(to: Int64.self, capacity: count)
    }

    func raw(_ count: Int) throws(ParquetFault) -> UnsafeMutableRawPointer {
        try wordMemory.reserve(count)
        return wordMemory.base
    }
}

/// Copies values of a dictionary.
enum DictionaryGather {
    static func append(
        _ dictionary: Column, _ codes: UnsafeMutablePointer<UInt32>, count: Int, _ conversion: LeafConversion, _ room: DecodingRoom,
        to column: inout Column
    ) throws(ParquetFault) {
        var highest: UInt32 = 0
        for i in 0..<count { highest = max(highest, codes[i]) }
        guard Int(highest) < dictionary.count else {
            throw ParquetFault("a code is \(highest), and the dictionary has \(dictionary.count) values")
        }
        switch conversion.form.kind {
        case .bool, .int: gather(dictionary.words, codes, count, to: &column.words)
        case .float, .double: gather(dictionary.reals, codes, count, to: &column.reals)
        case .string, .data: try append(dictionary.text, codes, count, room, to: &column.text)
        default:
            gather(dictionary.words, codes, count, to: &column.words)
            if conversion.form == .date {
                // Days have no nanoseconds.
                column.extra.grow(count, zero: 0) { _ in }
            } else {
                gather(dictionary.extra, codes, count, to: &column.extra)
            }
        }
    }

    private static func gather<T: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _ from: [T], _ codes: UnsafeMutablePointer<UInt32>, _ count: Int, to: inout [T]
    ) {
        from.withUnsafeBufferPointer { from in
            guard let values = from.baseAddress else { return }
            to.grow(count, zero: 0) { out in
                for i in 0..<count { out[i] = values[Int(codes[i])] }
            }
        }
    }

    /// Appends the texts with the given codes, all of which must be within the dictionary.
    static func append(
        _ from: Text, _ codes: UnsafePointer<UInt32>, _ count: Int, _ room: DecodingRoom, to: inout Text
    ) throws(ParquetFault) {
        let first = to.bytes.count
        var end = first
        from.offsets.withUnsafeBufferPointer { bounds in
            to.offsets.grow(count, zero: 0) { out in
                for i in 0..<count {
                    let code = Int(codes[i])
                    end &+= bounds[code &+ 1] &- bounds[code]
                    out[i] = end
                }
            }
        }
        try room.reserve(end - first)
        let start = to.offsets.count - count
        to.bytes.append(addingCapacity: end - first + 16) { $0.append(repeating: 0, count: end - first + 16) }
        to.bytes.withUnsafeMutableBytes { all in
            from.bytes.withUnsafeBytes { source in
                guard let out = all.baseAddress, let values = source.baseAddress else { return }
                from.offsets.withUnsafeBufferPointer { bounds in
                    to.offsets.withUnsafeBufferPointer { ends in
                        var at = first
                        for i in 0..<count {
                            let from = bounds[Int(codes[i])]
                            copyShort(values + from, to: out + at, count: ends[start &+ i] &- at, hasSlack: from &+ 16 <= source.count)
                            at = ends[start &+ i]
                        }
                    }
                }
            }
        }
        to.bytes.removeLast(16)
    }
}
