import CZlib
import FirnBytes
import FirnExchange
import FirnTable

/// Reads one leaf of one row group, page by page.
final class ChunkReader {
    private let file: FileBytes
    private let conversion: LeafConversion
    private let codec: ParquetFormat.Codec
    private let decompressor: PageCodec
    private let maximumDefinition: Int
    private let maximumRepetition: Int
    private let scratch: LeafScratch
    private let emptyValues: Column
    private let buffer = PageBuffer()
    private var dictionary: Column?
    /// The dictionary in the order of its values, if it was requested and is small.
    private var ranked: RankedDictionary??
    /// The offset of the next page.
    private var at: Int
    /// The offset of the current page, for errors.
    private(set) var pageStart: Int
    /// The number of levels that no page has delivered yet.
    private var unread: Int
    /// The number of levels of the current page that were not decoded yet.
    private var left = 0
    private var definitions = LevelDecoder.none
    private var repetitions = LevelDecoder.none
    private var values = PageValues()
    /// Levels that were decoded, and belong to rows that were not asked for yet.
    private var ahead: (definitions: [UInt8], repetitions: [UInt8], used: Int) = ([], [], 0)
    private(set) var pages = PageCounts()

    init(_ file: FileBytes, _ chunk: ParquetChunk, _ node: ParquetNode, _ form: LeafForm, _ scratch: LeafScratch) throws(ParquetFault) {
        self.file = file
        self.scratch = scratch
        conversion = LeafConversion(form, node)
        guard let codec = ParquetFormat.Codec(rawValue: chunk.codec), codec != .lzo else {
            throw ParquetFault.unknown(
                chunk.codec == 3 ? "the codec LZO is not supported" : "the codec \(chunk.codec) is not known", at: chunk.start,
                advice: "write the file again with another compression, such as zstd")
        }
        self.codec = codec
        decompressor = PageCodec(codec)
        maximumDefinition = node.definition
        maximumRepetition = node.depth
        emptyValues = Column(ColumnType(form.kind))
        guard chunk.valueCount >= 0, chunk.start >= 4, chunk.start < file.count else {
            throw ParquetFault("the column is outside the file", at: max(0, min(chunk.start, file.count)))
        }
        at = chunk.start
        pageStart = chunk.start
        unread = chunk.valueCount
    }

    var empty: LeafRows { LeafRows(values: emptyValues) }

    /// Appends the next `count` rows.
    func read(_ count: Int, into rows: inout LeafRows) throws(ParquetFault) {
        do throws(ParquetFault) {
            if maximumRepetition == 0 { try readFlat(count, into: &rows) } else { try readNested(count, into: &rows) }
        } catch {
            var placed = error
            if placed.offset == nil { placed.offset = pageStart }
            throw placed
        }
    }

    /// Skips the next `count` rows. Pages of skipped rows are not decompressed.
    func skip(_ count: Int) throws(ParquetFault) {
        var rest = count
        while rest > 0, maximumRepetition == 0 {
            if left == 0 {
                guard let whole = try nextPage(skipping: rest) else { throw cut() }
                rest -= whole
                continue
            }
            let take = min(rest, left, 65_536)
            var rows = empty
            try read(take, into: &rows)
            rest -= take
        }
        while rest > 0 {
            let take = min(rest, 4096)
            var rows = empty
            try read(take, into: &rows)
            rest -= take
        }
    }

    /// Checks that the pages have as many values as the metadata says, without reading them.
    func checkCount() throws(ParquetFault) {
        while try nextPage(skipping: .max) != nil {}
    }

    private func cut() -> ParquetFault { ParquetFault("the column has fewer rows than its row group", at: pageStart) }

    // MARK: Rows

