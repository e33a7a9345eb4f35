import FirnBytes
import FirnExchange
import FirnTable

/// Reads the cells of a column whose exceptions keep their text, and collects the texts.
struct CSVOriginals {
    let rule: Rule
    /// The rows that have a text, and the ends of the texts.
    private var rows: [Int] = []
    private var ends: [Int] = []
    private var bytes: [UInt8] = []

    /// `notation` is that of numbers without a decimal comma and without groups.
    init(_ kind: ScalarKind, _ notation: Notation) { rule = Rule(kind, notation) }

    /// Keeps the text of a row from a byte on. Rows ascend.
    mutating func keep(_ text: UnsafeRawBufferPointer, from start: Int, row: Int) {
        rows.append(row)
        bytes += text[start...]
        ends.append(bytes.count)
    }

    /// Removes the texts of the rows from `count` on.
    mutating func cut(to count: Int) {
        while let last = rows.last, last >= count {
            rows.removeLast()
            ends.removeLast()
            bytes.removeLast(bytes.count - (ends.last ?? 0))
        }
    }

    /// Returns the companion: the texts, and null in all other rows.
    func column(count: Int) -> Column {
        var column = Column(ColumnType(.string, optional: true))
        column.count = count
        var present = Bits(count: count), at = 0
        let offsets = [Int](unsafeUninitializedCapacity: count + 1) { buffer, filled in
            buffer[0] = 0
            var end = 0
            for row in 0..<count {
                if at < rows.count, rows[at] == row {
                    present[row] = true
                    end = ends[at]
                    at += 1
                }
                buffer[row + 1] = end
            }
            filled = count + 1
        }
        column.text = Text(offsets: offsets, bytes: bytes)
        column.present = present
        return column
    }
}

extension CSVOriginals {
    /// Which cells are not exceptions.
    struct Rule {
        private let kind: ScalarKind
        private let notation: Notation
        /// The shape of the cells that the type round-trips; none for dates.
        private let shape: CSVShape

        init(_ kind: ScalarKind, _ notation: Notation) {
            self.kind = kind
            self.notation = notation
            shape =
                switch kind {
                case .int: .int
                case .decimal: .decimal
                case .double:
                    switch notation {
                    case .pointZero: .pointZero
                    case .twoDigitExponent(pointZero: false): .exponent
                    case .twoDigitExponent(pointZero: true): .exponentPointZero
                    default: notation.code == Notation.fixed(0).code ? .fixed : .plain
                    }
                case .bool: notation == .capitalised ? .boolCapitalised : notation == .upperCase ? .boolUpper : .bool
                case .uuid: notation == .uuidUpper ? .uuidUpper : .uuid
                default: .none
                }
        }

        /// Whether export writes the same text for the value of a cell.
        func isOrdinary(_ text: UnsafeRawBufferPointer) -> Bool {
            guard let memory = text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count > 0 else { return false }
            switch kind {
            case .int, .decimal: return numberShape(memory, text.count).shape.contains(shape)
            case .double:
                let found = numberShape(memory, text.count)
                return found.shape.contains(shape) && (shape != .fixed || found.digits == Int(notation.parameter))
            case .bool, .uuid: return otherShape(memory, text.count).contains(shape)
            case .date:
                guard let (seconds, nanoseconds) = DateText.parse(text, like: notation) else { return false }
                return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.room) { out in
                    guard let memory = out.baseAddress else { return false }
                    let count = DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, to: memory)
                    return UnsafeBufferPointer(rebasing: out[..<count]).elementsEqual(text)
                }
            default: return false
            }
        }

        /// Where the part begins that is kept of the text of a cell that is not ordinary: the zone of a date, if it is all that differs.
        func start(_ text: UnsafeRawBufferPointer) -> Int { kind == .date ? DateText.otherZone(text, in: notation) ?? 0 : 0 }
    }
}
