import FirnBytes
import FirnDatabase
import FirnTable

/// Asynchronous transactions and opening: waiting for the write lock and syncing the file block no thread of the caller.
extension Realm {
    // MARK: With completion blocks

    /// Runs `block` in a transaction when the write lock is available, and calls `onComplete` when its changes are durable. Both are called
    /// on the realm's queue, actor or main thread; other realms trap. If no transaction can begin (the file was replaced or has failed, or
    /// there are more versions than the configuration allows), `onComplete` receives the error and `block` is not called. Using the realm
    /// while the changes are made durable waits.
    @discardableResult
    public func writeAsync(_ block: @escaping () -> Void, onComplete: ((Error?) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        let core = core
        return core.enqueue(
            {
                block()
                if core.state.isOpen { core.commitAsync(onComplete) } else { onComplete?(nil) }
            }, failed: { onComplete?($0) })
    }

    /// Calls `asyncWriteBlock` in a transaction when the write lock is available. The block commits with `commitAsyncWrite` or
    /// `commitWrite`; otherwise its changes are cancelled.
    ///
    /// `onFailure` is called instead if no transaction can begin. If it is nil, `damage` reports the error, except that of too many
    /// versions, of which there may be fewer later.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void, onFailure: ((Error) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        return core.enqueue(asyncWriteBlock, failed: onFailure)
    }

    /// Commits the transaction under way. Its changes are made durable on another thread.
    ///
    /// With `allowGrouping`, the commit is grouped with those of the blocks that are waiting. They run next, in the same transaction of the
    /// file, and all of them cost one sync and make one version. Each block cancels or commits only its own changes. If the program ends
    /// before `onComplete`, the file has all changes of the group or none. Until then notifications, frozen copies and other realms show
    /// the version before. A group ends when no block is waiting, and after 100 commits.
    @discardableResult
    public func commitAsyncWrite(allowGrouping: Bool = false, _ onComplete: ((Error?) -> Void)? = nil) -> AsyncTransactionId {
        core.checkDelivery()
        core.commitAsync(grouping: allowGrouping, onComplete)
        return core.asyncWrites.newID()
    }

    /// Cancels a block that was not called yet.
    /// - Throws: `Realm.Error` with the code `invalidInput` if no block with this id is waiting.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        core.check()
        guard core.asyncWrites.remove(asyncTransactionId) else {
            throw Error(.invalidInput, "no asynchronous write \(asyncTransactionId) is waiting")
        }
    }

    /// True while a block waits for the write lock, a commit is being made durable, or a completion block was not called yet.
    public var isPerformingAsynchronousWriteOperations: Bool {
        core.executor.check()
        return core.asyncWrites.isPerforming || core.state.pending != nil
    }

    // MARK: With tasks

    /// Opens the realm of a configuration for an actor. Opening and migrating run on another thread. Only the actor may use the realm and
    /// everything that is read from it.
    /// - Throws: `Realm.Error`.
    public init(configuration: Configuration = .defaultConfiguration, actor: isolated any Actor) async throws {
        let file = try await Realm.opened(configuration)
        core = try withExtendedLifetime(file) { try RealmCore.opened(configuration, .on(actor)) }
    }

    /// Opens the realm of a configuration for the actor that calls. (In an actor's initializer, before all its properties have values, use
    /// `Realm(configuration:actor:)` instead.)
    /// - Throws: `Realm.Error`; with the code `invalidInput` if the caller is not isolated to an actor.
    public static func open(configuration: Configuration = .defaultConfiguration, isolation: isolated (any Actor)? = #isolation)
        async throws -> Realm
    {
        guard let isolation else {
            throw Error(
                .invalidInput,
                "Realm.open must be called on an actor: call it from isolated code (@MainActor, or within an actor), or use Realm(configuration:queue:)"
            )
        }
        let file = try await opened(configuration)
        return try withExtendedLifetime(file) { Realm(try RealmCore.opened(configuration, .on(isolation))) }
    }

    /// Opens the file, and migrates it if necessary, on another thread.
    private static func opened(_ configuration: Configuration) async throws -> RealmFile {
        try await Task.detached { try RealmCore.openedElsewhere(configuration) }.value
    }

    /// Runs `block` in a transaction of an actor's realm. The actor can do other work while this waits for the write lock and while the
    /// changes are made durable.
    /// - Throws: `CancellationError` if the task is cancelled before the block runs, `Realm.Error`, and what the block throws.
    @discardableResult
    public func asyncWrite<R>(isolation: isolated (any Actor)? = #isolation, _ block: () throws -> R) async throws -> R {
        while true {
            try Task.checkCancellation()
            try core.checkBegin()
            let request = LockRequest(core.file)
            core.asyncWrites.lockRequests.append(request)
            do { try await request.wait() } catch {
                request.take()?.cancel()
                core.asyncWrites.lockRequests.removeAll { $0 === request }
                throw error
            }
            core.asyncWrites.lockRequests.removeAll { $0 === request }
            // Another task of the actor may have taken the transaction.
            guard let begun = request.take() else { continue }
            if Task.isCancelled {
                begun.cancel()
                throw CancellationError()
            }
            core.check()
            do { try core.enter(begun) } catch { throw Error(error) }
            break
        }
        let result: R
        do { result = try block() } catch {
            if core.state.isOpen { core.cancel() }
            throw error
        }
        guard core.state.isOpen else { return result }
        if let pending = try core.commitElsewhere() {
            await pending.done()
            core.finish(pending)
            core.complete(pending.group, pending.error.map { Error($0) })
            if let error = pending.error { throw Error(error) }
        }
        return result
    }

    /// As `refresh()`, for an actor's realm: the newest version is read on another thread.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        core.check()
        guard !core.isFrozen, !core.isInTransaction else { return false }
        let file = core.file
        let newest = await Task.detached { try? file.database.snapshot() }.value
        guard let newest, newest.version > core.version else { return false }
        return core.go(to: newest)
    }
}

extension RealmCore {
    /// Opens the file of a configuration, and migrates it if necessary, for realms of other threads.
    static func openedElsewhere(_ configuration: Realm.Configuration) throws -> RealmFile {
        do {
            let file = try RealmFile.of(configuration)
            // Opening a realm of this thread migrates the file. The realm is released immediately.
            _ = try RealmCore(file, configuration, .on(nil))
            return file
        } catch let error as Realm.Error where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded {
            return try RealmCore.opened(configuration, .on(nil)).file
        } catch let error as FirnError { throw Realm.Error(error).concerning(configuration) } catch let error as Realm.Error {
            throw error.concerning(configuration)
        }
    }
}
