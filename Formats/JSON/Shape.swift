import CSimdJSON
import FirnBytes
import FirnTable

/// The values observed at one path of the input: counts by kind, and what the texts and numbers have in common.
/// Nodes are in manually allocated memory (`ShapeTree` frees them), as they are accessed once for each value.
struct Shape {
    typealias Node = UnsafeMutablePointer<Shape>

    struct Member {
        var key: UInt32
        var node: Node
    }

    /// The first key that occurs twice in one object.
    final class Duplicate {
        let key: UInt32
        /// The block, and in it the line from 0; in a document, which is one block, the item.
        let position: (block: Int, at: Int)

        init(_ key: UInt32, _ position: (block: Int, at: Int)) {
            self.key = key
            self.position = position
        }
    }

    var nulls = 0, bools = 0, ints = 0, doubles = 0, numberTexts = 0, strings = 0, arrays = 0, objects = 0
    /// Whether there is an int that a double would write with other digits.
    var hasWideInts = false
    /// Whether there is an int that `Notation.twoDigitExponent` would write with an exponent.
    var hasLongInts = false
    /// Whether there is a whole double that was written without ".0".
    var hasWholeDoubles = false
    /// The number of doubles that end in ".0".
    var pointZeros = 0
    /// The number of digits after the point that all doubles share; -1 if there are none; -2 if they differ or cannot be written so.
    var fraction: Int32 = -1
    /// The form that all strings share, see `TextForm`.
    var form = TextForm.unseen
    /// The first object that has a key twice; nil if none has.
    var duplicate: Duplicate?
    /// The position of first appearance: the block, then the item in it.
    var first = (block: Int.max, item: Int.max)
    /// The serial number of the object that had this member last; a second one in the same object is a duplicate.
    var owner = 0
    /// The number of objects at this path that have this member (null included); an object with duplicates counts once.
    var presence = 0

    /// Whether all values are null.
    var hasNoValues: Bool { bools + ints + doubles + numberTexts + strings + arrays + objects == 0 }

    var members: ContiguousArray<Member> = []
    var lookup: [UInt32: Int] = [:]
    var cursor = 0
    /// The elements of the arrays at this path.
    var element: Node?
    /// The values of the objects at this path, if they are maps; and whether any of them had a key.
    var mapValue: Node?
    var hadKeys = false
    /// The number of members when the node was last examined for being a map.
    var examined = 8
    /// The paths of `--map` and `--object` that begin here or below; nil if there are none.
    var pins: PathPins?
    /// Values that a column of numbers does not write back as the same text; nil if there are none, or if texts are not kept.
    var odd: OddValues?
}

/// A tree of shapes that one parser fills; keys are the numbers of that parser.
final class ShapeTree: @unchecked Sendable {
    let root: Shape.Node
    let parser: JSONParser
    private var serial = 0
    private var block = 0
    /// The number in the block of the row that is being observed.
    private var row = 0
    private let options: JSONOptions
    private let keepsTexts: Bool
    /// What ended the reading.
    struct Fault {
        var item: Int
        var message: String
        /// Whether the item is the text of a number.
        var isNumber: Bool

        /// Returns line and column, from 0. `row` returns the line of the row, for items without a position.
        func location(_ tape: Tape, row: () -> Int) -> (line: Int, column: Int) {
            isNumber ? tape.parser.location(ofText: tape.items[item]) : (row(), 0)
        }
    }
    private(set) var fault: Fault?
    /// The row of the last call that contains the fault.
    private(set) var faultRow: Int?
    private let charge: MemoryCharge
    /// The number of nodes, and of those that are charged.
    private var nodes = 0, chargedNodes = 0
    /// The memory of odd values, in nodes.
    private var oddNodes = 0
    /// For each key number, the last map that had it, to find repeated keys.
    private var owners: [Int] = []
    /// Whether objects become maps during the reading, to bound the memory. Only one tree that sees the values in their order may do this:
    /// the result depends on it.
    var convertsEarly = false
    /// Smaller trees are converted at the end, when all values are known.
    private static let maximumNodes = 4096
    /// The memory for a node and its entry among the members of another, in bytes.
    static let nodeSize = 288
    /// The number of values observed at the root.
    private(set) var rowCount = 0

