import Synchronization

/// Decompressed pages that a reader keeps when rows are read in any order, so that it does not decompress a page for each value. All readers of the process together keep at most `maximumBytes`.
final class KeptPages<Page: Sendable>: Sendable {
    private struct Kept {
        var pages: [Int: Page] = [:]
        var bytes = 0
    }
    private let kept = Mutex(Kept())

    deinit { KeptBytes.giveBack(kept.withLock { $0.bytes }) }

    subscript(index: Int) -> Page? { kept.withLock { $0.pages[index] } }

    /// Keeps a page if there is room, at last instead of all other pages of this reader.
    func keep(_ page: Page, _ index: Int, bytes: Int) {
        kept.withLock { kept in
            guard kept.pages[index] == nil else { return }
            if !KeptBytes.take(bytes) {
                KeptBytes.giveBack(kept.bytes)
                kept = Kept()
                guard KeptBytes.take(bytes) else { return }
            }
            kept.pages[index] = page
            kept.bytes += bytes
        }
    }
}

/// The bytes of all kept pages.
enum KeptBytes {
    static let maximum = 16 << 20
    private static let used = Atomic<Int>(0)

    static func take(_ bytes: Int) -> Bool {
        guard used.add(bytes, ordering: .relaxed).newValue > maximum else { return true }
        giveBack(bytes)
        return false
    }

    static func giveBack(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }
}
