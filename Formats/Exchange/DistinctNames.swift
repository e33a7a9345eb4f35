/// Makes names distinct by numbers at their end.
package struct DistinctNames {
    /// The numbers that follow names.
    private var next: [String: Int] = [:]

    package init() {}

    package mutating func add(_ name: String) -> String {
        guard var copy = next[name] else {
            next[name] = 2
            return name
        }
        while next["\(name)_\(copy)"] != nil { copy += 1 }
        next[name] = copy + 1
        next["\(name)_\(copy)"] = 2
        return "\(name)_\(copy)"
    }
}