    /// The objects of a path become a map if they have more different keys than this.
    static let maximumKeys = 1000
    static let maximumColumns = 20_000

    init(_ parser: JSONParser, _ options: JSONOptions, _ budget: MemoryBudget) {
        charge = MemoryCharge(budget)
        self.parser = parser
        self.options = options
        keepsTexts = options.keepsTexts
        root = .allocate(capacity: 1)
        root.initialize(to: Shape())
        root.pointee.pins = PathPins(maps: options.maps, objects: options.objects)
    }

    deinit { ShapeTree.free(root) }

    private static func free(_ node: Shape.Node) {
        for member in node.pointee.members { free(member.node) }
        if let element = node.pointee.element { free(element) }
        if let value = node.pointee.mapValue { free(value) }
        node.deinitialize(count: 1)
        node.deallocate()
    }

    static func make(block: Int, item: Int) -> Shape.Node {
        let node = Shape.Node.allocate(capacity: 1)
        node.initialize(to: Shape())
        node.pointee.first = (block, item)
        return node
    }

    /// Observes the values at items `range` (complete and consecutive) as values of the root. `row` is the number of the first one in the
    /// block.
    func observe(_ tape: Tape, _ range: Range<Int>, block: Int, row first: Int = 0) {
        self.block = block
        self.row = first
        var item = range.lowerBound
        var row = 0
        while item < range.upperBound {
            observe(tape.items, item, root)
            rowCount &+= 1
            if fault != nil, faultRow == nil { faultRow = row }
            row &+= 1
            self.row &+= 1
            item &+= tape.items[item].step
        }
    }

    /// Observes one value at a node.
    func observe(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Shape.Node) {
        let item = items[index]
        switch item.tag {
        case TapeTag.null: node.pointee.nulls &+= 1
        case TapeTag.no, TapeTag.yes: node.pointee.bools &+= 1
        case TapeTag.int:
            node.pointee.ints &+= 1
            if item.integer.magnitude > 1 << 53, !TapeScalar.isShortest(String(item.integer), of: Double(item.integer)) {
                node.pointee.hasWideInts = true
            }
            if item.integer.magnitude >= 10_000_000_000_000_000 { node.pointee.hasLongInts = true }
        case TapeTag.double: observe(double: item, index, node)
        case TapeTag.numberText:
            node.pointee.numberTexts &+= 1
            if keepsTexts { odd(node).note(longNumber: item.bytes, (block, index)) }
            if Decimal(item.string) == nil, fault == nil { fault = Fault(item: index, message: JSONReader.unfitNumber, isNumber: true) }
        case TapeTag.string:
            node.pointee.strings &+= 1
            if keepsTexts { odd(node).note(string: item.bytes, (block, index)) }
            if node.pointee.form != TextForm.other {
                node.pointee.form = options.recognisesText ? TextForm.common(node.pointee.form, item.bytes) : TextForm.other
            }
        case TapeTag.array: observe(array: items, index, node)
        default: observe(object: items, index, node)
        }
    }

    /// Returns the odd values of a path.
    private func odd(_ node: Shape.Node) -> OddValues {
        if let odd = node.pointee.odd { return odd }
        let odd = OddValues()
        node.pointee.odd = odd
        oddNodes &+= 2
        takeMemory(item: 0)
        return odd
    }

    private func observe(double item: firn_json_item, _ index: Int, _ node: Shape.Node) {
        node.pointee.doubles &+= 1
        let value = item.double
        if keepsTexts, item.isUnusual { odd(node).note(item.double, parser.spelling(ofItem: index), (block, index)) }
        if item.endsInPointZero {
            node.pointee.pointZeros &+= 1
        } else if value == value.rounded(.towardZero) {
            node.pointee.hasWholeDoubles = true
        }
        if node.pointee.fraction == -2 { return }
        let digits = Int32(item.size & 0xFF)
        let suits =
            item.size & UInt32(FIRN_JSON_EXPONENT) == 0 && digits <= 9 && value.magnitude < 1e6 && (value != 0 || value.sign == .plus)
        if !suits {
            node.pointee.fraction = -2
        } else if node.pointee.fraction == -1 {
            node.pointee.fraction = digits
        } else if node.pointee.fraction != digits {
            node.pointee.fraction = -2
        }
    }

