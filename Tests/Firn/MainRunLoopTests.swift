import Dispatch
import Firn
import Foundation
import XCTest

/// Realms of the main executor in a program whose main thread runs a run loop, as XCTest's does. These tests run as jobs of the main actor
/// on the main thread, within which no other job of the main queue runs.
@MainActor
final class MainRunLoopTests: XCTestCase {
    private func write(to configuration: Realm.Configuration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
            guard let realm = try? Realm(configuration: configuration) else { return }
            try? realm.write { _ = realm.create(Dog.self) }
        }
    }

    /// Observes, and waits in a nested run loop until the change has arrived.
    private func observe(_ arrived: @escaping () -> Void, wait: () -> Void) throws {
        let file = TemporaryRealm()
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
        let realm = try Realm(configuration: configuration), dogs = realm.objects(Dog.self)
        let token = dogs.observe { change in
            MainActor.assertIsolated()
            if case .update(let dogs, deletions: _, insertions: [0], modifications: _) = change, dogs.count == 1 { arrived() }
        }
        write(to: configuration)
        wait()
        XCTAssertEqual(dogs.count, 1)
        token.invalidate()
    }

    func testNotificationsArriveWhileATestWaitsForExpectations() async throws { try observeWhileWaiting() }

    private func observeWhileWaiting() throws {
        let received = expectation(description: "an observer receives the change of another thread")
        try observe({ received.fulfill() }, wait: { waitForExpectations(timeout: 20) })
    }

    func testNotificationsArriveInANestedRunLoopOfAnAsynchronousTest() async throws {
        try await Task.sleep(nanoseconds: 1_000_000)
        XCTAssertTrue(Thread.isMainThread)
        try observeInNestedLoop()
        try await Task.sleep(nanoseconds: 1_000_000)
        try observeInNestedLoop()
    }

    private func observeInNestedLoop() throws {
        var isTold = false
        try observe({ isTold = true }) {
            let end = Date(timeIntervalSinceNow: 20)
            while !isTold, Date() < end { RunLoop.main.run(until: Date() + 0.02) }
        }
    }

    func testAsynchronousWritesCompleteInANestedRunLoop() async throws { try writeAsynchronously() }

    private func writeAsynchronously() throws {
        let file = TemporaryRealm()
        let realm = try Realm(configuration: .init(fileURL: file.url, objectTypes: [Person.self, Dog.self]))
        let done = expectation(description: "the write is complete")
        realm.writeAsync({ _ = realm.create(Dog.self) }) { error in
            XCTAssertNil(error)
            done.fulfill()
        }
        waitForExpectations(timeout: 20)
        XCTAssertEqual(realm.objects(Dog.self).count, 1)
    }

    func testARealmOfTheMainThreadIsThatOfTheMainQueueAndTheMainActor() async throws {
        let file = TemporaryRealm()
        let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
        let realm = try Realm(configuration: configuration)
        let queued = try Realm(configuration: configuration, queue: .main)
        let isolated = try await Realm(configuration: configuration, actor: MainActor.shared)
        XCTAssertTrue(realm == queued && realm == isolated)
        let label = DispatchQueue(label: "work")
        let held = DogRealm.Held(realm: realm)
        XCTAssertEqual(label.sync { held.realm.objects(Dog.self).count }, 0)
    }
}
