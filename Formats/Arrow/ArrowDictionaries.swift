import FirnExchange
import FirnTable
import Synchronization

/// The dictionaries that are valid for a batch.
struct ArrowDictionaries: Sendable {
    fileprivate var versions: [Int64: Version] = [:]

    /// A dictionary after some of its parts.
    fileprivate struct Version: Sendable {
        var chain: ArrowChain
        var parts: Int
    }

    /// Adds values: to a known dictionary, or in place of it.
    mutating func add(_ id: Int64, _ batch: ArrowBatch, isDelta: Bool, _ index: ArrowDictionaryIndex) throws(ArrowFault) {
        guard let plan = index.plans[id] else { throw ArrowFault("no column has the dictionary \(id)", at: batch.header.offset) }
        if isDelta {
            guard var version = versions[id] else {
                throw ArrowFault("the dictionary \(id), to which values are added, does not exist", at: batch.header.offset)
            }
            if version.parts < version.chain.count {
                // The values were added to an older version already.
                version.chain = version.chain.copy(parts: version.parts, dictionaries: version.chain.dictionaries)
            }
            version.chain.append(batch)
            version.parts += 1
            versions[id] = version
        } else {
            versions[id] = Version(
                chain: ArrowChain(id, plan, [batch], dictionaries: inner(of: id, index)), parts: 1)
        }
        // Dictionaries that refer to this one have other values now.
        for outer in index.users[id] ?? [] {
            guard let version = versions[outer] else { continue }
            versions[outer] = Version(
                chain: version.chain.copy(parts: version.parts, dictionaries: inner(of: outer, index)), parts: version.parts)
        }
    }

    private func inner(of id: Int64, _ index: ArrowDictionaryIndex) -> ArrowDictionaries {
        var own = ArrowDictionaries()
        for needed in index.needs[id] ?? [] { own.versions[needed] = versions[needed] }
        return own
    }

    func has(_ id: Int64) -> Bool { versions[id] != nil }

    /// Returns the values of a dictionary, of which the first `count` may be used.
    func values(_ id: Int64) throws(ArrowFault) -> (column: Column, count: Int)? {
        guard let version = versions[id] else { return nil }
        return try version.chain.values(parts: version.parts)
    }
}

/// A dictionary: its first values, and those that were added. The values are decoded when they are needed.
final class ArrowChain: Sendable {
    private let id: Int64
    private let plan: ArrowPlanBox
    fileprivate let dictionaries: ArrowDictionaries
    private let state: Mutex<State>

    private struct State {
        var parts: [ArrowBatch?]
        /// The values of the first parts, and their number after each part.
        var column: Column?
        var ends: [Int] = []
    }

    fileprivate init(_ id: Int64, _ plan: ArrowPlanBox, _ parts: [ArrowBatch?], dictionaries: ArrowDictionaries) {
        self.id = id
        self.plan = plan
        self.dictionaries = dictionaries
        state = Mutex(State(parts: parts))
    }

    fileprivate var count: Int { state.withLock { $0.parts.count } }

    fileprivate func append(_ batch: ArrowBatch) { state.withLock { $0.parts.append(batch) } }

    /// Returns a dictionary with the first parts of this one.
    fileprivate func copy(parts: Int, dictionaries: ArrowDictionaries) -> ArrowChain {
        ArrowChain(id, plan, state.withLock { Array($0.parts.prefix(parts)) }, dictionaries: dictionaries)
    }

    fileprivate func values(parts: Int) throws(ArrowFault) -> (column: Column, count: Int) {
        try state.withLock { (state) throws(ArrowFault) in
            var column = state.column ?? plan.plan.emptyColumn
            while state.ends.count < parts {
                guard let batch = state.parts[state.ends.count] else { throw ArrowFault("the dictionary \(id) was released") }
                state.column = nil
                var decoder = ArrowDecoder(batch, dictionaries: dictionaries)
                let more = try decoder.column(plan.plan, 0..<batch.rowCount)
                if column.count == 0 { column = more } else { column.append(contentsOf: more) }
                do { try column.hold(.init(.process)) } catch {
                    throw ArrowFault.beyondMemory("a dictionary", column.footprint, .process)
                }
                state.ends.append(column.count)
            }
            state.column = column
            return (column, parts == 0 ? 0 : state.ends[parts - 1])
        }
    }
}

/// A plan for several threads: it does not change after the schema was planned.
final class ArrowPlanBox: @unchecked Sendable {
    let plan: ArrowPlan
    init(_ plan: ArrowPlan) { self.plan = plan }
}

