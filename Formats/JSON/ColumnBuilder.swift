import CSimdJSON
import FirnBytes
import FirnExchange
import FirnModel

/// A growing run of trivial values in memory of its own.
struct Run<T: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<T>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 256) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
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
        let wider = max(capacity * 2, count + more)
        let fresh = UnsafeMutablePointer<T>.allocate(capacity: wider)
        fresh.update(from: base, count: count)
        base.deallocate()
        base = fresh
        capacity = wider
    }

    /// Room for `more` values behind the last; `advance` then counts those written.
    @inline(__always)
    mutating func room(_ more: Int) -> UnsafeMutablePointer<T> {
        if capacity &- count < more { grow(more) }
        return base + count
    }

    @inline(__always)
    mutating func advance(_ more: Int) { count &+= more }

    mutating func truncate(_ to: Int = 0) { count = to }
    var array: [T] { Array(UnsafeBufferPointer(start: base, count: count)) }
    func free() { base.deallocate() }
}

/// Gathers the values of one column from tapes, by its plan. Lives in memory of its own, as it is touched once a value.
struct ColumnBuilder {
    typealias Node = UnsafeMutablePointer<ColumnBuilder>

    let type: ColumnType
    /// Whether a row is one value (not a collection).
    let kind: ScalarKind
    let collection: CollectionKind
    var count = 0
    var nulls = Run<Int>(capacity: 16)
    var words: Run<Int64>
    var extra: Run<Int64>
    var reals: Run<Double>
    var bytes: Run<UInt8>
    var offsets: Run<Int>
    var tags: Run<UInt8>
    /// Of an embedded object: fields. Of a collection: [elements] or [keys, values].
    var children: [Node] = []
    /// Of an embedded object: the key number that each field was met with, and where its value stands in the tape (-1: nowhere).
    var keys: [UInt32] = []
    var slots: [Int] = []
    var lookup: [UInt32: Int] = [:]
    var fieldsByName: [[UInt8]: Int] = [:]

    private init(_ type: ColumnType, collection: CollectionKind) {
        self.type = type
        kind = type.kind
        self.collection = collection
        let isScalar = collection == .none
        func room(_ used: Bool) -> Int { used && isScalar ? 1024 : 1 }
        let isText = type.kind == .string || type.kind == .data, isReal = type.kind == .double || type.kind == .float
        words = Run(capacity: room(!isText && !isReal))
        extra = Run(capacity: room([.date, .decimal, .uuid, .objectID].contains(type.kind)))
        reals = Run(capacity: room(isReal))
        bytes = Run(capacity: room(isText) * 16)
        offsets = Run(capacity: 1024)
        tags = Run(capacity: room(type.kind == .any))
    }

    static func make(_ plan: Plan) -> Node {
        let node = Node.allocate(capacity: 1)
        node.initialize(to: ColumnBuilder(plan.type, collection: plan.type.collection))
        switch plan.type.collection {
        case .map: node.pointee.children = [make(Plan(ColumnType(.string))), make(plan.element!)]
        case .list, .set: node.pointee.children = [make(plan.element!)]
        case .none:
            node.pointee.children = plan.fields.map { make($0.plan) }
            node.pointee.keys = [UInt32](repeating: .max, count: plan.fields.count)
            node.pointee.slots = [Int](repeating: -1, count: plan.fields.count)
            for (index, field) in plan.fields.enumerated() { node.pointee.fieldsByName[field.name] = index }
        }
        node.pointee.offsets.append(0)
        return node
    }

    static func free(_ node: Node) {
        for child in node.pointee.children { free(child) }
        node.pointee.nulls.free()
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
        node.pointee.nulls.truncate()
        node.pointee.words.truncate()
        node.pointee.extra.truncate()
        node.pointee.reals.truncate()
        node.pointee.bytes.truncate()
        node.pointee.offsets.truncate(1)
        node.pointee.tags.truncate()
        for child in node.pointee.children { reset(child) }
    }

    /// Forgets key numbers, when the parser has.
    static func forgetKeys(_ node: Node) {
        node.pointee.lookup = [:]
        for index in node.pointee.keys.indices { node.pointee.keys[index] = .max }
        for child in node.pointee.children { forgetKeys(child) }
    }

    /// What was gathered, into an empty column of the plan.
    static func move(_ node: Node, into column: inout Column) {
        column.count = node.pointee.count
        if node.pointee.nulls.count > 0 {
            var present = Bits(repeating: true, count: node.pointee.count)
            for i in 0..<node.pointee.nulls.count { present[node.pointee.nulls.base[i]] = false }
            column.present = present
        }
        if node.pointee.collection != .none {
            column.offsets = node.pointee.offsets.array
        } else {
            switch node.pointee.kind {
            case .bool, .int, .link: column.words = node.pointee.words.array
            case .date, .decimal, .uuid, .objectID:
                column.words = node.pointee.words.array
                column.extra = node.pointee.extra.array
            case .double, .float: column.reals = node.pointee.reals.array
            case .string, .data: column.text = Text(offsets: node.pointee.offsets.array, bytes: node.pointee.bytes.array)
            case .any:
                column.tags = node.pointee.tags.array
                column.words = node.pointee.words.array
                column.extra = node.pointee.extra.array
                column.reals = node.pointee.reals.array
                column.text = Text(offsets: node.pointee.offsets.array, bytes: node.pointee.bytes.array)
            case .embedded: break
            }
        }
        for (index, child) in node.pointee.children.enumerated() { move(child, into: &column.children[index]) }
    }
}
