import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnSQL
import FirnTable

/// The values of statement parameters, from `--param name=value`.
struct SQLParameters {
    private let values: [(name: String, value: Value)]

    init(_ words: [String]) throws(FirnError) {
        var values: [(name: String, value: Value)] = []
        for word in words {
            guard let mark = word.firstIndex(of: "="), mark > word.startIndex else {
                throw FirnError(
                    .usage, "--param takes name=value, not \"\(word)\"", advice: "write --param \(word)=…, and :\(word) in the statement")
            }
            var name = String(word[..<mark])
            if let first = name.first, ":@$?".contains(first), name.count > 1 { name.removeFirst() }
            guard !values.contains(where: { $0.name == name }) else { throw FirnError(.usage, "--param \"\(name)\" is given twice") }
            values.append((name, SQLParameters.value(String(word[word.index(after: mark)...]))))
        }
        self.values = values
    }

    /// Returns a number if the text is the canonical text of one, otherwise the text: 007 is text.
    private static func value(_ text: String) -> Value {
        if let whole = Int64(text), String(whole) == text { return .int(whole) }
        let real: Double? = Array(text.utf8).withUnsafeBytes { NumberText.parseDouble($0) }
        if let real, real.isFinite, text.utf8.contains(UInt8(ascii: ".")) || text.utf8.contains(UInt8(ascii: "e")) { return .double(real) }
        return .string(text)
    }

    /// Binds the values to the parameters of a statement, and returns the names used. Throws `.usage` if a parameter has no value.
    func bind(to statement: SQLStatement) throws(FirnError) -> Set<String> {
        var used: Set<String> = []
        for (index, parameter) in statement.parameters.enumerated() {
            let name = String(parameter.dropFirst())
            guard let value = values.first(where: { $0.name == name })?.value else {
                let near = Suggestion.nearest(to: name, among: values.map(\.name))
                throw FirnError(
                    .usage, "the parameter \(parameter) has no value",
                    advice: near.map { "did you mean :\($0)?" } ?? "write --param \(name)=…")
            }
            used.insert(name)
            try statement.bind(value, to: index)
        }
        return used
    }

    /// Throws `.usage` if a value was given for a parameter that no statement has.
    func check(_ used: Set<String>) throws(FirnError) {
        if let idle = values.first(where: { !used.contains($0.name) }) {
            throw FirnError(.usage, "no statement has a parameter :\(idle.name)", advice: "omit --param \(idle.name)")
        }
    }
}
