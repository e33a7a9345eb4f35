import CArrow
import CFirn
import Foundation

/// The C library, loaded into the process of the tests, which are not linked with it.
struct LoadedLibrary: @unchecked Sendable {
    typealias Out = UnsafeMutablePointer<OpaquePointer?>?
    typealias Stream = UnsafeMutablePointer<ArrowArrayStream>?

    private let handle: UnsafeMutableRawPointer

    init?(_ path: String) {
        guard let handle = dlopen(path, RTLD_NOW) else { return nil }
        self.handle = handle
    }

    private func function<T>(_ name: String, _ type: T.Type) -> T {
        guard let symbol = dlsym(handle, name) else { fatalError("the library has no function \(name)") }
        return unsafeBitCast(symbol, to: type)
    }

    /// An error, as its code and message.
    struct Failure: Error {
        let code: UInt32
        let message: String
    }

    /// Calls a function that can fail.
    private func attempt(_ body: (Out) -> Int32) throws {
        var error: OpaquePointer?
        let code = body(&error)
        guard code != 0 else { return }
        let message = function("firn_error_message", (@convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?).self)(error)
        defer { function("firn_error_free", (@convention(c) (OpaquePointer?) -> Void).self)(error) }
        throw Failure(code: UInt32(bitPattern: code), message: message.map { String(cString: $0) } ?? "")
    }

    func setInterrupt(_ check: (@convention(c) () -> Int32)?) {
        function("firn_set_interrupt", (@convention(c) ((@convention(c) () -> Int32)?) -> Void).self)(check)
    }

    func openWritable(_ path: String) throws -> OpaquePointer? {
        typealias Function = @convention(c) (UnsafePointer<CChar>?, UnsafeRawPointer?, Int, Int32, Out, Out) -> Int32
        var database: OpaquePointer?
        try attempt { function("firn_open_writable", Function.self)(path, nil, 0, 1, &database, $0) }
        return database
    }

    func begin(_ database: OpaquePointer?) throws -> OpaquePointer? {
        typealias Function = @convention(c) (OpaquePointer?, Double, Out, Out) -> Int32
        var transaction: OpaquePointer?
        try attempt { function("firn_begin", Function.self)(database, 5, &transaction, $0) }
        return transaction
    }

    func append(_ transaction: OpaquePointer?, _ type: String, _ stream: Stream) throws -> Int64 {
        typealias Function =
            @convention(c) (
                OpaquePointer?, UnsafePointer<CChar>?, Stream, UnsafePointer<UnsafePointer<CChar>?>?, Int, UnsafeMutablePointer<Int64>?, Out
            ) -> Int32
        var rows: Int64 = 0
        try attempt { function("firn_append", Function.self)(transaction, type, stream, nil, 0, &rows, $0) }
        return rows
    }

    func commit(_ transaction: OpaquePointer?) throws -> UInt64 {
        typealias Function = @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt64>?, Out) -> Int32
        var version: UInt64 = 0
        try attempt { function("firn_commit", Function.self)(transaction, &version, $0) }
        return version
    }

    func sql(_ statement: String, _ stream: Stream) throws {
        typealias Function = @convention(c) (UnsafePointer<CChar>?, UnsafePointer<firn_sql_options>?, Stream, Out) -> Int32
        try attempt { function("firn_sql", Function.self)(statement, nil, stream, $0) }
    }

    func free(transaction: OpaquePointer?) {
        function("firn_transaction_free", (@convention(c) (OpaquePointer?) -> Void).self)(transaction)
    }

    func close(_ database: OpaquePointer?) {
        function("firn_database_close", (@convention(c) (OpaquePointer?) -> Void).self)(database)
    }
}
