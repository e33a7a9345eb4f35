import Firn
import Foundation

/// Writes feeds and articles, away from the main thread.
actor FeedImporter {
    // An implicitly unwrapped optional, because the realm is opened with `self`.
    private var realm: Realm!
    private var token: NotificationToken?
    private(set) var log: [String] = []

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    var feedCount: Int { realm.objects(Feed.self).count }

    func subscribe(to url: String, title: String) async throws {
        try await realm.asyncWrite {
            realm.create(Feed.self, value: ["url": url, "title": title], update: .modified)
        }
    }

    /// Returns the number of new articles.
    @discardableResult
    func importArticles(_ parsed: [ParsedArticle], into url: String) async throws -> Int {
        guard let feed = realm.object(ofType: Feed.self, forPrimaryKey: url) else { throw FeedError.unknownFeed(url) }
        return try await realm.asyncWrite {
            var added = 0
            for one in parsed {
                if let known = feed.articles.where({ $0.guid == one.guid }).first {
                    known.update(from: one)
                } else {
                    feed.articles.append(Article(one))
                    added += 1
                }
            }
            feed.refreshed = Date()
            feed.failures = 0
            return added
        }
    }

    func recordFailure(of url: String) async throws {
        let feed = realm.object(ofType: Feed.self, forPrimaryKey: url)
        try await realm.asyncWrite { feed?.failures += 1 }
    }

    func unsubscribe(_ reference: ThreadSafeReference<Feed>) async throws {
        guard let feed = realm.resolve(reference) else { return }
        try await realm.asyncWrite {
            realm.delete(feed.articles)
            realm.delete(feed)
        }
    }

    func watchStarred() async {
        let starred = realm.objects(Article.self).where { $0.isStarred }
        token = await starred.observe(on: self) { actor, changes in
            switch changes {
            case .initial(let articles): actor.log.append("initial: \(articles.count)")
            case .update(let articles, let deletions, let insertions, _):
                actor.log.append("-\(deletions.count) +\(insertions.count): \(articles.map(\.title).joined(separator: ", "))")
            case .error(let error): actor.log.append("error: \(error)")
            }
        }
    }

    func titles() async -> [String] {
        await realm.asyncRefresh()
        return realm.objects(Article.self).sorted(byKeyPath: "published", ascending: false).map { $0.title }
    }

    func close() {
        token?.invalidate()
        token = nil
        realm = nil
    }
}

enum FeedError: Error, Equatable {
    case unknownFeed(String)
}

/// Background work without an actor of its own.
@globalActor actor BackgroundActor: GlobalActor {
    static let shared = BackgroundActor()
}

@BackgroundActor
func markAllAsRead(before date: Date, configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
    let old = realm.objects(Article.self).where { $0.published < date && !$0.isRead }
    let count = old.count
    try await realm.asyncWrite {
        old.setValue(true, forKey: "isRead")
    }
    return count
}

/// Deletes articles on a queue, as apps did before actors.
func purge(olderThan date: Date, configuration: Realm.Configuration, completion: @escaping @Sendable (Result<Int, Error>) -> Void) {
    DispatchQueue.global(qos: .utility).async {
        do {
            let realm = try Realm(configuration: configuration)
            let old = realm.objects(Article.self).filter("published < %@ AND isStarred == NO", date as NSDate)
            let count = old.count
            try realm.write { realm.delete(old) }
            completion(.success(count))
        } catch {
            completion(.failure(error))
        }
    }
}
