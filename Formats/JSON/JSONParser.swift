import CSimdJSON
import FirnBytes
import FirnExchange

/// One simdjson parser with its buffer: text is written to the memory from `reserve`, and parsing returns a tape. Only one thread at a time
/// may use it.
final class JSONParser: @unchecked Sendable {
    /// Nil if there was no memory for the parser. Then `reserve` throws, and nothing is parsed.
    private let handle: OpaquePointer!

    /// The charge for text and tapes.
    private let charge: MemoryCharge
    /// The name of the input, for errors.
    private let name: String
    /// The capacity of the buffer that is charged, in bytes of text.
    private var capacity = 0

    init(_ input: Input) {
        handle = LibraryFaults.refuses(.parser) ? nil : firn_json_create()
        charge = MemoryCharge(input.budget)
        name = input.name
    }

    /// The bytes that simdjson needs for each byte of text: the text, four for its structure, its strings.
    private static let textFactor = 7
    /// The bytes for each item: the tape while it grows, and the values in columns.
    private static let itemSize = 48

    deinit { if let handle { firn_json_destroy(handle) } }

    /// Returns memory for `capacity` bytes of text; the first `keep` bytes are kept. Earlier tapes become invalid.
    func reserve(_ capacity: Int, keeping keep: Int = 0) throws(FirnError) -> UnsafeMutableRawPointer {
        if capacity > self.capacity {
            // While the buffer grows, the old one exists too.
            let more = (capacity - self.capacity) * JSONParser.textFactor
            guard charge.take(more) else {
                throw FirnError.beyondMemory("JSON text of \(MemoryBudget.words(capacity))", more, charge.budget, at: .init(file: name))
            }
            self.capacity = capacity
        }
        guard let handle, let base = firn_json_buffer(handle, capacity, keep) else {
            throw FirnError(.inputOutput, "no memory for \(capacity) bytes of JSON")
        }
        return UnsafeMutableRawPointer(base)
    }

    /// Parses lines. With `setsAside`, rejected lines are listed in `refusedLines` instead of being a fault.
    func parseLines(_ count: Int, setsAside: Bool = false) -> Tape {
        var result = firn_json_result()
        limitItems()
        firn_json_parse_lines(handle, count, setsAside ? 1 : 0, &result)
        return tape(result)
    }

    /// The lines that the last parsing rejected, in order.
    var refusedLines: [RefusedLine] {
        (0..<firn_json_refused_count(handle)).map { index in
            var length = 0, line = 0, column = 0, message: UnsafePointer<CChar>?
            let text = firn_json_refused(handle, index, &length, &line, &column, &message)
            return RefusedLine(
                line: line, column: column, message: message.map { String(cString: $0) } ?? "not JSON",
                text: Array(UnsafeRawBufferPointer(start: text, count: length)))
        }
    }

    /// Returns the line of a row, among the lines that were parsed last.
    func text(ofRow row: Int) -> UnsafeRawBufferPointer {
        var length = 0
        let text = firn_json_row_text(handle, row, &length)
        return UnsafeRawBufferPointer(start: text, count: length)
    }

