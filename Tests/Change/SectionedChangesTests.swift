import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct SectionedChangesTests {
    private typealias Section = SectionedChanges.SectionRows<String>
    private func at(_ section: Int, _ item: Int) -> SectionedChanges.Position { .init(section, item) }

    @Test func `rows of a deleted section are not listed as deleted, but rows of an inserted section are listed as inserted`() {
        let old = [Section("a", [1, 2]), Section("b", [3, 4, 5]), Section("c", [6])]
        let new = [Section("a", [1, 9]), Section("c", [6]), Section("d", [2, 3])]
        let changes = SectionedChanges.between(old: old, new: new) { $0 == 6 || $0 == 2 }
        #expect(changes.sectionsToDelete == [1])
        #expect(changes.sectionsToInsert == [2])
        #expect(changes.deletions == [at(0, 1)])
        #expect(changes.insertions == [at(0, 1), at(2, 0), at(2, 1)])
        #expect(changes.modificationsOld == [at(2, 0)])
        #expect(changes.modificationsNew == [at(1, 0)])
    }

    @Test func `a section that moves is deleted and inserted`() {
        let changes = SectionedChanges.between(
            old: [Section("a", [1]), Section("b", [2]), Section("c", [3])],
            new: [Section("c", [3]), Section("a", [1]), Section("b", [2])]
        ) { _ in false }
        #expect((changes.sectionsToDelete, changes.sectionsToInsert) == ([2], [0]))
        #expect((changes.deletions, changes.insertions) == ([], [at(0, 0)]))
    }

    @Test func `changes of sections of values are by position`() {
        let changes = SectionedChanges.between(
            old: [(key: 1, elements: [.int(1), .int(2)])],
            new: [(key: 0, elements: [.int(0)]), (key: 1, elements: [.int(1), .int(3), .int(4)])])
        #expect((changes.sectionsToInsert, changes.sectionsToDelete) == ([0], []))
        #expect(changes.insertions == [at(0, 0), at(1, 2)])
        #expect((changes.modificationsOld, changes.modificationsNew) == ([at(0, 1)], [at(1, 1)]))
    }

    @Test func `changes applied to the old sections give the new sections`() {
        var generator = Random(seed: 5)
        func sections() -> [Section] {
            let keys = ["a", "b", "c", "d", "e"].filter { _ in Bool.random(using: &generator) }
            let order = Int.random(in: 0...3, using: &generator) == 0 ? Array(keys.reversed()) : keys
            return order.map { key in
                Section(key, (0..<Int.random(in: 1...4, using: &generator)).map { _ in Int64.random(in: 0...9, using: &generator) })
            }
        }
        for round in 0..<20_000 {
            let old = sections(), new = sections()
            let changes = SectionedChanges.between(old: old, new: new) { _ in false }
            var out: [(key: String, rows: [Int64])] = old.map { ($0.key, $0.rows) }
            for position in changes.deletions.reversed() { out[position.section].rows.remove(at: position.item) }
            for section in changes.sectionsToDelete.reversed() { out.remove(at: section) }
            for section in changes.sectionsToInsert { out.insert((new[section].key, []), at: section) }
            for position in changes.insertions {
                out[position.section].rows.insert(new[position.section].rows[position.item], at: position.item)
            }
            guard out.map(\.key) == new.map(\.key), out.map(\.rows) == new.map(\.rows) else {
                Issue.record("seed 5, round \(round): \(old) -> \(new): \(changes)")
                return
            }
            #expect(changes.deletions.allSatisfy { !changes.sectionsToDelete.contains($0.section) })
        }
    }
}
