import Firn
import Foundation

/// The articles of all feeds in sections, as a table shows them.
@MainActor
final class FeedList {
    private let realm: Realm
    private var tokens: [NotificationToken] = []
    let sections: SectionedResults<String, Article>
    /// A copy of the titles, which only notifications change.
    private(set) var shown: [[String]] = []
    private(set) var updates = 0
    private(set) var objectChanges: [String] = []

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: MainActor.shared)
        sections = realm.objects(Article.self)
            .sectioned(
                by: \.day,
                sortDescriptors: [
                    SortDescriptor(keyPath: "day", ascending: false), SortDescriptor(keyPath: \Article.published, ascending: false),
                ])
    }

    func observe() {
        tokens.append(
            sections.observe { [weak self] change in
                switch change {
                case .initial(let sections):
                    self?.shown = sections.map { $0.map(\.title) }
                case .update(let sections, let deletions, let insertions, let modifications, let sectionsToInsert, let sectionsToDelete):
                    guard let self else { return }
                    updates += 1
                    for path in deletions.reversed() { shown[path[0]].remove(at: path[1]) }
                    for section in sectionsToDelete.reversed() { shown.remove(at: section) }
                    for section in sectionsToInsert { shown.insert([], at: section) }
                    for path in insertions { shown[path[0]].insert(sections[path].title, at: path[1]) }
                    if !modifications.isEmpty { shown = sections.map { $0.map(\.title) } }
                }
            })
    }

    func observe(_ article: Article) {
        tokens.append(
            article.observe(keyPaths: [\Article.isRead, \Article.title]) { [weak self] change in
                switch change {
                case .change(let object, let properties):
                    for property in properties {
                        self?.objectChanges.append("\(object._id == article._id) \(property.name): \(property.newValue ?? "nil")")
                    }
                case .deleted: self?.objectChanges.append("deleted")
                case .error(let error): self?.objectChanges.append("\(error)")
                }
            })
    }

    func stop() {
        tokens.forEach { $0.invalidate() }
        tokens.removeAll()
    }

    func article(titled title: String) -> Article? {
        realm.objects(Article.self).where { $0.title == title }.first
    }

    func toggleStar(_ article: Article) throws {
        try realm.write { article.isStarred.toggle() }
    }

    func rows() -> [String] {
        realm.objects(ArticleRow.self).sorted(byKeyPath: "title").map { row in
            "\(row.isRead ? "" : "• ")\(row.title)\(row.authorName.map { " (\($0))" } ?? "")"
        }
    }

    func feed(_ url: String) -> Feed? { realm.object(ofType: Feed.self, forPrimaryKey: url) }

    func search(_ words: String) -> [String] {
        realm.objects(Article.self).where { $0.summary.fullTextSearch(words) }.map(\.title).sorted()
    }

    /// A frozen copy for a renderer, which works on another thread.
    func snapshot() -> Results<Article> {
        realm.objects(Article.self).sorted(byKeyPath: "title").freeze()
    }

    func refresh() async { await realm.asyncRefresh() }

    func writeLater(_ block: @escaping (Realm) -> Void, then completion: @escaping (Error?) -> Void) {
        realm.writeAsync({ [realm] in block(realm) }, onComplete: completion)
    }
}
