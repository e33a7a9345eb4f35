import Foundation

/// Reads JSON with exact numbers, which `JSONSerialization` does not do, as the same kinds of objects: dictionaries, arrays, strings,
/// `NSNumber` and `NSNull`. For the well-formed files of the test data: it stops at anything else.
package struct ExactJSON {
    private let bytes: [UInt8]
    private var at = 0

    package static func parse(_ data: Data) -> Any {
        var parser = ExactJSON(bytes: Array(data))
        let value = parser.value()
        parser.skip()
        precondition(parser.at == parser.bytes.count, "there is more than one JSON value")
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func skip() { while at < bytes.count, bytes[at] <= 32 { at += 1 } }

    /// Skips white space and the byte, if it is the next one.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skip()
        guard at < bytes.count, bytes[at] == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    private mutating func value() -> Any {
        if take("{") {
            var members: [String: Any] = [:]
            while !take("}") {
                precondition(take("\""), "a name is missing at byte \(at)")
                let name = string()
                precondition(take(":"), "a colon is missing at byte \(at)")
                members[name] = value()
                _ = take(",")
            }
            return members
        }
        if take("[") {
            var elements: [Any] = []
            while !take("]") {
                elements.append(value())
                _ = take(",")
            }
            return elements
        }
        return take("\"") ? string() : word()
    }

    /// The rest of a string. Escapes are left to `JSONDecoder`.
    private mutating func string() -> String {
        let start = at
        var isPlain = true
        while bytes[at] != UInt8(ascii: "\"") {
            if bytes[at] == UInt8(ascii: "\\") {
                isPlain = false
                at += 1
            }
            at += 1
        }
        at += 1
        if isPlain { return String(decoding: bytes[start..<at - 1], as: UTF8.self) }
        guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[(start - 1)..<at])) else {
            preconditionFailure("a string at byte \(start) is not valid")
        }
        return text
    }

    private mutating func word() -> Any {
        let start = at
        while at < bytes.count, ![44, 93, 125].contains(bytes[at]), bytes[at] > 32 { at += 1 }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        switch text {
        case "null": return NSNull()
        case "true": return NSNumber(value: true)
        case "false": return NSNumber(value: false)
        default: break
        }
        // A zero can be negative.
        if let number = Int64(text), number != 0 { return NSNumber(value: number) }
        guard let number = Double(text) else { preconditionFailure("\(text) at byte \(start) is not a number") }
        return NSNumber(value: number)
    }
}
