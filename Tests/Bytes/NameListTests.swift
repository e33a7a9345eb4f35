import FirnBytes
import Testing

@Suite struct NameListTests {
    @Test func `lists of names end after twelve, with the number of the others`() {
        let names = (1...15).map { "n\($0)" }
        #expect(names.prefix(0).listed().isEmpty)
        #expect(names.prefix(3).listed() == "n1, n2, n3")
        #expect(names.prefix(12).listed() == "n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12")
        #expect(names.listed() == "n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12 and 3 more")
    }
}
