import CSimdJSON
import FirnBytes
import FirnExchange

/// One simdjson parser with its buffer: text goes into `reserve`, a tape comes out. One thread at a time.
final class JSONParser: @unchecked Sendable {
    /// nil: there was no memory for it, as `reserve` says, without which nothing is parsed.
    private let handle: OpaquePointer!

    /// For its text and its tapes.
    private let charge: MemoryCharge
    /// Of the input, for errors.
    private let name: String
    /// Bytes charged for the buffer.
    private var capacity = 0

    init(_ input: Input) {
        handle = LibraryFaults.refuses(.parser) ? nil : firn_json_create()
        charge = MemoryCharge(input.budget)
        name = input.name
    }

    /// Bytes that simdjson needs for a byte of text: the text, its structure in four, its strings.
    private static let textFactor = 7
    /// Bytes for an item: the tape while it grows, and the values in columns.
    private static let itemSize = 48

    deinit { if let handle { firn_json_destroy(handle) } }

    /// Room for `capacity` bytes of text; the first `keep` bytes stay. Earlier tapes end here.
    func reserve(_ capacity: Int, keeping keep: Int = 0) throws(FirnError) -> UnsafeMutableRawPointer {
        if capacity > self.capacity {
            // While it grows, the old buffer is there too.
            let more = (capacity - self.capacity) * JSONParser.textFactor
            guard charge.take(more) else { throw FirnError.beyondMemory("JSON text of \(MemoryBudget.words(capacity))", more, charge.budget, at: .init(file: name)) }
            self.capacity = capacity
        }
        guard let handle, let base = firn_json_buffer(handle, capacity, keep) else {
            throw FirnError(.inputOutput, "no memory for \(capacity) bytes of JSON")
        }
        return UnsafeMutableRawPointer(base)
    }

    /// `setsAside`: lines that are refused are no fault, but listed in `refusedLines`.
    func parseLines(_ count: Int, setsAside: Bool = false) -> Tape {
        var result = firn_json_result()
        limitItems()
        firn_json_parse_lines(handle, count, setsAside ? 1 : 0, &result)
        return tape(result)
    }

    /// The lines that the last parsing set aside, in order.
    var refusedLines: [RefusedLine] {
        (0..<firn_json_refused_count(handle)).map { index in
            var length = 0, line = 0, column = 0, message: UnsafePointer<CChar>?
            let text = firn_json_refused(handle, index, &length, &line, &column, &message)
            return RefusedLine(line: line, column: column, message: message.map { String(cString: $0) } ?? "not JSON",
                               text: Array(UnsafeRawBufferPointer(start: text, count: length)))
        }
    }

    /// The line that holds a row of the lines parsed last.
    func text(ofRow row: Int) -> UnsafeRawBufferPointer {
        var length = 0
        let text = firn_json_row_text(handle, row, &length)
        return UnsafeRawBufferPointer(start: text, count: length)
    }

    /// The first `count` bytes of the text in the buffer.
    func text(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: firn_json_buffer(handle, 0, 0), count: count) }

    func parseDocument(_ count: Int) -> Tape {
        var result = firn_json_result()
        limitItems()
        firn_json_parse_document(handle, count, &result)
        return tape(result)
    }

    /// Before a text is parsed: the last tape makes room for the next.
    private func limitItems() {
        let room = max(0, charge.budget.limit - charge.budget.used) + itemBytes
        firn_json_limit_items(handle, max(1024, room / JSONParser.itemSize))
    }

    /// Charges what the tape and the values in it take.
    private func tape(_ result: firn_json_result) -> Tape {
        var result = result
        let wanted = result.item_count * JSONParser.itemSize
        if wanted > itemBytes {
            if charge.take(wanted - itemBytes) { itemBytes = wanted } else if wanted > 1 << 16 {
                result.error = Int32(FIRN_JSON_NO_MEMORY)
                result.error_offset = 0
            }
        }
        return Tape(result, self)
    }

    /// Charged for items.
    private var itemBytes = 0

    func key(_ number: UInt32) -> UnsafeRawBufferPointer {
        var length = 0
        let base = firn_json_key(handle, number, &length)
        return UnsafeRawBufferPointer(start: base, count: length)
    }

    func keyText(_ number: UInt32) -> String { String(decoding: key(number), as: UTF8.self) }
    var keyCount: Int { firn_json_key_count(handle) }
    func forgetKeys() { firn_json_forget_keys(handle) }
    func line(ofRow row: Int) -> Int { firn_json_row_line(handle, row) }

    /// Line and column, from 0, of a byte of the text.
    func place(_ offset: Int) -> (line: Int, column: Int) {
        var line = 0, column = 0
        firn_json_place(handle, offset, &line, &column)
        return (line, column)
    }

    func place(ofText item: firn_json_item) -> (line: Int, column: Int) { place(firn_json_offset(handle, item.word)) }
}

/// A line that cannot be taken as a row: its text without the newline, and what is wrong where (line and column from 0).
struct RefusedLine: Sendable {
    var line: Int
    var column: Int
    var message: String
    var text: [UInt8]
}

/// A parsed text. The items live until the parser's next use.
struct Tape {
    let items: UnsafePointer<firn_json_item>
    let itemCount: Int
    let rowCount: Int
    let lineCount: Int
    /// Nil: the text was accepted.
    let fault: (message: String, offset: Int)?
    /// Byte of the first array or object at level 128.
    let deepOffset: Int
    var isDeep: Bool { deepOffset >= 0 }
    let parser: JSONParser

    fileprivate init(_ result: firn_json_result, _ parser: JSONParser) {
        items = result.items ?? UnsafePointer(bitPattern: 16)!
        itemCount = result.item_count
        rowCount = result.row_count
        lineCount = result.line_count
        fault = Int(result.error) == 0 ? nil : Int(result.error) == FIRN_JSON_NO_MEMORY ? (JSONReader.beyondMemory, result.error_offset) : (result.message.map { String(cString: $0) } ?? "not JSON", result.error_offset)
        deepOffset = Int(truncatingIfNeeded: result.deep_offset)
        self.parser = parser
    }

    /// Line and column, from 0, where nesting became deeper than values of any kind may.
    var deepPlace: (line: Int, column: Int) { parser.place(deepOffset) }
}

enum Tag {
    static let null: UInt32 = 0, no: UInt32 = 1, yes: UInt32 = 2, int: UInt32 = 3, double: UInt32 = 4
    static let numberText: UInt32 = 5, string: UInt32 = 6, array: UInt32 = 7, object: UInt32 = 8
}

extension firn_json_item {
    @inline(__always) var tag: UInt32 { head >> 28 }
    @inline(__always) var key: UInt32 { head & 0x0FFF_FFFF }
    @inline(__always) var double: Double { Double(bitPattern: word) }
    @inline(__always) var integer: Int64 { Int64(bitPattern: word) }
    /// Items from this one to the one after it and all it holds.
    @inline(__always) var step: Int { tag >= Tag.array ? Int(truncatingIfNeeded: word) &+ 1 : 1 }
    @inline(__always) var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word)), count: Int(size))
    }
    var string: String { String(decoding: bytes, as: UTF8.self) }
}
