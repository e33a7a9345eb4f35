import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// A column that a prediction refers to.
struct PredictionSource {
    enum Numbers {
        case integers(IntegersReader)
        case reals(FloatsReader, NumberForm)
    }

    var numbers: Numbers
    var present: BooleansReader?
    /// If the column is a map: where its rows find the numbers, which are those of its entries then.
    var entries: MappedNumbers?

    /// Writes the numbers of the rows of a vector, 0 where there is none. `out` has space for 1,024.
    func decode(vector: Int, count: Int, into out: inout [Int64]) throws(Damage) {
        if let entries {
            try entries.decode(vector: vector, count: count, of: self, into: &out)
        } else {
            try decodeStream(vector: vector, count: count, into: &out)
        }
        guard let bits = try ChunkReader.bits(present, vector: vector, count: count) else { return }
        for i in 0..<count where !bits[i] { out[i] = 0 }
    }

    /// Writes `count` numbers of the stream.
    fileprivate func decodeStream(vector: Int, count: Int, into out: inout [Int64]) throws(Damage) {
        switch numbers {
        case .integers(let integers):
            try ChunkReader.fill(&out, vectorSize) { (out) throws(Damage) in try integers.decode(vector: vector, into: out) }
        case .reals(let reals, let form):
            let doubles: [Double] = try Array(count: vectorSize) { (out) throws(Damage) in
                out.update(repeating: 0, count: vectorSize)
                try reals.decode(vector: vector, into: out)
            }
            for i in 0..<count { out[i] = form.integer(doubles[i]) ?? 0 }
        }
    }

    func number(at row: Int) throws(Damage) -> Int64 {
        if let present, !(try present.value(at: row)) { return 0 }
        guard let entries else { return try numberInStream(at: row) }
        return try entries.number(at: row, of: self)
    }

    fileprivate func numberInStream(at index: Int) throws(Damage) -> Int64 {
        switch numbers {
        case .integers(let integers): return try integers.value(at: index)
        case .reals(let reals, let form): return form.integer(try reals.value(at: index)) ?? 0
        }
    }
}

/// The entries of a map to which a prediction refers.
final class MappedNumbers: Sendable {
    private let relation: RelationReader
    private let present: BooleansReader?
    private let memory: MemoryScope
    /// The numbers of all entries, after the first use.
    private let decoded = Mutex<Column?>(nil)

    init(_ relation: RelationReader, present: BooleansReader?, memory: MemoryScope) {
        (self.relation, self.present, self.memory) = (relation, present, memory)
    }

    /// Returns the numbers of all entries, 0 where there is none.
    private func all(_ source: PredictionSource) throws(Damage) -> Column {
        if let known = decoded.withLock({ $0 }) { return known }
        let total = relation.relation.entries
        var column = Column(ColumnType(.int)), part = [Int64](repeating: 0, count: vectorSize)
        try column.hold(memory, adding: total * 8)
        for vector in 0..<(total + vectorSize - 1) / vectorSize {
            let count = min(vectorSize, total - vector * vectorSize)
            try source.decodeStream(vector: vector, count: count, into: &part)
            if let bits = try ChunkReader.bits(present, vector: vector, count: count) {
                for i in 0..<count where !bits[i] { part[i] = 0 }
            }
            column.words += part[..<count]
        }
        column.count = total
        decoded.withLock { $0 = column }
        return column
    }

    func decode(vector: Int, count: Int, of source: PredictionSource, into out: inout [Int64]) throws(Damage) {
        let entries = try all(source)
        try ChunkReader.fill(&out, vectorSize) { (out) throws(Damage) in
            out.update(repeating: 0, count: vectorSize)
            try relation.entries(ofVector: vector, count: count, into: out)
        }
        for i in 0..<count { out[i] = entries.words[Int(out[i])] }
    }

    func number(at row: Int, of source: PredictionSource) throws(Damage) -> Int64 {
        guard let entry = try relation.entry(at: row) else { return 0 }
        if let present, !(try present.value(at: entry)) { return 0 }
        return try source.numberInStream(at: entry)
    }
}

