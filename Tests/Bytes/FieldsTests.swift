import Testing

@testable import FirnBytes

@Suite struct FieldsTests {
    @Test func `a separator is found before a combining mark, with which it is one character`() {
        let mark = "\u{301}"
        #expect("name \(mark)x".split(separator: " ").count == 1)
        #expect("name \(mark)x".fields(at: UInt8(ascii: " ")) == ["name", "\(mark)x"])
        #expect("a=\(mark)=b".halves(at: UInt8(ascii: "="))?.after == "\(mark)=b")
    }

    @Test(arguments: [("", [""]), ("a", ["a"]), (" a  b ", ["", "a", "", "b", ""]), ("é ü", ["é", "ü"])])
    func `fields are the parts between all separators`(text: String, parts: [String]) {
        #expect(text.fields(at: UInt8(ascii: " ")) == parts)
        #expect(text.fields(at: UInt8(ascii: " "), most: 2).joined(separator: " ") == text)
        #expect(text.fields(at: UInt8(ascii: " "), most: 2).count == min(2, parts.count))
        #expect((text.halves(at: UInt8(ascii: " ")) == nil) == (parts.count == 1))
    }
}
