import FirnBytes
import FirnDatabase
import FirnTable
import Synchronization

/// A value that belongs to a realm's thread, queue or actor and that can be found again in another realm of the same file: objects,
/// collections, projections.
public protocol ThreadConfined {
    /// The realm that manages the value, or nil.
    var realm: Realm? { get }
    /// True if the value was deleted or its realm was invalidated.
    var isInvalidated: Bool { get }
    /// True if the value is frozen: immutable, and usable from any thread.
    var isFrozen: Bool { get }
    /// Returns the value at the version of its realm, immutable and usable from any thread.
    func freeze() -> Self
    /// Returns the live value of this thread's realm, or nil if it does not exist there.
    func thaw() -> Self?
    /// Returns the same value in another realm of the same file, or nil if it does not exist there.
    func _moved(to realm: Realm) -> Self?
}

/// Passes a value of a realm to another thread, queue or actor. It is created here and resolved once in a realm there.
///
///     let reference = ThreadSafeReference(to: dog)
///     queue.async { let dog = try! Realm(configuration: configuration, queue: queue).resolve(reference) }
///
/// If the receiver does not write, `Snapshot(dog)` does the same.
public final class ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {
    // Used by one executor after the other.
    private let confined: Mutex<Carried<Confined>?>
    private let file: RealmFile

    /// Creates a reference. Traps unless the value is managed and valid, and after the first change of a write transaction.
    public init(to threadConfined: Confined) {
        guard let core = threadConfined.realm?.core else {
            trap(
                "Cannot construct reference to unmanaged object, which can be passed across threads directly: add it to a realm first, or pass on a detached() copy."
            )
        }
        trap(unless: !threadConfined.isInvalidated, "Cannot construct reference to invalidated object")
        trap(
            unless: !core.isInTransaction || !core.hasChangesOfObjects,
            "Cannot obtain thread safe reference during a write transaction that has made changes: commit first.")
        file = core.file
        confined = Mutex(Carried(threadConfined))
    }

    /// True if the reference was already resolved.
    public var isInvalidated: Bool { confined.withLock { $0 == nil } }

    func resolve(in core: RealmCore) -> Confined? {
        core.check()
        guard
            let taken = confined.withLock({ held in
                defer { held = nil }
                return held
            })
        else { trap("Can only resolve a thread safe reference once: make another one.") }
        trap(
            unless: file === core.file,
            "Cannot resolve thread safe reference in Realm with different configuration than the source Realm: open one of the same file.")
        if !core.isInTransaction { _ = try? core.refresh() }
        return taken.value._moved(to: Realm(core))
    }
}

extension Realm {
    /// Moves this realm to the newest version and returns the value of a reference in it, or nil if the value was deleted. Traps if the
    /// reference was already resolved.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? { reference.resolve(in: core) }
}

/// A property or variable that any thread can use: each thread reads the value in a realm of its own.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {
    private let held: Mutex<Carried<T?>>

    /// Wraps a value of a realm.
    public init(wrappedValue: T?) { held = Mutex(Carried(wrappedValue)) }

    /// The value itself if this thread may use it, otherwise the same value in this thread's realm; nil if it no longer exists. Unless a
    /// transaction is under way, reading this moves the realm to the newest version.
    public var wrappedValue: T? {
        get {
            guard let value = held.withLock({ $0 }).value else { return nil }
            guard let core = value.realm?.core else { return value }
            if core.isFrozen { return value }
            if core.executor.isCurrentUnlessActor {
                if !core.isInTransaction { _ = try? core.refresh() }
                return value.isInvalidated ? nil : value
            }
            guard let here = try? RealmCore.opened(core.configuration, .on(nil)) else { return nil }
            if !here.isInTransaction { _ = try? here.refresh() }
            return value._moved(to: Realm(here))
        }
        set {
            let new = Carried(newValue)
            held.withLock { $0 = new }
        }
    }
}

extension RealmExecutor {
    /// As `isCurrent`, but false for actors, for which the check would trap.
    fileprivate var isCurrentUnlessActor: Bool { if case .actor = self { false } else { isCurrent } }
}

extension ObjectBase: ThreadConfined {
    /// Returns the same object in another realm of the file; nil if the object does not exist there or is unmanaged. Used by
    /// `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public final func _moved(to realm: Realm) -> Self? {
        guard let access = _access else { return nil }
        return realm.core.object(_rowID, like: access).map { $0._typed(Self.self) }
    }
}

extension Results: ThreadConfined {
    /// Returns the results of the same query in another realm of the file; nil if the type or the collection that they come from does not
    /// exist there. Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> Results? { source.moved(to: realm.core).map { Results($0) } }
}

extension List: ThreadConfined {
    /// Returns the list of the same object in another realm of the file; nil if the object does not exist there or the list is unmanaged.
    /// Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> List? { (source.moved(to: realm.core) as? CellSource).map { List($0.cell) } }
}

extension MutableSet: ThreadConfined {
    /// Returns the set of the same object in another realm of the file; nil if the object does not exist there or the set is unmanaged. Used
    /// by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> MutableSet? { (source.moved(to: realm.core) as? CellSource).map { MutableSet($0.cell) } }
}

extension LinkingObjects: ThreadConfined {
    /// Returns the inverse of the same property for the same object in another realm of the file; nil if the object does not exist there or
    /// is unmanaged. Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> LinkingObjects? {
        linking?.moved(to: realm.core).map { LinkingObjects(origin: origin, $0) }
    }
}

extension Map: ThreadConfined {
    /// Returns the map of the same object in another realm of the file; nil if the object does not exist there or the map is unmanaged.
    /// Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> Map? {
        guard case .managed(let cell) = storage, let owner = realm.core.object(cell.rowID, like: cell.access) else { return nil }
        return Map(CollectionCell.of(owner, cell.column))
    }
}

extension AnyRealmCollection: ThreadConfined {
    /// Returns the wrapped collection in another realm of the file; nil if it does not exist there or the collection is unmanaged. Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    public func _moved(to realm: Realm) -> AnyRealmCollection? { source.moved(to: realm.core).map(_with) }
}

extension SectionedResults: ThreadConfined {
    /// Returns the sections in another realm of the file, computed with the same key block; nil if the type or the collection that they
    /// come from does not exist there. Used by `ThreadSafeReference`, `ThreadSafe` and `Snapshot`; not for direct use.
    ///
    /// - Complexity: O(1), because the sections are computed when they are read; O(*n*) for *n* elements if that realm is frozen.
    public func _moved(to realm: Realm) -> SectionedResults? { sections.moved(to: realm.core).map { SectionedResults($0) } }
}

extension ResultsSection: ThreadConfined {
    /// Returns the section in another realm, computed with the same key block, or nil if no element has the key there.
    public func _moved(to realm: Realm) -> ResultsSection? {
        guard let moved = part.sections.moved(to: realm.core), moved.section(key) != nil else { return nil }
        return ResultsSection(SectionPart(moved, key))
    }
}
