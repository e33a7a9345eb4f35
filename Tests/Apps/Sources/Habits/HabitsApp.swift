import Foundation
import RealmSwift

@main
struct HabitsApp {
    static let checks = Checks("habits")
    static let day = 86_400.0
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("habits-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            defer { try? FileManager.default.removeItem(at: folder) }
            let configuration = TrackerRealm.configuration(in: folder)
            try makeFirstRelease(configuration)
            try migrates(configuration)
            let tracker = try Tracker(configuration: configuration)
            try habits(tracker)
            try habitQueries(tracker)
            try audit(tracker)
            try expenses(tracker)
            try expenseQueries(tracker)
            try members(tracker)
        }
        checks.finish()
    }

    // MARK: Migration

    static func makeFirstRelease(_ configuration: Realm.Configuration) throws {
        let old = Realm.Configuration(
            fileURL: configuration.fileURL, schemaVersion: 1, objectTypes: [FirstRelease.Habit.self, FirstRelease.Statistics.self])
        let realm = try Realm(configuration: old)
        try realm.write {
            for (title, frequency, done) in [("Read", 1, 3), ("Clean", 7, 1), ("Taxes", 30, 0)] {
                let dates = (0..<done).map { start + Double($0) * day }
                realm.create(FirstRelease.Habit.self, value: ["title": title, "frequency": frequency, "done": dates] as [String: Any])
            }
            realm.add(FirstRelease.Statistics())
        }
    }

    static func migrates(_ configuration: Realm.Configuration) throws {
        guard let file = configuration.fileURL else { return checks.check(false, "no file") }
        checks.equal(try schemaVersionAtURL(file), 1, "the version of the old file")
        do {
            var withoutBlock = configuration
            withoutBlock.schemaVersion = 0
            _ = try Realm(configuration: withoutBlock)
            checks.check(false, "a file of a higher version is refused")
        } catch let error as Realm.Error {
            checks.check(!error.localizedDescription.isEmpty, "the error of a file of a higher version")
        }
        let realm = try Realm(configuration: configuration)
        let habits = realm.objects(Habit.self).sorted(byKeyPath: "name")
        checks.equal(habits.map(\.name), ["Clean", "Read", "Taxes"], "renamed property")
        checks.equal(habits.map(\.cadence), [.weekly, .daily, .monthly], "numbers that became an enum")
        checks.equal(habits.map(\.entries.count), [1, 3, 0], "dates that became objects")
        checks.equal(habits[1].entries.map(\.date).first, start, "the date of a migrated entry")
        checks.equal(habits[1].created, start, "a computed property of a migrated habit")
        checks.equal(habits[0].color, "#336699", "a new property")
        checks.equal(try schemaVersionAtURL(file), 3, "the version of the migrated file")
        try realm.write {
            realm.delete(realm.objects(HabitEntry.self))
            realm.delete(habits)
        }
        checks.check(realm.isEmpty, "all migrated objects are deleted")
    }

    // MARK: Habits

    static func habits(_ tracker: Tracker) throws {
        let run = try tracker.add(Habit(name: "Run", cadence: .weekly, days: [.monday, .friday]))
        let read = try tracker.add(Habit(name: "Read"))
        checks.check(run.id != read.id && Habit().id != Habit().id, "each object has a generated identifier")
        checks.equal(tracker.realm.object(ofType: Habit.self, forPrimaryKey: run.id)?.name, "Run", "a habit by its identifier")
        checks.equal(Array(run.days), [.monday, .friday], "a list of enum values")
        for number in 0..<5 { try tracker.record(Double(number + 1), of: read, on: start + Double(number) * day) }
        try tracker.record(of: run, on: start)
        checks.equal(read.total, 15, "the sum of entries")
        checks.equal(read.best, 5, "the maximum of entries")
        checks.equal(tracker.streak(of: read, until: start + 4.5 * day), 5, "a streak")
        checks.equal(tracker.streak(of: run, until: start + 30 * day), 0, "a streak that is interrupted")
        checks.equal(read.entries.first?.habit.first, read, "the habit of an entry")
        try tracker.realm.write {
            run.reminder = .sunday
            run.goal = 12.5
            run.notes["why"] = "health"
            run.extra = .double(2.5)
            read.extra = .string("paper")
            read.days.append(objectsIn: Weekday.allCases)
            read.days.remove(at: 0)
            read.days.swapAt(0, 1)
        }
        checks.equal(read.days.first, .wednesday, "a changed list of enum values")
        checks.check(run.extra == .double(2.5) && run.extra.doubleValue == 2.5 && read.extra.stringValue == "paper", "mixed values")
        try tracker.archive(run)
        checks.equal(tracker.active.map(\.name), ["Read"], "active habits")
        checks.check(run.isArchived, "an archived habit")
    }

    static func habitQueries(_ tracker: Tracker) throws {
        let all = tracker.realm.objects(Habit.self)
        checks.equal(all.where { $0.cadence == .weekly }.count, 1, "an enum in a query")
        checks.equal(all.where { $0.cadence.in([.daily, .monthly]) && $0.archivedAt == nil }.first?.name, "Read", "enums in a query")
        checks.equal(all.where { $0.reminder == .sunday }.count, 1, "an optional enum in a query")
        checks.equal(all.where { $0.days.contains(.friday) }.count, 2, "an enum in a list")
        checks.equal(all.where { $0.entries.value > 4 }.count, 1, "a value of any entry")
        checks.equal(all.where { $0.entries.count >= 5 || $0.name.starts(with: "Ru") }.count, 2, "a count in a query")
        checks.equal(all.where { $0.entries.value.sum > 10 }.map(\.name), ["Read"], "a sum in a query")
        checks.equal(all.where { $0.entries.date.max > start + day }.map(\.name), ["Read"], "a maximum in a query")
        checks.equal(all.where { ($0.entries.value > 1 && $0.entries.date > start).count == 4 }.count, 1, "a subquery")
        checks.equal(all.where { $0.goal > 10 && $0.notes["why"] == "health" }.count, 1, "a map in a query")
        checks.equal(all.where { $0.extra == .string("paper") }.first?.name, "Read", "a mixed value in a query")
        checks.equal(all.where { !($0.name == "Run") }.count, 1, "a negation")
        checks.equal(all.filter("cadence == %@", Cadence.daily.rawValue).count, 1, "an enum in a text query")
        checks.equal(all.filter("name BEGINSWITH[c] 'r' AND entries.@count > 1").first?.name, "Read", "a text query")
        checks.equal(all.filter("ANY entries.value > %@ OR goal BETWEEN {10, 20}", 4).count, 2, "ANY and BETWEEN")
        checks.equal(all.filter("entries.@sum.value == 15 AND entries.@avg.value == 3").count, 1, "aggregates in a text query")
        checks.equal(all.filter("SUBQUERY(entries, $entry, $entry.value > 1 AND $entry.value < 4).@count == 2").count, 1, "SUBQUERY")
        checks.equal(all.filter("NONE entries.value == 5").count, 1, "NONE")
        checks.equal(all.filter("id == %@", all[0].id).count, 1, "an identifier in a text query")
        checks.equal(all.filter("name CONTAINS[cd] %@", "EÁD").count, 1, "text without case and accents")
        checks.equal(all.filter("TRUEPREDICATE SORT(name DESC) LIMIT(1)").first?.name, "Run", "an order in a text query")
        let names = ["Run", "Swim"]
        checks.equal(all.filter("name IN %@", names).count, 1, "IN")
        checks.equal(all.filter(NSPredicate { habit, _ in (habit as? Habit)?.isArchived == true }).count, 1, "a predicate block")
        checks.equal(
            all.sorted(by: [SortDescriptor(keyPath: "cadence"), SortDescriptor(keyPath: "name", ascending: false)]).first?.name, "Read",
            "an order")
        checks.equal(all.sorted(by: \.name, ascending: false).index(matching: { $0.name == "Read" }), 1, "an index of a match")
        let daily = NSPredicate(format: "cadence == %@ AND %K BEGINSWITH[c] %@", Cadence.daily.rawValue, "name", "r")
        let ambitious = NSPredicate(format: "goal > %f", 12.0)
        checks.equal(all.filter(daily).map(\.name), ["Read"], "a predicate from a format")
        let both = [daily, ambitious]
        checks.equal(all.filter(NSCompoundPredicate(orPredicateWithSubpredicates: both)).count, 2, "either of two predicates")
        checks.equal(all.filter(NSCompoundPredicate(andPredicateWithSubpredicates: both)).count, 0, "both of two predicates")
        checks.equal(all.filter(NSCompoundPredicate(notPredicateWithSubpredicate: daily)).first?.name, "Run", "the opposite of a predicate")
        let archived = NSPredicate { habit, _ in (habit as? Habit)?.isArchived == true }
        let mixed = NSCompoundPredicate(andPredicateWithSubpredicates: [ambitious, archived])
        checks.equal(all.filter(mixed).map(\.name), ["Run"], "a format and a block")
        checks.equal(all.filter(NSPredicate(format: "name IN %@", argumentArray: [["Run", "Swim"]])).count, 1, "arguments in an array")
        checks.check(daily.evaluate(with: all.filter("name == 'Read'").first), "a predicate that is evaluated with an object")
        checks.check(!daily.evaluate(with: Habit(name: "Swim")), "a predicate that is evaluated with an unmanaged object")
        checks.equal(all.distinct(by: [\Habit.cadence]).count, 2, "distinct")
        checks.equal((all.value(forKey: "name") as? [String])?.sorted(), ["Read", "Run"], "the values of a property")
    }

    // MARK: Names that are also names of members

    static func audit(_ tracker: Tracker) throws {
        let realm = tracker.realm
        let events = realm.objects(AuditEvent.self)
        checks.equal(events.where { $0.type == "record" }.count, 6, "events of a type")
        guard let habit = tracker.active.first else { return checks.check(false, "no active habit") }
        checks.equal(events.where { $0.object == habit.id.uuidString && $0.count > 3 }.count, 2, "properties \"object\" and \"count\"")
        checks.equal(events.filter("object == %@ AND value == 'Read' AND index == 0", habit.id.uuidString).count, 6, "the same as text")
        try realm.write {
            guard let event = events.first else { return }
            event.first = true
            event.key = "k"
            event.list.append(objectsIn: [3, 1, 2])
            event.keys["a"] = 1
            event.self_ = event
            event.default = true
            event.min = 4
            event.sum = 1.5
        }
        checks.equal(
            events.where { $0.first && $0.key == "k" && $0.default == true }.count, 1, "properties \"first\", \"key\" and \"default\"")
        checks.equal(events.where { $0.min == 4 && $0.sum > 1 && $0.index == 0 }.count, 1, "properties \"min\", \"sum\" and \"index\"")
        checks.equal(
            events.where { $0.list.sum == 6 && $0.keys["a"] == 1 && $0.keys.keys == "a" }.count, 1, "properties \"list\" and \"keys\"")
        checks.equal(events.where { $0.self_.type == "add" && $0.self_.count == 0 }.count, 1, "a link to itself")
        checks.equal(events.filter("min == 4 AND sum > 1 AND first == true AND list.@max == 3").count, 1, "the names in a text query")
        checks.equal(events.filter("ANY keys.@keys == 'a' AND count == 0 AND default == YES").count, 1, "the names of a map")
        checks.equal(events.sum(of: \.count), 17, "the sum of a property \"count\"")
        checks.equal(events.max(ofProperty: "count") as Int?, 5, "the maximum of a property \"count\"")
        checks.equal(events.sorted(by: \.count, ascending: false).first?.type, "record", "an order by a property \"count\"")

        let dynamic = realm.dynamicObjects("AuditEvent").filter("key == 'k'")
        checks.equal(dynamic.first?["object"] as? String, events.first?.object, "a property \"object\" by subscript")
        checks.equal(dynamic.first?.object as? String, events.first?.object, "a property \"object\" by member")
        checks.equal(dynamic.first?.count as? Int, 0, "a property \"count\" by member")
        try realm.write { dynamic.first?.object = "changed" }
        checks.equal(events.first?.object, "changed", "a property \"object\" that is set by member")
        checks.equal(events.first?["type"] as? String, "add", "a property by name")
    }

    // MARK: Expenses

    static func expenses(_ tracker: Tracker) throws {
        let ledger = try tracker.ledger(named: "Home")
        checks.equal(try tracker.ledger(named: "Home"), ledger, "a ledger by name")
        checks.equal(ledger.startDay.value, 1, "an optional with a default")
        checks.check(ledger.monthlyBudget.value == nil && ledger.lastOpened.value == nil, "optionals without a value")
        let ada = Member()
        ada.fullName.value = "Ada"
        ada.age.value = 36
        ada.nicknames.append("A")
        ada.cache.append("not stored")
        try tracker.realm.write {
            ledger.members.append(ada)
            ledger.monthlyBudget.value = 500
            ledger.limits["food"] = 200
            ledger.lastOpened.value = start
            ledger.tags.insert("2024")
            ledger.tags.remove("shared")
        }
        for (amount, title, category) in [(20.25, "Bread", "food"), (40, "Fish", "food"), (300, "Rent", "flat"), (9.75, "Film", "fun")] {
            try tracker.spend(amount, on: title, category: category, in: ledger, payer: title == "Rent" ? nil : ada, date: start)
        }
        checks.equal(ledger.expenses.count, 4, "expenses of a list that is declared with let")
        checks.equal(ledger.balance, 130, "the balance")
        checks.equal(Array(ledger.tags), ["2024", "home"], "a set that is declared with let")
        checks.equal(ledger.limits["food"], 200, "a map that is declared with let")
        checks.equal(ledger.currency.value.stringValue, "EUR", "a mixed value that is declared with let")
        checks.equal(ada.ledgers.first, ledger, "inverse links that are declared with let")
        checks.equal(
            ledger.expenses.first?.ledgers.first?.name.value, "Home", "inverse links with @Persisted to a list that is declared with let")
        checks.equal(tracker.totals(by: ledger), ["food": 60.25, "flat": 300, "fun": 9.75], "totals of categories")
        checks.equal(tracker.realm.objects(Category.self).count, 3, "categories")
        let tagsBefore = ledger.tags
        try tracker.realm.write { ledger.tags.removeAll() }
        checks.check(tagsBefore.isEmpty, "collections that are declared with let are live")
    }

    static func expenseQueries(_ tracker: Tracker) throws {
        let expenses = tracker.realm.objects(Expense.self)
        checks.equal(expenses.sum(of: \.amount), 370, "sum")
        checks.equal(expenses.average(ofProperty: "amount") as Double?, 92.5, "average")
        checks.equal(expenses.min(of: \.amount), 9.75, "minimum")
        checks.equal(expenses.where { $0.category.title == "food" }.sum(of: \.exact), 60.25, "a sum of decimals")
        checks.equal(expenses.where { $0.price > Money(cents: 3000) }.count, 2, "a custom type in a query")
        checks.equal(expenses.max(of: \.price)?.cents, 30_000, "the maximum of a custom type")
        checks.equal(expenses.filter("category.title IN {'food', 'fun'} AND amount < 30").count, 2, "a list in a text query")
        checks.equal(expenses.filter("payer == nil").first?.title, "Rent", "a link that is nil")
        checks.equal(expenses.filter("payer.fullName == 'Ada' AND payer.age > 30").count, 3, "properties that are declared with let")
        checks.equal(expenses.filter("ANY ledgers.name == 'Home'").count, 4, "inverse links in a text query")
        let ledgers = tracker.realm.objects(Ledger.self)
        checks.equal(ledgers.filter("expenses.@sum.amount > 300 AND monthlyBudget == 500").count, 1, "a sum in a text query")
        checks.equal(ledgers.filter("expenses.@max.amount == 300 AND expenses.@min.amount < 10").count, 1, "extremes in a text query")
        checks.equal(ledgers.filter("ANY members.fullName == 'Ada' AND limits['food'] == 200").count, 1, "elements in a text query")
        checks.equal(ledgers.where { $0.expenses.amount.avg > 90 }.count, 1, "an average in a typed query")
        checks.equal(expenses.sorted(byKeyPath: "category.title").map(\.title).first, "Rent", "an order through a link")
        checks.equal(Array(expenses.sorted(by: \.price).map(\.title).prefix(2)), ["Film", "Bread"], "an order by a custom type")
    }

    static func members(_ tracker: Tracker) throws {
        let realm = tracker.realm
        guard let ada = realm.objects(Member.self).first else { return checks.check(false, "no member") }
        checks.equal(ada.age.value, 36, "a stored optional")
        let bob = Member()
        bob.fullName.value = "Bob"
        try realm.write {
            ada.friends.append(bob)
            ada.age.value = nil
            ada.nicknames.append(objectsIn: ["Countess", "Ace"])
        }
        checks.equal(realm.objects(Member.self).filter("age == nil").count, 2, "optionals without a value in a query")
        checks.equal(Array(ada.nicknames.sorted()), ["A", "Ace", "Countess"], "a sorted list of text")
        checks.equal(ada.objectSchema.properties.map(\.name), ["fullName", "age", "friends", "nicknames"], "stored properties")
        let frozen = ada.freeze()
        try realm.write { realm.delete(bob) }
        checks.check(ada.friends.isEmpty && frozen.friends.first?.fullName.value == "Bob", "a frozen object with lists")
        let names = ada.nicknames.freeze()
        try realm.write { ada.nicknames.removeAll() }
        checks.check(names.count == 3 && ada.nicknames.isEmpty, "a frozen list")
    }
}
