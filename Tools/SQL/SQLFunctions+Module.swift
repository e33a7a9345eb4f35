import CSQLite
import FirnBytes

// The functions that `functions.c` calls. SQLite holds the states of aggregates.

@_cdecl("firn_sql_call")
func functionCall(_ context: SQLHandle, _ number: Int32, _ arguments: OpaquePointer) {
    let context: SQLContext = object(context), function = SQLFunctions.all[Int(number)]
    guard case .row(let body) = function.body else { return }
    let call = SQLCall(context: context, function: function, arguments: arguments)
    call.answer { () throws(FirnError) in try body(call) }
}

@_cdecl("firn_sql_aggregate_new")
func aggregateNew(_ context: SQLHandle, _ number: Int32) -> SQLHandle? {
    let function = SQLFunctions.all[Int(number)]
    guard case .aggregate(let make) = function.body else { return nil }
    return Unmanaged.passRetained(SQLAggregateState(context: object(context), function: function, aggregate: make())).toOpaque()
}

@_cdecl("firn_sql_aggregate_step")
func aggregateStep(_ state: SQLHandle, _ arguments: OpaquePointer, _ removes: Bool) {
    let state: SQLAggregateState = object(state), call = state.call(arguments)
    call.answer { () throws(FirnError) in
        if removes { try state.aggregate.remove(call) } else { try state.aggregate.add(call) }
        return nil
    }
}

@_cdecl("firn_sql_aggregate_value")
func aggregateValue(_ state: SQLHandle, _ arguments: OpaquePointer) {
    let state: SQLAggregateState = object(state), call = state.call(arguments)
    call.answer { () throws(FirnError) in try state.aggregate.value(call) }
}

@_cdecl("firn_sql_aggregate_release")
func aggregateRelease(_ state: SQLHandle?) { release(state, SQLAggregateState.self) }
