@testable import Firn
import FirnKit
import Foundation
import Testing

/// Compares properties that are read by column with the same properties read by object.
@Suite struct ColumnTests {
    private func same<T: _ColumnElement & Equatable>(
        _ results: some RealmCollection<Hound>, _ path: KeyPath<Hound, T>, location: SourceLocation = #_sourceLocation
    ) {
        let plain = results.map { $0[keyPath: path] } as [T]
        #expect(Array(results.column(path)) == plain, sourceLocation: location)
        var count = 0
        for batch in results.column(path) {
            #expect(batch.present.map { $0.count == batch.count } ?? true, sourceLocation: location)
            count += batch.count
        }
        #expect(count == plain.count, sourceLocation: location)
    }

    private func check(_ results: some RealmCollection<Hound>) {
        same(results, \.id); same(results, \.name); same(results, \.nick); same(results, \.age); same(results, \.optAge);
        same(results, \.small)
        same(results, \.weight); same(results, \.optWeight); same(results, \.score); same(results, \.good); same(results, \.optGood)
        same(results, \.born); same(results, \.optBorn); same(results, \.data); same(results, \.uuid); same(results, \.oid);
        same(results, \.dec); same(results, \.optDec)
    }

    @Test(arguments: Seed.some(41))
    func `columns have the values of their objects for results, queries, lists, deleted rows and frozen realms`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number, count: 1200)
        check(kennel.hounds)
        check(kennel.hounds.where { $0.age > 2 })
        check(kennel.hounds.sorted(by: ["name", "weight"]))
        check(kennel.hounds.first { !$0.friends.isEmpty }!.friends)
        check(kennel.hounds.where { $0.age > 100 })
        let frozen = kennel.hounds.where { $0.age > 2 }.freeze(), ages = Array(frozen.column(\.age))
        try kennel.realm.write {
            kennel.realm.delete(Array(kennel.hounds).filter { $0.id % 3 == 0 })
            kennel.hounds[5].age = 1000
            check(kennel.hounds)
        }
        check(kennel.hounds)
        check(kennel.hounds.where { $0.age > 2 })
        #expect(Array(frozen.column(\.age)) == ages && Array(kennel.hounds.column(\.age)).contains(1000))
    }

    @Test func `columns can be read through embedded and linked objects, and by name`() throws {
        let kennel = try Kennel(seed: 43)
        #expect(Array(kennel.hounds.column("hut.size", as: Int?.self)) == kennel.hounds.map { $0.hut?.size })
        #expect(Array(kennel.hounds.column("owner.name", as: String?.self)) == kennel.hounds.map { $0.owner?.name })
        #expect(
            Array(kennel.hounds.where { $0.age > 2 }.column("owner.age", as: Int?.self))
                == kennel.hounds.filter { $0.age > 2 }.map { $0.owner?.age })
        let weights: ResultsColumn<Double> = kennel.hounds.column("weight")
        #expect(Array(weights) == kennel.hounds.map(\.weight))
    }

    @Test func `sums of columns leave out missing values, and are 0 for no rows`() throws {
        let kennel = try Kennel(seed: 45, count: 1300)
        let hounds = kennel.hounds
        #expect(hounds.column(\.weight).sum() == hounds.reduce(0) { $0 + $1.weight })
        #expect(hounds.column(\.optWeight).sum() == hounds.reduce(0) { $0 + ($1.optWeight ?? 0) })
        #expect(
            hounds.column(\.age).sum() == hounds.reduce(0) { $0 + $1.age }
                && hounds.column(\.optAge).sum() == hounds.reduce(0) { $0 + ($1.optAge ?? 0) })
        #expect(hounds.where { $0.age > 100 }.column(\.weight).sum() == 0)
    }

    @Test func `batches of a column that are kept do not change`() throws {
        let kennel = try Kennel(seed: 44, count: 3000)
        let batches = kennel.hounds.column(\.weight).map { $0 }, words = kennel.hounds.column(\.id).map { $0 }
        #expect(
            batches.flatMap(\.values) == kennel.hounds.map(\.weight) && words.flatMap(\.values) == kennel.hounds.map(\.id)
                && batches.count >= 3)
    }

    @Test func `a column of the wrong type traps`() async {
        await #expect(processExitsWith: .failure) { _ = try Kennel(seed: 1, count: 1).hounds.column("name", as: Int.self) }
        await #expect(processExitsWith: .failure) { _ = try Kennel(seed: 1, count: 1).hounds.column("optAge", as: Int.self) }
    }
}
