import Firn
import Foundation
import Testing

/// An iteration reuses one object for each row, unless another reference to the object exists.
struct IterationTests {
    private func kennel(_ count: Int) throws -> Realm {
        let realm = try memoryRealm([Dog.self, Person.self, Address.self])
        try realm.write { for i in 0..<count { realm.add(Dog(value: ["name": "dog \(i)", "age": i, "weight": Double(i) / 2])) } }
        return realm
    }

    @Test func `an iteration reuses an object that has no other reference`() throws {
        let realm = try kennel(3000)
        var addresses: Set<UInt> = [], sum = 0
        for dog in realm.objects(Dog.self) {
            addresses.insert(UInt(bitPattern: Unmanaged.passUnretained(dog).toOpaque()))
            sum += dog.age
        }
        #expect(addresses.count == 1)
        #expect(sum == (0..<3000).reduce(0, +))
        addresses = []
        for dog in realm.objects(Dog.self).filter("age > 100") {
            addresses.insert(UInt(bitPattern: Unmanaged.passUnretained(dog).toOpaque()))
        }
        #expect(addresses.count == 1)
    }

    @Test func `objects with other references keep their rows`() throws {
        let realm = try kennel(3000)
        let all = Array(realm.objects(Dog.self))
        #expect(all.indices.allSatisfy { all[$0].age == $0 && all[$0].name == "dog \($0)" })
        var some: [Dog] = []
        for dog in realm.objects(Dog.self) where dog.age % 7 == 0 { some.append(dog) }
        #expect(some.map(\.age) == Array(stride(from: 0, to: 3000, by: 7)))
    }

    private struct Weakly {
        weak var dog: Dog?
        let age: Int
    }

    @Test(arguments: [false, true])
    func `a weak reference to an object of an iteration becomes nil or keeps its row`(isFiltered: Bool) throws {
        let realm = try kennel(2500)
        let dogs = isFiltered ? realm.objects(Dog.self).filter("age >= 0") : realm.objects(Dog.self)
        var kept: [Weakly] = [], strong: [Dog] = [], steps = 0
        for dog in dogs {
            steps += 1
            for one in kept { #expect(one.dog == nil || one.dog!.age == one.age) }
            if kept.count > 5 { kept.removeFirst() }
            if dog.age % 3 == 0 { kept.append(Weakly(dog: dog, age: dog.age)) }
            if dog.age % 9 == 0 { strong.append(dog) }
        }
        #expect(steps == 2500)
        #expect(strong.map(\.age) == Array(stride(from: 0, to: 2500, by: 9)))
        kept = []
    }

    private struct Unowned {
        unowned var dog: Dog
    }

    @Test func `an unowned reference to a reused object of an iteration traps`() async throws {
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm([Dog.self, Person.self, Address.self])
            try realm.write { for i in 0..<10 { realm.add(Dog(value: ["age": i])) } }
            var first: Unowned?
            for dog in realm.objects(Dog.self) { if first == nil { first = Unowned(dog: dog) } else if first!.dog.age != 0 { exit(0) } }
        }
    }

    @Test func `two iterators and a copy of one are independent`() throws {
        let realm = try kennel(1500)
        var first = realm.objects(Dog.self).makeIterator(), second = realm.objects(Dog.self).makeIterator()
        var step = 0
        while let a = first.next(), let b = second.next() {
            #expect(a.age == step && b.age == step && a !== b)
            step += 1
            if step == 700 {
                var copy = first
                #expect(copy.next()?.age == 700)
                #expect(first.next()?.age == 700)
                _ = second.next()
                #expect(copy.next()?.age == 701)
                step += 1
            }
        }
        #expect(step == 1500)
    }

    @Test func `an iteration that ends early does not change an object that is still referenced`() throws {
        let realm = try kennel(2000)
        var last: Dog?
        for dog in realm.objects(Dog.self) {
            last = dog
            if dog.age == 1234 { break }
        }
        #expect(last?.age == 1234)
        weak var gone: Dog?
        for dog in realm.objects(Dog.self) where dog.age == 77 {
            gone = dog
            break
        }
        #expect(gone == nil)
    }

    @Test func `rows that are deleted during an iteration are left out`() throws {
        let realm = try kennel(2200)
        var seen: [Int] = []
        try realm.write {
            for dog in realm.objects(Dog.self) {
                seen.append(dog.age)
                if dog.age % 500 == 0, let next = realm.objects(Dog.self).filter("age == \(dog.age + 1)").first { realm.delete(next) }
            }
        }
        #expect(seen == (0..<2200).filter { $0 % 500 != 1 })
    }
}