    /// Returns the first `count` bytes of the text in the buffer.
    func text(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: firn_json_buffer(handle, 0, 0), count: count) }

    func parseDocument(_ count: Int) -> Tape {
        var result = firn_json_result()
        limitItems()
        firn_json_parse_document(handle, count, &result)
        return tape(result)
    }

    /// Sets the limit of items before a text is parsed. The memory of the previous tape becomes available.
    private func limitItems() {
        let room = max(0, charge.budget.limit - charge.budget.used) + itemBytes
        firn_json_limit_items(handle, max(1024, room / JSONParser.itemSize))
    }

    /// Charges the memory for the tape and for the values in it.
    private func tape(_ result: firn_json_result) -> Tape {
        var result = result
        let wanted = result.item_count * JSONParser.itemSize + firn_json_spelling_count(handle) * MemoryLayout<firn_json_spelling>.size
        if wanted > itemBytes {
            if charge.take(wanted - itemBytes) {
                itemBytes = wanted
            } else if wanted > 1 << 16 {
                result.error = Int32(FIRN_JSON_NO_MEMORY)
                result.error_offset = 0
            }
        }
        return Tape(result, self)
    }

    /// The bytes that are charged for items.
    private var itemBytes = 0

    /// Returns the text of a double of the last tape that may be spelled unusually (`firn_json_item.isUnusual`).
    func spelling(ofItem item: Int) -> UnsafeRawBufferPointer {
        var length = 0
        let base = firn_json_spelling_of(handle, item, &length)
        return UnsafeRawBufferPointer(start: base, count: length)
    }

    /// Frees the text and the tape, which must not be used any more. The memory stays charged.
    func release() {
        firn_json_release(handle)
        capacity = 0
    }

    func key(_ number: UInt32) -> UnsafeRawBufferPointer {
        var length = 0
        let base = firn_json_key(handle, number, &length)
        return UnsafeRawBufferPointer(start: base, count: length)
    }

    func keyText(_ number: UInt32) -> String { String(decoding: key(number), as: UTF8.self) }
    var keyCount: Int { firn_json_key_count(handle) }
    func forgetKeys() { firn_json_forget_keys(handle) }
    func line(ofRow row: Int) -> Int { firn_json_row_line(handle, row) }

    /// Returns line and column, both from 0, of a byte of the text.
    func location(_ offset: Int) -> (line: Int, column: Int) {
        var line = 0, column = 0
        firn_json_location(handle, offset, &line, &column)
        return (line, column)
    }

    func location(ofText item: firn_json_item) -> (line: Int, column: Int) { location(firn_json_offset(handle, item.word)) }
}

/// A line that cannot be a row: its text without the newline, the reason, and the location (line and column from 0).
struct RefusedLine: Sendable {
    var line: Int
    var column: Int
    var message: String
    var text: [UInt8]
}

/// A parsed text. The items are valid until the parser is used again.
struct Tape {
    let items: UnsafePointer<firn_json_item>
    let itemCount: Int
    let rowCount: Int
    let lineCount: Int
    /// Nil if the text is valid.
    let fault: (message: String, offset: Int)?
    /// The offset of the first array or object at level 128.
    let deepOffset: Int
    var isDeep: Bool { deepOffset >= 0 }
    let parser: JSONParser

    fileprivate init(_ result: firn_json_result, _ parser: JSONParser) {
        items = result.items ?? UnsafePointer(bitPattern: 16)!
        itemCount = result.item_count
        rowCount = result.row_count
        lineCount = result.line_count
        fault =
            Int(result.error) == 0
            ? nil
            : Int(result.error) == FIRN_JSON_NO_MEMORY
                ? (JSONReader.beyondMemory, result.error_offset)
                : (result.message.map { String(cString: $0) } ?? "not JSON", result.error_offset)
        deepOffset = Int(truncatingIfNeeded: result.deep_offset)
        self.parser = parser
    }

    /// The line and column, from 0, where the nesting exceeds what columns of type any can store.
    var deepLocation: (line: Int, column: Int) { parser.location(deepOffset) }
}

enum TapeTag {
    static let null: UInt32 = 0, no: UInt32 = 1, yes: UInt32 = 2, int: UInt32 = 3, double: UInt32 = 4
    static let numberText: UInt32 = 5, string: UInt32 = 6, array: UInt32 = 7, object: UInt32 = 8
}

extension firn_json_item {
    @inline(__always) var tag: UInt32 { head >> 28 }
    @inline(__always) var key: UInt32 { head & 0x0FFF_FFFF }
    /// Whether the text of a double may differ from its shortest text, apart from ".0" at its end.
    @inline(__always) var isUnusual: Bool { size & UInt32(FIRN_JSON_UNUSUAL) != 0 }
    /// Whether the text of a double ends in exactly ".0".
    @inline(__always) var endsInPointZero: Bool { size & UInt32(FIRN_JSON_POINT_ZERO) != 0 }
    @inline(__always) var double: Double { Double(bitPattern: word) }
    @inline(__always) var integer: Int64 { Int64(bitPattern: word) }
    /// The number of items from this one to the next one after everything that it contains.
    @inline(__always) var step: Int { tag >= TapeTag.array ? Int(truncatingIfNeeded: word) &+ 1 : 1 }
    @inline(__always) var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: word)), count: Int(size))
    }
    var string: String { String(decoding: bytes, as: UTF8.self) }
}