    private func observe(array items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Shape.Node) {
        node.pointee.arrays &+= 1
        let count = Int(items[index].size)
        if count == 0 { return }
        if node.pointee.element == nil {
            node.pointee.element = charged(item: index)
            node.pointee.element?.pointee.pins = node.pointee.pins?.below(nil)
        }
        let element = node.pointee.element!
        var item = index &+ 1
        for _ in 0..<count {
            observe(items, item, element)
            item &+= items[item].step
        }
    }

    private func observe(object items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Shape.Node) {
        node.pointee.objects &+= 1
        serial &+= 1
        let mine = serial
        let count = Int(items[index].size)
        var item = index &+ 1
        if node.pointee.mapValue != nil { findRepeated(items, index, node) }
        for _ in 0..<count {
            if fault != nil { return }
            if let value = node.pointee.mapValue {
                observe(items, item, value)
            } else {
                let child = member(items[item].key, of: node, item: item)
                if child.pointee.owner == mine {
                    if node.pointee.duplicate == nil {
                        node.pointee.duplicate = Shape.Duplicate(
                            items[item].key, (block, options.layout == .document ? item : parser.line(ofRow: row)))
                    }
                } else {
                    child.pointee.owner = mine
                    child.pointee.presence &+= 1
                }
                observe(items, item, child)
                if node.pointee.members.count > ShapeTree.maximumKeys,
                    node != root || node.pointee.members.count > ShapeTree.maximumColumns,
                    node.pointee.pins?.decided != false
                {
                    ShapeTree.collapse(node)
                    findRepeated(items, index, node)
                } else if convertsEarly, nodes > ShapeTree.maximumNodes, node.pointee.members.count >= 2 &* node.pointee.examined,
                    node != root
                {
                    convert(node)
                    if node.pointee.mapValue != nil { findRepeated(items, index, node) }
                }
            }
            item &+= items[item].step
        }
    }

    @inline(__always)
    private func member(_ key: UInt32, of node: Shape.Node, item: Int) -> Shape.Node {
        let cursor = node.pointee.cursor
        if cursor < node.pointee.members.count, node.pointee.members[cursor].key == key {
            node.pointee.cursor = cursor &+ 1
            return node.pointee.members[cursor].node
        }
        return searchMember(key, of: node, item: item)
    }

    @inline(never)
    private func searchMember(_ key: UInt32, of node: Shape.Node, item: Int) -> Shape.Node {
        if let index = node.pointee.lookup[key] {
            node.pointee.cursor = index &+ 1
            return node.pointee.members[index].node
        }
        let child = charged(item: item)
        if let pins = node.pointee.pins { child.pointee.pins = pins.below(Array(parser.key(key))) }
        node.pointee.lookup[key] = node.pointee.members.count
        node.pointee.members.append(.init(key: key, node: child))
        node.pointee.cursor = node.pointee.members.count
        return child
    }

    private func charged(item: Int) -> Shape.Node {
        nodes &+= 1
        takeMemory(item: item)
        return ShapeTree.make(block: block, item: item)
    }

    private func takeMemory(item: Int) {
        guard nodes &+ oddNodes > chargedNodes else { return }
        chargedNodes += 1024
        if fault == nil, !charge.take(1024 * ShapeTree.nodeSize) {
            fault = Fault(item: item, message: JSONReader.beyondMemory, isNumber: false)
        }
    }

    /// Records the first key that an object of a map has twice.
    private func findRepeated(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Shape.Node) {
        serial &+= 1
        if owners.count < parser.keyCount { owners += Array(repeating: 0, count: parser.keyCount * 2 - owners.count) }
        var item = index &+ 1
        for _ in 0..<Int(items[index].size) {
            let key = items[item].key
            if owners[Int(key)] == serial, node.pointee.duplicate == nil {
                node.pointee.duplicate = Shape.Duplicate(key, (block, options.layout == .document ? item : parser.line(ofRow: row)))
            }
            owners[Int(key)] = serial
            item &+= items[item].step
        }
    }

