import FirnBytes
import FirnDisk

/// Patterns of file names, as in a shell: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and `**` for any folders. Names that begin with a dot match
/// only patterns that do.
enum FilePattern {
    private static let maximumAlternatives = 1000

    static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[{".utf8.contains($0) } }

    /// Returns the files that match, sorted by the bytes of their paths, each once.
    static func files(_ pattern: String) throws(FirnError) -> [String] {
        // By bytes: names that differ only in how accents are written are those of different files.
        var found: Set<[UInt8]> = []
        for each in try alternatives(of: pattern) {
            let slash = UInt8(ascii: "/"), parts = each.fields(at: slash).filter { !$0.isEmpty }
            try search(each.utf8.first == slash ? "/" : "", parts[...], &found)
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func search(_ folder: String, _ parts: ArraySlice<String>, _ found: inout Set<[UInt8]>) throws(FirnError) {
        guard let part = parts.first else { return }
        let rest = parts.dropFirst()
        guard isPattern(part) || part == "**" else { return try descend(folder + part, rest, &found) }
        // A folder that cannot be listed contains no file that could be read.
        guard let names = try? Paths.list(folder.isEmpty ? "." : folder) else { return }
        if part == "**" {
            try search(folder, rest.isEmpty ? ["*"] : rest, &found)
            for name in names where !name.hasPrefix(".") {
                let path = folder + name
                if Paths.kind(path) == .directory, !Paths.isLink(path) { try search(path + "/", parts, &found) }
            }
            return
        }
        let wanted = Array(part.unicodeScalars)
        for name in names where name.hasPrefix(".") == part.hasPrefix(".") && matches(Array(name.unicodeScalars), wanted) {
            try descend(folder + name, rest, &found, isListed: true)
        }
    }

    private static func descend(
        _ path: String, _ rest: ArraySlice<String>, _ found: inout Set<[UInt8]>, isListed: Bool = false
    ) throws(FirnError) {
        switch Paths.kind(path) {
        case .directory where !rest.isEmpty: try search(path + "/", rest, &found)
        case .file where rest.isEmpty, .other where rest.isEmpty: found.insert(Array(path.utf8))
        // A name that leads to no file: it is not UTF-8, or that of a broken link. Opening it is an error.
        case nil where rest.isEmpty && isListed: found.insert(Array(path.utf8))
        default: break
        }
    }

    /// Whether a name matches a pattern without alternatives. The time is proportional to the product of the lengths.
    static func matches(_ name: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var n = 0, p = 0, star: (pattern: Int, name: Int)?
        while n < name.count {
            if p < pattern.count, pattern[p] == "*" {
                star = (p, n)
                p += 1
            } else if p < pattern.count, let next = matchOne(name[n], pattern, p) {
                n += 1
                p = next
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                (p, n) = (last.pattern + 1, last.name + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }

    /// Returns the position after the element of the pattern that matches a character, or nil.
    private static func matchOne(_ scalar: Unicode.Scalar, _ pattern: [Unicode.Scalar], _ at: Int) -> Int? {
        guard pattern[at] != "?" else { return at + 1 }
        // A bracket without an end, or one right after it, is an ordinary character.
        let isNegated = at + 1 < pattern.count && pattern[at + 1] == "!", start = at + (isNegated ? 2 : 1)
        guard pattern[at] == "[", start < pattern.count, let end = pattern[(start + 1)...].firstIndex(of: "]") else {
            return scalar == pattern[at] ? at + 1 : nil
        }
        var i = start, isIn = false
        while i < end {
            if i + 2 < end, pattern[i + 1] == "-" {
                if pattern[i].value <= scalar.value, scalar.value <= pattern[i + 2].value { isIn = true }
                i += 3
            } else {
                if pattern[i] == scalar { isIn = true }
                i += 1
            }
        }
        return isIn != isNegated ? end + 1 : nil
    }

    /// Returns the patterns that `{a,b}` stands for, which can be nested.
    static func alternatives(of pattern: String) throws(FirnError) -> [String] {
        var done: [String] = [], open = [Array(pattern.unicodeScalars)]
        while let next = open.popLast() {
            guard let (before, parts, after) = split(next) else {
                done.append(String(String.UnicodeScalarView(next)))
                continue
            }
            open += parts.reversed().map { before + $0 + after }
            guard open.count + done.count <= maximumAlternatives else {
                throw FirnError(.usage, "the pattern \"\(pattern)\" has more than \(maximumAlternatives) alternatives")
            }
        }
        return done
    }

    /// Splits a pattern at its first braces with a comma in them.
    private static func split(
        _ text: [Unicode.Scalar]
    ) -> (before: [Unicode.Scalar], parts: [[Unicode.Scalar]], after: [Unicode.Scalar])? {
        for start in text.indices where text[start] == "{" {
            var depth = 0, parts: [[Unicode.Scalar]] = [[]]
            for i in text.indices[start...] {
                let scalar = text[i]
                if scalar == "}" {
                    depth -= 1
                    if depth == 0 {
                        guard parts.count > 1 else { break }
                        return (Array(text[..<start]), parts, Array(text[(i + 1)...]))
                    }
                }
                if scalar == ",", depth == 1 {
                    parts.append([])
                } else if depth > 0 {
                    parts[parts.count - 1].append(scalar)
                }
                if scalar == "{" { depth += 1 }
            }
        }
        return nil
    }
}
