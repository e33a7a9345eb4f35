import Synchronization

/// How the bytes of a file are read.
package enum FileReading: Sendable {
    /// Through a memory mapping of the file.
    case mapped
    /// Into memory of the reader, extent by extent, as long as it reads the version.
    case copied
    /// Like `mapped`, but without checking hashes. It is for measuring their cost only; no command and no program can choose it.
    case mappedUnchecked

    /// The way in which files are read unless their opener chooses another one.
    package static var standard: FileReading {
        get { copies.load(ordering: .relaxed) ? .copied : .mapped }
        set { copies.store(newValue == .copied, ordering: .relaxed) }
    }

    private static let copies = Atomic<Bool>(false)
}