/// The dictionaries of a schema: how their values are read, and which refer to which.
struct ArrowDictionaryIndex: Sendable {
    private(set) var plans: [Int64: ArrowPlanBox] = [:]
    private(set) var totals: [Int64: ArrowField.Numbering] = [:]
    /// The dictionaries to which the values of a dictionary refer, also through others.
    private(set) var needs: [Int64: Set<Int64>] = [:]
    /// The dictionaries that refer to a dictionary; each follows those to which it refers itself.
    private(set) var users: [Int64: [Int64]] = [:]

    /// Collects the dictionaries of planned columns. `fields`: all fields of the file, planned or not.
    init(_ fields: [ArrowField], _ planned: [ArrowPlan], hasUnionValidity: Bool) throws(ArrowFault) {
        var trees: [Int64: ArrowField] = [:], direct: [Int64: Set<Int64>] = [:]
        for field in fields { try ArrowDictionaryIndex.collect(field, hasUnionValidity, &trees, &totals, &direct, level: 0) }
        for plan in planned { collect(plan) }
        for id in trees.keys {
            var found: Set<Int64> = [], waiting = Array(direct[id] ?? [])
            while let next = waiting.popLast() {
                guard found.insert(next).inserted else { continue }
                waiting += direct[next] ?? []
            }
            guard !found.contains(id) else {
                throw ArrowFault("the dictionary \(id) refers to itself", at: trees[id]?.offset)
            }
            needs[id] = found
            for inner in found { users[inner, default: []].append(id) }
        }
        for id in Array(users.keys) { users[id]?.sort { (needs[$0]?.count ?? 0, $0) < (needs[$1]?.count ?? 0, $1) } }
    }

    private static func collect(
        _ field: ArrowField, _ hasUnionValidity: Bool, _ trees: inout [Int64: ArrowField], _ totals: inout [Int64: ArrowField.Numbering],
        _ direct: inout [Int64: Set<Int64>], level: Int
    ) throws(ArrowFault) {
        guard level < 128 else { throw ArrowFault.unknown("the schema nests too deeply", at: field.offset) }
        guard let dictionary = field.dictionary else {
            for child in field.children { try collect(child, hasUnionValidity, &trees, &totals, &direct, level: level + 1) }
            return
        }
        let id = dictionary.id
        if let known = trees[id] {
            guard known.isSameType(as: dictionary.values) else {
                throw ArrowFault("columns with the dictionary \(id) have different types of values", at: field.offset)
            }
            return
        }
        trees[id] = dictionary.values
        var total = ArrowField.Numbering(hasUnionValidity: hasUnionValidity)
        dictionary.values.number(&total)
        totals[id] = total
        var inner: Set<Int64> = []
        dictionary.values.collectDictionaries(&inner)
        direct[id] = inner
        for child in dictionary.values.children { try collect(child, hasUnionValidity, &trees, &totals, &direct, level: level + 1) }
    }

    private mutating func collect(_ plan: ArrowPlan) {
        switch plan.shape {
        case .leaf, .absent: break
        case .object(let inner), .union(let inner): for plan in inner { collect(plan) }
        case .list(let inner), .wrapped(let inner), .runs(let inner): collect(inner)
        case .map(let key, let value):
            collect(key)
            collect(value)
        case .dictionary(let values):
            if let id = plan.field.dictionary?.id, plans[id] == nil { plans[id] = ArrowPlanBox(values) }
            collect(values)
        }
    }
}

extension ArrowField {
    fileprivate func isSameType(as other: ArrowField) -> Bool {
        type == other.type && dictionary?.id == other.dictionary?.id && children.count == other.children.count
            && zip(children, other.children).allSatisfy { $0.isSameType(as: $1) && $0.name == $1.name }
    }

    /// Adds the dictionaries to which the values of this tree refer directly.
    fileprivate func collectDictionaries(_ found: inout Set<Int64>) {
        if let dictionary {
            found.insert(dictionary.id)
        } else {
            for child in children { child.collectDictionaries(&found) }
        }
    }
}

extension ArrowPlan {
    /// The empty column of this plan.
    var emptyColumn: Column {
        var column = Column(type)
        switch shape {
        case .leaf, .union, .absent: break
        case .object(let fields): column.children = fields.map(\.emptyColumn)
        case .wrapped(let inner), .list(let inner): column.children = [inner.emptyColumn]
        case .map(let key, let value): column.children = [key.emptyColumn, value.emptyColumn]
        case .dictionary(let values), .runs(let values):
            column = values.emptyColumn
            column.type = type
        }
        return column
    }
}
