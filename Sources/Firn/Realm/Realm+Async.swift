import FirnBytes
import FirnModel

/// Transactions and opening that keep no thread waiting: the write lock is waited for, and the file is synced, elsewhere.
extension Realm {
    // MARK: With completion blocks

    /// Runs `block` in a transaction as soon as the write lock is there, and calls `onComplete` when its changes are durable, both at the realm's place. Where no
    /// transaction can begin (the file was replaced, or has failed; there are more versions than the configuration allows) the block is not called, and `onComplete` says why.
    /// For realms of a queue, an actor or the main thread. Whoever uses the realm while the changes are made durable waits for that.
    @discardableResult
    public func writeAsync(_ block: @escaping () -> Void, onComplete: ((Error?) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        let core = core
        return core.enqueue({
            block()
            if core.canCommit { core.commitAsync(onComplete) } else { onComplete?(nil) }
        }, failed: { onComplete?($0) })
    }

    /// Calls `asyncWriteBlock` in a transaction as soon as the write lock is there. The block commits with `commitAsyncWrite` or `commitWrite`; else its
    /// changes are given up.
    /// - Parameter onFailure: called instead where no transaction can begin. Nil: `damage` says why from then on (but for too many versions, of which there may be fewer later).
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void, onFailure: ((Error) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        return core.enqueue(asyncWriteBlock, failed: onFailure)
    }

    /// Commits the transaction under way; its changes are made durable elsewhere.
    ///
    /// `allowGrouping`: together with those of the blocks that wait for their turn, which run next, in the same transaction of the file: one sync and one
    /// version for all of them. Each block gives up or commits its own changes alone. If the program ends before `onComplete`, all changes of the group are there
    /// or none. Until then notifications, frozen copies and other realms are of the version before. Without blocks that wait, and after a hundred, the group ends.
    @discardableResult
    public func commitAsyncWrite(allowGrouping: Bool = false, _ onComplete: ((Error?) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        core.commitAsync(grouping: allowGrouping, onComplete)
        core.nextAsyncID &+= 1
        return core.nextAsyncID &- 1
    }

    /// Gives up a block that was not called yet. Throws `.invalidInput` if there is none of this number.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        core.confinement.check()
        guard let index = core.asyncWrites.firstIndex(where: { $0.id == asyncTransactionId }) else {
            throw Error(.invalidInput, "there is no asynchronous write \(asyncTransactionId) that waits")
        }
        core.asyncWrites.remove(at: index)
    }

    /// A block waits for the lock, a commit is being made durable, or who asked for it is still to be told.
    public var isPerformingAsynchronousWriteOperations: Bool {
        core.place.check()
        return !core.asyncWrites.isEmpty || core.pendingCommit != nil || core.untold > 0
    }

    // MARK: With tasks

    /// Opens the realm of a configuration for an actor; opening and migrating happen elsewhere. The realm and all that is read from it are the actor's.
    public init(configuration: Configuration = .defaultConfiguration, actor: isolated any Actor) async throws {
        let file = try await Realm.opened(configuration)
        core = try withExtendedLifetime(file) { try RealmCore.opened(configuration, .actor(ActorPlace(actor))) }
    }

    /// Opens the realm of a configuration for the actor that calls. (In an actor's initialiser nobody calls for it before all its properties have values:
    /// `Realm(configuration:actor:)` says there what is meant.)
    public static func open(configuration: Configuration = .defaultConfiguration, isolation: isolated (any Actor)? = #isolation) async throws -> Realm {
        guard let isolation else {
            throw Error(.invalidInput, "Realm.open is for actors: call it from code of one (@MainActor, or within an actor), or use Realm(configuration:queue:)")
        }
        let file = try await opened(configuration)
        return try withExtendedLifetime(file) { Realm(try RealmCore.opened(configuration, .actor(ActorPlace(isolation)))) }
    }

    /// Opens the file, and migrates it if it is to be, on another thread.
    private static func opened(_ configuration: Configuration) async throws -> RealmFile {
        try await Task.detached {
            do {
                let file = try RealmFile.of(configuration)
                // A realm of this thread, gone at once: it has migrated the file.
                _ = try RealmCore(file, configuration, .on(nil))
                return file
            } catch let error as Error where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded {
                return try RealmCore.opened(configuration, .on(nil)).file
            } catch let error as FirnError { throw Error(error) }
        }.value
    }

    /// Runs `block` in a transaction of an actor's realm. The actor is free while the lock is waited for and while the changes are made durable.
    /// Throws `CancellationError` if the task is cancelled before the block runs, and what the block throws.
    @discardableResult
    public func asyncWrite<R>(isolation: isolated (any Actor)? = #isolation, _ block: () throws -> R) async throws -> R {
        while true {
            try Task.checkCancellation()
            try core.checkBegin()
            let request = LockRequest(core.file)
            core.lockRequests.append(request)
            do { try await request.wait() } catch {
                request.take()?.cancel()
                core.lockRequests.removeAll { $0 === request }
                throw error
            }
            core.lockRequests.removeAll { $0 === request }
            // Another task of the actor may have taken it meanwhile.
            guard let begun = request.take() else { continue }
            if Task.isCancelled {
                begun.cancel()
                throw CancellationError()
            }
            core.confinement.check()
            do throws(FirnError) { try core.enter(begun) } catch { throw Error(error) }
            break
        }
        let result: R
        do { result = try block() } catch {
            if core.canCommit { core.cancel() }
            throw error
        }
        guard core.canCommit else { return result }
        if let pending = try core.commitElsewhere() {
            await pending.done()
            core.finish(pending)
            if let error = pending.error { throw Error(error) }
        }
        return result
    }

    /// As `refresh()`, for an actor's realm: the newest version is looked for elsewhere.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        core.confinement.check()
        guard !core.isFrozen, !core.isInTransaction else { return false }
        let file = core.file
        let newest = await Task.detached { try? file.database.snapshot() }.value
        guard let newest, newest.version > core.version else { return false }
        return core.go(to: newest)
    }
}
