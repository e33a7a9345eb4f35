import Firn
import FirnBytes
import FirnDatabase
import Foundation
import Testing

// Swift does not import fork, because using it is dangerous. Here it is the subject of the tests.
@_silgen_name("fork")
private func forkProcess() -> Int32

/// The file of a realm in this process and in others.
@Suite struct RealmProcessTests {
    @Test func `a forked child cannot use the realm of its parent, and can open its own`() async {
        await #expect(processExitsWith: .success) {
            let folder = try RealmFolder(), configuration = folder.configuration([Dog.self])
            let realm = try Realm(configuration: configuration)
            try realm.write { for i in 0..<10 { realm.create(Dog.self, value: ["name": "dog \(i)"]) } }
            let dogs = realm.objects(Dog.self)
            precondition(dogs.count == 10 && dogs[3].name == "dog 3")
            let child = forkProcess()
            if child == 0 {
                do {
                    try realm.write { realm.create(Dog.self) }
                    _exit(1)
                } catch {
                    guard "\(error)".contains("forked") else { _exit(2) }
                }
                do {
                    let own = try Realm(configuration: configuration)
                    guard own != realm, own.objects(Dog.self).count == 10, own.objects(Dog.self)[4].name == "dog 4" else { _exit(3) }
                    try own.write { own.create(Dog.self, value: ["name": "of the child"]) }
                    _exit(own.objects(Dog.self).count == 11 ? 0 : 4)
                } catch { _exit(5) }
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            precondition(status == 0, "the child ended with \(status >> 8)")
            realm.refresh()
            precondition(dogs.count == 11 && realm.damage == nil)
            try realm.write { realm.create(Dog.self) }
            precondition(dogs.count == 12)
        }
    }

    @Test func `processes can create, compact and write one file at the same time`() async {
        await #expect(processExitsWith: .success) {
            /// Runs in a separate process; this process opens nothing.
            func child(_ body: () throws -> Bool) -> Int32 {
                let process = forkProcess()
                if process != 0 { return process }
                do { _exit(try body() ? 0 : 1) } catch {
                    print(error)
                    _exit(2)
                }
            }
            func end(_ process: Int32) {
                var status: Int32 = 0
                waitpid(process, &status, 0)
                precondition(status == 0, "a process ended with \(status)")
            }
            for rows in [0, 300, 300, 300] {
                let folder = try RealmFolder(), plain = folder.configuration([Dog.self])
                if rows > 0 {
                    end(
                        child {
                            let realm = try Realm(configuration: plain)
                            try realm.write { for i in 0..<rows * 4 { realm.create(Dog.self, value: ["name": "dog \(i) \(UUID())"]) } }
                            try realm.write { realm.delete(Array(realm.objects(Dog.self).suffix(rows * 3))) }
                            return realm.objects(Dog.self).count == rows
                        })
                }
                let children = (0..<3).map { _ in
                    child {
                        var configuration = plain
                        configuration.shouldCompactOnLaunch = { _, _ in true }
                        let realm = try Realm(configuration: configuration)
                        for i in 0..<10 { try realm.write { realm.create(Dog.self, value: ["name": "new \(i)"]) } }
                        return realm.objects(Dog.self).count >= rows + 10
                    }
                }
                for process in children { end(process) }
                end(child { try Realm(configuration: plain).objects(Dog.self).count == rows + 30 })
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                precondition(names == ["a.firn"], "\(names)")
            }
        }
    }

    @Test func `a file that is truncated while it is open is an error, and is not written any more`() async {
        await #expect(processExitsWith: .success) {
            let folder = try RealmFolder()
            let realm = try Realm(configuration: folder.configuration([Dog.self]))
            try realm.write { for i in 0..<8000 { realm.create(Dog.self, value: ["name": "dog \(i) \(UUID())"]) } }
            let frozen = realm.freeze(), dogs = frozen.objects(Dog.self)
            precondition(dogs[0].name.hasPrefix("dog 0 ") && frozen.damage == nil)
            guard truncate(folder.file().path, 4608) == 0 else { preconditionFailure("the file was not truncated") }
            var wrong = 0
            for i in stride(from: 7999, to: 0, by: -200) where frozen.damage == nil {
                let name = dogs[i].name
                if frozen.damage == nil, !name.hasPrefix("dog \(i) ") { wrong += 1 }
            }
            precondition(frozen.damage != nil && wrong == 0, "\(wrong) wrong names without an error")
            precondition(frozen.damage!.code == .damaged)
            do {
                _ = realm.objects(Dog.self).map(\.name)
                try realm.write { realm.create(Dog.self) }
                preconditionFailure("a truncated file was written")
            } catch let error as Realm.Error { precondition(error.code == .invalidDatabase, "\(error)") }
        }
    }

    @Test func `the error of too many versions names the process that holds one [T10]`() throws {
        let folder = try RealmFolder()
        var configuration = folder.configuration([Dog.self])
        configuration.maximumNumberOfActiveVersions = 2
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Dog.self) }
        // Like another process: with another open file.
        let other = try Database.open(path: folder.file().path), held = try other.snapshot()
        try realm.write { realm.create(Dog.self) }
        let old = try realm.activeVersions[0], process = "process \(ProcessInfo.processInfo.processIdentifier) ("
        #expect(old.version == held.version)
        #if os(Linux)
            #expect(old.holders.count == 1 && old.holders[0].hasPrefix(process), "\(old.holders)")
        #endif
        let frozen = realm.freeze()
        do {
            try realm.write { realm.create(Dog.self) }
            Issue.record("a version beyond the limit was written")
        } catch let error as Realm.Error {
            #expect(error.code == .tooManyVersions && error.message.contains("version \(held.version) "), "\(error)")
            #if os(Linux)
                #expect(error.message.contains(process), "\(error)")
            #endif
        }
        withExtendedLifetime((frozen, held)) {}
    }

    @Test func `a realm whose file is not mapped can be read and written`() throws {
        let folder = try RealmFolder()
        var configuration = folder.configuration([Dog.self])
        configuration.mapsFile = false
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { for i in 0..<3000 { realm.create(Dog.self, value: ["name": "dog \(i)"]) } }
            for i in 0..<5 { try realm.write { realm.objects(Dog.self)[i * 500].name = "changed" } }
            #expect(realm.objects(Dog.self).where { $0.name == "changed" }.count == 5)
        }
        let realm = try Realm(configuration: configuration), dogs = realm.objects(Dog.self)
        #expect(dogs.count == 3000 && dogs[7].name == "dog 7" && dogs[500].name == "changed" && realm.damage == nil)
    }
}
