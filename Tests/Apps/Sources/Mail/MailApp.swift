import Foundation
import RealmSwift

@main
struct MailApp {
    static let checks = Checks("mail")

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            defer { try? FileManager.default.removeItem(at: folder) }
            try run(MailboxStore(mailboxId: 7, in: folder))
            try openAgain(MailboxStore(mailboxId: 7, in: folder))
        }
        checks.finish()
    }

    static func run(_ store: MailboxStore) throws {
        try autoreleasepool {
            try store.update(folders: Data(Server.folders.utf8))
            try foldersAreStored(store)
            try messagesAreStored(store)
            try messagesChange(store)
            try draftsAreSaved(store)
            try foldersChange(store)
        }
    }

    static func foldersAreStored(_ store: MailboxStore) throws {
        let realm = store.getRealm()
        let folders = realm.objects(Folder.self)
        checks.equal(folders.count, 6, "folders")
        checks.equal(folders.where { $0.role != nil }.count, 4, "folders with a role")
        let bills = realm.object(ofType: Folder.self, forPrimaryKey: "work/bills")
        checks.equal(bills?.formattedPath, "Work › Bills", "the path of a nested folder")
        checks.equal(bills?.parent?.name, "Work", "the parent of a nested folder")
        checks.equal(folders.sorted().map(\.name).first, "Inbox", "the first of the sorted folders")
        checks.check(bills?.isExpanded == true && bills?.children.isEmpty == true, "a property that is not stored")
    }

    static func messagesAreStored(_ store: MailboxStore) throws {
        guard let inbox = store.folder(with: .inbox, freeze: true) else { return checks.check(false, "there is no inbox") }
        checks.check(inbox.isFrozen && inbox.messages.isEmpty, "the inbox before the first page")
        try store.apply(page: Data(Server.firstPage.utf8), to: inbox)
        checks.equal(inbox.messages.count, 0, "messages in the frozen inbox")
        guard let live = inbox.thaw() else { return checks.check(false, "the inbox is gone") }
        checks.equal(live.messages.count, 3, "messages in the inbox")
        checks.equal(live.threads.count, 2, "conversations in the inbox")
        checks.equal(live.unreadCount, 2, "unread messages")
        checks.equal(live.cursor, "c1", "the cursor")

        guard let realm = live.realm, let first = realm.object(ofType: Message.self, forPrimaryKey: "1@inbox") else {
            return checks.check(false, "message 1 is missing")
        }
        checks.equal(first.subject, "Quarterly report", "the subject")
        checks.equal(first.from.map(\.formatted), ["Ada <ada@example.org>"], "the sender")
        checks.equal(first.recipients.map(\.email), ["me@example.org", "bob@example.org"], "the recipients")
        checks.equal(first.body?.subBodies.first?.value, "<p>part</p>", "a body within a body")
        checks.equal(first.attachments.sum(of: \.size), 1_500_000, "the size of all attachments")
        checks.equal(first.headers["X-Mailer"], "Letter 4", "a header")
        checks.equal(first.priority, .high, "the priority")
        checks.equal(first.formattedSubject, "Quarterly report", "a lazy property")
        checks.equal(first.date, Date(timeIntervalSince1970: 1_704_099_600), "the date")
        let reply = realm.object(ofType: Message.self, forPrimaryKey: "2@inbox")
        checks.equal(reply?.conversation?.messages.map(\.uid), ["1@inbox", "2@inbox"], "the conversation of a reply")
        checks.equal(reply?.references.first, "<a@example.org>", "the references of a reply")
        checks.equal(reply?.conversation?.participants.map(\.name), ["Ada", "Bob"], "the participants")
        checks.equal(reply?.folder?.role, .inbox, "the folder of a message")
        checks.equal(reply?.priority, .normal, "the default priority")
        checks.check(reply?.conversation?.hasAttachments == true, "the conversation has attachments")
        checks.equal(store.search("REPORT").map(\.uid), ["2@inbox", "1@inbox"], "messages that contain a word")
        checks.equal(store.search("bob@").count, 1, "messages from an address")
        checks.check(store.search("nothing like this").isEmpty, "a search without results")
    }

    static func messagesChange(_ store: MailboxStore) throws {
        guard let inbox = store.folder(with: .inbox), let realm = inbox.realm else { return checks.check(false, "there is no inbox") }
        let newest = inbox.threads.sorted(by: \.date, ascending: false)
        let unseen = realm.objects(Message.self).where { !$0.isSeen }
        checks.equal(newest.first?.uid, "thread-3@inbox", "the newest conversation")
        var calls: [String] = []
        let token = unseen.observe { changes in
            switch changes {
            case .initial(let messages): calls.append("initial \(messages.count)")
            case .update(let messages, let deletions, let insertions, let modifications):
                calls.append("\(messages.count): -\(deletions.count) +\(insertions.count) ~\(modifications.count)")
            case .error(let error): calls.append("\(error)")
            }
        }
        realm.refresh()
        try store.apply(page: Data(Server.secondPage.utf8), to: inbox)
        realm.refresh()
        checks.equal(calls, ["initial 2", "2: -1 +1 ~1"], "notifications of unseen messages")
        token.invalidate()

        checks.equal(realm.objects(Message.self).count, 3, "messages after the second page")
        checks.equal(inbox.threads.first?.messages.map(\.uid), ["1@inbox", "4@inbox"], "a conversation without a deleted reply")
        let first = realm.object(ofType: Message.self, forPrimaryKey: "1@inbox")
        checks.check(first?.isSeen == true && first?.isFlagged == true, "updated flags")
        checks.equal(first?.attachments.count, 2, "attachments after an update of flags")
        // The page contains message 3 again: its flags are those of the cache, everything else is new.
        let third = realm.object(ofType: Message.self, forPrimaryKey: "3@inbox")
        checks.equal(third?.subject, "Lunch on Friday", "the subject of an updated message")
        checks.equal(third?.to.count, 2, "the recipients of an updated message")

        if let conversation = inbox.threads.first?.freeze() { try store.markAsSeen(conversation) }
        checks.equal(inbox.unreadCount, 1, "unread messages after a conversation was read")
        checks.equal(inbox.threads.first?.unseenCount, 0, "unseen messages of a conversation")
        try store.move([third].compactMap { $0?.freeze() }, to: .archive)
        checks.equal(third?.folder?.role, .archive, "the folder of a moved message")
        checks.equal(store.folder(with: .archive)?.unreadCount, 1, "unread messages of the archive")
        checks.equal(inbox.unreadCount, 0, "unread messages of the inbox")

        do {
            try realm.write {
                first?.isFlagged = false
                throw CancellationError()
            }
            checks.check(false, "the error of a write block is thrown")
        } catch is CancellationError {
            checks.check(first?.isFlagged == true, "a write block that throws changes nothing")
        }
    }

    static func draftsAreSaved(_ store: MailboxStore) throws {
        let draft = Draft()
        draft.subject = "Hello"
        draft.to.append(Recipient(email: "ada@example.org", name: "Ada"))
        draft.action = .send
        try store.save(draft)
        draft.body = "written later"
        try store.save(draft)
        checks.check(draft.realm == nil, "a saved draft stays unmanaged")
        let pending = store.pendingDrafts()
        checks.equal(pending.map(\.body), ["written later"], "pending drafts")
        checks.equal(pending.first?.localUUID, draft.localUUID, "the key of a draft")

        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        draft.date = Date(timeIntervalSince1970: 0)
        draft.remoteUUID = "r1"
        let sent = String(decoding: try encoder.encode(draft), as: UTF8.self)
        let expected =
            #"{"action":"send","body":"written later","date":"1970-01-01T00:00:00Z","subject":"Hello","#
            + #""to":[{"email":"ada@example.org","name":"Ada"}],"uuid":"r1"}"#
        checks.equal(sent, expected, "a draft as JSON")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let received = try decoder.decode(Draft.self, from: Data(sent.utf8))
        checks.check(
            received.remoteUUID == "r1" && received.to.first?.name == "Ada" && received.localUUID != draft.localUUID, "a draft from JSON")

        let realm = store.getRealm()
        guard let saved = realm.object(ofType: Draft.self, forPrimaryKey: draft.localUUID) else { return checks.check(false, "no draft") }
        checks.check(
            String(decoding: try encoder.encode(saved.detached()), as: UTF8.self).contains("written later"), "a stored draft as JSON")
        let copy = saved.detached()
        copy.subject = "Changed outside of a write"
        checks.check(copy.realm == nil && copy.to.count == 1 && saved.subject == "Hello", "a detached draft")
    }

    static func foldersChange(_ store: MailboxStore) throws {
        let realm = store.getRealm()
        guard let archive = store.folder(with: .archive), let message = archive.messages.first else {
            return checks.check(false, "the archive is empty")
        }
        try store.update(folders: Data(Server.fewerFolders.utf8))
        realm.refresh()
        checks.check(archive.isInvalidated && message.isInvalidated, "a folder that the server deleted, with its messages")
        let inbox = store.folder(with: .inbox)
        checks.equal(inbox?.messages.count, 2, "messages of a folder that the server listed again")
        checks.check(inbox?.name == "Posteingang" && inbox?.cursor == "c2", "a folder keeps what only the cache knows")
        checks.equal(inbox?.threads.count, 1, "conversations of a folder that the server listed again")
    }

    static func openAgain(_ store: MailboxStore) throws {
        let realm = store.getRealm()
        checks.equal(realm.configuration.schemaVersion, 4, "the version of the classes")
        let messages = realm.objects(Message.self).sorted(byKeyPath: "date")
        checks.equal(messages.map(\.uid), ["1@inbox", "4@inbox"], "messages in the file")
        checks.equal(messages.first?.attachments.map(\.name), ["report.pdf", "data.csv"], "attachments in the file")
        checks.equal(realm.objects(Draft.self).first?.to.first?.email, "ada@example.org", "drafts in the file")
    }
}

