import Firn
import Foundation
import Testing

class Song: Object {
    @Persisted var title = ""
    @Persisted var genre = ""
    @Persisted var seconds = 0
    @Persisted var stars: Int?
    @Persisted var covers: MutableSet<Song>
}

class SongCard: Projection<Song> {
    @Projected(\Song.genre) var kind
}

/// Runs the examples of docs/guide/sections-and-aggregates.md.
@Suite struct SectionGuideTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            for (title, genre, seconds, stars) in [
                ("So What", "Jazz", 545, 5), ("Angie", "Rock", 272, nil), ("Blue Train", "Jazz", 642, 4), ("Alive", "Rock", 341, 2),
                ("Gloria", "Mass", 330, nil),
            ]
                as [(String, String, Int, Int?)]
            {
                let song = realm.create(Song.self, value: ["title": title, "genre": genre, "seconds": seconds] as [String: Any])
                song.stars = stars
            }
        }
        return realm
    }

    @Test func `the examples of "Sections" work`() throws {
        let realm = try filled(), numbers = List<Int>()
        let holder = Values(value: ["ints": [1, 2, 3, 4]])
        try realm.write { realm.add(holder) }
        let songs = realm.objects(Song.self)
        let byGenre = songs.sectioned(by: \.genre)
        for section in byGenre { print(section.key, section.map(\.title).joined(separator: ", ")) }
        print(byGenre.allKeys, byGenre[0].count, byGenre[0][0].title)
        #expect(
            byGenre.allKeys == ["Jazz", "Mass", "Rock"] && byGenre[0].count == 2 && byGenre[0][0].title == "So What" && numbers.isEmpty)
        do {
            let first = byGenre[[0, 0]]
            let jazz = byGenre.first { $0.key == "Jazz" }
            print(first.title, jazz?.count ?? 0)
            #expect(first.title == "So What" && jazz?.count == 2)
        }
        do {
            let letters = songs.sectioned(by: { $0.title.prefix(1).uppercased() }, sortDescriptors: [SortDescriptor(keyPath: "title")])
            let longest = songs.sectioned(
                by: \.genre, sortDescriptors: [SortDescriptor(keyPath: "genre"), SortDescriptor(keyPath: "seconds", ascending: false)])
            let rated = songs.sectioned(sortDescriptors: ["stars"]) { $0.stars.map { $0 > 3 ? "loved" : "known" } ?? "new" }
            print(letters.allKeys, longest.map { $0[0].title }, rated.allKeys)
            #expect(
                letters.allKeys == ["A", "B", "G", "S"] && longest.map { $0[0].title } == ["Blue Train", "Gloria", "Alive"]
                    && rated.allKeys == ["new", "known", "loved"])
        }
        do {
            let numbers = holder.ints
            let parity = numbers.sectioned(by: { $0.isMultiple(of: 2) ? "even" : "odd" })
            let cards = realm.objects(SongCard.self).sectioned(by: \.kind)
            print(parity.allKeys, cards.map(\.count))
            #expect(parity.allKeys == ["odd", "even"] && cards.map(\.count) == [2, 1, 2])
        }
    }

    @Test func `the examples of aggregates work`() throws {
        let realm = try filled(), holder = Values(value: ["ints": [1, 2, 3, 4]])
        try realm.write { realm.add(holder) }
        let songs = realm.objects(Song.self), byGenre = songs.sectioned(by: \.genre), numbers = holder.ints
        for section in byGenre {
            let total: Int = section.sum(of: \.seconds)
            let stars: Double? = section.average(ofProperty: "stars")
            print(section.key, total, section.max(of: \.seconds) ?? 0, stars ?? 0)
        }
        let totals = byGenre.map { $0.sum(of: \.seconds) }
        #expect(
            totals == [1187, 330, 613] && byGenre[0].average(ofProperty: "stars") == 4.5 as Double? && byGenre[0].average(of: \.stars) == 4)
        let all: Int = songs.sum(of: \.seconds)
        let shortest: Int? = songs.filter("genre == 'Jazz'").min(ofProperty: "seconds")
        let mean: Double? = songs.average(ofProperty: "stars")
        let few: Int = numbers.sum()
        print(all, shortest ?? 0, mean ?? 0, few)
        #expect(all == 2130 && shortest == 545 && mean == 11.0 / 3 && few == 10)
    }

    @Test func `the example in which each element counts once works [D1]`() throws {
        let realm = try filled(), song = realm.objects(Song.self)[0]
        try realm.write {
            song.covers.insert(objectsIn: [
                Song(value: ["title": "a", "seconds": 200]), Song(value: ["title": "b", "seconds": 200]),
                Song(value: ["title": "c", "seconds": 100]),
            ])
            let covered: Int = song.covers.sum(of: \.seconds)
            let usual: Double? = song.covers.average(ofProperty: "seconds")
            print(covered, usual ?? 0)  // 500 166.66666666666666
            #expect(covered == 500 && usual == 500.0 / 3)
        }
    }

    @Test func `the example of observing sections works`() throws {
        let realm = try filled(), byGenre = realm.objects(Song.self).sectioned(by: \.genre)
        var shown: [[String]] = []
        let token = byGenre.observe { change in
            switch change {
            case .initial(let sections):
                shown = sections.map { $0.map(\.title) }
            case .update(let sections, let deletions, let insertions, let modifications, let sectionsToInsert, let sectionsToDelete):
                for path in deletions.reversed() { shown[path[0]].remove(at: path[1]) }
                for section in sectionsToDelete.reversed() { shown.remove(at: section) }
                for section in sectionsToInsert { shown.insert([], at: section) }
                for path in insertions { shown[path[0]].insert(sections[path].title, at: path[1]) }
                if !modifications.isEmpty { shown = sections.map { $0.map(\.title) } }
            }
        }
        realm.refresh()
        let songs = realm.objects(Song.self)
        func changed(_ body: () -> Void) throws {
            try realm.write(body)
            realm.refresh()
            #expect(shown == byGenre.map { $0.map(\.title) })
        }
        #expect(shown.map(\.count) == [2, 1, 2])
        try changed { songs[0].genre = "Cool" }
        try changed { realm.delete(songs.filter("genre == 'Mass'")) }
        try changed { realm.create(Song.self, value: ["title": "new", "genre": "Aria"]) }
        try changed { songs[1].title = "changed" }
        try changed {
            realm.delete(songs.filter("genre == 'Rock'"))
            songs[0].genre = "Jazz"
        }
        token.invalidate()
    }
}
