import FirnBytes
import FirnDatabase
import FirnDisk
import FirnQuery
import FirnTable
import FirnThreads

/// Measures queries within a process that has the file open, without start and printing.
///
///     firn-bench query FILE [--threads N] [--runs N] [--repeat N] [NAME|FILTER|GROUP|AGGREGATES|SORT|LIMIT …]
///
/// A query is six parts separated by bars; the last ones can be omitted. Without queries, those on the benchmark table are run. For each,
/// the median of the runs is printed in milliseconds, and the result as a remark: the number of rows, and the first one. `--repeat` repeats
/// each query within a run, for counting instructions.
enum QueryFigures {
    /// The queries on the table of `Tools/bench/make-table.py`.
    static let standard = [
        "sum_int|||sum(age)", "sum_double|||sum(balance)", "sum_scores|||sum(score)", "count_two|score > 50 AND active == true",
        "count_filter|age > 60",
        "string_equal|city == 'Radunobe'", "name_contains|name CONTAINS 'ado'", "name_like|name LIKE '*ado*'",
        "group_200||city|count, sum(age), avg(score)", "group_filter|age > 40|country|count, avg(score), max(balance)",
        "group_median||country|median(score)", "distinct||country|count(distinct name)",
        "expression|||sum(balance * (1 - score))", "sort_double||||score", "top_10||||-score|10", "first_10|age > 60||||10",
    ]

    static func run(_ words: [String]) throws {
        var threads = Processors.count, runs = 5, times = 1, path = "", questions: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--threads": threads = Int(rest.popFirst() ?? "") ?? threads
            case "--runs": runs = max(1, Int(rest.popFirst() ?? "") ?? runs)
            case "--repeat": times = max(1, Int(rest.popFirst() ?? "") ?? times)
            default: if path.isEmpty { path = word } else { questions.append(word) }
            }
        }
        let database = try Database.open(path: path)
        let snapshot = try database.snapshot(version: nil)
        guard let type = snapshot.schema.roots.first, let table = snapshot.table(named: type.name) else {
            throw FirnError(.schema, "there are no types in \(path)")
        }
        for question in questions.isEmpty ? standard : questions { try ask(question, table, threads: threads, runs: runs, times: times) }
    }

    private static func ask(_ question: String, _ table: any Table, threads: Int, runs: Int, times: Int) throws {
        var parts = question.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        while parts.count < 6 { parts.append("") }
        func names(_ text: String) -> [String] { text.isEmpty ? [] : text.split(separator: ",").map(String.init) }
        var request = QueryRequest(filter: parts[1].isEmpty ? nil : parts[1], groupBy: names(parts[2]))
        request.aggregates = parts[3].isEmpty ? [] : try Aggregate.list(parts[3])
        request.sort = names(parts[4]).map { $0.hasPrefix("-") ? .init(String($0.dropFirst()), ascending: false) : .init($0) }
        request.limit = Int(parts[5])
        var spent: [Double] = [], answer = ""
        for _ in 0..<runs {
            let start = Machine.seconds
            for _ in 0..<times { answer = try one(request, table, threads) }
            spent.append((Machine.seconds - start) * 1000 / Double(times))
        }
        spent.sort()
        print("query.\(parts[0]) \(round(spent[runs / 2])) ms")
        print("# \(parts[0]): \(answer)")
    }

    private static func round(_ milliseconds: Double) -> Double { (milliseconds * 10_000).rounded() / 10_000 }

    /// Runs a query once. For plain rows only the number is computed, as in a program that shows the number of results; others read all
    /// batches.
    private static func one(_ request: QueryRequest, _ table: any Table, _ threads: Int) throws -> String {
        let run = try QueryRun(
            request, table: table, threads: threads)
        if request.groupBy.isEmpty, request.aggregates.isEmpty, request.limit == nil {
            return request.sort.isEmpty ? "\(try run.count()) rows" : "\(try run.rowLocations().count) rows"
        }
        var rows = 0, first = ""
        try run.forEachBatch { (batch) throws(FirnError) in
            if rows == 0 { first = batch.columns.map { "\($0.value(at: 0))" }.joined(separator: ", ") }
            rows += batch.count
            return true
        }
        return "\(rows) rows: \(first)"
    }
}
