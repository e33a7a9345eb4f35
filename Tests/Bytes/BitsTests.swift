import FirnBytes
import FirnKit
import Testing

@Suite struct BitsTests {
    @Test(arguments: Seed.first(40))
    func `bits agree with an array of booleans`(seed: Seed) {
        var random = Random(seed)
        var bits = Bits(count: 0)
        var model: [Bool] = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let more = (0..<Int.random(in: 0...130, using: &random)).map { _ in Bool.random(using: &random) }
            switch Int.random(in: 0...2, using: &random) {
            case 0: for bit in more { bits.append(bit) }
            case 1:
                var other = Bits(count: 0)
                for bit in more { other.append(bit) }
                bits.append(contentsOf: other)
            default:
                bits.append(repeating: true, count: more.count)
                model += Array(repeating: true, count: more.count)
                continue
            }
            model += more
        }
        #expect(bits.count == model.count && bits.words.count == (model.count + 63) / 64, "seed \(seed)")
        #expect((0..<bits.count).map { bits[$0] } == model, "seed \(seed)")
        #expect(bits.ones == model.count { $0 })
        var set: [Int] = []
        bits.forEachSet { set.append($0) }
        #expect(set == model.indices.filter { model[$0] })
        let low = Int.random(in: 0...model.count, using: &random), high = Int.random(in: low...model.count, using: &random)
        let slice = bits.slice(low..<high)
        #expect((0..<slice.count).map { slice[$0] } == Array(model[low..<high]), "seed \(seed), \(low)..<\(high)")
        #expect(bits.rank(high) == model[..<high].count { $0 })
    }

    @Test func `bits past the count are zero after every kind of construction`() {
        #expect(Bits(repeating: true, count: 70).words == [.max, 63])
        #expect(Bits(words: [.max, .max], count: 65).words == [.max, 1])
        var bits = Bits(repeating: true, count: 3)
        bits[1] = false
        #expect(bits.words == [5] && !bits.allSet && !bits.noneSet)
    }

    @Test func `text keeps strings separate, also empty ones`() {
        var text = Text(["a", "", "ccc"])
        text.append(contentsOf: Text(["dd", "e"]), range: 1..<2)
        text.appendEmpty()
        text.append(contentsOf: Text(["f"]))
        #expect((0..<text.count).map { text.string($0) } == ["a", "", "ccc", "e", "", "f"])
        #expect(text.withBytes(2) { $0.count } == 3)
        text.removeAll()
        #expect(text.count == 0 && text.offsets == [0])
    }
}
