import CSimdJSON
import FirnBytes
import FirnExchange
import FirnTable

/// A growing array of trivial values in manually allocated memory.
struct RawArray<T: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<T>
    private(set) var count = 0
    private var capacity: Int
    private let first: Int

    /// `first` is the capacity that the first value allocates. Before it nothing is allocated, because most columns of a wide type stay
    /// empty.
    init(first: Int = 16) {
        base = UnsafeMutablePointer(bitPattern: 64)!
        capacity = 0
        self.first = first
    }

    @inline(__always)
    mutating func append(_ value: T) {
        if count == capacity { grow(1) }
        base[count] = value
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<T>, _ more: Int) {
        if capacity &- count < more { grow(more) }
        (base + count).update(from: source, count: more)
        count &+= more
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let wider = max(capacity * 2, count + more, first)
        let fresh = UnsafeMutablePointer<T>.allocate(capacity: wider)
        fresh.update(from: base, count: count)
        free()
        base = fresh
        capacity = wider
    }

    /// Returns memory for `more` values after the last; `advance` then adds those written to `count`.
    @inline(__always)
    mutating func room(_ more: Int) -> UnsafeMutablePointer<T> {
        if capacity &- count < more { grow(more) }
        return base + count
    }

    @inline(__always)
    mutating func advance(_ more: Int) { count &+= more }

    mutating func truncate(_ to: Int = 0) { count = min(count, to) }
    func free() { if capacity > 0 { base.deallocate() } }
}

/// Collects the values of one column from tapes, by its plan. It is in manually allocated memory, as it is accessed once for each value.
///
/// Only rows with a value are stored; rows without one are counted as gaps between them. The fields of an object may count fewer rows than
/// the object: the missing rows are a gap too. So the cost of a row is proportional to its values and not to the number of columns.
struct ColumnBuilder {
    typealias Node = UnsafeMutablePointer<ColumnBuilder>

    /// Rows without a value, after the first `values` values.
    struct Gap {
        var values: Int
        var rows: Int
    }

    let type: ColumnType
    /// The type of the value or, in a collection, of its elements.
    let kind: ScalarKind
    let collection: CollectionKind
    /// Whether the value of the only field stands for an embedded object.
    let isBare: Bool
    /// Whether null is a value of the column.
    let keepsNull: Bool
    /// Whether values are stored as their JSON text.
    let isJSON: Bool
    /// The number of rows, and the number of rows that have a value.
    private(set) var count = 0
    private(set) var held = 0
    var gaps = RawArray<Gap>(first: 4)
    var words = RawArray<Int64>()
    var extra = RawArray<Int64>()
    var reals = RawArray<Double>()
    var bytes = RawArray<UInt8>(first: 64)
    var offsets = RawArray<Int>()
    var tags = RawArray<UInt8>()
    /// The number of the last batch in which the column has a value: see `RowBuilder.batch`.
    var batch = 0
    /// The fields of an embedded object, or the parts of a collection: [elements] or [keys, values].
    var children: [Node] = []
    /// For each field of an embedded object, the last key number with which it was found, and the position of its value in the tape (-1 if
    /// it has none).
    var keys: [UInt32] = []
    var slots: [Int] = []
    var lookup: [UInt32: Int] = [:]
    var fieldsByName: [[UInt8]: Int] = [:]
    /// The companion, if the column keeps original texts. It is another child of the same object.
    var companion: Node?
    /// Whether the column keeps original texts of its own values, which are numbers.
    let keepsTexts: Bool
    /// The builder that this is a child of, and the name of the column in it.
    var parent: Node?
    var name: [UInt8] = []
    let notation: Notation
    /// What was taken: the number of rows, the number of values, the index of the next gap, and how many rows of that gap.
    var taken = (rows: 0, values: 0, gap: 0, gapRows: 0)

    private init(_ plan: ColumnPlan) {
        (isBare, keepsNull, isJSON, notation, keepsTexts) = (plan.isBare, plan.keepsNull, plan.isJSON, plan.notation, plan.keepsTexts)
        type = plan.type
        kind = type.kind
        collection = type.collection
    }

    static func make(_ plan: ColumnPlan) -> Node {
        let node = Node.allocate(capacity: 1)
        node.initialize(to: ColumnBuilder(plan))
        switch plan.type.collection {
        case .map: node.pointee.children = [make(ColumnPlan(ColumnType(.string))), make(plan.element!)]
        case .list, .set: node.pointee.children = [make(plan.element!)]
        case .none:
            node.pointee.children = plan.fields.map { make($0.plan) }
            node.pointee.keys = [UInt32](repeating: .max, count: plan.fields.count)
            node.pointee.slots = [Int](repeating: -1, count: plan.fields.count)
            node.pointee.fieldsByName.reserveCapacity(plan.fields.count)
            for (index, field) in plan.fields.enumerated() where field.textsOf == nil { node.pointee.fieldsByName[field.name] = index }
            for (index, field) in plan.fields.enumerated() {
                guard let target = field.textsOf, let position = plan.fields.firstIndex(where: { $0.column == target }) else { continue }
                node.pointee.children[position].pointee.companion = node.pointee.children[index]
            }
            for (index, field) in plan.fields.enumerated() { node.pointee.children[index].pointee.name = Array(field.column.utf8) }
        }
        for child in node.pointee.children { child.pointee.parent = node }
        return node
    }