    /// Converts objects at and below a node to maps.
    private func convert(_ node: Shape.Node) {
        let before = ShapeTree.count(node)
        MapFinder(keys: { [parser] in Array(parser.key($0)) }).convert(node)
        nodes -= before - ShapeTree.count(node)
        node.pointee.examined = node.pointee.members.count
    }

    /// The number of nodes at and below a node.
    private static func count(_ node: Shape.Node) -> Int {
        node.pointee.members.reduce(1) { $0 + count($1.node) } + (node.pointee.element.map(count) ?? 0)
            + (node.pointee.mapValue.map(count) ?? 0)
    }

    /// Converts the members of a node to values of a map.
    static func collapse(_ node: Shape.Node) {
        let value = node.pointee.mapValue ?? make(block: .max, item: .max)
        if node.pointee.mapValue == nil { value.pointee.pins = node.pointee.pins?.below(nil) }
        node.pointee.mapValue = value
        if !node.pointee.members.isEmpty { node.pointee.hadKeys = true }
        for member in node.pointee.members {
            merge(member.node, into: value, keys: { $0 })
            free(member.node)
        }
        node.pointee.members = []
        node.pointee.lookup = [:]
        node.pointee.cursor = 0
    }

    /// Adds the observations of `other` to `node`; `keys` converts the key numbers of `other` to those of `node`.
    static func merge(_ other: Shape.Node, into node: Shape.Node, keys: (UInt32) -> UInt32) {
        let o = other.pointee
        node.pointee.nulls += o.nulls
        node.pointee.bools += o.bools
        node.pointee.ints += o.ints
        node.pointee.doubles += o.doubles
        node.pointee.numberTexts += o.numberTexts
        node.pointee.strings += o.strings
        node.pointee.arrays += o.arrays
        node.pointee.objects += o.objects
        node.pointee.presence += o.presence
        if o.hadKeys { node.pointee.hadKeys = true }
        if node.pointee.pins == nil { node.pointee.pins = o.pins }
        node.pointee.hasWideInts = node.pointee.hasWideInts || o.hasWideInts
        node.pointee.hasLongInts = node.pointee.hasLongInts || o.hasLongInts
        node.pointee.hasWholeDoubles = node.pointee.hasWholeDoubles || o.hasWholeDoubles
        node.pointee.pointZeros += o.pointZeros
        if let odd = o.odd { if node.pointee.odd?.merge(odd) == nil { node.pointee.odd = odd } }
        if let twice = o.duplicate, node.pointee.duplicate.map({ twice.position < $0.position }) ?? true {
            node.pointee.duplicate = Shape.Duplicate(keys(twice.key), twice.position)
        }
        if o.fraction != -1 { node.pointee.fraction = node.pointee.fraction == -1 || node.pointee.fraction == o.fraction ? o.fraction : -2 }
        node.pointee.form = TextForm.common(node.pointee.form, o.form)
        if o.first < node.pointee.first { node.pointee.first = o.first }
        if let element = o.element {
            if node.pointee.element == nil { node.pointee.element = make(block: .max, item: .max) }
            merge(element, into: node.pointee.element!, keys: keys)
        }
        if o.mapValue != nil, node.pointee.mapValue == nil { collapse(node) }
        if let value = o.mapValue { merge(value, into: node.pointee.mapValue!, keys: keys) }
        for member in o.members {
            let child: Shape.Node
            if let value = node.pointee.mapValue {
                child = value
            } else {
                let key = keys(member.key)
                if let index = node.pointee.lookup[key] {
                    child = node.pointee.members[index].node
                } else {
                    child = make(block: .max, item: .max)
                    node.pointee.lookup[key] = node.pointee.members.count
                    node.pointee.members.append(.init(key: key, node: child))
                }
            }
            merge(member.node, into: child, keys: keys)
        }
    }
}
