import FirnExchange

extension Session {
    /// Reports why columns that a query compares, sorts or adds up are text although most of their values are not. `query` is its text.
    func remark(textColumnsOf files: [OpenedFile], in query: String) {
        for file in files {
            guard case .stream(let reader) = file.content else { continue }
            for (column, reason) in reader.textReasons where query.mentions(column) {
                remark(files.count > 1 && file.union == nil ? "\(file.name): \(reason)" : reason)
            }
        }
    }
}

extension String {
    /// Whether the text has a name as a whole word, without regard to the case of ASCII letters.
    fileprivate func mentions(_ name: String) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 32 : byte }
        func continues(_ byte: UInt8) -> Bool {
            byte >= 0x80 || byte == UInt8(ascii: "_") || byte &- 48 < 10 || lowered(byte) &- UInt8(ascii: "a") < 26
        }
        let text = utf8.map(lowered), word = name.utf8.map(lowered)
        guard !word.isEmpty, text.count >= word.count else { return false }
        return (0...text.count - word.count).contains { start in
            let end = start + word.count
            return text[start..<end].elementsEqual(word) && !(start > 0 && continues(text[start - 1]) && continues(word[0]))
                && !(end < text.count && continues(text[end]) && continues(word[word.count - 1]))
        }
    }
}
