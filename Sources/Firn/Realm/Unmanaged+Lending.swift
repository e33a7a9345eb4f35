import FirnBytes

extension Unmanaged {
    /// Calls `body` with the object without counting a reference. The caller guarantees that another reference keeps the object alive.
    @inline(__always)
    func lend<R>(_ body: (Instance) throws(Damage) -> R) throws(Damage) -> R {
        let result = _withUnsafeGuaranteedRef { object -> Result<R, Damage> in
            do throws(Damage) { return .success(try body(object)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
