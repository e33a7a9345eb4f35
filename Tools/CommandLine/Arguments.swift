import FirnBytes

/// The arguments of one command, checked against its flags.
package struct Arguments: Sendable {
    package let command: Command
    package let operands: [String]
    private let values: [String: [String]]

    init(command: Command, operands: [String], values: [String: [String]]) {
        self.command = command
        self.operands = operands
        self.values = values
    }

    /// Whether the flag was given.
    package func has(_ flag: String) -> Bool { values[flag] != nil }

    /// The last value given.
    package func text(_ flag: String) -> String? { values[flag]?.last }

    /// Every value given, in order.
    package func texts(_ flag: String) -> [String] { values[flag] ?? [] }

    /// A value of names separated by commas, whole and in order; a comma within a name is written `\,`. Empty if the flag was not given.
    package func names(_ flag: String) -> [String] { texts(flag).flatMap(Arguments.split) }

    /// A whole number that is not negative, or nil if the flag was not given.
    package func count(_ flag: String) throws(FirnError) -> Int? {
        guard let text = text(flag) else { return nil }
        guard let value = Int(text.filter { $0 != "_" }), value >= 0 else {
            throw FirnError(.usage, "--\(flag) takes a whole number, not \"\(text)\"")
        }
        return value
    }

    /// A number of bytes such as `500MB`, at least 1 MB, or nil if the flag was not given.
    package func size(_ flag: String) throws(FirnError) -> Int? {
        guard let text = text(flag) else { return nil }
        let units: [String: Double] = ["": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1024, "m": 1_048_576, "g": 1_073_741_824, "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776]
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let scale = units[unit], let value = Double(number.filter { $0 != "_" }), value * scale < 1e18 else {
            throw FirnError(.usage, "--\(flag) takes a size such as 500MB or 4GiB, not \"\(text)\"")
        }
        guard value * scale >= 1e6 else { throw FirnError(.usage, "--\(flag) takes at least 1MB, not \"\(text)\"") }
        return Int(value * scale)
    }

    /// A number, or nil if the flag was not given.
    package func number(_ flag: String) throws(FirnError) -> Double? {
        guard let text = text(flag) else { return nil }
        guard let value = Double(text), value.isFinite else { throw FirnError(.usage, "--\(flag) takes a number, not \"\(text)\"") }
        return value
    }

    static func split(_ text: String) -> [String] {
        var names: [String] = [], name = "", escaped = false
        for character in text {
            if escaped {
                if character != "," && character != "\\" { name.append("\\") }
                name.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character == "," {
                names.append(trimmed(name))
                name = ""
            } else {
                name.append(character)
            }
        }
        if escaped { name.append("\\") }
        names.append(trimmed(name))
        return names.filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: String) -> String {
        var slice = text[...]
        while slice.first == " " { slice.removeFirst() }
        while slice.last == " " { slice.removeLast() }
        return String(slice)
    }
}

/// What the words on the command line ask for.
package enum Invocation: Sendable {
    case run(Arguments)
    /// Help on a command, or on the whole program.
    case help(Command?, isLong: Bool)
    case version
}
