import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnSQL
import FirnTable

/// The values of statement parameters, from `--param name=value`.
struct SQLParameters {
    private let values: [(name: String, value: Value)]

    /// Parameters with the types of a caller.
    init(values: [(name: String, value: Value)]) { self.values = values }

    init(_ words: [String]) throws(FirnError) {
        var values: [(name: String, value: Value)] = []
        for word in words {
            guard var (name, text) = word.halves(at: UInt8(ascii: "=")), !name.isEmpty else {
                throw FirnError(
                    .usage, "--param takes name=value, not \"\(word)\"", advice: "write --param \(word)=…, and :\(word) in the statement")
            }
            if let first = name.first, ":@$?".contains(first), name.count > 1 { name.removeFirst() }
            guard !values.contains(where: { $0.name == name }) else { throw FirnError(.usage, "--param \"\(name)\" is given twice") }
            values.append((name, SQLParameters.value(text)))
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

    /// Checks the parameters of all statements before any of them runs. Throws `.usage` if one has no value, or a value has no parameter.
    func check(_ text: SQLStatements) throws(FirnError) {
        let parameters = text.parameters
        for parameter in parameters where value(of: parameter.name) == nil {
            throw missing(parameter.name, at: text.location(parameter.offset))
        }
        let used = Set(parameters.map { String($0.name.dropFirst()) })
        if let idle = values.first(where: { !used.contains($0.name) }) {
            let near = idle.name.count > 1 ? Suggestion.nearest(to: idle.name, among: used.sorted()) : nil
            throw FirnError(
                .usage, "no statement has a parameter :\(idle.name)",
                advice: near.map { "did you mean :\($0)?" } ?? "omit --param \(idle.name)")
        }
    }

    /// Binds the values to the parameters of a statement.
    func bind(to statement: SQLStatement) throws(FirnError) {
        for (index, parameter) in statement.parameters.enumerated() {
            guard let value = value(of: parameter) else { throw missing(parameter, at: nil) }
            try statement.bind(value, to: index)
        }
    }

    private func value(of parameter: String) -> Value? { values.first { $0.name == String(parameter.dropFirst()) }?.value }

    private func missing(_ parameter: String, at location: FirnError.Location?) -> FirnError {
        let name = String(parameter.dropFirst())
        let near = name.count > 1 ? Suggestion.nearest(to: name, among: values.map(\.name)) : nil
        return FirnError(
            .usage, "the parameter \(parameter) has no value", at: location,
            advice: near.map { "did you mean :\($0)?" } ?? "write --param \(name)=…")
    }
}
