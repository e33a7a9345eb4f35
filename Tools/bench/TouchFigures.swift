import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `firn-bench touch FILE all|sums checked|unchecked cached|cold`: measures the first read of a file in a process, on one thread, with and
/// without checking the hashes of extents. `all` decodes every vector of every column; `sums` computes only the sums of numbers, which is
/// the minimum work of a scan. With `cold`, the file is first dropped from the system's cache. Each process measures once;
/// `Tools/bench/touch.py` runs many in turn.
enum TouchFigures {
    static func run(_ words: [String]) throws(FirnError) {
        guard words.count == 4, ["all", "sums"].contains(words[1]), ["checked", "unchecked"].contains(words[2]),
            ["cached", "cold"].contains(words[3])
        else {
            throw FirnError(.usage, "touch FILE all|sums checked|unchecked cached|cold", at: nil)
        }
        let path = words[0]
        try prepare(path, isCold: words[3] == "cold")
        let start = Machine.seconds, processor = processorSeconds()
        let snapshot = try Database.open(path: path, reading: words[2] == "checked" ? .mapped : .mappedUnchecked).snapshot()
        var rows = 0
        do throws(Damage) {
            for table in snapshot.tables { rows += try scan(table, decodesAll: words[1] == "all") }
        } catch { throw .damaged(path, what: error.what, byte: error.offset) }
        print("touch.wall \((Machine.seconds - start) * 1e3) ms")
        print("touch.processor \((processorSeconds() - processor) * 1e3) ms")
        print("# \(rows) rows")
    }

    private static func scan(_ table: StoredTable, decodesAll: Bool) throws(Damage) -> Int {
        var rows = 0
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            rows += segment.rowCount
            for index in table.type.columns.indices {
                let column = try segment.storedColumn(index)
                guard decodesAll || column.type.kind == .int || column.type.kind == .double, !column.type.isCollection else { continue }
                var room = Column(column.type)
                for vector in 0..<segment.vectorCount {
                    if !decodesAll, case let sum = try column.sum(vector: vector), !sum.isMissing { continue }
                    try column.read(vector: vector, into: &room)
                }
            }
        }
        return rows
    }

    /// Brings the file into the system's cache, or drops it from there.
    private static func prepare(_ path: String, isCold: Bool) throws(FirnError) {
        let file = try File(path: path, .read)
        if isCold {
            fsync(file.descriptor)
            posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED)
        } else {
            _ = try file.readAll()
        }
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

extension VectorSum {
    fileprivate var isMissing: Bool { if case .notDone = self { true } else { false } }
}