    static func free(_ node: Node) {
        for child in node.pointee.children { free(child) }
        node.pointee.gaps.free()
        node.pointee.words.free()
        node.pointee.extra.free()
        node.pointee.reals.free()
        node.pointee.bytes.free()
        node.pointee.offsets.free()
        node.pointee.tags.free()
        node.deinitialize(count: 1)
        node.deallocate()
    }

    static func reset(_ node: Node) {
        node.pointee.count = 0
        node.pointee.held = 0
        node.pointee.taken = (0, 0, 0, 0)
        node.pointee.gaps.truncate()
        node.pointee.words.truncate()
        node.pointee.extra.truncate()
        node.pointee.reals.truncate()
        node.pointee.bytes.truncate()
        node.pointee.offsets.truncate()
        node.pointee.tags.truncate()
        for child in node.pointee.children { reset(child) }
    }

    /// Removes key numbers after the parser has removed its own.
    static func forgetKeys(_ node: Node) {
        node.pointee.lookup = [:]
        for index in node.pointee.keys.indices { node.pointee.keys[index] = .max }
        for child in node.pointee.children { forgetKeys(child) }
    }

    /// Counts a row whose value was appended.
    @inline(__always)
    mutating func advance() {
        count &+= 1
        held &+= 1
    }

    /// Counts rows without a value until the total number of rows is `rows`.
    @inline(__always)
    mutating func skip(to rows: Int) { if count < rows { addGap(rows &- count) } }

    @inline(never)
    mutating func addGap(_ rows: Int) {
        if gaps.count > 0, gaps.base[gaps.count &- 1].values == held {
            gaps.base[gaps.count &- 1].rows &+= rows
        } else {
            gaps.append(Gap(values: held, rows: rows))
        }
        count &+= rows
    }

    /// Returns the path from a column to the value that was appended last below it, at a leaf.
    static func path(from column: Node, to leaf: Node) -> [[UInt8]] {
        var path: [[UInt8]] = [], node = leaf
        while node != column, let parent = node.pointee.parent {
            if parent.pointee.collection == .map {
                let keys = parent.pointee.children[0], last = keys.pointee.held - 1
                let text = keys.pointee.start(last)..<keys.pointee.start(last + 1)
                path.append(text.map { keys.pointee.bytes.base[$0] })
            } else if parent.pointee.collection != .none {
                // The elements of the list that is being appended follow those of the lists before it.
                path.append(Array("\(node.pointee.count - 1 - parent.pointee.start(parent.pointee.held))".utf8))
            } else if !parent.pointee.isBare {
                path.append(node.pointee.name)
            }
            node = parent
        }
        return path.reversed()
    }

    /// Returns the offset at which the text or the elements of value `value` begin.
    @inline(__always)
    private func start(_ value: Int) -> Int { value == 0 ? 0 : offsets.base[value &- 1] }
}

/// Taking the collected values, in order.
extension ColumnBuilder {
    /// Returns the number of slots that the next `rows` rows need in columns that have a value in them.
    static func slots(_ rows: Int, _ node: Node) -> Int {
        let held = node.pointee.held(inNext: rows)
        guard held > 0 else { return 0 }
        if node.pointee.collection == .none { return node.pointee.children.reduce(rows) { $0 + slots(rows, $1) } }
        let values = node.pointee.taken.values, elements = node.pointee.start(values + held) - node.pointee.start(values)
        return node.pointee.children.reduce(rows) { $0 + slots(elements, $1) }
    }

    /// Returns the number of values in the next `rows` rows that are not taken yet.
    private func held(inNext rows: Int) -> Int {
        var left = rows, values = taken.values, gap = taken.gap, empty = taken.gapRows
        while left > 0, values < held {
            let next = gap < gaps.count ? gaps.base[gap] : Gap(values: held, rows: 0)
            let step = min(next.values - values, left)
            values += step
            left -= step + (next.rows - empty)
            (gap, empty) = (gap + 1, 0)
        }
        return values - taken.values
    }