/// Finds the numbers of the rows of a chunk that stores differences from a prediction. Untrusted bytes lead to `Damage`.
final class PredictionReader: Sendable {
    let prediction: Prediction
    /// The differences, one for each row.
    let differences: IntegersReader
    private let rowCount: Int
    private let sources: [PredictionSource]
    private let exceptions: ExceptionRows
    /// The doubles of the exceptions.
    private let exceptionValues: FloatsReader?
    /// The validity of the rows.
    private let present: BooleansReader?
    private let memory: MemoryScope
    /// The numbers of the block that was read last.
    private let block = Mutex<(index: Int, numbers: Column)?>(nil)

    /// The streams of the chunk, apart from the head of the prediction.
    struct Streams {
        var differences: UnsafeRawBufferPointer
        var exceptions: UnsafeRawBufferPointer?
        var present: BooleansReader?
    }

    /// `open` opens the columns that the chunk refers to.
    init(
        _ bytes: UnsafeRawBufferPointer, _ streams: Streams, rowCount: Int, memory: MemoryScope,
        open: (Prediction) throws(Damage) -> [PredictionSource]
    ) throws(Damage) {
        var tail = UnsafeRawBufferPointer(start: nil, count: 0)
        prediction = try Prediction(bytes, rowCount: rowCount, positions: &tail)
        exceptions = try ExceptionRows(tail, count: prediction.exceptions, rowCount: rowCount)
        differences = try IntegersReader(streams.differences, count: rowCount)
        guard (prediction.exceptions > 0) == (streams.exceptions != nil) else { throw Damage("the exceptions of a prediction are missing") }
        let count = prediction.exceptions
        exceptionValues = try streams.exceptions.map { (bytes) throws(Damage) in try FloatsReader(bytes, count: count) }
        present = streams.present
        self.rowCount = rowCount
        self.memory = memory
        sources = try open(prediction)
    }

    /// Replaces `out` by at least the numbers of the rows of a vector; those of rows without a value, and of exceptions, are any.
    func decode(vector: Int, count: Int, into out: inout [Int64]) throws(Damage) {
        switch prediction.rule {
        case .linear(let terms, let shift, let constant):
            try ChunkReader.fill(&out, vectorSize) { (out) throws(Damage) in try differences.decode(vector: vector, into: out) }
            var sums = [Int64](repeating: constant, count: count), numbers = [Int64](repeating: 0, count: vectorSize)
            for (term, source) in zip(terms, sources) {
                try source.decode(vector: vector, count: count, into: &numbers)
                for i in 0..<count { sums[i] &+= term.factor &* numbers[i] }
            }
            for i in 0..<count { out[i] &+= sums[i] &>> Int64(shift) }
        case .product(let terms, let scale, let offset):
            try ChunkReader.fill(&out, vectorSize) { (out) throws(Damage) in try differences.decode(vector: vector, into: out) }
            var product = Product(count: count), numbers = [Int64](repeating: 0, count: vectorSize)
            for (term, source) in zip(terms, sources) {
                try source.decode(vector: vector, count: count, into: &numbers)
                product.take(numbers, term)
            }
            product.forEach(scale: scale, offset: offset, form: prediction.form) { out[$0] &+= $1 }
        case .last(_, let keys, let block, _):
            let size = Prediction.blockRows(block), first = vector * vectorSize
            let column = try numbers(ofBlock: first / size, rows: size, keys: keys), start = first % size
            out = Array(column.words[start..<start + count])
        }
    }

    /// Returns the number of a row.
    func number(at row: Int) throws(Damage) -> Int64 {
        switch prediction.rule {
        case .linear(let terms, let shift, let constant):
            var sum = constant
            for (term, source) in zip(terms, sources) { sum &+= term.factor &* (try source.number(at: row)) }
            return try differences.value(at: row) &+ (sum &>> Int64(shift))
        case .product(let terms, let scale, let offset):
            var product = Product(count: 1), number = try differences.value(at: row)
            for (term, source) in zip(terms, sources) { product.take([try source.number(at: row)], term) }
            product.forEach(scale: scale, offset: offset, form: prediction.form) { number &+= $1 }
            return number
        case .last(_, let keys, let block, _):
            let size = Prediction.blockRows(block)
            return try numbers(ofBlock: row / size, rows: size, keys: keys).words[row % size]
        }
    }

    /// Replaces integers by the doubles that they stand for, with the exceptions among them.
    func doubles(_ numbers: [Int64], form: NumberForm, vector: Int, count: Int) throws(Damage) -> [Double] {
        var out = form.doubles(Array(numbers.prefix(count)))
        let first = vector * vectorSize
        try exceptions.forEach(in: first..<first + count) { (row, index) throws(Damage) in
            out[row - first] = try exceptionValues?.value(at: index) ?? 0
        }
        return out
    }

