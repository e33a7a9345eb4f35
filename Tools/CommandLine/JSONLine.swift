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
    package mutating func add(_ key: String, _ lines: [JSONLine]) { addRaw(key, "[" + lines.map(\.object).joined(separator: ",") + "]") }
    package mutating func add(_ key: String, _ line: JSONLine) { addRaw(key, line.object) }

    private mutating func addRaw(_ key: String, _ value: String) { members.append(JSONLine.quoted(key) + ":" + value) }

    package var object: String { "{" + members.joined(separator: ",") + "}" }

    static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where DisplayWidth.isControl(scalar):
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
