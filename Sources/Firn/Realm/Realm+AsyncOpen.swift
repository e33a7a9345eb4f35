import Dispatch
import FirnBytes
import Foundation
import Synchronization

extension Realm {
    /// Opens the realm of a configuration on another thread, which also migrates it, and calls `callback` on `callbackQueue` with the realm
    /// for that queue or the error.
    ///
    /// - Returns: A task that can be cancelled.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask(), callback = Carried(callback)
        DispatchQueue.global().async {
            let opened = Carried(Result { try RealmCore.openedElsewhere(configuration) })
            callbackQueue.async {
                guard !task.isCancelled else { return callback.value(.failure(POSIXError(.ECANCELED))) }
                // The file stays open until the queue has its own realm of it.
                callback.value(
                    opened.value.flatMap { file in
                        withExtendedLifetime(file) { Result { try Realm(configuration: configuration, queue: callbackQueue) } }
                    })
            }
        }
        return task
    }

    /// An opening of a realm that is under way: see `asyncOpen`.
    public final class AsyncOpenTask: Sendable {
        private let cancelled = Atomic<Bool>(false)

        fileprivate var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

        /// Cancels the opening: unless the realm was delivered already, the callback receives the error `POSIXError.ECANCELED`.
        public func cancel() { cancelled.store(true, ordering: .releasing) }
    }

    /// When a synchronized realm downloads before it is opened. There is no synchronization, so the cases make no difference.
    @available(*, deprecated, message: "there is no synchronization: remove downloadBeforeOpen")
    public enum OpenBehavior: Sendable {
        /// Opens the file.
        case never
        /// Opens the file.
        case once
        /// Opens the file.
        case always
    }

    /// Opens the realm of a configuration for the main actor. Opening and migrating run on another thread.
    /// - Throws: `Realm.Error`.
    @available(*, deprecated, message: "there is no synchronization: use Realm.open(configuration:)")
    @MainActor
    public init(configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior) async throws {
        try await self.init(configuration: configuration, actor: MainActor.shared)
    }

    /// Opens the realm of a configuration for an actor. Opening and migrating run on another thread.
    /// - Throws: `Realm.Error`.
    @available(*, deprecated, message: "there is no synchronization: remove downloadBeforeOpen")
    public init(
        configuration: Configuration = .defaultConfiguration, actor: isolated any Actor, downloadBeforeOpen: OpenBehavior
    ) async throws {
        try await self.init(configuration: configuration, actor: actor)
    }
}
