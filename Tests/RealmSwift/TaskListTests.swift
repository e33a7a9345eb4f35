// A model and its use as in an application for Realm's Swift SDK. Only the tests after it are Firn's.
import Foundation
import RealmSwift
import Testing

enum Priority: Int, PersistableEnum {
    case low, normal, high
}

final class Task: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var title: String = ""
    @Persisted var isComplete = false
    @Persisted var priority: Priority = .normal
    @Persisted var due: Date?
    @Persisted var tags: MutableSet<String>
    @Persisted var notes: List<Note>
    @Persisted(originProperty: "tasks") var lists: LinkingObjects<TaskList>

    convenience init(title: String, priority: Priority = .normal) {
        self.init()
        self.title = title
        self.priority = priority
    }
}

final class Note: EmbeddedObject {
    @Persisted var text = ""
    @Persisted var written = Date()
}

final class TaskList: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var tasks: List<Task>
    @Persisted var settings: Map<String, AnyRealmValue>

    var open: Results<Task> { tasks.where { !$0.isComplete } }
}

final class TaskStore {
    private let realm: Realm
    init(identifier: String) throws {
        realm = try Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: identifier, objectTypes: [Task.self, TaskList.self, Note.self]))
    }

    func list(_ name: String) throws -> TaskList {
        if let list = realm.object(ofType: TaskList.self, forPrimaryKey: name) { return list }
        return try realm.write { realm.create(TaskList.self, value: ["name": name]) }
    }

    func add(_ task: Task, to list: TaskList) throws {
        try realm.write { list.tasks.append(task) }
    }

    func complete(_ task: Task) throws {
        try realm.write { task.isComplete = true }
    }

    func purge() throws {
        try realm.write { realm.delete(realm.objects(Task.self).where { $0.isComplete }) }
    }

    var urgent: Results<Task> {
        realm.objects(Task.self).where { $0.priority == .high && !$0.isComplete }.sorted(byKeyPath: "title", ascending: true)
    }
}

@Suite struct TaskListTests {
    @Test func `an application written for Realm's Swift SDK works unchanged`() throws {
        let store = try TaskStore(identifier: UUID().uuidString)
        let home = try store.list("home")
        let dishes = Task(title: "Dishes", priority: .high), plants = Task(title: "Plants"), bins = Task(title: "Bins", priority: .high)
        for task in [dishes, plants, bins] { try store.add(task, to: home) }
        #expect(store.urgent.map(\.title) == ["Bins", "Dishes"])
        #expect(home.open.count == 3 && dishes.lists.first?.name == "home")
        try store.complete(bins)
        #expect(store.urgent.map(\.title) == ["Dishes"])
        try store.purge()
        #expect(home.tasks.map(\.title) == ["Dishes", "Plants"] && bins.isInvalidated)
        #expect(try store.list("home") == home)
    }
}
