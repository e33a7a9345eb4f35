import FirnBytes
import FirnExchange
import FirnTable

/// Decodes the values of one page, some at a time.
struct PageValues {
    private enum Form {
        case none
        /// Values of fixed length, one after the other.
        case fixed(UnsafeRawBufferPointer)
        case bits(UnsafeRawBufferPointer, bit: Int)
        case bitRuns(RunDecoder)
        /// Each value after its length.
        case lengths(UnsafeRawBufferPointer, at: Int)
        case codes(RunDecoder)
        case delta(DeltaDecoder)
        case deltaLength(DeltaDecoder, UnsafeRawBufferPointer)
        case deltaBytes(prefixes: DeltaDecoder, suffixes: DeltaDecoder, UnsafeRawBufferPointer)
        case split(UnsafeRawBufferPointer, position: Int)
        case alp(AlpDecoder)
    }

    private var form: Form
    private let conversion: LeafConversion
    /// The last value of DELTA_BYTE_ARRAY.
    private var previous: [UInt8] = []

    init() {
        form = .none
        conversion = LeafConversion(empty: ())
    }

    /// `count` is the number of values if all levels are those of a value: an upper limit.
    init(_ bytes: UnsafeRawBufferPointer, _ encoding: ParquetFormat.Encoding, _ conversion: LeafConversion) throws(ParquetFault) {
        self.conversion = conversion
        let physical = conversion.physical
        func mismatch() -> ParquetFault { ParquetFault.unknown("\(physical.name) values with the encoding \(encoding) are not known") }
        switch encoding {
        case .plain:
            switch physical {
            case .boolean: form = .bits(bytes, bit: 0)
            case .byteArray: form = .lengths(bytes, at: 0)
            default: form = .fixed(bytes)
            }
        case .plainDictionary, .dictionary:
            guard let width = bytes.first else {
                form = .codes(RunDecoder(bytes, width: 0))
                return
            }
            guard width <= 32 else { throw ParquetFault("codes of a dictionary have \(width) bits") }
            form = .codes(RunDecoder(UnsafeRawBufferPointer(rebasing: bytes[1...]), width: Int(width)))
        case .runs:
            guard physical == .boolean else { throw mismatch() }
            guard bytes.count >= 4 else { throw ParquetFault("the values are cut short") }
            let length = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            guard length <= bytes.count - 4 else { throw ParquetFault("the values are cut short") }
            form = .bitRuns(RunDecoder(UnsafeRawBufferPointer(rebasing: bytes[4..<(4 + length)]), width: 1))
        case .delta:
            guard physical == .int32 || physical == .int64 else { throw mismatch() }
            form = .delta(try DeltaDecoder(bytes))
        case .deltaLength:
            guard physical == .byteArray else { throw mismatch() }
            let lengths = try DeltaDecoder(bytes)
            form = .deltaLength(lengths, UnsafeRawBufferPointer(rebasing: bytes[try lengths.end()...]))
        case .deltaBytes:
            guard physical == .byteArray || physical == .fixed else { throw mismatch() }
            let prefixes = try DeltaDecoder(bytes), rest = UnsafeRawBufferPointer(rebasing: bytes[try prefixes.end()...])
            let suffixes = try DeltaDecoder(rest)
            form = .deltaBytes(prefixes: prefixes, suffixes: suffixes, UnsafeRawBufferPointer(rebasing: rest[try suffixes.end()...]))
        case .byteStreamSplit:
            guard conversion.stride > 0, physical != .int96 else { throw mismatch() }
            form = .split(bytes, position: 0)
        case .alp:
            guard physical == .float || physical == .double else { throw mismatch() }
            form = .alp(try AlpDecoder(bytes, isDouble: physical == .double))
        case .bitPacked: throw mismatch()
        }
    }

    private static func cut() -> ParquetFault { ParquetFault("the values of the page are cut short") }

