@testable import Firn
import Foundation
import Synchronization
import Testing

/// Runs `body` on a new thread until the thread has ended, so that values of the thread are released.
func onNewThread(_ body: @escaping () -> Void) {
    final class Task {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    #if canImport(Darwin)
        var thread: pthread_t?
        let failure = pthread_create(
            &thread, nil,
            { task in
                Unmanaged<Task>.fromOpaque(task).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(Task(body)).toOpaque())
    #else
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { task in
                Unmanaged<Task>.fromOpaque(task!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(Task(body)).toOpaque())
    #endif
    precondition(failure == 0)
    #if canImport(Darwin)
        pthread_join(thread!, nil)
    #else
        pthread_join(thread, nil)
    #endif
}

@Suite struct ThreadTests {
    @Test func `a thread that reuses the id of an ended thread cannot use its realm`() throws {
        let folder = try RealmFolder()
        nonisolated(unsafe) var first: (number: UInt, executor: RealmExecutor, core: RealmCore, dog: Dog)?
        onNewThread {
            let realm = try! Realm(configuration: folder.configuration([Dog.self]))
            try! realm.write { realm.create(Dog.self, value: ["age": 5]) }
            let dog = realm.objects(Dog.self)[0]
            #expect(dog.age == 5 && dog._state?.pointee.thread == currentThread())
            first = (currentThread(), .on(nil), realm.core, dog)
            #expect(first!.executor.isCurrent)
        }
        let known = first!
        #expect(known.dog._state?.pointee.thread == 0, "the fast path is still enabled for the ended thread")
        nonisolated(unsafe) var met = false
        for _ in 0..<200 where !met {
            onNewThread {
                guard currentThread() == known.number else { return }
                met = true
                #expect(!known.executor.isCurrent)
                #expect(known.executor.thread == 0)
                let mine = try! Realm(configuration: folder.configuration([Dog.self]))
                #expect(mine.core !== known.core && mine.objects(Dog.self)[0].age == 5)
            }
        }
        #expect(met, "no thread reused the id")
        first = nil
    }

    @Test func `an object of an ended thread traps on the next thread`() async {
        let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) var dog: Dog?
            onNewThread {
                let realm = try! memoryRealm()
                try! realm.write { realm.create(Dog.self) }
                dog = realm.objects(Dog.self)[0]
                _ = dog!.age
            }
            onNewThread { _ = dog!.age }
        }
        #expect(said(trap).contains("Realm accessed from incorrect thread"))
    }

    /// Runs the body on many threads that begin together.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ready = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0), done = DispatchGroup()
        for number in 0..<count {
            done.enter()
            let thread = Thread {
                ready.signal()
                go.wait()
                body(number)
                done.leave()
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        for _ in 0..<count { ready.wait() }
        for _ in 0..<count { go.signal() }
        done.wait()
    }

    @Test(.timeLimit(.minutes(5))) func `a hundred threads can read one frozen list while a writer commits`() throws {
        // More than one vector.
        let count = 1200
        let folder = try RealmFolder(), configuration = folder.configuration([Doghouse.self, Values.self])
        let realm = try Realm(configuration: configuration), kennel = Doghouse(), values = Values()
        try realm.write {
            for i in 0..<count {
                kennel.list.append(Pup("pup \(i)", age: i, teeth: i % 3 == 0 ? nil : i % 40))
                values.ints.append(i * 7)
            }
            realm.add(kennel)
            realm.add(values)
        }
        let ages = count * (count - 1) / 2, teeth = (0..<count).reduce(0) { $0 + ($1 % 3 == 0 ? 0 : $1 % 40) }
        let frozen = Snapshot(kennel.list), ints = Snapshot(values.ints), chosen = Snapshot(realm.objects(Pup.self).filter("age >= 600"))
        // Also frozen collections without a snapshot.
        nonisolated(unsafe) let bare = kennel.list.freeze(), bareInts = values.ints.freeze()
        let stop = Atomic<Bool>(false), rounds = Atomic<Int>(0), wrong = Mutex<[String]>([])
        let writer = DispatchGroup()
        writer.enter()
        Thread {
            let mine = try! Realm(configuration: configuration)
            let list = mine.objects(Doghouse.self)[0].list, numbers = mine.objects(Values.self)[0].ints
            var round = 0
            while !stop.load(ordering: .acquiring) {
                round += 1
                try! mine.write {
                    for i in stride(from: round % 7, to: list.count, by: 7) { list[i].age += 1 }
                    list.move(from: 0, to: list.count - 1)
                    list.append(Pup("new", age: 1))
                    numbers.append(round)
                    numbers[0] = round
                }
                rounds.store(round, ordering: .releasing)
            }
            writer.leave()
        }.start()
        while rounds.load(ordering: .acquiring) == 0 { usleep(100) }
        onThreads(100) { number in
            func check(_ name: String, _ found: Int, _ expected: Int) {
                if found != expected { wrong.withLock { $0.append("thread \(number): \(name) \(found) instead of \(expected)") } }
            }
            // Each thread reads in a different way, and all compute the sum of the list.
            switch number % 5 {
            case 0: check("figure", frozen.value.sum(of: \.age), ages)
            case 1:
                check("ints", ints.value.reduce(0, +), ages * 7)
                check("a position", ints.value[number * 7], number * 49)
            case 2: check("teeth", bare.reduce(0) { $0 + ($1.teeth ?? 0) }, teeth)
            case 3:
                check("ints of the list itself", bareInts.sum(), ages * 7)
                check("texts", bare.reduce(0) { $0 + ($1.name.hasPrefix("pup ") ? 1 : 0) }, count)
            default:
                check("chosen", chosen.value.count, count - 600)
                check("sorted", bare.sorted(byKeyPath: "age", ascending: false)[number].age, count - 1 - number)
            }
            if number % 2 == 0 {
                check("ages", frozen.value.reduce(0) { $0 + $1.age }, ages)
            } else {
                check("ages of the list itself", (0..<bare.count).reduce(0) { $0 + bare[$1].age }, ages)
            }
        }
        stop.store(true, ordering: .releasing)
        writer.wait()
        #expect(wrong.withLock { $0 } == [])
        #expect(rounds.load(ordering: .acquiring) > 0 && bare.count == count)
        realm.refresh()
        #expect(kennel.list.count == count + rounds.load(ordering: .acquiring))
    }
}
