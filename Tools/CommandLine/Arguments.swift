import FirnBytes

/// The arguments of one command, checked against its flags.
package struct Arguments: Sendable {
    package let command: Command
    package let operands: [String]
    private let values: [String: [String]]
    /// The contents of key files, by the name of the flag, that a caller passed in memory.
    package var keys: [String: [UInt8]] = [:]

    init(command: Command, operands: [String], values: [String: [String]]) {
        self.command = command
        self.operands = operands
        self.values = values
    }

    /// Returns whether the flag was given.
    package func has(_ flag: String) -> Bool { values[flag] != nil || keys[flag] != nil }

    /// Returns the last value of the flag, or nil if it was not given.
    package func text(_ flag: String) -> String? { values[flag]?.last }

    /// Returns all values of the flag, in order.
    package func texts(_ flag: String) -> [String] { values[flag] ?? [] }

    /// Returns all names of a flag whose values are names separated by commas (`\,` is a comma within a name), in order. Empty if the flag
    /// was not given.
    package func names(_ flag: String) -> [String] { texts(flag).flatMap(Arguments.items) }

    /// Returns the names of columns of a flag, as `names` does. Back-quotes around a name are not part of it: they keep its spaces.
    package func columnNames(_ flag: String) -> [String] {
        names(flag).map { $0.utf8.count > 2 && $0.first == "`" && $0.last == "`" ? String($0.dropFirst().dropLast()) : $0 }
    }

    /// Returns the value as a whole number that is not negative, or nil if the flag was not given.
    ///
    /// - Throws: `FirnError.Code.usage` if the value is anything else.
    package func count(_ flag: String) throws(FirnError) -> Int? {
        guard let text = text(flag) else { return nil }
        guard let value = Int(text.filter { $0 != "_" }), value >= 0 else {
            throw FirnError(.usage, "--\(flag) takes a whole number of 0 or more, not \"\(text)\"")
        }
        return value
    }

    /// Returns the value as a number of bytes, from a size such as `500MB`, or nil if the flag was not given.
    ///
    /// - Throws: `FirnError.Code.usage` if the value is not a size or is less than 1 MB.
    package func size(_ flag: String) throws(FirnError) -> Int? {
        guard let text = text(flag) else { return nil }
        let units: [String: Double] = [
            "": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1024, "m": 1_048_576, "g": 1_073_741_824, "kib": 1024,
            "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776,
        ]
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let scale = units[unit], let value = Double(number.filter { $0 != "_" }), value * scale < 1e18 else {
            throw FirnError(.usage, "--\(flag) takes a size such as 500MB or 4GiB, not \"\(text)\"")
        }
        guard value * scale >= 1e6 else { throw FirnError(.usage, "--\(flag) takes at least 1MB, not \"\(text)\"") }
        return Int(value * scale)
    }

    /// Returns the value as a finite number, or nil if the flag was not given.
    ///
    /// - Throws: `FirnError.Code.usage` if the value is anything else.
    package func number(_ flag: String) throws(FirnError) -> Double? {
        guard let text = text(flag) else { return nil }
        guard let value = Double(text), value.isFinite else { throw FirnError(.usage, "--\(flag) takes a number, not \"\(text)\"") }
        return value
    }

    /// Splits a text at commas. Spaces around the items do not count.
    static func items(_ text: String) -> [String] {
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
        return names
    }

    private static func trimmed(_ text: String) -> String {
        var slice = text[...]
        while slice.first == " " { slice.removeFirst() }
        while slice.last == " " { slice.removeLast() }
        return String(slice)
    }
}

/// What the command line requests.
package enum Invocation: Sendable {
    case run(Arguments)
    /// Help on a command, or on the whole program if the command is nil.
    case help(Command?, isLong: Bool)
    case version
}
