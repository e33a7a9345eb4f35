import FirnBytes
import FirnTable

/// What was changed in the maps of a column, counted.
package struct MapChanges {
    private var repeatedKeys = 0
    private var missingKeys = 0

    package init() {}

    package static func += (a: inout MapChanges, b: MapChanges) {
        a.repeatedKeys += b.repeatedKeys
        a.missingKeys += b.missingKeys
    }

    package func remarks(_ column: String) -> [String] {
        var out: [String] = []
        if repeatedKeys > 0 {
            out.append("column \"\(column)\": \(repeatedKeys) entries of maps have a key that follows again; the last one is kept")
        }
        if missingKeys > 0 { out.append("column \"\(column)\": \(missingKeys) entries of maps have no key, and are left out") }
        return out
    }

    /// Puts the entries of maps into the order of their keys. Of equal keys, the last one is kept; entries without a key are left out.
    package mutating func sortKeys(_ map: inout Column) {
        let keys = map.children[0], text = keys.text
        func precedes(_ a: Int, _ b: Int) -> Bool {
            text.bytes[text.range(a)].lexicographicallyPrecedes(text.bytes[text.range(b)])
        }
        var isSorted = keys.present == nil
        for row in 0..<map.count where isSorted {
            for i in map.offsets[row]..<max(map.offsets[row], map.offsets[row + 1] - 1) where !precedes(i, i + 1) {
                isSorted = false
                break
            }
        }
        if isSorted { return }
        var order: [Int] = [], offsets = [0]
        for row in 0..<map.count {
            let all = map.offsets[row]..<map.offsets[row + 1], named = all.filter(keys.isPresent)
            missingKeys += all.count - named.count
            let start = order.count
            for i in named.sorted(by: { precedes($0, $1) || !precedes($1, $0) && $0 < $1 }) {
                if order.count > start, let last = order.last, !precedes(last, i) {
                    order[order.count - 1] = i
                    repeatedKeys += 1
                } else {
                    order.append(i)
                }
            }
            offsets.append(order.count)
        }
        map.children = map.children.map { $0.gather(order) }
        map.children[0].present = nil
        map.offsets = offsets
    }
}
