import Foundation
import RealmSwift

enum FolderRole: String, PersistableEnum, Codable {
    case inbox
    case sent
    case drafts
    case trash
    case archive

    var order: Int { FolderRole.allCases.firstIndex(of: self) ?? FolderRole.allCases.count }
}

/// A folder as the server lists it, with the messages that the cache has of it.
final class Folder: Object, Decodable, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var path: String
    @Persisted var name: String
    @Persisted var role: FolderRole?
    @Persisted var unreadCount = 0
    @Persisted var isFavorite = false
    @Persisted var lastUpdate: Date?
    @Persisted var cursor: String?
    @Persisted var separator = "/"
    @Persisted var children: List<Folder>
    @Persisted var threads: List<Conversation>
    @Persisted var messages: MutableSet<Message>
    @Persisted(originProperty: "children") private var parents: LinkingObjects<Folder>

    /// Not stored.
    var isExpanded = true

    var parent: Folder? { parents.first }

    var formattedPath: String {
        var components = [name]
        var current = parent
        while let folder = current {
            components.insert(folder.name, at: 0)
            current = folder.parent
        }
        return components.joined(separator: " › ")
    }

    enum CodingKeys: String, CodingKey {
        case path = "id"
        case name
        case role
        case unreadCount
        case isFavorite
        case separator
        case children
    }

    override init() {
        super.init()
    }

    required init(from decoder: Decoder) throws {
        super.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        path = try container.decode(String.self, forKey: .path)
        name = try container.decode(String.self, forKey: .name)
        role = try? container.decode(FolderRole.self, forKey: .role)
        unreadCount = try container.decode(Int.self, forKey: .unreadCount)
        isFavorite = try container.decodeIfPresent(Bool.self, forKey: .isFavorite) ?? false
        separator = try container.decodeIfPresent(String.self, forKey: .separator) ?? "/"
        if let children = try container.decodeIfPresent(List<Folder>.self, forKey: .children) {
            self.children = children
        }
    }

    convenience init(path: String, name: String, role: FolderRole? = nil) {
        self.init()
        self.path = path
        self.name = name
        self.role = role
    }

    func computeUnreadCount() {
        unreadCount = messages.where { $0.isSeen == false }.count
    }
}

extension Folder: Comparable {
    static func < (lhs: Folder, rhs: Folder) -> Bool {
        if let left = lhs.role, let right = rhs.role { return left.order < right.order }
        return lhs.name.localizedCaseInsensitiveCompare(rhs.name) == .orderedAscending
    }
}
