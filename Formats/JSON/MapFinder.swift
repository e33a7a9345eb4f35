import FirnBytes
import FirnTable

/// Decides which objects are maps from key to value: their keys are data, and their values have one shape. Other objects are records, whose
/// members are fields.
///
/// | values of the members | a map if |
/// |---|---|
/// | objects with similar members | nearly all keys look like data; or there are 8 keys, and there are at most two objects, or no object has half of the keys; or there are 64 keys |
/// | maps with values of one kind | there are 3 keys |
/// | scalars of one kind, or lists | nearly all keys look like data, and there are 3; or there are 12 keys, each rare; or at most two objects have 64 keys |
/// | of any kind | there are more than 1,000 keys; or more than 64, and no object has a fifth of them |
///
/// Rows are maps only if they have more than 1,000 keys, each of which is in few rows, for objects. Objects of at least three rows that all have the same members are records unless their keys look like data.
struct MapFinder {
    /// Returns the bytes of a key.
    let keys: (UInt32) -> [UInt8]
    /// Whether texts that a column of numbers can have count as numbers.
    var isTolerant = false

    /// What all values of a path are.
    private enum Kind: Equatable {
        case nothing, bool, number, text, list, emptyObject, mixed
        /// A record, with the kind that all its members have, or mixed.
        indirect case object(Kind)
        /// A map, with the kind of its values.
        indirect case map(Kind)
    }

    /// Converts objects at and below a node to maps, from the innermost to the outermost. With `given`, the node has a known type.
    func convert(_ node: Shape.Node, given: [ColumnPlan.Field] = [], isRow: Bool = false) {
        let fields = Dictionary(given.map { ($0.name, $0.plan) }) { first, _ in first }
        for member in node.pointee.members {
            if !fields.isEmpty, let plan = fields[keys(member.key)] {
                convert(member.node, plan)
            } else {
                convert(member.node)
            }
        }
        if let element = node.pointee.element { convert(element) }
        if let value = node.pointee.mapValue { convert(value) }
        if node.pointee.mapValue == nil, isRow ? given.isEmpty && areKeysOfRowsData(node) : isMap(node) {
            ShapeTree.collapse(node)
            // Merged values can show more than each of them did.
            if let value = node.pointee.mapValue { convert(value) }
        }
    }

    private func convert(_ node: Shape.Node, _ plan: ColumnPlan) {
        let leaf = plan.element ?? plan
        guard leaf.type.kind == .embedded, !leaf.isBare else { return }
        switch plan.type.collection {
        case .none: convert(node, given: leaf.fields, isRow: true)
        case .map: for member in node.pointee.members { convert(member.node, given: leaf.fields, isRow: true) }
        default: if let element = node.pointee.element { convert(element, given: leaf.fields, isRow: true) }
        }
    }

    /// Whether the rows are maps: there are more than 1,000 keys in at least 100 rows, on average each key is in at most two rows, and most
    /// values are objects. Each of these would otherwise have a type of its own.
    private func areKeysOfRowsData(_ node: Shape.Node) -> Bool {
        let count = node.pointee.members.count
        guard count > ShapeTree.maximumKeys, node.pointee.objects >= 100, node.pointee.pins == nil else { return false }
        let objects = node.pointee.members.count { $0.node.pointee.objects > 0 && !$0.node.pointee.members.isEmpty }
        return 2 * objects > count && node.pointee.members.reduce(0) { $0 + $1.node.pointee.presence } <= 2 * count
    }