    private func readFlat(_ count: Int, into rows: inout LeafRows) throws(ParquetFault) {
        var rest = count
        while rest > 0 {
            if left == 0 {
                guard try nextPage(skipping: 0) != nil else { throw cut() }
                continue
            }
            if rest == count { reserve(min(count, left + unread), in: &rows) }
            let take = min(rest, left)
            var valueCount = take
            if maximumDefinition > 0 {
                let start = rows.definitions.count, maximum = UInt8(maximumDefinition)
                try rows.definitions.grow(take, zero: 0) { (out) throws(ParquetFault) in try definitions.next(take, into: out) }
                (valueCount, _) = try ChunkReader.count(rows.definitions, from: start, of: maximum)
            }
            try append(valueCount, to: &rows)
            rows.count += take
            left -= take
            rest -= take
        }
    }

    /// Reserves the arrays for so many rows more, which can come from several pages.
    private func reserve(_ count: Int, in rows: inout LeafRows) {
        // A column of nulls needs no values. Pages of nulls are small, so that the metadata alone must not reserve much.
        let wanted = min(count, 65_536)
        if maximumDefinition > 0 { rows.definitions.makeRoom(wanted) }
        guard rows.ranks == nil else { return }
        switch conversion.form.kind {
        case .float, .double: rows.values.reals.makeRoom(wanted)
        case .bool, .int: rows.values.words.makeRoom(wanted)
        case .string, .data: rows.values.text.offsets.makeRoom(wanted)
        case .date, .uuid, .objectID:
            rows.values.words.makeRoom(wanted)
            rows.values.extra.makeRoom(wanted)
        default: break
        }
    }

    /// Appends the next values of the page.
    private func append(_ count: Int, to rows: inout LeafRows) throws(ParquetFault) {
        if var ranks = rows.ranks {
            if ranked == nil { ranked = .some(dictionary.flatMap { RankedDictionary($0.text) }) }
            if let ranked, let known = ranked {
                rows.dictionary = known
                // Moved, not copied.
                rows.ranks = []
                let done = try values.nextRanks(count, known.ranks, scratch, to: &ranks)
                rows.ranks = ranks
                if done { return }
            }
            try rows.lookUp(scratch)
        }
        try values.next(count, dictionary: dictionary, scratch, to: &rows.values)
    }

    /// Returns the number of levels that are the maximum.
    private static func count(_ levels: [UInt8], from start: Int, of maximum: UInt8) throws(ParquetFault) -> (Int, Int) {
        let (equal, over) = levels.withUnsafeBufferPointer { levels -> (Int, Int) in
            var equal = 0, over = 0
            for i in start..<levels.count {
                equal &+= levels[i] == maximum ? 1 : 0
                over &+= levels[i] > maximum ? 1 : 0
            }
            return (equal, over)
        }
        guard over == 0 else { throw ParquetFault("a level is above \(maximum), the maximum of the column") }
        return (equal, over)
    }

    private func readNested(_ count: Int, into rows: inout LeafRows) throws(ParquetFault) {
        var done = 0
        while true {
            if ahead.used == ahead.definitions.count {
                if left == 0 {
                    if try nextPage(skipping: 0) == nil { break }
                    continue
                }
                try decodeAhead()
            }
            let start = ahead.used, total = ahead.definitions.count
            if done == 0, ahead.repetitions[start] != 0 { throw ParquetFault("the column does not begin with a row") }
            var i = start, valueCount = 0
            let maximum = UInt8(maximumDefinition)
            while i < total {
                if ahead.repetitions[i] == 0 {
                    if done == count { break }
                    done += 1
                }
                if ahead.definitions[i] == maximum { valueCount += 1 }
                i += 1
            }
            if i > start {
                try scratch.room.reserve(2 * (i - start))
                rows.definitions.append(contentsOf: ahead.definitions[start..<i])
                rows.repetitions.append(contentsOf: ahead.repetitions[start..<i])
                rows.count += i - start
                ahead.used = i
                try values.next(valueCount, dictionary: dictionary, scratch, to: &rows.values)
            }
            if i < total { break }
        }
        guard done == count else { throw cut() }
    }

