import Firn
import Foundation

class Feed: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var url: String
    @Persisted var title: String = ""
    @Persisted var isMuted: Bool = false
    @Persisted var refreshed: Date?
    @Persisted var failures: Int = 0
    @Persisted var articles: List<Article>

    convenience init(url: String, title: String) {
        self.init()
        self.url = url
        self.title = title
    }

    var unread: Results<Article> { articles.where { !$0.isRead } }
}

class Article: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var guid: String = ""
    @Persisted var title: String = ""
    @Persisted(indexed: .fullText) var summary: String = ""
    @Persisted var published: Date = Date()
    @Persisted var day: String = ""
    @Persisted var isRead: Bool = false
    @Persisted var isStarred: Bool = false
    @Persisted var author: Author?
    @Persisted var tags: MutableSet<String>
    @Persisted var enclosures: List<Enclosure>
    @Persisted(originProperty: "articles") var feeds: LinkingObjects<Feed>

    var firstLetter: String {
        guard let char = title.first else { return "" }
        return String(char)
    }
}

class Author: EmbeddedObject {
    @Persisted var name: String = ""
    @Persisted var page: String?
}

class Enclosure: EmbeddedObject {
    @Persisted var url: String = ""
    @Persisted var length: Int = 0
}

/// What a row of a list shows.
class ArticleRow: Projection<Article> {
    @Projected(\Article.title) var title
    @Projected(\Article.isRead) var isRead
    @Projected(\Article.author?.name) var authorName
}

/// What a parser has read of an article.
struct ParsedArticle: Sendable {
    var guid: String
    var title: String
    var summary = ""
    var published: Date
    var author: String?
    var tags: [String] = []
    var enclosures: [String: Int] = [:]
}

extension Article {
    convenience init(_ parsed: ParsedArticle) {
        self.init()
        update(from: parsed)
    }

    func update(from parsed: ParsedArticle) {
        guid = parsed.guid
        title = parsed.title
        summary = parsed.summary
        published = parsed.published
        day = Article.dayFormatter.string(from: parsed.published)
        if let name = parsed.author {
            let author = Author()
            author.name = name
            self.author = author
        }
        tags.insert(objectsIn: parsed.tags)
        enclosures.removeAll()
        enclosures.append(
            objectsIn: parsed.enclosures.sorted { $0.key < $1.key }.map { url, length in
                Enclosure(value: ["url": url, "length": length])
            })
    }

    static let dayFormatter: DateFormatter = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd"
        return formatter
    }()
}