    /// Appends the next `count` values.
    mutating func next(_ count: Int, dictionary: Column?, _ scratch: LeafScratch, to column: inout Column) throws(ParquetFault) {
        guard count > 0 else { return }
        try scratch.room.reserve(count * conversion.footprint)
        switch form {
        case .none: throw PageValues.cut()
        case .fixed(let bytes):
            let size = count * conversion.stride
            guard size <= bytes.count, let base = bytes.baseAddress else {
                guard size == 0 else { throw PageValues.cut() }
                return try conversion.append(scratch.raw(16), count: count, to: &column)
            }
            if conversion.form == .bytes || conversion.form == .text { try scratch.room.reserve(size) }
            try conversion.append(base, count: count, to: &column)
            form = .fixed(UnsafeRawBufferPointer(rebasing: bytes[size...]))
        case .bits(let bytes, let bit):
            guard (bit + count + 7) / 8 <= bytes.count else { throw PageValues.cut() }
            try checkBool()
            column.words.grow(count, zero: 0) { BitUnpacking.unpack(bytes, from: bit, width: 1, count: count, into: $0) }
            form = .bits(bytes, bit: bit + count)
        case .bitRuns(var runs):
            try checkBool()
            try column.words.grow(count, zero: 0) { (out) throws(ParquetFault) in try runs.next(count, into: out) }
            form = .bitRuns(runs)
        case .lengths(let bytes, let at): form = .lengths(bytes, at: try nextLengths(bytes, at, count, scratch, to: &column))
        case .codes(var runs):
            try nextCodes(&runs, count, dictionary: dictionary, scratch, to: &column)
            form = .codes(runs)
        case .delta(var delta):
            try nextDelta(&delta, count, scratch, to: &column)
            form = .delta(delta)
        case .deltaLength(var lengths, let bytes):
            let used = try nextDeltaLength(&lengths, bytes, count, scratch, to: &column)
            form = .deltaLength(lengths, UnsafeRawBufferPointer(rebasing: bytes[used...]))
        case .deltaBytes(var prefixes, var suffixes, let bytes):
            let used = try nextDeltaBytes(&prefixes, &suffixes, bytes, count, scratch, to: &column)
            form = .deltaBytes(prefixes: prefixes, suffixes: suffixes, UnsafeRawBufferPointer(rebasing: bytes[used...]))
        case .split(let bytes, let position):
            let stride = conversion.stride, total = bytes.count / stride
            guard position + count <= total, let base = bytes.baseAddress else { throw PageValues.cut() }
            let raw = try scratch.raw(count * stride)
            PageValues.gatherStreams(base + position, total: total, stride: stride, count: count, into: raw)
            if conversion.form == .bytes || conversion.form == .text { try scratch.room.reserve(count * stride) }
            try conversion.append(raw, count: count, to: &column)
            form = .split(bytes, position: position + count)
        case .alp(var alp):
            let raw = try scratch.raw(count * conversion.stride)
            form = .none
            try alp.next(count, into: raw)
            form = .alp(alp)
            try conversion.append(raw, count: count, to: &column)
        }
    }

    private func nextCodes(
        _ runs: inout RunDecoder, _ count: Int, dictionary: Column?, _ scratch: LeafScratch, to column: inout Column
    ) throws(ParquetFault) {
        guard let dictionary else { throw ParquetFault("the page uses a dictionary, and the column has none") }
        // In blocks that stay in the caches of the processor.
        let block = 2048, codes = try scratch.codes(min(count, block))
        for start in stride(from: 0, to: count, by: block) {
            let part = min(block, count - start)
            try runs.next(part, into: codes)
            try DictionaryGather.append(dictionary, codes, count: part, conversion, scratch.room, to: &column)
        }
    }

    private func nextDelta(
        _ delta: inout DeltaDecoder, _ count: Int, _ scratch: LeafScratch, to column: inout Column
    ) throws(ParquetFault) {
        let values = try scratch.words(count)
        try delta.next(count, into: values)
        if conversion.physical == .int32 {
            // In place: the low halves move to the front.
            let halves = UnsafeMutableRawPointer(values)
            for i in 0..<count { halves.storeBytes(of: Int32(truncatingIfNeeded: values[i]), toByteOffset: i &* 4, as: Int32.self) }
        }
        try conversion.append(values, count: count, to: &column)
    }

    private func checkBool() throws(ParquetFault) {
        guard conversion.form == .bool else { throw ParquetFault("the column is annotated as having no values, and has one") }
    }

    private static func gatherStreams(
        _ base: UnsafeRawPointer, total: Int, stride: Int, count: Int, into out: UnsafeMutableRawPointer
    ) {
        if stride == 8 {
            for i in 0..<count {
                var word: UInt64 = 0
                for k in 0..<8 { word |= UInt64(base.load(fromByteOffset: k &* total &+ i, as: UInt8.self)) &<< UInt64(k &* 8) }
                out.storeBytes(of: word.littleEndian, toByteOffset: i &* 8, as: UInt64.self)
            }
            return
        }
        for k in 0..<stride {
            let stream = base + k &* total
            for i in 0..<count {
                out.storeBytes(of: stream.load(fromByteOffset: i, as: UInt8.self), toByteOffset: i &* stride &+ k, as: UInt8.self)
            }
        }
    }

    /// Appends the next `count` values as positions in a sorted dictionary. Returns false, and reads nothing, if the page stores values and
    /// not codes.
    mutating func nextRanks(_ count: Int, _ ranks: [UInt32], _ scratch: LeafScratch, to out: inout [UInt32]) throws(ParquetFault) -> Bool {
        guard count > 0 else { return true }
        guard case .codes(var runs) = form else { return false }
        try scratch.room.reserve(count * 4)
        let codes = try scratch.codes(count)
        try runs.next(count, into: codes)
        form = .codes(runs)
        var highest: UInt32 = 0
        for i in 0..<count { highest = max(highest, codes[i]) }
        guard Int(highest) < ranks.count else {
            throw ParquetFault("a code is \(highest), and the dictionary has \(ranks.count) values")
        }
        ranks.withUnsafeBufferPointer { ranks in
            out.grow(count, zero: 0) { out in for i in 0..<count { out[i] = ranks[Int(codes[i])] } }
        }
        return true
    }