    private func decodeAhead() throws(ParquetFault) {
        let take = min(left, 4096)
        ahead.definitions.removeAll(keepingCapacity: true)
        ahead.repetitions.removeAll(keepingCapacity: true)
        ahead.used = 0
        try ahead.repetitions.grow(take, zero: 0) { (out) throws(ParquetFault) in try repetitions.next(take, into: out) }
        try ahead.definitions.grow(take, zero: 0) { (out) throws(ParquetFault) in try definitions.next(take, into: out) }
        _ = try ChunkReader.count(ahead.repetitions, from: 0, of: UInt8(maximumRepetition))
        _ = try ChunkReader.count(ahead.definitions, from: 0, of: UInt8(maximumDefinition))
        left -= take
    }

    // MARK: Pages

    /// Opens the next data page. A page of at most `skipping` rows is skipped instead. Returns the number of rows skipped; nil at the end.
    private func nextPage(skipping: Int) throws(ParquetFault) -> Int? {
        while unread > 0 {
            pageStart = at
            let limit = file.count - 8
            guard at < limit else { throw ParquetFault("the column is cut short: \(unread) values are missing", at: at) }
            var reader = ThriftReader(UnsafeRawBufferPointer(rebasing: file.bytes[at..<limit]), origin: at)
            let head = try PageHead(&reader)
            let start = at + reader.position
            guard head.size >= 0, head.storedSize >= 0, head.storedSize <= limit - start, head.count >= 0 else {
                throw ParquetFault("a page of \(head.storedSize) bytes is outside the file", at: at)
            }
            // The header has 32 bits for these numbers.
            guard head.size <= Int32.max, head.count <= Int32.max else {
                throw ParquetFault("a page has \(head.count) values and \(head.size) bytes, which is more than pages can have", at: at)
            }
            at = start + head.storedSize
            let stored = UnsafeRawBufferPointer(rebasing: file.bytes[start..<at])
            guard let type = ParquetFormat.Page(rawValue: head.type) else {
                // A reader can skip pages of other types.
                continue
            }
            switch type {
            case .index: continue
            case .dictionary:
                try check(stored, head)
                pages.bytes += at - pageStart
                try readDictionary(stored, head)
            case .data, .dataV2:
                guard head.count <= unread else {
                    throw ParquetFault("a page has \(head.count) values, and the column only \(unread) more", at: pageStart)
                }
                unread -= head.count
                if head.count > 0, head.count <= skipping {
                    pages.skipped += 1
                    return head.count
                }
                guard head.count > 0 else { continue }
                try check(stored, head)
                pages.read += 1
                pages.bytes += at - pageStart
                try open(stored, head, isV2: type == .dataV2)
                left = head.count
                return 0
            }
        }
        return nil
    }

    private func check(_ stored: UnsafeRawBufferPointer, _ head: PageHead) throws(ParquetFault) {
        guard let checksum = head.checksum else { return }
        let found = crc32_z(0, stored.baseAddress?.assumingMemoryBound(to: UInt8.self), stored.count)
        guard UInt32(truncatingIfNeeded: found) == checksum else {
            throw ParquetFault("the checksum of a page does not match its bytes", at: pageStart)
        }
    }

    private func unpacked(_ stored: UnsafeRawBufferPointer, _ size: Int, isCompressed: Bool = true) throws(ParquetFault)
        -> UnsafeRawBufferPointer
    {
        if codec == .none || !isCompressed { return stored }
        return try decompressor.decompress(stored, size: size, into: buffer)
    }

    private static func encoding(_ code: Int) throws(ParquetFault) -> ParquetFormat.Encoding {
        guard let encoding = ParquetFormat.Encoding(rawValue: code) else {
            throw ParquetFault.unknown("the encoding \(code) is not known", advice: "a newer version of Firn might read it")
        }
        return encoding
    }

