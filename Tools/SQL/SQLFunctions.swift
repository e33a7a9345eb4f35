import CSQLite
import FirnBytes

/// The functions that `firn sql` adds to those of SQLite, by number.
enum SQLFunctions {
    static let all: [SQLFunction] = aggregates + dates + texts + patterns

    /// The names of the functions of one row, which statements with groups in the engine may call.
    static let rowNames = Set(all.filter { !$0.isAggregate }.map(\.name))
    static let names = Set(all.map(\.name))

    static func usage(of name: String) -> String? { all.first { $0.name == NameTable.folded(name) }?.usage }

    static func row(
        _ name: String, _ counts: ClosedRange<Int>, _ usage: String, yields: Bool = false,
        body: @escaping @Sendable (SQLCall) throws(FirnError) -> SQLValue
    ) -> SQLFunction { SQLFunction(name: name, counts: counts, usage: usage, body: .row(body), yields: yields) }

    private static func aggregate(
        _ names: [String], _ counts: ClosedRange<Int>, _ arguments: String, yields: Bool = false,
        state: @escaping @Sendable () -> any SQLAggregate
    ) -> [SQLFunction] {
        names.map { SQLFunction(name: $0, counts: counts, usage: "\($0)(\(arguments))", body: .aggregate(state), yields: yields) }
    }

    private static func moments(_ names: [String], _ function: SQLMoments.Function) -> [SQLFunction] {
        let isPair = function.isPair
        return aggregate(names, isPair ? 2...2 : 1...1, isPair ? "y, x" : "x") { SQLMoments(function) }
    }

    private static func chosen(_ names: [String], _ function: SQLChosenValue.Function) -> [SQLFunction] {
        let isPair = function == .atMinimum || function == .atMaximum
        return aggregate(names, isPair ? 2...2 : 1...1, isPair ? "x, key" : "x") { SQLChosenValue(function) }
    }

    private static let aggregates: [SQLFunction] = [
        aggregate(["median"], 1...1, "x") { SQLQuantile(isMedian: true) },
        aggregate(["quantile", "quantile_cont", "percentile_cont"], 2...2, "x, 0.9") { SQLQuantile(isMedian: false) },
        aggregate(["quantile_disc", "percentile_disc"], 2...2, "x, 0.9") { SQLDiscreteQuantile() },
        moments(["stddev", "stddev_samp"], .deviation(isSample: true)), moments(["stddev_pop"], .deviation(isSample: false)),
        moments(["variance", "var_samp"], .variance(isSample: true)), moments(["var_pop"], .variance(isSample: false)),
        moments(["covar_samp"], .covariance(isSample: true)), moments(["covar_pop"], .covariance(isSample: false)),
        moments(["corr"], .correlation), moments(["regr_slope"], .slope), moments(["regr_intercept"], .intercept),
        moments(["regr_r2"], .determination),
        aggregate(["mode"], 1...1, "x") { SQLMode() }, aggregate(["product"], 1...1, "x") { SQLProduct() },
        aggregate(["string_agg", "listagg"], 1...2, "s, ', '", yields: true) { SQLJoinedText() },
        chosen(["any_value"], .any), chosen(["first"], .first), chosen(["last"], .last),
        chosen(["arg_min", "argmin", "min_by"], .atMinimum), chosen(["arg_max", "argmax", "max_by"], .atMaximum),
        aggregate(["bool_and"], 1...1, "a > 1") { SQLTruths(.all) }, aggregate(["bool_or"], 1...1, "a > 1") { SQLTruths(.any) },
        aggregate(["count_if", "countif"], 1...1, "a > 1") { SQLTruths(.count) },
    ].flatMap { $0 }
}

extension SQLContext {
    /// Adds the functions to a connection, except those that yield to functions of these names. Returns whether SQLite accepts them.
    func registerFunctions(_ db: OpaquePointer?, known: Set<String>) -> Bool {
        for (number, function) in SQLFunctions.all.enumerated() where !(function.yields && known.contains(function.name)) {
            let counts = function.counts.upperBound == .max ? [-1] : Array(function.counts)
            for count in counts {
                guard
                    firn_sql_add(db, function.name, Int32(count), Int32(number), function.isAggregate, retained()) == Int32(FIRN_SQL_OK)
                else { return false }
            }
        }
        return true
    }
}
