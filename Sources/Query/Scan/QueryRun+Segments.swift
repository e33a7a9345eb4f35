import FirnBytes
import FirnTable

extension QueryRun {
    /// Returns the segments in which the filter can match a row, as far as zones and Bloom filters tell; no column is read. A segment for
    /// which the filter needs more than these is one of them.
    package func possibleSegments() -> [Int] {
        let scanner = Scanner(plan: plan, table: whole, source: scanner.source)
        var scan: SegmentScan?
        return (0..<whole.segmentCount).filter { index in
            do throws(FirnError) {
                let current = try scanner.scan(index, reusing: scan)
                scan = current
                return try plan.filter.verdict(current, nil) != .none
            } catch {
                // The reading of the rows reports the error.
                return true
            }
        }
    }
}
