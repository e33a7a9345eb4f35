import FirnBytes
import FirnKit
import Testing

@Suite struct TextHelperTests {
    private func random(_ random: inout Random, upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test func `base64 text has the form of RFC 4648 and is decoded to the same bytes`() {
        let known = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy"]
        for (bytes, text) in known {
            #expect(Base64.text(Array(bytes.utf8)) == text)
            #expect(Base64.bytes(Array(text.utf8), .exact) == Array(bytes.utf8))
        }
        var dice = Random(seed: 3)
        for _ in 0..<500 {
            let bytes = random(&dice, upTo: 40), text = Array(Base64.text(bytes).utf8)
            #expect(Base64.bytes(text, .exact) == bytes && Base64.bytes(text, .lenient) == bytes)
        }
    }

    @Test func `the exact form of base64 rejects every text that would be written otherwise, the lenient form accepts common variants`() {
        for text in ["Zg", "Zg=", "Zh==", "Zm9=", "-_8=", "Zm9v\n", "=", "====", "Z", "Zg==Zg=="] {
            #expect(Base64.bytes(Array(text.utf8), .exact) == nil, "\(text)")
        }
        #expect(Base64.bytes(Array("Zg".utf8), .lenient) == [102] && Base64.bytes(Array("Zh=".utf8), .lenient) == [102])
        #expect(Base64.bytes(Array("-_8".utf8), .lenient) == [251, 255] && Base64.bytes(Array("+/8=".utf8), .lenient) == [251, 255])
        for text in ["Z", "Zg===", "Z=g=", "Zm9v\n", "é"] { #expect(Base64.bytes(Array(text.utf8), .lenient) == nil, "\(text)") }
    }

    @Test func `JSON strings escape quotes, backslashes and control characters, and nothing else`() {
        #expect(JSONString.quoted("") == "\"\"" && JSONString.quoted("a/é😀\u{7F}") == "\"a/é😀\u{7F}\"")
        #expect(JSONString.quoted("\"\\\n\r\t\u{8}\u{C}\u{0}\u{1F}") == #""\"\\\n\r\t\u0008\u000c\u0000\u001f""#)
        #expect(JSONString.quoted("\u{8}\u{C}\u{B}", .short) == #""\b\f\u000b""#)
    }

    @Test func `JSON strings of every length are the same in all forms`() {
        var dice = Random(seed: 5)
        for _ in 0..<2000 {
            let bytes = random(&dice, upTo: 40).map { Int.random(in: 0..<4, using: &dice) == 0 ? $0 & 0x7F : 97 + $0 % 26 }
            let text = String(decoding: bytes, as: UTF8.self)
            var expected: [UInt8] = []
            for byte in bytes {
                switch byte {
                case 9: expected += Array("\\t".utf8)
                case 10: expected += Array("\\n".utf8)
                case 13: expected += Array("\\r".utf8)
                case 34, 92: expected += [92, byte]
                case 0..<32: expected += Array(("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
                default: expected.append(byte)
                }
            }
            var appended: [UInt8] = [1]
            JSONString.append(bytes, to: &appended)
            #expect(appended == [1, 34] + expected + [34])
            #expect(Array(JSONString.quoted(text).utf8) == [34] + expected + [34])
            bytes.withUnsafeBufferPointer { bytes in
                #expect(JSONString.escapedLength(bytes, .numeric) == expected.count)
                let written = [UInt8](unsafeUninitializedCapacity: bytes.count + 1) { out, count in
                    count = JSONString.writePlain(bytes, to: out.baseAddress!).count
                }
                #expect(written == Array(bytes.prefix { $0 >= 32 && $0 != 34 && $0 != 92 }))
            }
        }
    }

    @Test func `the most similar name is found, or none if all names differ too much`() {
        #expect(Suggestion.nearest(to: "vreify", among: ["verify", "info"]) == "verify")
        #expect(Suggestion.nearest(to: "xyz", among: ["verify", "info"]) == nil)
        #expect(Suggestion.nearest(to: "NMAE", among: ["size", "name"]) == "name")
        #expect(Suggestion.nearest(to: "birth", among: ["birthYear", "size"]) == "birthYear")
        #expect(Suggestion.nearest(to: "", among: []) == nil)
        #expect(Suggestion.distance(Array("abcd".unicodeScalars), Array("acbd".unicodeScalars)) == 1)
        #expect(Suggestion.distance([], Array("ab".unicodeScalars)) == 2)
    }
}
