import Synchronization

/// How the bytes of a file come to those who read them.
package enum FileReading: Sendable {
    /// In place, where the system keeps what it has of the file.
    case mapped
    /// Into memory of the reader's own, extent by extent, as long as it reads the version.
    case copied
    /// As mapped, and what hashes would say is not asked: for measuring what they cost, and nothing else. No command and no program can choose it.
    case mappedUnchecked

    /// What files are opened with where nothing else is said.
    package static var standard: FileReading {
        get { copies.load(ordering: .relaxed) ? .copied : .mapped }
        set { copies.store(newValue == .copied, ordering: .relaxed) }
    }

    private static let copies = Atomic<Bool>(false)
}