    /// Returns the double of a row.
    func double(at row: Int, form: NumberForm) throws(Damage) -> Double {
        if let index = try exceptions.index(of: row) { return try exceptionValues?.value(at: index) ?? 0 }
        return form.double(try number(at: row))
    }

    // MARK: The last number in a group

    private func numbers(ofBlock index: Int, rows size: Int, keys: Int) throws(Damage) -> Column {
        if let known = block.withLock({ $0 }), known.index == index { return known.numbers }
        let rows = index * size..<min((index + 1) * size, rowCount)
        var column = Column(ColumnType(.int))
        try column.hold(memory, adding: rows.count * 8 + keys * 9)
        column.count = rows.count
        column.words = try chained(rows, keys: keys)
        block.withLock { $0 = (index, column) }
        return column
    }

    /// Returns the numbers of the rows of a block.
    private func chained(_ rows: Range<Int>, keys: Int) throws(Damage) -> [Int64] {
        guard case .last(_, _, _, let start) = prediction.rule, case .integers(let codes)? = sources.first?.numbers else { return [] }
        var chains = GroupChains(keys: keys, start: start)
        var out: [Int64] = []
        out.reserveCapacity(rows.count)
        var part = [Int64](repeating: 0, count: vectorSize), groups = part
        for vector in rows.lowerBound / vectorSize..<(rows.upperBound + vectorSize - 1) / vectorSize {
            let first = vector * vectorSize, count = min(vectorSize, rowCount - first)
            try ChunkReader.fill(&part, vectorSize) { (out) throws(Damage) in try differences.decode(vector: vector, into: out) }
            try ChunkReader.fill(&groups, vectorSize) { (out) throws(Damage) in try codes.decode(vector: vector, into: out) }
            if let bits = try ChunkReader.bits(sources[0].present, vector: vector, count: count) {
                for i in 0..<count where !bits[i] { groups[i] = Int64(keys - 1) }
            }
            for i in 0..<count {
                guard groups[i] >= 0, groups[i] < keys else { throw Damage("a relation has no entry for a code of the other column") }
            }
            var skipped = Bits(repeating: false, count: count)
            if let bits = try ChunkReader.bits(present, vector: vector, count: count) {
                for i in 0..<count where !bits[i] { skipped[i] = true }
            }
            try exceptions.forEach(in: first..<first + count) { (row, _) in skipped[row - first] = true }
            chains.resolve(&part, groups: groups, skipped: skipped, count: count)
            out += part[..<count]
        }
        return out
    }
}

/// The last number of each group of rows, from the first row of a block on.
struct GroupChains {
    private var last: [Int64]
    private var isKnown: [Bool]
    /// The number of the last row that was the first of its group.
    private var lastFirst: Int64

    init(keys: Int, start: Int64) {
        last = Array(repeating: 0, count: keys)
        isKnown = Array(repeating: false, count: keys)
        lastFirst = start
    }

    /// Returns the number that is predicted for a row, and makes `number(predicted)` the last one of its group.
    @inline(__always)
    private mutating func advance(_ group: Int, _ number: (_ predicted: Int64) -> Int64) {
        if isKnown[group] {
            last[group] = number(last[group])
        } else {
            lastFirst = number(lastFirst)
            last[group] = lastFirst
            isKnown[group] = true
        }
    }

    /// Replaces differences by numbers, row by row. Skipped rows take no part. Groups are below the number of keys.
    mutating func resolve(_ differences: inout [Int64], groups: [Int64], skipped: Bits, count: Int) {
        let skips = !skipped.noneSet
        for i in 0..<count where !skips || !skipped[i] {
            advance(Int(truncatingIfNeeded: groups[i])) { predicted in
                differences[i] &+= predicted
                return differences[i]
            }
        }
    }

    /// Replaces numbers by differences from the numbers that are predicted for them, row by row.
    mutating func differ(_ numbers: inout [Int64], groups: [Int64], skipped: Bits, rows: Range<Int>) {
        let skips = !skipped.noneSet
        for i in rows where !skips || !skipped[i] {
            let number = numbers[i]
            advance(Int(truncatingIfNeeded: groups[i])) { predicted in
                numbers[i] = number &- predicted
                return number
            }
        }
    }
}
