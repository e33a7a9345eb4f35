import Firn
import Testing

private class Bead: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var next: Bead?
    @Persisted var branches: List<Bead>
    @Persisted var any: AnyRealmValue
    @Persisted var inner: Clasp?
}

private class Clasp: EmbeddedObject {
    @Persisted var next: Bead?
}

/// Objects that are linked in long chains are added without a long stack.
struct LongChainTests {
    private static let count = 20_000

    /// Returns the first of a chain. Each object refers to the next in one of five ways.
    private func chain(_ link: Int, extra: Int = 0) -> [Bead] {
        let beads = (0..<LongChainTests.count).map { Bead(value: ["id": $0 + extra]) }
        for (one, next) in zip(beads, beads.dropFirst()) {
            switch link {
            case 0: one.next = next
            case 1: one.branches.append(next)
            case 2: one.any = .object(next)
            default:
                one.inner = Clasp()
                one.inner?.next = next
            }
        }
        beads.last?.next = beads.first
        return beads
    }

    @Test(arguments: 0..<4) func `a chain of 20,000 objects is added in its order`(_ link: Int) throws {
        let realm = try memoryRealm([Bead.self])
        let beads = chain(link)
        try realm.write { realm.add(beads[0]) }
        #expect(beads.allSatisfy { $0.realm != nil } && realm.objects(Bead.self).map(\.id) == Array(0..<LongChainTests.count))
        #expect(beads.last?.next == beads.first)
        let again = chain(link)
        try realm.write { realm.add(again[0], update: .modified) }
        #expect(realm.objects(Bead.self).count == LongChainTests.count && again[10] == beads[10])
    }

    @Test func `a tree is added depth first`() throws {
        let realm = try memoryRealm([Bead.self])
        var made: [Int] = []
        func tree(_ depth: Int) -> Bead {
            let bead = Bead(value: ["id": made.count])
            made.append(made.count)
            if depth > 0 {
                bead.next = tree(depth - 1)
                bead.branches.append(tree(depth - 1))
            }
            return bead
        }
        let root = tree(6)
        try realm.write { realm.add(root) }
        #expect(realm.objects(Bead.self).map(\.id) == made)
    }
}
