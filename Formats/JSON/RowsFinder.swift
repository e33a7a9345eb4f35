import CSimdJSON
import FirnBytes
import FirnExchange

/// Finds the rows of a document.
///
/// Arrays of objects that are not empty, and that are reached through objects only, are candidates. The rows are those of
/// * the only candidate among the members of the document, unless it is a small part of a large document, or a deeper one is larger;
/// * the largest candidate at any depth, if it is a third of the document and eight times as large as all others together.
///
/// Otherwise an object of objects has one row per member, unless the members have hardly a key in common. Any other object is one row.
/// `JSONOptions.rows` overrides all of this.
struct RowsFinder {
    /// The rows: their form, and where they are.
    struct Location {
        var form: Envelope.Form
        /// The members that lead to the rows, and the item that contains them: the last of these members, or the document.
        var path: [Int] = []
        var item: Int { path.last ?? 0 }
        /// Candidates that were not chosen, to be named in a remark.
        var hint: [Int]?
    }

    private let tape: Tape
    private var items: UnsafePointer<firn_json_item> { tape.items }
    private var candidates = 0
    /// The number of items in all candidates, and in the largest one.
    private var total = 0
    private var best: (path: [Int], items: Int) = ([], 0)
    private var top: [Int] = []

    /// Candidates are searched to this depth.
    private static let maximumDepth = 32

    init(_ tape: Tape) { self.tape = tape }

    /// Returns the location of the rows.
    mutating func find() -> Location {
        let root = items[0]
        if root.tag == TapeTag.array { return Location(form: .rows) }
        guard root.tag == TapeTag.object else { return Location(form: .oneValue) }
        guard !hasRepeatedKeys(0) else { return Location(form: .one) }
        search(0, [])
        let size = tape.itemCount
        if top.count == 1 {
            let own = items[top[0]].step, rest = size - own
            if (rest < 256 || rest <= 4 * own) && best.items <= 4 * own { return Location(form: .rows, path: [top[0]]) }
        }
        if candidates > 0, best.items * 3 >= size, best.items >= 8 * (total - best.items), !isKeyed(0) || !hasSimilarMembers(0) {
            return Location(form: .rows, path: best.path)
        }
        return Location(form: isKeyed(0) && !hasUnlikeMembers(0) ? .keyed : .one, hint: top.count == 1 ? top : nil)
    }

    private mutating func search(_ object: Int, _ path: [Int]) {
        var item = object + 1
        for _ in 0..<Int(items[object].size) {
            if items[item].tag == TapeTag.object {
                if path.count < RowsFinder.maximumDepth { search(item, path + [item]) }
            } else if isTable(item) {
                let count = items[item].step
                candidates += 1
                total += count
                if count > best.items { best = (path + [item], count) }
                if path.isEmpty { top.append(item) }
            }
            item += items[item].step
        }
    }

    /// Whether an item is an array of objects that is not empty.
    private func isTable(_ index: Int) -> Bool {
        guard items[index].tag == TapeTag.array, items[index].size > 0 else { return false }
        var item = index + 1
        for _ in 0..<items[index].size {
            guard items[item].tag == TapeTag.object else { return false }
            item += items[item].step
        }
        return true
    }

    private func hasRepeatedKeys(_ object: Int) -> Bool {
        var seen: Set<UInt32> = [], item = object + 1
        for _ in 0..<items[object].size {
            if !seen.insert(items[item].key).inserted { return true }
            item += items[item].step
        }
        return false
    }

    /// Whether the members of an object can be rows: all are objects, and no key is repeated.
    private func isKeyed(_ object: Int) -> Bool {
        var item = object + 1
        for _ in 0..<items[object].size {
            guard items[item].tag == TapeTag.object else { return false }
            item += items[item].step
        }
        return items[object].size > 0 && !hasRepeatedKeys(object)
    }