    private func readDictionary(_ stored: UnsafeRawBufferPointer, _ head: PageHead) throws(ParquetFault) {
        guard dictionary == nil else { throw ParquetFault("the column has two dictionaries", at: pageStart) }
        let encoding = try ChunkReader.encoding(head.encoding)
        guard encoding == .plain || encoding == .plainDictionary else {
            throw ParquetFault.unknown("a dictionary with the encoding \(encoding) is not known", at: pageStart)
        }
        var out = emptyValues
        var values = try PageValues(try unpacked(stored, head.size), .plain, conversion)
        let scratch = LeafScratch()
        try values.next(head.count, dictionary: nil, scratch, to: &out)
        try checkText(out, from: 0)
        out.count = head.count
        out.text.charge = scratch.room.charge
        dictionary = out
    }

    private func open(_ bytes: UnsafeRawBufferPointer, _ head: PageHead, isV2: Bool) throws(ParquetFault) {
        let encoding = try ChunkReader.encoding(head.encoding)
        var body: UnsafeRawBufferPointer
        if isV2 {
            let levels = head.repetitionSize.addingReportingOverflow(head.definitionSize)
            guard head.repetitionSize >= 0, head.definitionSize >= 0, !levels.overflow, levels.partialValue <= bytes.count,
                levels.partialValue <= head.size
            else { throw ParquetFault("the levels of a page are longer than the page") }
            repetitions = levelRuns(UnsafeRawBufferPointer(rebasing: bytes[..<head.repetitionSize]), maximumRepetition)
            definitions = levelRuns(
                UnsafeRawBufferPointer(rebasing: bytes[head.repetitionSize..<levels.partialValue]), maximumDefinition)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[levels.partialValue...])
            // A page without values need not be compressed.
            body =
                rest.isEmpty && head.size == levels.partialValue
                ? rest : try unpacked(rest, head.size - levels.partialValue, isCompressed: head.isCompressed)
        } else {
            body = try unpacked(bytes, head.size)
            repetitions = try levels(&body, maximumRepetition, head.repetitionEncoding, head.count)
            definitions = try levels(&body, maximumDefinition, head.definitionEncoding, head.count)
        }
        // The values of a page in which all are null can be missing.
        values = body.isEmpty ? PageValues() : try PageValues(body, encoding, conversion)
    }

    private func levelRuns(_ bytes: UnsafeRawBufferPointer, _ maximum: Int) -> LevelDecoder {
        maximum == 0 ? .none : .runs(RunDecoder(bytes, width: LevelDecoder.width(maximum)))
    }

    /// Returns the decoder of the levels at the beginning of a page, and removes them from it.
    private func levels(_ body: inout UnsafeRawBufferPointer, _ maximum: Int, _ encoding: Int, _ count: Int) throws(ParquetFault)
        -> LevelDecoder
    {
        guard maximum > 0 else { return .none }
        let width = LevelDecoder.width(maximum), start: Int, length: Int
        switch try ChunkReader.encoding(encoding) {
        case .runs:
            guard body.count >= 4 else { throw ParquetFault("the levels of a page are cut short") }
            start = 4
            length = Int(UInt32(littleEndian: body.loadUnaligned(as: UInt32.self)))
        case .bitPacked:
            start = 0
            length = (count * width + 7) / 8
        case let other: throw ParquetFault.unknown("levels with the encoding \(other) are not known")
        }
        guard length <= body.count - start else { throw ParquetFault("the levels of a page are longer than the page") }
        let bytes = UnsafeRawBufferPointer(rebasing: body[start..<start + length])
        body = UnsafeRawBufferPointer(rebasing: body[(start + length)...])
        return start == 4 ? .runs(RunDecoder(bytes, width: width)) : .bitPacked(bytes, width: width, bit: 0)
    }

    /// Checks that the texts from a position on are UTF-8.
    func checkText(_ column: Column, from first: Int) throws(ParquetFault) {
        guard conversion.form == .text, let wrong = TextCheck.firstInvalid(column.text, from: first) else { return }
        throw ParquetFault("the text \(wrong) of the values is not UTF-8", at: pageStart, code: .rejected)
    }

    var hasDictionary: Bool { dictionary != nil }
}
