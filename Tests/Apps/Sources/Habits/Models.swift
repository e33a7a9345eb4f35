import Foundation
import RealmSwift

enum Cadence: String, PersistableEnum {
    case daily
    case weekly
    case monthly

    var days: Int {
        switch self {
        case .daily: return 1
        case .weekly: return 7
        case .monthly: return 30
        }
    }
}

enum Weekday: Int, PersistableEnum {
    case monday = 1
    case tuesday, wednesday, thursday, friday, saturday, sunday
}

/// An amount of money, stored as its number of cents.
struct Money: CustomPersistable, Hashable, Comparable {
    typealias PersistedType = Int

    let cents: Int

    init(cents: Int) { self.cents = cents }
    init(persistedValue: Int) { cents = persistedValue }
    var persistableValue: Int { cents }

    static func < (lhs: Money, rhs: Money) -> Bool { lhs.cents < rhs.cents }
}

// MARK: Habits

final class Habit: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var id = UUID()
    @Persisted(indexed: true) var name: String
    @Persisted var cadence: Cadence = .daily
    @Persisted var reminder: Weekday?
    @Persisted var days: List<Weekday>
    @Persisted var created = Date()
    @Persisted var archivedAt: Date?
    @Persisted var goal: Double?
    @Persisted var color = "#336699"
    @Persisted var entries: List<HabitEntry>
    @Persisted var notes: Map<String, String>
    @Persisted var extra: AnyRealmValue

    convenience init(name: String, cadence: Cadence = .daily, days: [Weekday] = []) {
        self.init()
        self.name = name
        self.cadence = cadence
        self.days.append(objectsIn: days)
    }

    var isArchived: Bool { archivedAt != nil }
    var total: Double { entries.sum(of: \.value) }
    var best: Double? { entries.max(ofProperty: "value") }
}

final class HabitEntry: Object {
    @Persisted(primaryKey: true) var id: UUID = UUID()
    @Persisted var date: Date
    @Persisted var value: Double = 1
    @Persisted(originProperty: "entries") var habit: LinkingObjects<Habit>
}

// MARK: Names that are also names of members

/// What was done with something else: its property names are those of an exported log.
final class AuditEvent: Object {
    @Persisted(primaryKey: true) var id = UUID()
    @Persisted var object: String = ""
    @Persisted var type = ""
    @Persisted var key: String?
    @Persisted var value: AnyRealmValue
    @Persisted var count = 0
    @Persisted var index = 0
    @Persisted var first = false
    @Persisted var list: List<Int>
    @Persisted var keys: Map<String, Int>
    @Persisted var self_: AuditEvent?
    @Persisted var `default`: Bool = false
    @Persisted var min: Int?
    @Persisted var sum = 0.0
}

// MARK: Expenses, with the declarations of older apps

class Ledger: Object {
    let name = RealmProperty<String?>()
    let expenses = List<Expense>()
    let members = List<Member>()
    let tags = MutableSet<String>()
    let limits = Map<String, Double>()
    let monthlyBudget = RealmOptional<Double>()
    let startDay = RealmOptional<Int>(1)
    let currency = RealmProperty<AnyRealmValue>()
    let lastOpened = RealmProperty<Date?>()

    /// Not stored.
    var isExpanded = false

    var balance: Double { (monthlyBudget.value ?? 0) - expenses.sum(ofProperty: "amount") }
}

class Expense: Object {
    @Persisted(primaryKey: true) var id = UUID()
    @Persisted var title = ""
    @Persisted var amount = 0.0
    @Persisted var price: Money
    @Persisted var exact: Decimal128 = 0
    @Persisted var date = Date()
    @Persisted var category: Category?
    @Persisted var payer: Member?
    @Persisted(originProperty: "expenses") var ledgers: LinkingObjects<Ledger>
}

class Category: Object {
    @Persisted var title = ""
    @Persisted var icon: String?
    @Persisted var isIncome = false

    override class func primaryKey() -> String? { "title" }
}

/// A member of a household, as older apps declare inverse links.
class Member: Object {
    let fullName = RealmProperty<String?>()
    let age = RealmOptional<Int>()
    let ledgers = LinkingObjects(fromType: Ledger.self, property: "members")
    let friends = List<Member>()
    let nicknames = List<String>()
    let cache = List<String>()

    override static func ignoredProperties() -> [String] { ["cache"] }
}

// MARK: The classes of the first version

/// The classes as the first release of the app declared them.
enum FirstRelease {
    class Habit: Object {
        @Persisted(primaryKey: true) var id = UUID()
        @Persisted var title: String
        @Persisted var frequency: Int
        @Persisted var done: List<Date>
        @Persisted var obsolete = "x"

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Statistics: Object {
        @Persisted var launches = 0
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}
