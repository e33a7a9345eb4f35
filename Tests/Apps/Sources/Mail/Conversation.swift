import Foundation
import RealmSwift

/// The messages of a thread, over all folders.
final class Conversation: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var uid: String
    @Persisted var messages: List<Message>
    @Persisted var messageIds: MutableSet<String>
    @Persisted var subject: String?
    @Persisted(indexed: true) var date: Date
    @Persisted var unseenCount: Int
    @Persisted var hasAttachments = false
    @Persisted var participants: List<Recipient>
    @Persisted(originProperty: "threads") private var folders: LinkingObjects<Folder>

    var folder: Folder? { folders.first }
    var lastMessage: Message? { messages.last }
    var isUnseen: Bool { unseenCount > 0 }

    convenience init(startingWith message: Message) {
        self.init()
        uid = "thread-\(message.uid)"
        insert(message)
    }

    func insert(_ message: Message) {
        guard !messages.contains(message) else { return }
        messages.append(message)
        if let id = message.messageId { messageIds.insert(id) }
        messageIds.insert(objectsIn: message.references)
    }

    /// Computes what lists show from the messages. The conversation is deleted with its last message.
    func recompute() {
        guard !messages.isEmpty else {
            realm?.delete(self)
            return
        }
        let sorted = messages.sorted { $0.date < $1.date }
        messages.removeAll()
        messages.append(objectsIn: sorted)
        subject = messages.first?.subject
        date = messages.max(of: \.date) ?? date
        unseenCount = messages.filter { !$0.isSeen }.count
        hasAttachments = messages.contains { !$0.attachments.isEmpty }
        participants.removeAll()
        for message in messages {
            for sender in message.from where !participants.contains(where: { $0.email == sender.email }) {
                participants.append(Recipient(email: sender.email, name: sender.name))
            }
        }
    }
}

/// A message that is written, and sent with the next connection.
final class Draft: Object, Codable, Identifiable {
    @Persisted(primaryKey: true) var localUUID = UUID().uuidString
    @Persisted var remoteUUID: String?
    @Persisted var date = Date()
    @Persisted var subject = ""
    @Persisted var body = ""
    @Persisted var to: List<Recipient>
    @Persisted var delay: Int?
    @Persisted var action: DraftAction?
    @Persisted var identityId: Int?

    private enum CodingKeys: String, CodingKey {
        case remoteUUID = "uuid"
        case date
        case subject
        case body
        case to
        case delay
        case action
    }

    override init() {
        super.init()
    }

    required init(from decoder: Decoder) throws {
        super.init()
        let values = try decoder.container(keyedBy: CodingKeys.self)
        remoteUUID = try values.decode(String.self, forKey: .remoteUUID)
        date = try values.decode(Date.self, forKey: .date)
        subject = try values.decodeIfPresent(String.self, forKey: .subject) ?? ""
        body = try values.decode(String.self, forKey: .body)
        to = try values.decode(List<Recipient>.self, forKey: .to)
    }

    func encode(to encoder: Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(remoteUUID, forKey: .remoteUUID)
        try container.encode(date, forKey: .date)
        try container.encode(subject, forKey: .subject)
        try container.encode(body, forKey: .body)
        try container.encode(to, forKey: .to)
        try container.encodeIfPresent(delay, forKey: .delay)
        try container.encodeIfPresent(action, forKey: .action)
    }
}

enum DraftAction: String, Codable, PersistableEnum {
    case save
    case send
    case scheduled
}
