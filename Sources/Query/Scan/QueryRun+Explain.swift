import FirnBytes
import FirnTable

extension QueryRun {
    /// Describes the plan of the query and, after a run, what was read and how long the steps took.
    package func explain() -> String {
        outline(rows: whole.rowCount, segments: whole.segmentCount)
            + (statistics.segments > 0 ? account(statistics, of: table.segmentCount) : "") + times
    }

    /// Describes the plan only.
    func outline(rows: Int, segments: Int) -> String {
        var out =
            "scan \(table.type.name): \(segments) \(segments == 1 ? "segment" : "segments"), \(rows) \(rows == 1 ? "row" : "rows")\n"
            + plan.filter.outline("  ")
        if let use {
            out +=
                "index \(use.names.joined(separator: ", ")): \(use.rowCount) candidate \(use.rowCount == 1 ? "row" : "rows"), in \(table.segmentCount) of \(whole.segmentCount) segments\n"
        }
        for descriptor in plan.descriptors {
            switch descriptor {
            case .sort(let list):
                out += "sort by \(list.map { name(plan.keys[$0.key]) + ($0.ascending ? " asc" : " desc") }.joined(separator: ", "))\n"
            case .distinct(let list, _): out += "distinct by \(list.map { name(plan.keys[$0]) }.joined(separator: ", "))\n"
            case .limit(let count): out += "limit \(count)\n"
            case .offset(let count): out += "offset \(count)\n"
            }
        }
        if let group = plan.group {
            out +=
                "group by \(group.keys.isEmpty ? "nothing" : group.keys.map(\.text).joined(separator: ", ")): \(group.measures.map(\.name).joined(separator: ", "))\n"
        }
        return out
    }

    /// Describes what was read, of the given number of segments.
    func account(_ s: QueryStatistics, of segments: Int) -> String {
        // A limit can end the run before all segments are visited.
        let unreached = segments - s.segments
        return "segments: \(s.segments - s.segmentsSkipped) of \(segments) visited, \(s.segmentsSkipped) skipped by zones"
            + (unreached > 0 ? ", \(unreached) not needed\n" : "\n")
            + "vectors: \(s.vectors), \(s.vectorsSkipped) skipped by zones; of columns \(s.vectorsDecoded) decoded, \(s.codeVectorsDecoded) read as codes, \(s.vectorsSearched) searched or summed as stored, \(s.valuesGathered) single values\n"
            + "columns: \(s.columnsOpened) chunks opened, \(s.bytesOpened) bytes\n"
            + "rows: \(s.rows), \(s.rowsMatched) matched\n"
            + plan.filter.conjunctions.map { node in node.number.flatMap { s.conjuncts[$0] }.map { node.account($0, "  ") } ?? "" }.joined()
    }

    private var times: String {
        steps.isEmpty
            ? ""
            : "time: " + steps.map { "\($0.name) \(QueryRun.milliseconds($0.spent)) ms" }.joined(separator: ", ")
                + " (\(threads) thread\(threads == 1 ? "" : "s"))\n"
    }

    private static func milliseconds(_ spent: Duration) -> String {
        let microseconds = spent.components.seconds * 1_000_000 + spent.components.attoseconds / 1_000_000_000_000
        let rest = "\(microseconds % 1000)"
        return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }

    private func name(_ key: QueryPlan.Key) -> String {
        switch key {
        case .value(let path): path.text
        case .absence(let path): "absence of \(path.text)"
        }
    }

    /// Runs `body` and records its duration under the name of the step.
    func timed<R, E: Error>(_ name: String, _ body: () throws(E) -> R) throws(E) -> R {
        let start = ContinuousClock.now
        defer { steps.append((name, ContinuousClock.now - start)) }
        return try body()
    }
}
