import Firn
import Foundation

@main
struct FeedApp {
    static let checks = Checks("feed")
    static let news = "https://example.org/news.xml"
    static let music = "https://example.org/music.xml"

    static func main() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("feed-\(UUID().uuidString).realm")
        var configuration = Realm.Configuration(fileURL: file, schemaVersion: 1)
        configuration.objectTypes = [Feed.self, Article.self, Author.self, Enclosure.self]
        try await run(configuration)
        try await realmIsNotNeededInMain(configuration)
        _ = try Realm.deleteFiles(for: configuration)
        checks.check(!FileManager.default.fileExists(atPath: file.path), "the file is deleted")
        checks.finish()
    }

    @MainActor
    static func run(_ configuration: Realm.Configuration) async throws {
        let importer = try await FeedImporter(configuration: configuration)
        try await importer.subscribe(to: news, title: "News")
        try await importer.subscribe(to: music, title: "Music")
        checks.equal(await importer.feedCount, 2, "feeds")
        do {
            try await importer.importArticles([], into: "https://example.org/none.xml")
            checks.check(false, "articles of an unknown feed are refused")
        } catch let error as FeedError {
            checks.equal(error, .unknownFeed("https://example.org/none.xml"), "the error of an unknown feed")
        }

        let list = try await FeedList(configuration: configuration)
        list.observe()
        checks.equal(try await importer.importArticles(Articles.first, into: news), 3, "new articles")
        await list.wait { !$0.shown.isEmpty }
        checks.equal(list.shown, [["Beta"], ["Gamma", "Alpha"]], "sections")
        checks.equal(list.sections.allKeys, ["2024-03-02", "2024-03-01"], "keys of sections")

        // One article has another title, one is new and has a section of its own.
        checks.equal(try await importer.importArticles(Articles.second, into: news), 1, "new articles of the second import")
        await list.wait { $0.shown.first == ["Delta"] }
        checks.equal(list.shown, [["Delta"], ["Beta"], ["Gamma ray", "Alpha"]], "sections after the second import")
        checks.equal(list.shown, list.sections.map { $0.map(\.title) }, "sections of the observer and of the realm")
        try await articlesChange(list, importer)
        try await backgroundWork(list, importer, configuration)
        try await changesAreSequences(list, importer)
        list.stop()
        await importer.close()
    }

    @MainActor
    static func articlesChange(_ list: FeedList, _ importer: FeedImporter) async throws {
        await importer.watchStarred()
        guard let beta = list.article(titled: "Beta") else { return checks.check(false, "no article \"Beta\"") }
        list.observe(beta)
        try list.toggleStar(beta)
        await importer.wait { $0.log.count > 1 }
        checks.equal(await importer.log, ["initial: 0", "-0 +1: Beta"], "starred articles in the importer")
        checks.equal(beta.feeds.first?.title, "News", "the feed of an article")
        checks.equal(beta.author?.name, "Ada", "the author")
        checks.equal(beta.tags.sorted(), ["science", "space"], "the tags")
        checks.equal(beta.enclosures.map(\.length), [10, 20], "the enclosures")
        checks.equal(list.feed(news)?.unread.count, 4, "unread articles of a feed")
        checks.equal(list.search("galaxies"), ["Beta"], "full-text search")
        checks.equal(list.rows(), ["• Alpha", "• Beta (Ada)", "• Delta", "• Gamma ray"], "rows by projection")

        let letters = list.snapshot().sectioned(by: { $0.firstLetter }, sortDescriptors: [SortDescriptor(keyPath: "title")])
        checks.equal(letters.allKeys, ["A", "B", "D", "G"], "sections by a computed property")
        let byLetter = list.snapshot().sectioned(by: \.firstLetter, ascending: true)
        checks.equal(byLetter.map(\.count), [1, 1, 1, 1], "sections by the key path of a computed property")
    }

    @MainActor
    static func backgroundWork(_ list: FeedList, _ importer: FeedImporter, _ configuration: Realm.Configuration) async throws {
        let read = try await markAllAsRead(before: Articles.date("2024-03-01T11:00:00Z"), configuration: configuration)
        checks.equal(read, 1, "articles marked as read")
        await list.refresh()
        checks.equal(list.rows().first, "Alpha", "a read article")

        // A frozen snapshot does not change, and other threads can read it.
        nonisolated(unsafe) let snapshot = list.snapshot()
        let purged: Int = try await withCheckedThrowingContinuation { continuation in
            purge(olderThan: Articles.date("2024-03-01T13:00:00Z"), configuration: configuration) { continuation.resume(with: $0) }
        }
        checks.equal(purged, 2, "purged articles")
        let titles = await Task.detached { snapshot.map(\.title) }.value
        checks.equal(titles, ["Alpha", "Beta", "Delta", "Gamma ray"], "a snapshot on another thread")
        checks.equal(snapshot.count, 4, "a snapshot after the purge")
        await list.wait { $0.shown.count == 2 }
        checks.equal(list.shown, [["Delta"], ["Beta"]], "sections after the purge")

        let error: Error? = await withCheckedContinuation { continuation in
            list.writeLater(
                { realm in realm.objects(Article.self).first { $0.title == "Beta" }?.isRead = true },
                then: { continuation.resume(returning: $0) })
        }
        checks.check(error == nil, "an asynchronous write")
        await list.wait { !$0.objectChanges.isEmpty }
        checks.equal(list.objectChanges, ["true isRead: true"], "changes of an article")
    }

    @MainActor
    static func changesAreSequences(_ list: FeedList, _ importer: FeedImporter) async throws {
        guard let feed = list.feed(news) else { return checks.check(false, "no feed") }
        let changes = feed.articles.changesetPublisher
        let writing = Task {
            for number in 1...3 {
                try await importer.importArticles(
                    [ParsedArticle(guid: "n\(number)", title: "New \(number)", published: Articles.date("2024-03-04T10:00:00Z"))],
                    into: news)
            }
        }
        var inserted = 0
        loop: for await change in changes.values {
            switch change {
            case .initial(let articles): inserted = articles.count - 2
            case .update(let articles, _, let insertions, _):
                inserted += insertions.count
                checks.check(articles.isFrozen, "the collections of a sequence are frozen")
            case .error: break loop
            }
            if inserted == 3 { break }
        }
        try await writing.value
        checks.equal(inserted, 3, "insertions in a sequence of changes")

        try await importer.unsubscribe(ThreadSafeReference(to: feed))
        await list.refresh()
        checks.check(feed.isInvalidated, "an unsubscribed feed")
        checks.check(await importer.titles().isEmpty, "articles of an unsubscribed feed")
        try await importer.recordFailure(of: music)
        await list.refresh()
        checks.equal(list.feed(music)?.failures, 1, "failures of a feed")
    }

    /// A realm of an actor is usable in functions that are isolated to a parameter.
    static func realmIsNotNeededInMain(_ configuration: Realm.Configuration) async throws {
        @MainActor func title() async throws -> String? {
            let realm = try await Realm.open(configuration: configuration)
            return realm.objects(Feed.self).first?.title
        }
        checks.equal(try await title(), "Music", "the last feed")
    }
}

