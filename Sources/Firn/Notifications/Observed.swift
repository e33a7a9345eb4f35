import FirnBytes
import FirnChange
import FirnModel

/// Something in a realm whose changes can be told: what there is to know of a version of it, and how two versions differ.
protocol Observed {
    /// What of a version is kept until the next one is told.
    associatedtype State
    associatedtype Difference

    var core: RealmCore { get }
    /// The type that key paths begin at; nil: the elements have no properties.
    var rootType: String? { get }
    /// What key paths that were not given mean.
    var defaultKeyPaths: [String]? { get }
    /// The types without whose change nothing is different; nil: not known.
    var dependencies: Set<String>? { get }
    /// The first notification is of what is there, rather than of a change.
    var hasInitial: Bool { get }
    /// At the version of the realm.
    func state() -> State
    /// Nil: nothing to tell.
    func difference(from old: State, to new: State, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage) -> Difference?
    /// After this nothing more is told.
    func isLast(_ difference: Difference) -> Bool
    /// The same at another realm; nil if it is not there.
    func moved(to core: RealmCore) -> Self?
    /// What is told where it was deleted before anybody could be told anything; nil: nothing.
    var end: Difference? { get }
}

extension Observed {
    var hasInitial: Bool { true }
    var defaultKeyPaths: [String]? { nil }
    var dependencies: Set<String>? { nil }
    func isLast(_ difference: Difference) -> Bool { false }
    var end: Difference? { nil }

    /// Nil where there is nothing to filter; throws if a key path names what is not there.
    func filter(_ keyPaths: [String]?) throws -> KeyPathFilter? {
        guard let rootType else {
            if let keyPaths, !keyPaths.isEmpty { throw Realm.Error(.invalidInput, "Key paths are for collections of objects: values have no properties.") }
            return nil
        }
        do throws(FirnError) { return try KeyPathFilter(root: rootType, in: core.schema, keyPaths: keyPaths ?? defaultKeyPaths) } catch {
            throw Realm.Error(.invalidInput, error.message, cause: error)
        }
    }
}

/// Tells a block how something differs from what it was told before.
final class ChangeObserver<Target: Observed>: Observer {
    let target: Target
    private let keyPaths: [String]?
    private var filter: KeyPathFilter?
    private var state: Target.State?
    /// Nothing is told, and changes add up, while this is false.
    private let isReady: () -> Bool
    /// Nil: the initial state.
    private let tell: (Target, Target.Difference?) -> Void

    init(_ target: Target, _ keyPaths: [String]?, _ subscription: Subscription, isReady: @escaping () -> Bool, _ tell: @escaping (Target, Target.Difference?) -> Void) throws {
        self.target = target
        self.keyPaths = keyPaths
        filter = try target.filter(keyPaths)
        self.isReady = isReady
        self.tell = tell
        super.init(target.core, subscription)
    }

    /// Takes a version and what there was as told.
    func begin(at snapshot: DatabaseSnapshot, _ state: Target.State) {
        told = snapshot
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
                told = versions.new
                return nil
            }
            if let filter, filter.schema != versions.new.schema { self.filter = try? target.filter(keyPaths) }
            let new = target.state()
            defer { begin(at: versions.new, new) }
            return try target.difference(from: state!, to: new, versions, filter)
        }
        guard let difference else {
            // Also where the file turned out to be damaged: once is enough.
            if told !== versions.new { told = versions.new }
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
