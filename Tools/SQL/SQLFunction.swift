import CSQLite
import FirnBytes
import FirnDisk

/// A function that `firn sql` adds to those of SQLite. Functions of one row depend on their arguments alone; aggregates ignore NULL
/// unless their text in docs/guide/sql.md says otherwise.
struct SQLFunction: Sendable {
    enum Body: Sendable {
        case row(@Sendable (SQLCall) throws(FirnError) -> SQLValue)
        case aggregate(@Sendable () -> any SQLAggregate)
    }
    let name: String
    /// The permitted numbers of arguments; up to `Int.max`: any number.
    let counts: ClosedRange<Int>
    /// A call as an example, for errors.
    let usage: String
    let body: Body
    /// Whether a function of this name that the linked SQLite has takes precedence.
    var yields = false

    var isAggregate: Bool { if case .aggregate = body { true } else { false } }
}

/// The state of an aggregate over the rows of one group or window.
protocol SQLAggregate: AnyObject {
    /// Adds a row.
    func add(_ call: SQLCall) throws(FirnError)
    /// Removes the row that was added first: the first row of the window moves.
    func remove(_ call: SQLCall) throws(FirnError)
    /// Returns the result for the rows. More rows can be added afterwards.
    func value(_ call: SQLCall) throws(FirnError) -> SQLValue
}

extension SQLAggregate {
    func remove(_ call: SQLCall) throws(FirnError) {
        throw FirnError(
            .usage, "\(call.function.name) is not available in a window whose first row moves",
            advice: "use a window from UNBOUNDED PRECEDING on, or first_value, last_value or nth_value")
    }
}

/// One call of a function, with its arguments. It is valid during the call.
struct SQLCall {
    let context: SQLContext
    let function: SQLFunction
    let arguments: OpaquePointer

    var count: Int { Int(firn_sql_argument_count(arguments)) }

    private func argument(_ index: Int) -> OpaquePointer? { firn_sql_argument(arguments, Int32(index)) }

    func value(_ index: Int) -> SQLValue { argument(index).map { SQLValue($0) } ?? .null }

    func isNull(_ index: Int) -> Bool { argument(index).map { Int(firn_sql_value_type($0)) == FIRN_SQL_NULL } ?? true }

    /// Returns the text of an argument, with numbers converted; nil for NULL and for arguments that were omitted.
    func text(_ index: Int) -> [UInt8]? {
        guard index < count, let argument = argument(index), Int(firn_sql_value_type(argument)) != FIRN_SQL_NULL else { return nil }
        return SQLValue.bytes(of: argument)
    }

    /// Returns whether a condition is true; nil for NULL.
    func truth(_ index: Int) -> Bool? { isNull(index) ? nil : argument(index).map { firn_sql_value_real($0) != 0 } }

    /// Returns an argument as a number; nil for NULL. Text that is a number is converted; other text is an error.
    func number(_ index: Int) throws(FirnError) -> Double? {
        switch argument(index).map({ SQLValue(numeric: $0) }) ?? .null {
        case .null: return nil
        case .int(let x): return Double(x)
        case .real(let x): return x
        case .text(let bytes): throw error("takes numbers, and \(SQLCall.quoted(bytes)) is not a number")
        case .blob: throw error("takes numbers, not blobs")
        }
    }

    /// Returns an argument as a whole number; nil for NULL. Fractions are cut off.
    func int(_ index: Int) throws(FirnError) -> Int? {
        if case .int(let x) = argument(index).map({ SQLValue(numeric: $0) }) ?? .null { return Int(x) }
        return try number(index).map { $0.isNaN ? 0 : Int(max(-9e18, min($0, 9e18))) }
    }

    // MARK: Errors and limits

    func error(_ message: String, advice: String? = nil) -> FirnError { FirnError(.usage, "\(function.name) \(message)", advice: advice) }

    /// Returns a value in double quotes, cut if it is long.
    static func quoted(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(60), as: UTF8.self)
        return "\"\(text)\(bytes.count > 60 ? "…" : "")\""
    }

    /// Charges the memory of a result of so many bytes while the returned object exists. Throws if a value of SQL cannot have so many
    /// bytes.
    func room(for bytes: Int) throws(FirnError) -> MemoryCharge {
        let limit = Int(firn_sql_maximum_length(arguments)), charge = MemoryCharge(.process)
        guard bytes >= 0, bytes <= limit else { throw error("would return more than \(limit) bytes, the maximum of a value") }
        if bytes > 1 << 16 { try hold(bytes, in: charge) }
        return charge
    }

    /// Sets a charge to a number of bytes.
    func hold(_ bytes: Int, in charge: MemoryCharge) throws(FirnError) {
        do { try charge.set(bytes, for: "") } catch { throw FirnError.beyondMemory(function.name, bytes - charge.bytes, .process) }
    }

    func answer(_ value: SQLValue) {
        switch value {
        case .null: firn_sql_answer_null(arguments)
        case .int(let x): firn_sql_answer_int(arguments, x)
        case .real(let x): firn_sql_answer_real(arguments, x)
        case .text(let x): firn_sql_answer_text(arguments, x, Int64(x.count))
        case .blob(let x): firn_sql_answer_blob(arguments, x, Int64(x.count))
        }
    }

    /// Calls a function and passes its result or error to SQLite.
    func answer(_ body: () throws(FirnError) -> SQLValue?) {
        do throws(FirnError) {
            if let value = try body() { answer(value) }
        } catch let fault {
            context.lastError = fault
            firn_sql_answer_error(arguments, fault.description)
        }
    }
}

/// An aggregate that SQLite holds, with what its calls need.
final class SQLAggregateState {
    let context: SQLContext
    let function: SQLFunction
    let aggregate: any SQLAggregate

    init(context: SQLContext, function: SQLFunction, aggregate: any SQLAggregate) {
        self.context = context
        self.function = function
        self.aggregate = aggregate
    }

    func call(_ arguments: OpaquePointer) -> SQLCall { SQLCall(context: context, function: function, arguments: arguments) }
}