    /// Moves the next `rows` rows into an empty column of the plan. `vacant` returns columns of the same type without any value.
    static func take(_ rows: Int, from node: Node, into column: inout Column, _ vacant: inout VacantColumns) {
        node.pointee.skip(to: node.pointee.taken.rows + rows)
        let values = node.pointee.taken.values, runs = node.pointee.runs(rows)
        let held = node.pointee.taken.values - values
        if held == 0, rows > 0 {
            if node.pointee.collection == .none { for child in node.pointee.children { pass(rows, child) } }
            return vacant.fill(&column, rows: rows)
        }
        column.count = rows
        if held < rows { column.present = present(runs, rows) }
        node.pointee.copy(values, held, runs, rows, into: &column)
        if node.pointee.collection == .none {
            for (index, child) in node.pointee.children.enumerated() { take(rows, from: child, into: &column.children[index], &vacant) }
        } else {
            let elements = node.pointee.start(values + held) - node.pointee.start(values)
            for (index, child) in node.pointee.children.enumerated() { take(elements, from: child, into: &column.children[index], &vacant) }
        }
    }

    /// Skips rows in which the object that contains this field is missing.
    private static func pass(_ rows: Int, _ node: Node) {
        node.pointee.skip(to: node.pointee.taken.rows + rows)
        _ = node.pointee.runs(rows)
        if node.pointee.collection == .none { for child in node.pointee.children { pass(rows, child) } }
    }

    /// Consumes the next rows, and returns each run of values: its first row, counted from here, and the number of rows.
    private mutating func runs(_ rows: Int) -> [(row: Int, count: Int)] {
        var runs: [(row: Int, count: Int)] = [], row = 0
        while row < rows {
            // A gap is finished only when rows after it are needed, because until then it can grow.
            let gap = taken.gap < gaps.count ? gaps.base[taken.gap] : Gap(values: held, rows: 0)
            if taken.values < gap.values {
                let values = min(gap.values - taken.values, rows - row)
                runs.append((row, values))
                row += values
                taken.values += values
            } else if taken.gapRows < gap.rows {
                let empty = min(gap.rows - taken.gapRows, rows - row)
                row += empty
                taken.gapRows += empty
            } else {
                trap(unless: taken.gap < gaps.count, "every row belongs to a value or to a gap")
                taken.gap += 1
                taken.gapRows = 0
            }
        }
        taken.rows += rows
        return runs
    }

    private static func present(_ runs: [(row: Int, count: Int)], _ rows: Int) -> Bits {
        var bits = Bits(repeating: true, count: rows), at = 0
        func clear(_ rows: Range<Int>) {
            var row = rows.lowerBound
            while row < rows.upperBound {
                if row & 63 == 0, row + 64 <= rows.upperBound {
                    bits.words[row >> 6] = 0
                    row += 64
                } else {
                    bits[row] = false
                    row += 1
                }
            }
        }
        for run in runs {
            clear(at..<run.row)
            at = run.row + run.count
        }
        clear(at..<rows)
        return bits
    }

    /// Returns the ends of the values of all rows, the first of which are at `first`; rows without a value are empty.
    private func ends(of runs: [(row: Int, count: Int)], from first: Int, _ origin: Int, _ rows: Int) -> [Int] {
        [Int](unsafeUninitializedCapacity: rows + 1) { out, filled in
            filled = rows + 1
            out[0] = 0
            var at = 0, value = first, end = 0
            for run in runs {
                while at < run.row {
                    out[at + 1] = end
                    at += 1
                }
                for _ in 0..<run.count {
                    end = offsets.base[value] - origin
                    out[at + 1] = end
                    at += 1
                    value += 1
                }
            }
            while at < rows {
                out[at + 1] = end
                at += 1
            }
        }
    }

    private func copy(_ first: Int, _ held: Int, _ runs: [(row: Int, count: Int)], _ rows: Int, into column: inout Column) {
        func spread<T: BitwiseCopyable>(_ source: RawArray<T>, _ filler: T) -> [T] {
            [T](unsafeUninitializedCapacity: rows) { out, filled in
                filled = rows
                guard let base = out.baseAddress else { return }
                var at = 0, value = first
                for run in runs {
                    (base + at).update(repeating: filler, count: run.row - at)
                    (base + run.row).update(from: source.base + value, count: run.count)
                    at = run.row + run.count
                    value += run.count
                }
                (base + at).update(repeating: filler, count: rows - at)
            }
        }
        // Only columns of texts and collections have offsets.
        let origin = first == 0 || offsets.count == 0 ? 0 : offsets.base[first - 1]
        func ends() -> [Int] { self.ends(of: runs, from: first, origin, rows) }
        func texts() -> Text {
            Text(offsets: ends(), bytes: Array(UnsafeBufferPointer(start: bytes.base + origin, count: start(first + held) - origin)))
        }
        if collection != .none {
            column.offsets = ends()
            return
        }
        switch kind {
        case .bool, .int, .link: column.words = spread(words, 0)
        case .date, .decimal, .uuid, .objectID:
            column.words = spread(words, 0)
            column.extra = spread(extra, 0)
        case .double, .float: column.reals = spread(reals, 0)
        case .string, .data: column.text = texts()
        case .any:
            column.tags = spread(tags, AnyTag.null)
            column.words = spread(words, 0)
            column.extra = spread(extra, 0)
            column.reals = spread(reals, 0)
            column.text = texts()
        case .embedded: break
        }
    }
}
