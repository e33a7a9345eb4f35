import Foundation
import RealmSwift

struct MessagePage: Decodable {
    let cursor: String
    let added: [Message]
    let updated: [FlagUpdate]
    let deleted: [String]

    struct FlagUpdate: Decodable {
        let uid: String
        let seen: Bool
        let flagged: Bool
    }
}

/// The cache of one mailbox.
final class MailboxStore {
    static let schemaVersion: UInt64 = 4

    let mailboxId: Int
    let realmConfiguration: Realm.Configuration
    private let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()

    init(mailboxId: Int, in folder: URL) {
        self.mailboxId = mailboxId
        realmConfiguration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("mailbox-\(mailboxId).realm"),
            schemaVersion: MailboxStore.schemaVersion,
            migrationBlock: { migration, oldSchemaVersion in
                if oldSchemaVersion < 2 {
                    migration.deleteData(forType: Conversation.className())
                }
            },
            deleteRealmIfMigrationNeeded: true,
            shouldCompactOnLaunch: { totalBytes, usedBytes in
                totalBytes > 10 * 1024 * 1024 && Double(usedBytes) / Double(totalBytes) < 0.5
            },
            objectTypes: [
                Folder.self, Conversation.self, Message.self, Body.self, SubBody.self, Attachment.self, Recipient.self, Draft.self,
            ])
    }

    func getRealm() -> Realm {
        do {
            return try Realm(configuration: realmConfiguration)
        } catch {
            _ = try? Realm.deleteFiles(for: realmConfiguration)
            return try! Realm(configuration: realmConfiguration)
        }
    }

    // MARK: Folders

    func update(folders data: Data) throws {
        let newFolders = try decoder.decode([Folder].self, from: data)
        let realm = getRealm()
        try realm.safeWrite {
            let kept = Set(newFolders.flatMap { [$0.path] + $0.children.map(\.path) })
            for folder in newFolders { keepCacheAttributes(for: folder, using: realm) }
            realm.add(newFolders, update: .modified)
            let gone = realm.objects(Folder.self).where { !$0.path.in(kept) }
            for folder in gone {
                realm.delete(folder.messages)
                realm.delete(folder.threads)
            }
            realm.delete(gone)
            for conversation in Array(realm.objects(Conversation.self).where { $0.messages.count == 0 }) { conversation.recompute() }
        }
    }

    /// The server does not know what the cache has of a folder.
    private func keepCacheAttributes(for folder: Folder, using realm: Realm) {
        guard let saved = realm.object(ofType: Folder.self, forPrimaryKey: folder.path) else { return }
        folder.threads = saved.threads
        folder.messages = saved.messages
        folder.lastUpdate = saved.lastUpdate
        folder.cursor = saved.cursor
    }

    func folder(with role: FolderRole, freeze: Bool = false) -> Folder? {
        let folder = getRealm().objects(Folder.self).where { $0.role == role }.first
        return freeze ? folder?.freezeIfNeeded() : folder
    }

    // MARK: Messages

    func apply(page data: Data, to folder: Folder) throws {
        let page = try decoder.decode(MessagePage.self, from: data)
        guard let folder = folder.thawIfNeeded(), let realm = folder.realm else { return }
        try realm.safeWrite {
            delete(uids: page.deleted, in: realm)
            for update in page.updated {
                guard let message = realm.object(ofType: Message.self, forPrimaryKey: update.uid) else { continue }
                message.isSeen = update.seen
                message.isFlagged = update.flagged
            }
            for message in page.added { add(message, to: folder, using: realm) }
            for conversation in folder.threads { conversation.recompute() }
            folder.computeUnreadCount()
            folder.cursor = page.cursor
            folder.lastUpdate = Date()
        }
    }

    private func add(_ message: Message, to folder: Folder, using realm: Realm) {
        let message = realm.object(ofType: Message.self, forPrimaryKey: message.uid) == nil ? message : realm.updated(message)
        realm.add(message, update: .modified)
        folder.messages.insert(message)
        var related = Array(message.references)
        if let id = message.messageId { related.append(id) }
        let existing = realm.objects(Conversation.self).where { $0.messageIds.containsAny(in: related) }
        if let conversation = message.conversation ?? existing.first {
            conversation.insert(message)
        } else {
            let conversation = Conversation(startingWith: message)
            realm.add(conversation, update: .all)
            folder.threads.append(conversation)
        }
    }

    private func delete(uids: [String], in realm: Realm) {
        let messages = realm.objects(Message.self).filter("uid IN %@", uids)
        let conversations = Set(messages.compactMap(\.conversation))
        realm.delete(messages)
        for conversation in conversations where !conversation.isInvalidated { conversation.recompute() }
    }

    func markAsSeen(_ conversation: Conversation, seen: Bool = true) throws {
        guard let live = conversation.thaw(), let realm = live.realm else { return }
        try realm.write {
            live.messages.setValue(seen, forKey: "isSeen")
            live.recompute()
            for folder in Set(live.messages.compactMap(\.folder)) { folder.computeUnreadCount() }
        }
    }

    func move(_ messages: [Message], to role: FolderRole) throws {
        let realm = getRealm()
        guard let target = realm.objects(Folder.self).first(where: { $0.role == role }) else { return }
        try realm.write {
            for message in messages.compactMap({ $0.thawIfNeeded() }) {
                let source = message.folder
                source?.messages.remove(message)
                source?.computeUnreadCount()
                target.messages.insert(message)
            }
            target.computeUnreadCount()
        }
    }

    func search(_ text: String) -> Results<Message> {
        getRealm().objects(Message.self)
            .where {
                $0.subject.contains(text, options: [.caseInsensitive, .diacriticInsensitive])
                    || $0.preview.contains(text, options: .caseInsensitive)
                    || $0.from.email.contains(text, options: .caseInsensitive)
            }
            .sorted(by: \.date, ascending: false)
    }

    // MARK: Drafts

    func save(_ draft: Draft) throws {
        let realm = getRealm()
        try realm.write { realm.add(draft.detached(), update: .modified) }
    }

    func pendingDrafts() -> [Draft] {
        getRealm().objects(Draft.self).where { $0.action != nil }.sorted(byKeyPath: "date").freeze().toArray()
    }
}

