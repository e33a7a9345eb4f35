/// Writes `.realm` files node by node, from the description of the format alone: for formats whose files no released engine writes any
/// more, and for files that lie.
struct RealmFileBuilder {
    private(set) var bytes: [UInt8]

    init(format: UInt8) {
        bytes = [UInt8](repeating: 0, count: 24)
        bytes.replaceSubrange(16..<20, with: "T-DB".utf8)
        bytes[20] = format
        bytes[21] = format
    }

    enum Word {
        case null, tag(Int64), ref(Int)
        var value: Int64 {
            switch self {
            case .null: 0
            case .tag(let number): number << 1 | 1
            case .ref(let offset): Int64(offset)
            }
        }
    }

    private mutating func node(_ flags: UInt8, widthType: UInt8, code: UInt8, count: Int, _ contents: [UInt8]) -> Int {
        let offset = bytes.count
        bytes += [0x41, 0x41, 0x41, 0x41, flags | widthType << 3 | code]
        bytes += [UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        bytes += contents
        while bytes.count % 8 != 0 { bytes.append(0) }
        return offset
    }

    /// Integers, as narrow as all of them allow.
    @discardableResult
    mutating func integers(_ values: [Int64], flags: UInt8 = 0) -> Int {
        let low = values.min() ?? 0, high = values.max() ?? 0
        let width =
            low == 0 && high == 0
            ? 0
            : low >= 0 && high < 2
                ? 1
                : low >= 0 && high < 4
                    ? 2
                    : low >= 0 && high < 16
                        ? 4
                        : low >= -128 && high < 128 ? 8 : low >= -32768 && high < 32768 ? 16 : low >= -1 << 31 && high < 1 << 31 ? 32 : 64
        let code = UInt8([0, 1, 2, 4, 8, 16, 32, 64].firstIndex(of: width)!)
        var contents = [UInt8](repeating: 0, count: (values.count * width + 7) / 8)
        for (i, value) in values.enumerated() {
            if width >= 8 {
                for b in 0..<width / 8 { contents[i * width / 8 + b] = UInt8(truncatingIfNeeded: value >> Int64(8 * b)) }
            } else if width > 0 {
                contents[i * width / 8] |= UInt8(value) << UInt8(i * width % 8)
            }
        }
        return node(flags, widthType: 0, code: code, count: values.count, contents)
    }

    mutating func refs(_ words: [Word], flags: UInt8 = 0) -> Int { integers(words.map(\.value), flags: 0x40 | flags) }

    /// Short strings, of which nil is null.
    mutating func strings(_ values: [String?]) -> Int {
        let longest = values.map { ($0?.utf8.count ?? 0) + 1 }.max() ?? 0
        let code = (0...7).first { (1 << $0) >> 1 >= longest }!, width = (1 << code) >> 1
        var contents: [UInt8] = []
        for value in values {
            guard let value else {
                contents += [UInt8](repeating: 0, count: width - 1) + [UInt8(width)]
                continue
            }
            let padding = width - 1 - value.utf8.count
            contents += Array(value.utf8) + [UInt8](repeating: 0, count: padding) + [UInt8(padding)]
        }
        return node(0, widthType: 1, code: UInt8(code), count: values.count, contents)
    }

    mutating func blob(_ contents: [UInt8]) -> Int { node(0, widthType: 2, code: 4, count: contents.count, contents) }

    /// Values of `width` bytes.
    mutating func blocks(_ contents: [UInt8], width: Int) -> Int {
        node(0, widthType: 1, code: UInt8([0, 1, 2, 4, 8, 16, 32, 64].firstIndex(of: width)!), count: contents.count / width, contents)
    }

    /// Texts end to end, each with a zero byte; `marks` follow the convention of the format.
    mutating func medium(_ values: [String?], isOld: Bool) -> Int {
        var ends: [Int64] = [], contents: [UInt8] = []
        for value in values {
            contents += Array((value ?? "").utf8) + [0]
            ends.append(Int64(contents.count))
        }
        let marks = values.map { Int64(($0 == nil) != isOld ? 1 : 0) }
        return refs([.ref(integers(ends)), .ref(blob(contents)), .ref(integers(marks))])
    }

    /// An inner node of a tree.
    mutating func tree(_ children: [Int], each: Int, count: Int) -> Int {
        refs([.tag(Int64(each))] + children.map(Word.ref) + [.tag(Int64(count))], flags: 0x80)
    }

    /// Adds the top array and makes it live.
    mutating func finish(names: [String], tables: [Word], version: Int64 = 5) {
        let names = strings(names), tables = refs(tables)
        // The top array, the last node, holds the size of the file.
        let top = bytes.count
        _ = node(
            0x40, widthType: 0, code: 7, count: 7,
            [.ref(names), .ref(tables), .tag(Int64(top + 8 + 56)), Word.null, .null, .null, .tag(version)].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word.value >> Int64(8 * $0)) }
            })
        point(at: top)
    }

    /// Sets the top reference of slot 0.
    mutating func point(at top: Int) { for b in 0..<8 { bytes[b] = UInt8(truncatingIfNeeded: top >> (8 * b)) } }

    mutating func set(_ offset: Int, _ value: UInt8) { bytes[offset] = value }
}
