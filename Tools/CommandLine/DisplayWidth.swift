/// The width of text in terminal cells: 0 for combining marks, 2 for East Asian wide letters and emoji, 1 for all others.
/// The result is approximate, because terminals differ.
package enum DisplayWidth {
    package static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        // Texts this long are never aligned, so the width of each scalar is accurate enough and avoids the search for characters.
        if text.utf8.count > maximumExact { return text.unicodeScalars.reduce(0) { $0 + of($1) } }
        var width = 0
        for character in text { width += of(character) }
        return width
    }

    private static let maximumExact = 1 << 16

    package static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            if scalar.value == 0xFE0F { return 2 }
            width = max(width, of(scalar))
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2064, 0xFEFF: return 0
        case 0x20..<0x300: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xAC00...0xD7A3,
            0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// Returns the text on one line with control characters made visible. A text wider than `width` cells is cut and ends in `…`.
    package static func fit(_ text: String, to width: Int) -> String {
        let line = visible(text)
        guard of(line) > width else { return line }
        var out = "", used = 0
        for character in line {
            let cells = of(character)
            if used + cells > max(width - 1, 0) { break }
            out.append(character)
            used += cells
        }
        return out + "…"
    }

    /// Returns whether a character is invisible but affects others: control characters, line separators, and marks of the direction of
    /// writing.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Replaces control characters by symbols, and marks of the direction of writing by text such as `<U+202E>`. So no cell breaks a table,
    /// no contents of a file control the terminal, and no name looks like another. `keepingLines`: line feeds are kept.
    package static func visible(_ text: String, keepingLines: Bool = false) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A where keepingLines: out.append(scalar)
            case 0..<0x20: out.append(Unicode.Scalar(0x2400 + scalar.value)!)
            case 0x7F: out.append("␡")
            case 0x80..<0xA0: out.append("\u{FFFD}")
            default:
                if isControl(scalar) {
                    let hex = String(scalar.value, radix: 16, uppercase: true)
                    out.append(contentsOf: "<U+\(String(repeating: "0", count: 4 - hex.count))\(hex)>".unicodeScalars)
                } else {
                    out.append(scalar)
                }
            }
        }
        return String(out)
    }
}