    /// Whether the objects at a node are maps. Objects below it have been converted.
    private func isMap(_ node: Shape.Node) -> Bool {
        let count = node.pointee.members.count, objects = node.pointee.objects
        guard count > 0 else { return false }
        if let decided = node.pointee.pins?.decided { return decided }
        let present = node.pointee.members.reduce(0) { $0 + $1.node.pointee.presence }
        if count > ShapeTree.maximumKeys || (count > 64 && 5 * present < count * objects) { return true }
        guard count > 1 else { return false }
        var kind = commonKind(node)
        // Texts such as "NA" among numbers.
        if kind == .mixed { kind = MapFinder(keys: keys, isTolerant: true).commonKind(node) }
        // The share of keys that an object has on average is present / (count × objects).
        let areFew = 2 * present < count * objects
        switch kind {
        case .nothing, .mixed: return false
        case .map, .emptyObject: return count >= 3 || dataKeys(node, strong: true)
        case .object:
            guard areSimilar(node) else { return false }
            return dataKeys(node, strong: true) || count >= 64 || (count >= 8 && (objects <= 2 || areFew))
        default:
            if count >= 3, dataKeys(node, strong: true) { return true }
            if count >= 8, objects <= 2 || areFew, dataKeys(node, strong: false) { return true }
            if objects <= 2 { return count >= 64 }
            return count >= 12 && present <= count * max(2, objects / 10)
        }
    }

    /// Returns the kind of the values of all members of a node.
    private func commonKind(_ node: Shape.Node) -> Kind {
        var kind = Kind.nothing
        for member in node.pointee.members {
            kind = MapFinder.common(kind, self.kind(member.node))
            if kind == .mixed { break }
        }
        return kind
    }

    private func kind(_ node: Shape.Node) -> Kind {
        let shape = node.pointee, numbers = shape.ints + shape.doubles + shape.numberTexts
        if isTolerant, let odd = shape.odd, shape.bools + shape.arrays + shape.objects + odd.others.count + odd.identifiers.count == 0 {
            return numbers > 0 ? .number : .nothing
        }
        let kinds = [shape.bools, numbers, shape.strings, shape.arrays, shape.objects].count { $0 > 0 }
        if kinds != 1 { return kinds == 0 ? .nothing : .mixed }
        if shape.bools > 0 { return .bool }
        if numbers > 0 { return .number }
        if shape.strings > 0 { return .text }
        if shape.arrays > 0 { return .list }
        if let value = shape.mapValue { return .map(kind(value)) }
        if shape.members.isEmpty { return .emptyObject }
        return .object(shape.members.reduce(.nothing) { $0 == .mixed ? .mixed : MapFinder.common($0, kind($1.node)) })
    }

    private static func common(_ a: Kind, _ b: Kind) -> Kind {
        switch (a, b) {
        case (.nothing, let other), (let other, .nothing): return other
        case (.emptyObject, .map), (.emptyObject, .object): return b
        case (.map, .emptyObject), (.object, .emptyObject): return a
        case (.map(let x), .map(let y)), (.map(let x), .object(let y)), (.object(let x), .map(let y)):
            // Small maps look like records with members of one kind.
            let value = common(x, y)
            return value == .mixed ? .mixed : .map(value)
        case (.object(let x), .object(let y)): return .object(common(x, y))
        default: return a == b ? a : .mixed
        }
    }

    /// Whether the members of a node, which are objects, have most of their own members in common, with values of the same kinds.
    private func areSimilar(_ node: Shape.Node) -> Bool {
        var counts: [UInt32: (count: Int, kind: Kind)] = [:], total = 0
        for member in node.pointee.members {
            for inner in member.node.pointee.members {
                total += 1
                let known = counts[inner.key] ?? (0, .nothing)
                counts[inner.key] = (known.count + 1, MapFinder.common(known.kind, kind(inner.node)))
            }
        }
        let often = max(2, node.pointee.members.count / 5), core = counts.values.filter { $0.count >= often }
        let covered = core.reduce(0) { $0 + $1.count }, agreeing = core.count { $0.kind != .mixed }
        return covered > 0 && covered * 10 >= total * 7 && agreeing * 10 >= core.count * 7
    }

