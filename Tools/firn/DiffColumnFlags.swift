import FirnBytes
import FirnChange
import FirnCommandLine
import FirnTable

/// The flags of `firn diff` about single columns: `--tolerance` and `--rename`.
struct DiffColumnFlags {
    /// The tolerance of the columns that have none of their own.
    private(set) var tolerance: Tolerance?
    private(set) var tolerances: [String: Tolerance] = [:]
    /// The old and the new names, in the order of the flag.
    private(set) var renamed: [(old: String, new: String)] = []

    /// Throws `.usage` if an item is not understood, or contradicts another one.
    init(_ arguments: Arguments) throws(FirnError) {
        for item in arguments.names("tolerance") {
            let (column, text) = DiffColumnFlags.assignment(item), tolerance = try DiffColumnFlags.tolerance(text)
            guard column.map({ tolerances[$0] }) ?? self.tolerance == nil else {
                throw FirnError(
                    .usage, "--tolerance sets the tolerance of \(column.map { "column \"\($0)\"" } ?? "all columns") twice",
                    advice: "omit one of them")
            }
            if let column { tolerances[column] = tolerance } else { self.tolerance = tolerance }
        }
        for item in arguments.names("rename") {
            guard case (let old?, let new) = DiffColumnFlags.assignment(item), !new.isEmpty else {
                throw FirnError(.usage, "--rename takes OLD=NEW, not \"\(item)\"", advice: "write a comma within a name as \\,")
            }
            if let twice = renamed.first(where: { $0.old == old }).map(\.old) ?? renamed.first(where: { $0.new == new }).map(\.new) {
                throw FirnError(.usage, "--rename names \"\(twice)\" twice", advice: "omit one of them")
            }
            renamed.append((old, new))
        }
    }

    /// Splits an item at its last `=` outside of back-quotes; the column is nil if there is none. Back-quotes around a name are not part of
    /// it.
    private static func assignment(_ item: String) -> (column: String?, value: String) {
        var isQuoted = false, found: String.Index?
        for at in item.utf8.indices {
            if item.utf8[at] == UInt8(ascii: "`") { isQuoted.toggle() }
            if !isQuoted, item.utf8[at] == UInt8(ascii: "=") { found = at }
        }
        guard let at = found ?? item.utf8.lastIndex(of: UInt8(ascii: "=")) else { return (nil, item) }
        let column = plain(item[..<at]), value = plain(item[item.index(after: at)...])
        return column.isEmpty ? (nil, item) : (column, value)
    }

    private static func plain(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text.utf8.count > 2 && text.first == "`" && text.last == "`" ? String(text.dropFirst().dropLast()) : String(text)
    }

    private static func tolerance(_ text: String) throws(FirnError) -> Tolerance {
        let isShare = text.hasSuffix("%")
        guard let number = Double(isShare ? String(text.dropLast()) : text), number.isFinite, number >= 0 else {
            throw FirnError(
                .usage, "--tolerance takes a number or a percentage that is not negative, not \"\(text)\"",
                advice: "for example --tolerance 0.01 or, in one column only, --tolerance price=0.1%")
        }
        return isShare ? Tolerance(percent: number) : Tolerance(amount: number)
    }
}
