import CArrow
import CFirn
import FirnArrow
import FirnBytes
import FirnTable
import FirnThreads

extension CTable {
    /// Reads the options of a scan; NULL: all rows and columns.
    func request(_ options: UnsafePointer<firn_scan_options>?) throws(FirnError) -> ScanRequest {
        // The first header with the structure ends before the flags.
        let given = try FirnCInterface.options(
            options, first: MemoryLayout<firn_scan_options>.offset(of: \.flags) ?? 0, firn_scan_options())
        let total = table.segmentCount
        guard given.first_segment >= 0 else { throw FirnError(.usage, "the first segment is \(given.first_segment)") }
        let start = min(Int(given.first_segment), total)
        let end = given.segment_count > 0 ? start + min(Int(given.segment_count), total - start) : total
        var request = ScanRequest(
            columns: try positions(try texts(given.columns, given.column_count, "the columns")),
            segments: start..<end, threads: CTable.threads(given.threads))
        if let filter = given.where { request.filter = try text(filter, "the predicate") }
        if given.limit > 0 { request.limit = Int(given.limit) }
        let dictionaries = Int64(FIRN_SCAN_DICTIONARIES.rawValue), views = Int64(FIRN_SCAN_VIEWS.rawValue)
        guard given.flags & ~(dictionaries | views) == 0 else {
            throw FirnError(.usage, "the options have the unknown flags \(given.flags)")
        }
        if given.flags & dictionaries != 0 { request.coded = try coded(request.columns) }
        if given.flags & views != 0 {
            let texts = request.columns.indices.filter { ArrowRows.canBeCoded(table.type.columns[request.columns[$0]]) }
            request.viewed = Set(texts).subtracting(request.coded)
        }
        return request
    }

    static func threads(_ count: Int32) -> Int { count > 0 ? min(Int(count), 256) : Processors.count }
}

/// `firn_scan` of `firn.h`.
@_cdecl("firn_scan")
public func firnScan(
    _ table: OpaquePointer?, _ options: UnsafePointer<firn_scan_options>?, _ out: UnsafeMutablePointer<ArrowArrayStream>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let table = try CTable.reading(table, "table")
        guard let out else { throw FirnError(.usage, "the stream is NULL") }
        var request = try table.request(options)
        let rows = try table.arrowRows(request.columns, coded: request.coded, viewed: request.viewed), kept = rows.positions
        guard kept.count < request.columns.count else { return try export(table, request, rows, out) }
        // Columns that Arrow cannot hold are not read.
        let all = request
        request.columns = kept.map { all.columns[$0] }
        request.coded = Set(kept.indices.filter { all.coded.contains(kept[$0]) })
        request.viewed = Set(kept.indices.filter { all.viewed.contains(kept[$0]) })
        try export(table, request, try table.arrowRows(request.columns, coded: request.coded, viewed: request.viewed), out)
    }
}

private func export(
    _ table: CTable, _ request: ScanRequest, _ rows: ArrowRows, _ out: UnsafeMutablePointer<ArrowArrayStream>
) throws(FirnError) {
    let path = table.path
    var request = request
    request.numbers = rows.numbers
    let scan = try TableScan<ArrowRecord>(table.table, request, path: path) { (read, threads) throws(FirnError) in
        try rows.records(read, threads: threads, name: path)
    }
    StreamState.export(to: out, rows: { rows }) { () throws(FirnError) in try scan.next() }
}