    /// Whether nearly all keys of a node look like data. Weak signs are those that names of fields have too, now and then.
    private func dataKeys(_ node: Shape.Node, strong: Bool) -> Bool {
        var found = 0, all = 0
        for member in node.pointee.members {
            let key = keys(member.key)
            if key.isEmpty { continue }
            all += 1
            if MapFinder.looksLikeData(key, strong: strong) { found += 1 }
        }
        return found > 0 && found * 10 >= all * 8
    }

    /// Whether a key looks like a number, a date, a version, a path or an id.
    static func looksLikeData(_ key: [UInt8], strong: Bool) -> Bool {
        var digits = 0, marks = 0, spaces = 0
        for byte in key {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): return true
            case UInt8(ascii: "."), UInt8(ascii: "-"): marks += 1
            case UInt8(ascii: " "), UInt8(ascii: ":"): spaces += 1
            default: break
            }
        }
        if let first = key.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") { return true }
        if key.dropFirst().contains(UInt8(ascii: "@")) { return true }
        if digits > 0 && marks > 0 || digits * 3 >= key.count && key.count >= 8 { return true }
        return !strong && (marks > 0 || spaces > 0)
    }
}

/// The paths that `--map` and `--object` name, from a node on.
final class PathPins: Sendable {
    private let pins: [(path: ArraySlice<[UInt8]>, isMap: Bool)]

    private init(_ pins: [(path: ArraySlice<[UInt8]>, isMap: Bool)]) { self.pins = pins }

    /// Parses paths such as `data.*.stats`: names of members, `*` for every value of a map and every element of a list. A dot or an asterisk
    /// in a name is written after a backslash. Returns nil if there are none.
    convenience init?(maps: [String], objects: [String]) {
        guard !maps.isEmpty || !objects.isEmpty else { return nil }
        self.init(maps.map { (PathPins.parse($0)[...], true) } + objects.map { (PathPins.parse($0)[...], false) })
    }

    private static let any = [UInt8(ascii: "\\"), UInt8(ascii: "*")]

    private static func parse(_ text: String) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]], isEscaped = false
        for byte in text.utf8 {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, byte == UInt8(ascii: ".") { parts.append([]) } else { parts[parts.count - 1].append(byte) }
            if !isEscaped, byte == UInt8(ascii: "*"), parts[parts.count - 1].count == 1 { parts[parts.count - 1] = any }
            isEscaped = false
        }
        return parts
    }

    /// Whether the node is a map; nil if no path ends here.
    var decided: Bool? { pins.last { $0.path.isEmpty }?.isMap }

    /// Returns the paths that go on with a member; nil stands for an element, or a value of a map.
    func below(_ key: [UInt8]?) -> PathPins? {
        let matching = pins.filter { pin in
            guard let first = pin.path.first else { return false }
            return first == PathPins.any || key == first
        }
        return matching.isEmpty ? nil : PathPins(matching.map { ($0.path.dropFirst(), $0.isMap) })
    }

    /// Returns the first of the paths at which a tree has no object; nil if there is none. A tree without objects has seen no rows.
    static func idle(_ paths: [String], in root: Shape.Node, _ keys: (UInt32) -> [UInt8]) -> String? {
        guard root.pointee.objects > 0 || root.pointee.arrays > 0 else { return nil }
        return paths.first { !reaches(parse($0)[...], root, keys) }
    }

    private static func reaches(_ path: ArraySlice<[UInt8]>, _ node: Shape.Node, _ keys: (UInt32) -> [UInt8]) -> Bool {
        guard let first = path.first else { return node.pointee.objects > 0 }
        let rest = path.dropFirst()
        // The keys of maps are not kept.
        if let value = node.pointee.mapValue, first != any || reaches(rest, value, keys) { return true }
        if first == any, let element = node.pointee.element, reaches(rest, element, keys) { return true }
        return node.pointee.members.contains { (first == any || keys($0.key) == first) && reaches(rest, $0.node, keys) }
    }

    /// The text of a key as a part of a path.
    static func spelled(_ key: String) -> String {
        key.replacing("\\", with: "\\\\").replacing(".", with: "\\.").replacing("*", with: "\\*")
    }
}
