import FirnBytes
import FirnTable

/// A column of a sample of rows: how much its values may take, and their numbers.
struct ColumnSketch {
    private(set) var classes: ColumnClasses
    /// The number of rows of the sample.
    let rows: Int
    /// The information of a value, in bits.
    let information: Double
    /// About how many bits a row takes: less than the information if values repeat in consecutive rows.
    let cost: Double
    /// The number of distinct values in a sample that are expected in all rows.
    let expectedDistinct: Double

    /// `rows` is the number of rows of the segment. The sample consists of blocks of consecutive rows.
    init?(_ column: Column, rows: Int) {
        let count = column.count
        guard count > 0, let classes = ColumnClasses(column, limit: .max) else { return nil }
        self.classes = classes
        self.rows = count
        var counts = [Int](repeating: 0, count: classes.count + 1), changes = 0, tests = 0
        for i in 0..<count {
            counts[classes.ids[i] < 0 ? classes.count : Int(classes.ids[i])] += 1
            if i % RelationSearch.block != 0 {
                tests += 1
                if classes.ids[i] != classes.ids[i - 1] { changes += 1 }
            }
        }
        var information = 0.0
        for n in counts where n > 0 { information += Double(n) * (logarithm(Double(count)) - logarithm(Double(n))) }
        information /= Double(count)
        self.information = information
        let rate = tests == 0 ? 1 : Double(changes) / Double(tests)
        let runs = rate * (2 + information) + (rate > 0 ? rate * -logarithm(rate) : 0)
        cost = min(information, runs)
        let singles = Double(counts.count(where: { $0 == 1 })), pairs = Double(max(counts.count(where: { $0 == 2 }), 1))
        let unseen = count >= rows ? 0 : min(singles * singles / (2 * pairs), singles / Double(count) * Double(rows - count))
        expectedDistinct = Double(classes.count) + unseen
    }

    /// The sketch without the numbers of its rows.
    var withoutRows: ColumnSketch {
        var sketch = self
        sketch.classes.forgetRows()
        return sketch
    }

    /// Whether other columns may follow from this one: its values repeat.
    var canBeSource: Bool { classes.count >= 2 && classes.count * 10 <= rows * 9 }

    /// Whether it may follow from other columns: it is not constant, and takes bytes.
    var canBeTarget: Bool { classes.count + (classes.hasNulls ? 1 : 0) >= 2 && cost > 0.02 }
}

/// The binary logarithm, interpolated linearly between powers of two: the same on every machine.
func logarithm(_ x: Double) -> Double { x <= 0 ? 0 : Double(x.exponent) + x.significand - 1 }

/// Looks for pairs of columns in which one value determines another one, in a sample of a segment. What it finds must be verified.
struct RelationSearch {
    /// The sample is made of blocks of so many rows.
    static let block = 4
    static let maximumSample = 2048
    /// At most so many columns are tried as the column that others follow from, so that wide types do not take quadratic time.
    static let maximumSources = 64
    /// At most so many pairs are verified for one column.
    static let maximumCandidates = 3
    /// The rows of the samples of at most so many columns are kept. Those of wider types would take tens of megabytes: they are numbered
    /// again when they are compared.
    static let maximumKept = 1024

    struct Candidate {
        var source: Int
        var target: Int
        /// The bits that it may save in the segment.
        var gain: Double
    }

    static func sample(rows: Int) -> [Int] {
        guard rows > maximumSample else { return Array(0..<rows) }
        let blocks = maximumSample / block
        return (0..<blocks).flatMap { k -> [Int] in
            // Blocks at irregular distances, so that a period in the rows does not hide values.
            let room = rows / blocks, hash = UInt64(k) &* 0x9E37_79B9_7F4A_7C15
            let start = min(k * room + Int(hash >> 33) % max(room - block, 1), rows - block)
            return Array(start..<start + block)
        }
    }

    /// Returns the columns that may be the ones that others follow from.
    static func sources(_ sketches: [ColumnSketch?], canBeSource: [Bool]) -> [Int] {
        let all = sketches.indices.filter { column in
            canBeSource[column] && sketches[column]?.canBeSource ?? false
        }
        guard all.count > maximumSources else { return all }
        return all.sorted { (sketches[$0]!.classes.count, $1) > (sketches[$1]!.classes.count, $0) }.prefix(maximumSources).sorted()
    }

    /// Returns the best candidates for a column, best first. `sketch` is the one of the column.
    static func candidates(for target: Int, _ sketch: ColumnSketch, sources: [(column: Int, sketch: ColumnSketch)], rows: Int)
        -> [Candidate]
    {
        var found: [Candidate] = []
        for (source, other) in sources where source != target {
            guard other.classes.count * 2 >= sketch.classes.count, let errors = errors(sketch.classes, other.classes) else { continue }
            let exceptions = errors * (2 + sketch.information + logarithm(1 / max(errors, 1e-6)))
            let after = Double(rows) * exceptions + other.expectedDistinct * sketch.information
            let gain = Double(rows) * sketch.cost - after
            if gain > Double(rows) * sketch.cost * 0.1, gain > 256 { found.append(Candidate(source: source, target: target, gain: gain)) }
        }
        found.sort { ($0.gain, $1.source) > ($1.gain, $0.source) }
        return Array(found.prefix(maximumCandidates))
    }

    /// Returns the share of rows in which the value of the target is not the one that the value of the source had before; nil if it is
    /// large or not known.
    static func errors(_ target: ColumnClasses, _ source: ColumnClasses) -> Double? {
        var first = [Int32](repeating: -2, count: source.count + 1), repeats = 0, misses = 0
        for i in target.ids.indices {
            let a = source.ids[i] < 0 ? source.count : Int(source.ids[i]), b = target.ids[i]
            if first[a] == -2 {
                first[a] = b
                continue
            }
            repeats &+= 1
            if first[a] != b {
                misses &+= 1
                // The last value becomes the expected one: an exception then costs two misses, not all that follow.
                first[a] = b
                if misses &* 5 > repeats &* 2 &+ 60 { return nil }
            }
        }
        guard repeats >= 24, misses &* 5 <= repeats &* 2 else { return nil }
        return Double(misses) / Double(repeats) / 2
    }
}
