import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// The next run of rows: of a vector, of found rows, or of the candidates of an index.
extension SQLCursor {
    func nextChunk() throws(FirnError) -> Bool {
        let start = chunk.upperBound
        if start == positions.count, isPartial {
            isPartial = false
            try findInOrder(nil)
        }
        guard start < positions.count else { return false }
        chunk = start..<min(start + chunkSize, positions.count)
        chunkSize = min(chunkSize * 4, segmentSize)
        found = nil
        rows.pointee.rows = nil
        rows.pointee.count = Int32(chunk.count)
        return true
    }

    /// Takes the next rows of one vector.
    func nextKept() -> Bool {
        let start = chunk.upperBound
        guard start < positions.count else { return false }
        let first = positions[start], number = first / UInt64(vectorSize)
        var end = start
        while end < positions.count, end - start < vectorSize, positions[end] / UInt64(vectorSize) == number {
            chosen[end - start] = Int32(positions[end] % UInt64(vectorSize))
            end += 1
        }
        chunk = start..<end
        hand(chunk.count, ofVector: numbers!.number(ofPosition: first), isLast: end == positions.count)
        return true
    }

    /// Takes the next candidates of one vector.
    func nextCandidates() -> Bool {
        guard var matches = candidates, matches.at < matches.end else { return false }
        let number = Int(matches.at.pointee.spot) / vectorSize
        var count = 0
        repeat {
            chosen[count] = Int32(truncatingIfNeeded: Int(matches.at.pointee.spot) % vectorSize)
            count &+= 1
            matches.at += 1
            matches.skip()
        } while matches.at < matches.end && Int(matches.at.pointee.spot) / vectorSize == number
        candidates = matches
        hand(count, ofVector: number, isLast: matches.at == matches.end)
        return true
    }

    private func hand(_ count: Int, ofVector number: Int, isLast: Bool) {
        vectors!.trim()
        rows.pointee.rows = UnsafePointer(chosen)
        rows.pointee.count = Int32(count)
        rows.pointee.kept = UnsafePointer(vectors!.columns)
        rows.pointee.vector = Int64(number)
        rows.pointee.is_last = isLast
    }

    func nextVector(_ run: QueryRun?) throws(FirnError) -> Bool {
        while true {
            if segment < 0 || vector >= reader.segment?.vectorCount ?? 0 {
                segment += 1
                guard segment < table.table.segmentCount else { return false }
                do throws(Damage) { try reader.move(to: segment) } catch { throw table.damaged(error) }
                vector = 0
                matches = reader.segment?.live
                if let run {
                    matches = try run.matches(ofSegment: segment)
                    table.work.add(run.statistics, since: &seen)
                }
                continue
            }
            let count = choose(vector, of: reader.segment!)
            vector += 1
            if count > 0 {
                rows.pointee.count = Int32(count)
                found = nil
                isFound = count <= 2
                if isFound {
                    // For so few rows, single values are decoded instead of vectors.
                    let first = UInt64(segment) << 32 | UInt64((vector - 1) * vectorSize)
                    positions = (0..<count).map { first + UInt64(rows.pointee.rows![$0]) }
                    chunk = 0..<count
                    rows.pointee.rows = nil
                }
                return true
            }
        }
    }

    /// Selects the matching rows of a vector, and returns their number.
    private func choose(_ vector: Int, of segment: any Segment) -> Int {
        let total = segment.rows(ofVector: vector).count
        var count = 0
        if let matches {
            for w in vector * vectorSize / 64..<min((vector + 1) * vectorSize / 64, matches.words.count) {
                var rest = matches.words[w]
                let base = Int32(truncatingIfNeeded: (w &* 64) &- (vector &* vectorSize))
                while rest != 0 {
                    chosen[count] = base &+ Int32(truncatingIfNeeded: rest.trailingZeroBitCount)
                    count &+= 1
                    rest &= rest &- 1
                }
            }
        } else {
            count = total
            for row in 0..<total { chosen[row] = Int32(truncatingIfNeeded: row) }
        }
        rows.pointee.rows = UnsafePointer(chosen)
        return count
    }
}