    /// Whether the members of an object of objects have most keys in common with the first of them.
    private func hasSimilarMembers(_ object: Int) -> Bool {
        guard items[object].size > 1 else { return false }
        func keys(_ member: Int) -> Set<UInt32> {
            var keys: Set<UInt32> = [], item = member + 1
            for _ in 0..<items[member].size {
                keys.insert(items[item].key)
                item += items[item].step
            }
            return keys
        }
        let first = keys(object + 1)
        var item = object + 1
        for _ in 0..<items[object].size {
            let others = keys(item)
            if first.intersection(others).count * 2 < min(first.count, others.count) || first.isEmpty != others.isEmpty { return false }
            item += items[item].step
        }
        return true
    }

    /// Whether the members of an object of objects have hardly a key in common, so that each of them would have columns of its own.
    private func hasUnlikeMembers(_ object: Int) -> Bool {
        guard items[object].size > 1 else { return false }
        var keys: Set<UInt32> = [], total = 0, member = object + 1
        for _ in 0..<items[object].size {
            guard items[member].size > 0 else { return false }
            var item = member + 1
            for _ in 0..<items[member].size {
                keys.insert(items[item].key)
                item += items[item].step
            }
            total += Int(items[member].size)
            member += items[member].step
        }
        return keys.count * 10 > total * 9
    }

    /// Returns the location that a JSON Pointer names. The empty one names the document: the elements of an array, otherwise one row.
    func location(at pointer: String, _ input: Input) throws(FirnError) -> Location {
        var path: [Int] = [], item = 0
        guard pointer.isEmpty || pointer.utf8.first == UInt8(ascii: "/") else {
            throw FirnError(
                .usage, "--rows takes a JSON Pointer, not \"\(pointer)\"", advice: "begin with a slash: --rows \"/\(pointer)\"")
        }
        let keys = pointer.fields(at: UInt8(ascii: "/")).dropFirst()
        for (position, key) in keys.enumerated() {
            let name = key.replacing("~1", with: "/").replacing("~0", with: "~")
            guard let member = member(Array(name.utf8), of: item) else {
                let known = items[item].tag == TapeTag.object ? names(item) : []
                let advice =
                    items[item].tag == TapeTag.array
                    ? "rows in an array are reached through objects only: name the array itself"
                    : known.isEmpty ? nil : "its members are " + known.map { "\"\($0)\"" }.listed()
                throw FirnError(
                    .usage,
                    "--rows: the document has nothing at \"\(keys.prefix(position + 1).map { "/" + $0 }.joined())\"",
                    at: .init(file: input.name),
                    advice: advice)
            }
            path.append(member)
            item = member
        }
        let found = items[item]
        let form: Envelope.Form =
            found.tag == TapeTag.array
            ? .rows : found.tag != TapeTag.object ? .oneValue : isKeyed(item) && !path.isEmpty ? .keyed : .one
        return Location(form: form, path: path)
    }

    /// Returns the last member of an object with a key.
    private func member(_ key: [UInt8], of object: Int) -> Int? {
        guard items[object].tag == TapeTag.object else { return nil }
        var found: Int?, item = object + 1
        for _ in 0..<items[object].size {
            if tape.parser.key(items[item].key).elementsEqual(key) { found = item }
            item += items[item].step
        }
        return found
    }

    private func names(_ object: Int) -> [String] {
        var names: [String] = [], item = object + 1
        for _ in 0..<items[object].size {
            names.append(tape.parser.keyText(items[item].key))
            item += items[item].step
        }
        return names
    }

    /// Returns the JSON Pointer to a member.
    func pointer(_ path: [Int]) -> String {
        path.map { "/" + tape.parser.keyText(items[$0].key).replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }

    /// Returns the item of the first row and the number of rows.
    func rows(_ location: Location) -> (first: Int, count: Int) {
        switch location.form {
        case .rows, .values, .keyed: (location.item + 1, Int(items[location.item].size))
        case .one, .oneValue, .sequence: (location.item, 1)
        }
    }
}
