/// A value in the order of SQL: NULL, numbers, text by its bytes, blobs. Numbers are compared by value, so that 1 equals 1.0.
struct SQLKey: Hashable, Comparable {
    let value: SQLValue

    init(_ value: SQLValue) { self.value = value }

    /// The memory in use in bytes.
    var bytes: Int {
        switch value {
        case .text(let x), .blob(let x): 80 + x.count
        default: 48
        }
    }

    private var rank: Int {
        switch value {
        case .null: 0
        case .int, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    static func < (a: SQLKey, b: SQLKey) -> Bool {
        switch (a.value, b.value) {
        case (.int(let x), .int(let y)): x < y
        case (.real(let x), .real(let y)): x < y
        case (.int(let x), .real(let y)): order(x, y) < 0
        case (.real(let x), .int(let y)): order(y, x) > 0
        case (.text(let x), .text(let y)), (.blob(let x), .blob(let y)): x.lexicographicallyPrecedes(y)
        default: a.rank < b.rank
        }
    }

    static func == (a: SQLKey, b: SQLKey) -> Bool {
        switch (a.value, b.value) {
        case (.null, .null): true
        case (.int(let x), .int(let y)): x == y
        case (.real(let x), .real(let y)): x == y
        case (.int(let x), .real(let y)), (.real(let y), .int(let x)): order(x, y) == 0
        case (.text(let x), .text(let y)), (.blob(let x), .blob(let y)): x == y
        default: false
        }
    }

    /// Compares a whole number with a double exactly.
    private static func order(_ int: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        if int != whole { return int < whole ? -1 : 1 }
        let rest = real - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }

    func hash(into hasher: inout Hasher) {
        switch value {
        case .null: hasher.combine(0)
        case .int(let x): hasher.combine(x)
        case .real(let x): if let whole = Int64(exactly: x) { hasher.combine(whole) } else { hasher.combine(x) }
        case .text(let x): hasher.combine(x)
        case .blob(let x): hasher.combine(x)
        }
    }
}
