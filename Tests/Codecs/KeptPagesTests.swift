import Testing

@testable import FirnCodecs

@Suite struct KeptPagesTests {
    @Test func `the pages that all readers keep have at most the maximum number of bytes`() {
        let size = 1 << 20, most = KeptBytes.maximum / size
        for _ in 0..<3 {
            let pages = KeptPages<Int>()
            for page in 0..<(most * 3) {
                pages.keep(page, page, bytes: size)
                let kept = (0..<(most * 3)).compactMap { pages[$0] }
                #expect(kept.count <= most)
                #expect(kept.allSatisfy { $0 <= page && pages[$0] == $0 })
            }
            #expect(pages[0] == nil)
        }
    }
}
