import Testing
@testable import FirnParquet

@Suite struct DictionaryBuilderTests {
    /// A table is searched from the slot of a value on: if many values have one slot, the time is quadratic.
    @Test(arguments: [8, 12, 16])
    func `numbers of every kind are spread over the slots of the table`(log: Int) {
        let count = 1 << log
        let kinds: [(name: String, word: (Int) -> UInt64)] = [
            ("whole numbers", { UInt64($0) }), ("negative numbers", { UInt64(bitPattern: Int64(-$0)) }),
            ("multiples", { UInt64($0) * 86_400_000_000 }), ("powers", { UInt64($0) << 44 }),
            ("whole doubles", { Double($0).bitPattern }), ("quarters", { (Double($0) / 4).bitPattern }),
            ("decimals", { (Double($0) / 100).bitPattern }), ("floats", { UInt64(Float($0).bitPattern) }),
        ]
        for (name, word) in kinds {
            var sizes = [Int](repeating: 0, count: count)
            for i in 0..<(count / 2) { sizes[Int(truncatingIfNeeded: DictionaryBuilder.hash(word(i))) & (count - 1)] += 1 }
            // Of random slots, one has about 6 to 8 values.
            #expect(sizes.max()! <= 12, "\(name)")
        }
    }
}
