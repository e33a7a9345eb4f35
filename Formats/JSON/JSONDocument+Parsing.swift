import CJSON
import FirnBytes

extension JSONDocument {
    /// Parses a document strictly.
    /// - Throws: `FirnError.rejected` with the line and the byte of the fault.
    package init(_ text: String, file: String = "JSON") throws(FirnError) { try self.init(bytes: Array(text.utf8), file: file) }

    package init(bytes: [UInt8], file: String = "JSON") throws(FirnError) {
        func refusal(_ offset: Int, _ message: String) -> FirnError {
            let before = bytes[..<min(offset, bytes.count)], line = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
            return FirnError(
                .rejected, message, at: .init(file: file, line: before.count { $0 == 10 } + 1, column: before.count - line + 1))
        }
        guard bytes.count < 1 << 30 else {
            throw FirnError(.unsupported, "a document of more than 1 GB cannot be read as a whole", at: .init(file: file))
        }
        let tokens = JSONTokens(bytes)
        if let fault = tokens.fault { throw refusal(fault.offset, fault.message) }
        let text = tokens.bytesForTree(bytes)

        guard let tokener = LibraryFaults.refuses(.parser) ? nil : json_tokener_new_ex(512) else {
            throw FirnError(.inputOutput, "no memory for a JSON parser", at: .init(file: file))
        }
        defer { json_tokener_free(tokener) }
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
        // The zero byte after the text marks its end.
        let tree = (text + [0]).withBytes {
            json_tokener_parse_ex(tokener, $0.baseAddress!.assumingMemoryBound(to: CChar.self), Int32($0.count))
        }
        defer { json_object_put(tree) }
        let error = json_tokener_get_error(tokener)
        guard error == json_tokener_success else {
            let what =
                switch error {
                case json_tokener_error_depth: "nested more than 512 levels deep"
                case json_tokener_continue, json_tokener_error_parse_eof: "it ends too early"
                default: String(cString: json_tokener_error_desc(error))
                }
            throw refusal(tokens.offset(inSource: json_tokener_get_parse_end(tokener)), what)
        }
        var memberCount = 0
        self = JSONDocument(tree: tree, &memberCount)
        if memberCount != tokens.memberCount {
            throw FirnError(.rejected, "an object has two members of the same name", at: .init(file: file), advice: "remove one of them")
        }
    }

    /// Parses consecutive documents, with or without white space between them. Throws for empty input, as it is not a document.
    package static func several(bytes: [UInt8], file: String = "JSON") throws(FirnError) -> [JSONDocument] {
        var documents: [JSONDocument] = [], start = 0
        repeat {
            let end = end(of: bytes, from: start)
            // Spaces replace the text before the document, so that locations in errors refer to the whole text.
            let before = bytes[..<start].map { $0 == 10 ? UInt8(10) : 32 }
            documents.append(try JSONDocument(bytes: before + bytes[start..<end], file: file))
            start = end
        } while bytes[start...].contains { ![9, 10, 13, 32].contains($0) }
        return documents
    }

    /// Returns the position after the bracket that closes the first one opened from `start` on. Returns the end of the text if it is not
    /// closed, or if something else comes first.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        var depth = 0, inString = false, at = start
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\\") where inString: at += 1
            case UInt8(ascii: "\""): inString.toggle()
            case UInt8(ascii: "{") where !inString, UInt8(ascii: "[") where !inString: depth += 1
            case UInt8(ascii: "}") where !inString, UInt8(ascii: "]") where !inString:
                depth -= 1
                if depth <= 0 { return at + 1 }
            default: break
            }
            at += 1
        }
        return bytes.count
    }

    /// Converts a tree of json-c with at most 512 levels; nil is null. Counts the members of all objects.
    private init(tree: OpaquePointer?, _ memberCount: inout Int) {
        switch json_object_get_type(tree) {
        case json_type_boolean: self = .bool(json_object_get_boolean(tree) != 0)
        // Integers have no leading zeros and are in range, and doubles have kept their text: see JSONTokens.
        case json_type_int, json_type_double: self = .number(JSONTokens.withoutMark(String(cString: json_object_get_string(tree))))
        case json_type_string:
            let bytes = UnsafeRawBufferPointer(start: json_object_get_string(tree), count: Int(json_object_get_string_len(tree)))
            self = .string(String(decoding: bytes, as: UTF8.self))
        case json_type_array:
            self = .array(
                (0..<json_object_array_length(tree)).map { JSONDocument(tree: json_object_array_get_idx(tree, $0), &memberCount) })
        case json_type_object:
            var members: [(String, JSONDocument)] = []
            var member = json_object_iter_begin(tree), end = json_object_iter_end(tree)
            while json_object_iter_equal(&member, &end) == 0 {
                members.append(
                    (
                        String(cString: json_object_iter_peek_name(&member)),
                        JSONDocument(tree: json_object_iter_peek_value(&member), &memberCount)
                    ))
                json_object_iter_next(&member)
            }
            memberCount += members.count
            self = .object(members)
        default: self = .null
        }
    }
}
