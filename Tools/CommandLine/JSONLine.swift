import FirnBytes

/// Builds one line of NDJSON, as `--json` prints it. The keys are in the order in which they are added.
package struct JSONLine: Sendable {
    private var members: [String] = []

    package init() {}

    package mutating func add(_ key: String, _ value: String?) { addRaw(key, value.map(JSONLine.quoted) ?? "null") }
    package mutating func add(_ key: String, _ value: Int?) { addRaw(key, value.map(String.init) ?? "null") }
    package mutating func add(_ key: String, _ value: Bool) { addRaw(key, value ? "true" : "false") }
    package mutating func add(_ key: String, _ value: Double) { addRaw(key, value.isFinite ? "\(value)" : "null") }
    package mutating func add(_ key: String, _ values: [String]) {
        addRaw(key, "[" + values.map(JSONLine.quoted).joined(separator: ",") + "]")
    }
    /// Adds an array with one object for each item. `fill` adds the members of an object.
    package mutating func add<Items: Sequence>(_ key: String, _ items: Items, _ fill: (Items.Element, inout JSONLine) -> Void) {
        let objects = items.map { item in
            var line = JSONLine()
            fill(item, &line)
            return line.object
        }
        addRaw(key, "[" + objects.joined(separator: ",") + "]")
    }
    package mutating func add(_ key: String, _ line: JSONLine) { addRaw(key, line.object) }

    private mutating func addRaw(_ key: String, _ value: String) { members.append(JSONLine.quoted(key) + ":" + value) }

    package var object: String { "{" + members.joined(separator: ",") + "}" }

    /// Returns the JSON text of a string. Control characters that JSON allows are escaped too, because they would control the terminal.
    static func quoted(_ text: String) -> String {
        let quoted = JSONString.quoted(text)
        guard quoted.unicodeScalars.contains(where: DisplayWidth.isControl) else { return quoted }
        return quoted.unicodeScalars.reduce(into: "") { out, scalar in
            guard DisplayWidth.isControl(scalar) else { return out.unicodeScalars.append(scalar) }
            let hex = String(scalar.value, radix: 16)
            out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
    }
}