    // MARK: Values of variable length

    /// Values after their lengths. Returns the offset after them.
    private func nextLengths(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int, _ scratch: LeafScratch, to column: inout Column
    ) throws(ParquetFault) -> Int {
        guard let base = bytes.baseAddress else { throw PageValues.cut() }
        var at = start
        let isText = conversion.form == .text || conversion.form == .bytes
        guard isText else {
            for _ in 0..<count {
                guard let length = PageValues.length(base, at, bytes.count) else { throw PageValues.cut() }
                try scratch.room.reserve(length)
                try conversion.append(UnsafeRawBufferPointer(rebasing: bytes[at + 4..<at + 4 + length]), to: &column)
                at += 4 + length
            }
            return at
        }
        // First the lengths, then the bytes.
        let first = column.text.bytes.count
        var end = first, isCut = false
        column.text.offsets.grow(count, zero: 0) { offsets in
            for i in 0..<count {
                guard let length = PageValues.length(base, at, bytes.count) else {
                    isCut = true
                    return
                }
                end &+= length
                offsets[i] = end
                at &+= 4 &+ length
            }
        }
        guard !isCut else { throw PageValues.cut() }
        try scratch.room.reserve(end - first)
        var from = start
        let offsetsStart = column.text.offsets.count - count
        column.text.bytes.append(addingCapacity: end - first + 16) { $0.append(repeating: 0, count: end - first + 16) }
        column.text.bytes.withUnsafeMutableBytes { all in
            guard let out = all.baseAddress else { return }
            column.text.offsets.withUnsafeBufferPointer { offsets in
                var to = first
                for i in offsetsStart..<offsetsStart &+ count {
                    let length = offsets[i] &- to
                    copyShort(base + from + 4, to: out + to, count: length, hasSlack: from &+ 20 <= bytes.count)
                    from &+= 4 &+ length
                    to &+= length
                }
            }
        }
        column.text.bytes.removeLast(16)
        return at
    }

    @inline(__always)
    private static func length(_ base: UnsafeRawPointer, _ at: Int, _ count: Int) -> Int? {
        guard at &+ 4 <= count else { return nil }
        let length = Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        return length <= count &- at &- 4 ? length : nil
    }

    private func nextDeltaLength(
        _ lengths: inout DeltaDecoder, _ bytes: UnsafeRawBufferPointer, _ count: Int, _ scratch: LeafScratch, to column: inout Column
    ) throws(ParquetFault) -> Int {
        let sizes = try scratch.words(count)
        try lengths.next(count, into: sizes)
        var total = 0
        for i in 0..<count {
            guard sizes[i] >= 0, sizes[i] <= Int64(bytes.count - total) else { throw PageValues.cut() }
            total += Int(sizes[i])
        }
        try scratch.room.reserve(total)
        if conversion.form == .text || conversion.form == .bytes {
            var end = column.text.bytes.count
            column.text.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<total]))
            column.text.offsets.grow(count, zero: 0) { offsets in
                for i in 0..<count {
                    end &+= Int(sizes[i])
                    offsets[i] = end
                }
            }
            return total
        }
        var at = 0
        for i in 0..<count {
            try conversion.append(UnsafeRawBufferPointer(rebasing: bytes[at..<at + Int(sizes[i])]), to: &column)
            at += Int(sizes[i])
        }
        return total
    }

    private mutating func nextDeltaBytes(
        _ prefixes: inout DeltaDecoder, _ suffixes: inout DeltaDecoder, _ bytes: UnsafeRawBufferPointer, _ count: Int,
        _ scratch: LeafScratch, to column: inout Column
    ) throws(ParquetFault) -> Int {
        var at = 0
        let sizes = try scratch.words(2 * count)
        try prefixes.next(count, into: sizes)
        try suffixes.next(count, into: sizes + count)
        for i in 0..<count {
            let prefix = sizes[i], suffix = sizes[count + i]
            guard prefix >= 0, prefix <= Int64(previous.count), suffix >= 0, suffix <= Int64(bytes.count - at) else {
                throw PageValues.cut()
            }
            previous.removeLast(previous.count - Int(prefix))
            previous.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[at..<at + Int(suffix)]))
            at += Int(suffix)
            try scratch.room.reserve(previous.count)
            if conversion.stride > 0 {
                guard previous.count == conversion.stride else {
                    throw ParquetFault("a value has \(previous.count) bytes instead of \(conversion.stride)")
                }
                try previous.withBytes { (value) throws(ParquetFault) in
                    if let base = value.baseAddress { try conversion.append(base, count: 1, to: &column) }
                }
            } else {
                try previous.withBytes { (value) throws(ParquetFault) in try conversion.append(value, to: &column) }
            }
        }
        return at
    }
}

extension LeafConversion {
    /// The conversion before the first page.
    init(empty: Void) {
        form = .null
        physical = .boolean
        stride = 0
    }
}