extension Realm {
    func safeWrite(_ block: () throws -> Void) throws {
        if isInWriteTransaction { try block() } else { try write(block) }
    }

    /// A message that is known already keeps its flags.
    fileprivate func updated(_ message: Message) -> Message {
        guard let known = object(ofType: Message.self, forPrimaryKey: message.uid) else { return message }
        message.isFlagged = known.isFlagged
        return message
    }
}

extension ThreadConfined {
    func freezeIfNeeded() -> Self { isFrozen ? self : freeze() }
    func thawIfNeeded() -> Self? { isFrozen ? thaw() : self }
}

extension Results {
    func toArray() -> [Element] { Array(self) }
}

// MARK: Copies that are not managed

protocol DetachableObject: AnyObject {
    func detached() -> Self
}

extension Object: DetachableObject {
    func detached() -> Self {
        let copy = type(of: self).init()
        for property in objectSchema.properties where property.type != .linkingObjects {
            guard let value = value(forKey: property.name) else { continue }
            if let detachable = value as? DetachableObject {
                copy.setValue(detachable.detached(), forKey: property.name)
            } else {
                copy.setValue(value, forKey: property.name)
            }
        }
        return copy
    }
}

extension EmbeddedObject: DetachableObject {
    func detached() -> Self {
        let copy = type(of: self).init()
        for property in objectSchema.properties {
            copy.setValue(
                (value(forKey: property.name) as? DetachableObject)?.detached() ?? value(forKey: property.name), forKey: property.name)
        }
        return copy
    }
}

extension List: DetachableObject {
    func detached() -> List<Element> {
        let copy = List<Element>()
        for element in self {
            if let detachable = element as? DetachableObject, let value = detachable.detached() as? Element {
                copy.append(value)
            } else {
                copy.append(element)
            }
        }
        return copy
    }
}
