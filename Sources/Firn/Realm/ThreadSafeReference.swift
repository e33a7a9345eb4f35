import FirnModel
import Synchronization

/// What belongs to the place of a realm, and can be found again in another realm of the same file: objects, results, lists, sets, inverse links, projections.
public protocol ThreadConfined {
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    /// The same in another realm of the same file; nil if it is not there.
    func _moved(to realm: Realm) -> Self?
}

/// Hands what was read from a realm over to another thread, queue or actor: made here, resolved once in a realm there.
///
///     let reference = ThreadSafeReference(to: dog)
///     queue.async { let dog = try! Realm(configuration: configuration, queue: queue).resolve(reference) }
///
/// Handing over `Snapshot(dog)` does the same where nothing is to be written.
public final class ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {
    // Used at one place after the other.
    private let confined: Mutex<Carried<Confined>?>
    private let file: RealmFile

    /// Traps unless it is managed and valid.
    public init(to threadConfined: Confined) {
        guard let core = threadConfined.realm?.core else {
            preconditionFailure("Cannot construct reference to unmanaged object, which can be passed across threads directly: add it to a realm first, or hand over a detached() copy.")
        }
        precondition(!threadConfined.isInvalidated, "Cannot construct reference to invalidated object")
        precondition(!core.isInTransaction || !core.hasChanges, "Cannot obtain thread safe reference during a write transaction that has made changes: commit first.")
        file = core.file
        confined = Mutex(Carried(threadConfined))
    }

    /// It was resolved already.
    public var isInvalidated: Bool { confined.withLock { $0 == nil } }

    func resolve(in core: RealmCore) -> Confined? {
        core.confinement.check()
        guard let taken = confined.withLock({ held in
            defer { held = nil }
            return held
        }) else { preconditionFailure("Can only resolve a thread safe reference once: make another one.") }
        precondition(file === core.file, "Cannot resolve thread safe reference in Realm with different configuration than the source Realm: open one of the same file.")
        if !core.isInTransaction { _ = try? core.refresh() }
        return taken.value._moved(to: Realm(core))
    }
}

extension Realm {
    /// What the reference stands for, in this realm, which goes to the newest version; nil if it was deleted meanwhile. Each reference is resolved once.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? { reference.resolve(in: core) }
}

/// A property or variable that can be used from any thread, one at a time: each finds the value in a realm of its own.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {
    private struct Held: @unchecked Sendable { var value: T? }
    private let held: Mutex<Held>

    public init(wrappedValue: T?) { held = Mutex(Held(value: wrappedValue)) }

    /// Here: the value itself where it may be used, else the same in this thread's realm; nil if it is not there any more.
    public var wrappedValue: T? {
        get {
            guard let value = held.withLock({ $0 }).value else { return nil }
            guard let core = value.realm?.core else { return value }
            if core.isFrozen || core.place.isPlainlyHere { return value }
            guard let here = try? RealmCore.opened(core.configuration, .on(nil)) else { return nil }
            if !here.isInTransaction { _ = try? here.refresh() }
            return value._moved(to: Realm(here))
        }
        set {
            let new = Held(value: newValue)
            held.withLock { $0 = new }
        }
    }
}

extension Confinement {
    /// Without asking actors, whose answer to no is a trap.
    fileprivate var isPlainlyHere: Bool { if case .actor = self { false } else { isHere } }
}

extension ObjectBase: ThreadConfined {
    public final func _moved(to realm: Realm) -> Self? {
        guard let access = _access else { return nil }
        return realm.core.object(_rowID, like: access).map { unsafeDowncast($0, to: Self.self) }
    }
}

extension Results: ThreadConfined {
    public func _moved(to realm: Realm) -> Results? { source.moved(to: realm.core).map { Results($0) } }
}

extension List: ThreadConfined {
    public func _moved(to realm: Realm) -> Self? {
        (source.moved(to: realm.core) as? CellSource).map { unsafeDowncast(List($0.cell), to: Self.self) }
    }
}

extension MutableSet: ThreadConfined {
    public func _moved(to realm: Realm) -> Self? {
        (source.moved(to: realm.core) as? CellSource).map { unsafeDowncast(MutableSet($0.cell), to: Self.self) }
    }
}

extension LinkingObjects: ThreadConfined {
    public func _moved(to realm: Realm) -> LinkingObjects? {
        linking?.moved(to: realm.core).map { LinkingObjects(origin: origin, $0) }
    }
}

extension Map: ThreadConfined {
    public func _moved(to realm: Realm) -> Self? {
        guard case .managed(let cell) = storage, let owner = realm.core.object(cell.rowID, like: cell.access) else { return nil }
        return unsafeDowncast(Map(CollectionCell.of(owner, cell.column)), to: Self.self)
    }
}

extension AnyRealmCollection: ThreadConfined {
    public func _moved(to realm: Realm) -> AnyRealmCollection? { source.moved(to: realm.core).map(_with) }
}

extension SectionedResults: ThreadConfined {
    public func _moved(to realm: Realm) -> SectionedResults? { sections.moved(to: realm.core).map { SectionedResults($0) } }
}

extension ResultsSection: ThreadConfined {
    /// The key block is used there too. Nil where no element has the key.
    public func _moved(to realm: Realm) -> ResultsSection? {
        guard let moved = part.sections.moved(to: realm.core), moved.section(key) != nil else { return nil }
        return ResultsSection(SectionPart(moved, key))
    }
}
