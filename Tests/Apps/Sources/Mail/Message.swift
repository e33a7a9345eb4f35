import Foundation
import RealmSwift

enum MessagePriority: String, PersistableEnum, Codable {
    case low
    case normal
    case high
}

final class Recipient: EmbeddedObject, Codable {
    @Persisted var email: String
    @Persisted var name: String

    enum CodingKeys: String, CodingKey {
        case email
        case name
    }

    convenience init(email: String, name: String) {
        self.init()
        self.email = email
        self.name = name
    }

    var formatted: String { name.isEmpty ? email : "\(name) <\(email)>" }
}

final class Attachment: EmbeddedObject, Decodable {
    @Persisted var name = ""
    @Persisted var mimeType = "application/octet-stream"
    @Persisted var size: Int64 = 0
    @Persisted var contentId: String?
    @Persisted var thumbnail: Data?

    /// Set while the file is downloaded, and not stored.
    var progress = 0.0

    enum CodingKeys: String, CodingKey {
        case name
        case mimeType
        case size
        case contentId
    }
}

final class SubBody: EmbeddedObject, Codable {
    @Persisted var type: String?
    @Persisted var value: String?
}

final class Body: EmbeddedObject, Codable {
    @Persisted var type: String?
    @Persisted var value: String?
    @Persisted var subBodies: List<SubBody>

    enum CodingKeys: String, CodingKey {
        case type
        case value
        case subBodies = "sub"
    }

    override init() {
        super.init()
    }

    required init(from decoder: Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = try container.decodeIfPresent(String.self, forKey: .type)
        value = try container.decodeIfPresent(String.self, forKey: .value)
        subBodies = try container.decodeIfPresent(List<SubBody>.self, forKey: .subBodies) ?? List()
    }
}

final class Message: Object, Decodable, Identifiable {
    @Persisted(primaryKey: true) var uid = ""
    @Persisted var messageId: String?
    @Persisted var subject: String?
    @Persisted var priority: MessagePriority
    @Persisted var date: Date
    @Persisted var size: Int
    @Persisted var from: List<Recipient>
    @Persisted var to: List<Recipient>
    @Persisted var cc: List<Recipient>
    @Persisted var references: List<String>
    @Persisted var headers: Map<String, String>
    @Persisted var body: Body?
    @Persisted var attachments: List<Attachment>
    @Persisted var isSeen: Bool
    @Persisted var isFlagged = false
    @Persisted var preview = ""
    @Persisted(originProperty: "messages") private var conversations: LinkingObjects<Conversation>
    @Persisted(originProperty: "messages") private var folders: LinkingObjects<Folder>

    var id: String { uid }
    var conversation: Conversation? { conversations.first }
    var folder: Folder? { folders.first }
    var recipients: [Recipient] { Array(to) + Array(cc) }
    lazy var formattedSubject = subject ?? "(no subject)"

    private enum CodingKeys: String, CodingKey {
        case uid
        case messageId = "msgId"
        case subject
        case priority
        case date
        case size
        case from
        case to
        case cc
        case references
        case headers
        case body
        case attachments
        case isSeen = "seen"
        case isFlagged = "flagged"
        case preview
    }

    required init(from decoder: Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        uid = try values.decode(String.self, forKey: .uid)
        messageId = try values.decodeIfPresent(String.self, forKey: .messageId)
        subject = try values.decodeIfPresent(String.self, forKey: .subject)
        priority = try values.decodeIfPresent(MessagePriority.self, forKey: .priority) ?? .normal
        date = try values.decode(Date.self, forKey: .date)
        size = try values.decode(Int.self, forKey: .size)
        from = try values.decode(List<Recipient>.self, forKey: .from)
        to = try values.decode(List<Recipient>.self, forKey: .to)
        cc = try values.decodeIfPresent(List<Recipient>.self, forKey: .cc) ?? List<Recipient>()
        headers = try values.decodeIfPresent(Map<String, String>.self, forKey: .headers) ?? Map()
        body = try values.decodeIfPresent(Body.self, forKey: .body)
        attachments = try values.decodeIfPresent(List<Attachment>.self, forKey: .attachments) ?? List()
        isSeen = try values.decode(Bool.self, forKey: .isSeen)
        isFlagged = try values.decodeIfPresent(Bool.self, forKey: .isFlagged) ?? false
        preview = try values.decodeIfPresent(String.self, forKey: .preview) ?? ""

        super.init()

        if let joined = try values.decodeIfPresent(String.self, forKey: .references) {
            references.append(objectsIn: joined.split(separator: " ").map(String.init))
        }
    }

    override init() {
        super.init()
    }

    convenience init(uid: String, subject: String?, date: Date, from: [Recipient], size: Int) {
        self.init()
        self.uid = uid
        self.subject = subject
        self.date = date
        self.from = from.toRealmList()
        self.size = size
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Message else { return false }
        return uid == other.uid
    }

    override var hash: Int { uid.hash }
}

extension Sequence where Element: RealmCollectionValue {
    func toRealmList() -> List<Element> {
        let list = List<Element>()
        list.append(objectsIn: self)
        return list
    }
}