/// What the server answers.
enum Server {
    static let folders = """
        [
            {"id": "INBOX", "name": "Inbox", "role": "inbox", "unread_count": 2, "is_favorite": true},
            {"id": "Sent", "name": "Sent", "role": "sent", "unread_count": 0},
            {"id": "Archive", "name": "Archive", "role": "archive", "unread_count": 0},
            {"id": "Trash", "name": "Trash", "role": "trash", "unread_count": 0, "separator": "."},
            {"id": "work", "name": "Work", "role": "unknown", "unread_count": 0, "children": [
                {"id": "work/bills", "name": "Bills", "role": null, "unread_count": 0}
            ]}
        ]
        """

    static let fewerFolders = """
        [{"id": "INBOX", "name": "Posteingang", "role": "inbox", "unread_count": 0},
         {"id": "Sent", "name": "Sent", "role": "sent", "unread_count": 0}]
        """

    static let firstPage = """
        {"cursor": "c1", "deleted": [], "updated": [], "added": [
            {"uid": "1@inbox", "msg_id": "<a@example.org>", "subject": "Quarterly report", "priority": "high",
             "date": "2024-01-01T09:00:00Z", "size": 1600000, "seen": false,
             "from": [{"email": "ada@example.org", "name": "Ada"}],
             "to": [{"email": "me@example.org", "name": ""}], "cc": [{"email": "bob@example.org", "name": "Bob"}],
             "headers": {"X-Mailer": "Letter 4"},
             "body": {"type": "multipart", "value": "<p>Hello</p>", "sub": [{"type": "text/html", "value": "<p>part</p>"}]},
             "attachments": [
                {"name": "report.pdf", "mime_type": "application/pdf", "size": 1400000, "content_id": "x"},
                {"name": "data.csv", "mime_type": "text/csv", "size": 100000}
             ], "preview": "Hello"},
            {"uid": "2@inbox", "msg_id": "<b@example.org>", "references": "<a@example.org>", "subject": "Re: Quarterly report",
             "date": "2024-01-02T09:00:00Z", "size": 2000, "seen": true, "flagged": true,
             "from": [{"email": "bob@example.org", "name": "Bob"}], "to": [{"email": "me@example.org", "name": ""}]},
            {"uid": "3@inbox", "subject": "Lunch", "date": "2024-02-01T09:00:00Z", "size": 900, "seen": false,
             "from": [{"email": "eve@example.org", "name": "Eve"}], "to": [{"email": "me@example.org", "name": ""}]}
        ]}
        """

    static let secondPage = """
        {"cursor": "c2", "deleted": ["2@inbox"], "updated": [{"uid": "1@inbox", "seen": true, "flagged": true},
            {"uid": "unknown", "seen": true, "flagged": true}], "added": [
            {"uid": "4@inbox", "msg_id": "<d@example.org>", "references": "<a@example.org> <b@example.org>", "subject": "Re: Re: report",
             "date": "2024-01-05T09:00:00Z", "size": 2100, "seen": false,
             "from": [{"email": "ada@example.org", "name": "Ada"}], "to": [{"email": "me@example.org", "name": ""}]},
            {"uid": "3@inbox", "subject": "Lunch on Friday", "date": "2024-02-01T09:00:00Z", "size": 950, "seen": false,
             "from": [{"email": "eve@example.org", "name": "Eve"}],
             "to": [{"email": "me@example.org", "name": ""}, {"email": "ada@example.org", "name": "Ada"}]}
        ]}
        """
}
