import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable

/// An observable target in a realm: the state that is kept of a version, and the difference between two versions.
protocol Observed {
    /// What is kept of a version until the next notification.
    associatedtype State
    associatedtype Difference

    var core: RealmCore { get }
    /// The type at which key paths begin; nil if the elements have no properties.
    var rootType: String? { get }
    /// The names in code that key paths can use.
    var names: PropertyNames { get }
    /// The key paths that are used if none are given.
    var defaultKeyPaths: [String]? { get }
    /// If none of these types changed, there is no difference; nil if not known.
    var dependencies: Set<String>? { get }
    /// Whether the first notification contains the initial state instead of a change.
    var hasInitial: Bool { get }
    /// Returns the state at the realm's version.
    func state() -> State
    /// Returns the difference between two versions; nil if there is nothing to report.
    func difference(from old: State, to new: State, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage) -> Difference?
    /// Returns whether this is the last notification.
    func isLast(_ difference: Difference) -> Bool
    /// Returns the same target in another realm; nil if it does not exist there.
    func moved(to core: RealmCore) -> Self?
    /// What is reported if the target was deleted before the first notification; nil for nothing.
    var end: Difference? { get }
}

extension Observed {
    var names: PropertyNames { PropertyNames() }
    var hasInitial: Bool { true }
    var defaultKeyPaths: [String]? { nil }
    var dependencies: Set<String>? { nil }
    func isLast(_ difference: Difference) -> Bool { false }
    var end: Difference? { nil }

    /// Returns the filter of the key paths; nil if the elements have no properties.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if a key path is not valid.
    func filter(_ keyPaths: [String]?) throws -> KeyPathFilter? {
        guard let rootType else {
            if let keyPaths, !keyPaths.isEmpty {
                throw Realm.Error(.invalidInput, "Key paths require a collection of objects: values have no properties.")
            }
            return nil
        }
        do {
            return try KeyPathFilter(root: rootType, in: core.schema, keyPaths: keyPaths ?? defaultKeyPaths, names: names)
        } catch {
            throw Realm.Error(.invalidInput, error.message, cause: error)
        }
    }
}

/// Calls a block with the differences of a target from the version that was delivered before.
final class ChangeObserver<Target: Observed>: Observer {
    let target: Target
    private let keyPaths: [String]?
    private var filter: KeyPathFilter?
    private var state: Target.State?
    /// While this returns false, nothing is delivered and changes accumulate.
    private let isReady: () -> Bool
    /// Delivers a difference; nil for the initial state.
    private let tell: (Target, Target.Difference?) -> Void

    init(
        _ target: Target, _ keyPaths: [String]?, _ subscription: Subscription, isReady: @escaping () -> Bool,
        _ tell: @escaping (Target, Target.Difference?) -> Void
    ) throws {
        self.target = target
        self.keyPaths = keyPaths
        filter = try target.filter(keyPaths)
        self.isReady = isReady
        self.tell = tell
        super.init(target.core, subscription)
    }

    /// Records a version and its state as delivered.
    func begin(at snapshot: DatabaseSnapshot, _ state: Target.State) {
        delivered = snapshot
        self.state = state
    }

    override func skip() { begin(at: core.snapshot, target.state()) }

    override func deliver(_ versions: VersionChanges?) {
        guard isReady() else { return }
        guard let versions else {
            skip()
            if target.hasInitial { tell(target, nil) }
            return
        }
        let difference = core.reading(nil) { () throws(Damage) -> Target.Difference? in
            if let types = target.dependencies, try versions.areSame(types) {
                delivered = versions.new
                return nil
            }
            if let filter, filter.schema != versions.new.schema { self.filter = try? target.filter(keyPaths) }
            let old = state, new = target.state()
            defer { begin(at: versions.new, new) }
            // The first notification has set it.
            guard let old else { return nil }
            return try target.difference(from: old, to: new, versions, filter)
        }
        guard let difference else {
            // Also recorded if the file is damaged, so that the damage is read only once.
            if delivered !== versions.new { delivered = versions.new }
            return
        }
        if target.isLast(difference) {
            let subscription = subscription
            tell(target, difference)
            _ = subscription.end()
        } else {
            tell(target, difference)
        }
    }
}

extension KeyPathFilter {
    init(root: String, in schema: Schema, keyPaths: [String]?, names: PropertyNames) throws(FirnError) {
        try self.init(
            root: root, in: schema, keyPaths: keyPaths,
            inverses: names.inverses.map { Inverse($0.name, type: $0.typeName, column: $0.column) }, codeNames: names.columns)
    }
}
