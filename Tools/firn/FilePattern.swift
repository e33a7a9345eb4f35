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
            let slash = UInt8(ascii: "/")
            var search = FileSearch(each.fields(at: slash).filter { !$0.isEmpty })
            search.visit(each.utf8.first == slash ? "/" : "", 0)
            found.formUnion(search.found)
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
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
        // The open braces, each with its commas, and the first pair that has some.
        var open: [(start: Int, commas: [Int])] = [], first: (start: Int, commas: [Int], end: Int)?
        for (i, scalar) in text.enumerated() {
            if scalar == "{" {
                open.append((i, []))
            } else if scalar == ",", !open.isEmpty {
                open[open.count - 1].commas.append(i)
            } else if scalar == "}", let pair = open.popLast(), !pair.commas.isEmpty, pair.start < first?.start ?? .max {
                first = (pair.start, pair.commas, i)
            }
        }
        guard let first else { return nil }
        let starts = [first.start] + first.commas, ends = first.commas + [first.end]
        return (Array(text[..<first.start]), zip(starts, ends).map { Array(text[($0 + 1)..<$1]) }, Array(text[(first.end + 1)...]))
    }
}

/// Looks for the files that match the parts of a pattern, which are between slashes.
private struct FileSearch {
    private let parts: [String]
    private(set) var found: Set<[UInt8]> = []
    /// With several `**`, a folder can be reached in many ways.
    private var visited: Set<Place> = []

    private struct Place: Hashable {
        let folder: [UInt8]
        let part: Int
    }

    init(_ parts: [String]) {
        // Consecutive `**` mean one, and `**` at the end any file.
        var plain: [String] = []
        for part in parts where part != "**" || plain.last != "**" { plain.append(part) }
        self.parts = plain.last == "**" ? plain + ["*"] : plain
    }

    /// Adds the files of a folder that match the parts from one on.
    mutating func visit(_ folder: String, _ index: Int) {
        guard index < parts.count, visited.insert(Place(folder: Array(folder.utf8), part: index)).inserted else { return }
        let part = parts[index]
        guard FilePattern.isPattern(part) else { return descend(folder + part, index + 1) }
        // A folder that cannot be listed contains no file that could be read.
        guard let names = try? Paths.list(folder.isEmpty ? "." : folder) else { return }
        if part == "**" {
            visit(folder, index + 1)
            for name in names where !name.hasPrefix(".") {
                let path = folder + name
                if Paths.kind(path) == .directory, !Paths.isLink(path) { visit(path + "/", index) }
            }
            return
        }
        let wanted = Array(part.unicodeScalars)
        for name in names where name.hasPrefix(".") == part.hasPrefix(".") && FilePattern.matches(Array(name.unicodeScalars), wanted) {
            descend(folder + name, index + 1, isListed: true)
        }
    }

    private mutating func descend(_ path: String, _ next: Int, isListed: Bool = false) {
        let isLast = next == parts.count
        switch Paths.kind(path) {
        case .directory where !isLast: visit(path + "/", next)
        case .file where isLast, .other where isLast: found.insert(Array(path.utf8))
        // A name that leads to no file: it is not UTF-8, or that of a broken link. Opening it is an error.
        case nil where isLast && isListed: found.insert(Array(path.utf8))
        default: break
        }
    }
}