extension FeedList {
    /// Waits, at most some seconds, until a condition holds.
    func wait(until condition: (FeedList) -> Bool) async {
        for _ in 0..<1000 where !condition(self) { try? await Task.sleep(nanoseconds: 10_000_000) }
    }
}

extension FeedImporter {
    func wait(until condition: @Sendable (isolated FeedImporter) -> Bool) async {
        for _ in 0..<1000 where !condition(self) { try? await Task.sleep(nanoseconds: 10_000_000) }
    }
}

enum Articles {
    static func date(_ text: String) -> Date { ISO8601DateFormatter().date(from: text) ?? Date() }

    static let first = [
        ParsedArticle(guid: "a", title: "Alpha", summary: "Letters and numbers", published: date("2024-03-01T10:00:00Z")),
        ParsedArticle(
            guid: "b", title: "Beta", summary: "Distant galaxies collide", published: date("2024-03-02T10:00:00Z"), author: "Ada",
            tags: ["space", "science", "space"], enclosures: ["https://example.org/1.mp3": 10, "https://example.org/2.mp3": 20]),
        ParsedArticle(guid: "c", title: "Gamma", published: date("2024-03-01T12:00:00Z")),
    ]

    static let second = [
        ParsedArticle(guid: "c", title: "Gamma ray", published: date("2024-03-01T12:00:00Z")),
        ParsedArticle(guid: "d", title: "Delta", published: date("2024-03-03T10:00:00Z")),
    ]
}
