import Firn
import Foundation
import Testing

private class FirstUsed: Object {
    @Persisted var number = 0
    @Persisted var next: FirstUsed?
}

/// The first use of a class within a transaction adds its type to the file, and counts as no change of the program.
@Suite(.serialized) struct FirstUseTests {
    @Test func `a class that is first used in a transaction can be observed and frozen there`() throws {
        let realm = try memoryRealm()
        var counts: [Int] = []
        let token = try realm.write {
            let all = realm.objects(FirstUsed.self)
            #expect(
                all.freeze().isEmpty && all.filter("next.number > 1").freeze().isEmpty && all.sorted(byKeyPath: "number").freeze().isEmpty)
            let token = all.observe { change in
                switch change {
                case .initial(let all): counts.append(all.count)
                case .update(let all, _, let insertions, _): counts += [all.count, insertions.count]
                case .error: counts.append(-1)
                }
            }
            realm.add(FirstUsed())
            return token
        }
        realm.refresh()
        try realm.write { realm.add(FirstUsed()) }
        realm.refresh()
        #expect(counts == [1, 2, 1])
        token.invalidate()
    }

    @Test func `results of a class that is first used in a cancelled transaction stay valid`() throws {
        let realm = try memoryRealm()
        var counts: [Int] = []
        realm.beginWrite()
        let all = realm.objects(FirstUsed.self), odd = all.filter("number == 1")
        let token = all.observe { if case .update(let all, _, _, _) = $0 { counts.append(all.count) } }
        realm.add(FirstUsed())
        realm.cancelWrite()
        #expect(all.isEmpty && odd.isEmpty && !all.isInvalidated)
        realm.refresh()
        try realm.write { realm.add(FirstUsed(value: ["number": 1])) }
        realm.refresh()
        #expect(all.count == 1 && odd.count == 1 && counts == [1])
        token.invalidate()
        realm.invalidate()
        #expect(all.isInvalidated)
    }

    @Test func `a change before the observation is still refused`() throws {
        let realm = try memoryRealm()
        try realm.write {
            realm.add(FirstUsed())
            #expect(throws: Realm.Error.self) { try realm.objects(FirstUsed.self).tryObserve { _ in } }
        }
    }
}
