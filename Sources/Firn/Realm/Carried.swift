/// A value, such as a transaction, on its way from one thread to the thread, queue or actor that uses it.
struct Carried<T>: @unchecked Sendable {
    let value: T
    init(_ value: T) { self.value = value }
}
