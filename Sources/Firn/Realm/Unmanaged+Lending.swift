import FirnBytes

extension Unmanaged {
    /// Lends the object to `body` without counting a reference, where somebody else holds it all the while.
    @inline(__always)
    func lend<R>(_ body: (Instance) throws(Damage) -> R) throws(Damage) -> R {
        let result = _withUnsafeGuaranteedRef { object -> Result<R, Damage> in
            do throws(Damage) { return .success(try body(object)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
