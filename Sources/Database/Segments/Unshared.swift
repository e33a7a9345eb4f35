import FirnThreads

/// A value that several threads use, each of them only its own part.
struct Unshared<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
}

/// Returns the results of `body` for 0 ..< `count`, in this order, computed as by `parallelMap`. `body` may read state that is not `Sendable`,
/// and must not change it.
func parallelReads<R: Sendable>(_ count: Int, _ threads: Int, _ body: (Int) -> R) -> [R] {
    withoutActuallyEscaping(body) { body in
        let body = Unshared(body)
        return parallelMap(count: count, threads: threads) { (index: Int) throws(Never) -> R in body.value(index) }
    }
}
