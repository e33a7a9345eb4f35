import Foundation
import RealmSwift

/// Opens the realm of the app, and migrates older ones.
enum TrackerRealm {
    static let classes: [ObjectBase.Type] = [
        Habit.self, HabitEntry.self, AuditEvent.self, Ledger.self, Expense.self, Category.self, Member.self,
    ]

    static func configuration(in folder: URL) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: folder.appendingPathComponent("tracker.realm"),
            schemaVersion: 3,
            migrationBlock: migrate,
            objectTypes: classes)
    }

    @Sendable
    private static func migrate(_ migration: Migration, from oldVersion: UInt64) {
        if oldVersion < 2 {
            migration.renameProperty(onType: Habit.className(), from: "title", to: "name")
            migration.enumerateObjects(ofType: Habit.className()) { old, new in
                guard let old, let new else { return }
                let frequency = old["frequency"] as! Int
                new["cadence"] = (frequency == 1 ? Cadence.daily : frequency == 7 ? .weekly : .monthly).rawValue
            }
        }
        if oldVersion < 3 {
            migration.enumerateObjects(ofType: "Habit") { oldObject, newObject in
                let dates = oldObject!["done"] as! List<Date>
                let entries = newObject!.dynamicList("entries")
                for date in dates {
                    let entry = migration.create("HabitEntry", value: ["id": UUID(), "date": date, "value": 1.0] as [String: Any])
                    entries.append(entry)
                }
                newObject!["color"] = "#336699"
                newObject!["created"] = dates.min() ?? Date(timeIntervalSince1970: 0)
            }
            migration.deleteData(forType: "Statistics")
        }
    }
}

final class Tracker {
    let realm: Realm

    init(configuration: Realm.Configuration) throws {
        realm = try Realm(configuration: configuration)
    }

    // MARK: Habits

    var active: Results<Habit> {
        realm.objects(Habit.self).filter("archivedAt == nil").sorted(byKeyPath: "name", ascending: true)
    }

    @discardableResult
    func add(_ habit: Habit) throws -> Habit {
        try realm.write {
            realm.add(habit)
            log("add", habit)
            return habit
        }
    }

    func record(_ value: Double = 1, of habit: Habit, on date: Date) throws {
        try realm.write {
            let entry = HabitEntry(value: ["date": date, "value": value] as [String: Any])
            habit.entries.append(entry)
            log("record", habit)
        }
    }

    func archive(_ habit: Habit) throws {
        realm.beginWrite()
        habit.archivedAt = Date()
        log("archive", habit)
        try realm.commitWrite()
    }

    private func log(_ type: String, _ habit: Habit) {
        realm.create(
            AuditEvent.self,
            value: ["object": habit.id.uuidString, "type": type, "value": habit.name, "count": habit.entries.count] as [String: Any])
    }

    func streak(of habit: Habit, until day: Date) -> Int {
        var streak = 0
        var end = day
        for entry in habit.entries.sorted(by: \.date, ascending: false) {
            guard end.timeIntervalSince(entry.date) <= Double(habit.cadence.days) * 86_400 else { break }
            streak += 1
            end = entry.date
        }
        return streak
    }

    // MARK: Expenses

    func ledger(named name: String) throws -> Ledger {
        if let ledger = realm.objects(Ledger.self).filter("name == %@", name).first { return ledger }
        let ledger = Ledger()
        ledger.name.value = name
        ledger.tags.insert(objectsIn: ["home", "shared"])
        ledger.currency.value = .string("EUR")
        try realm.write { realm.add(ledger) }
        return ledger
    }

    func spend(_ amount: Double, on title: String, category: String, in ledger: Ledger, payer: Member? = nil, date: Date = Date()) throws {
        try realm.write {
            let expense = Expense()
            expense.title = title
            expense.amount = amount
            expense.price = Money(cents: Int((amount * 100).rounded()))
            expense.exact = Decimal128(value: amount)
            expense.date = date
            expense.category = realm.create(Category.self, value: ["title": category], update: .modified)
            expense.payer = payer
            ledger.expenses.append(expense)
        }
    }

    func totals(by ledger: Ledger) -> [String: Double] {
        var totals: [String: Double] = [:]
        for category in ledger.expenses.distinct(by: ["category.title"]).compactMap(\.category) {
            totals[category.title] = ledger.expenses.filter("category == %@", category).sum(ofProperty: "amount")
        }
        return totals
    }
}
