import FirnCodecs

/// Products and quotients of the numbers of other columns, row by row, from which numbers are predicted
/// (`docs/format/model.md`, "Predicted numbers").
struct Product {
    private var results: [Double]

    init(count: Int) { results = Array(repeating: 1, count: count) }

    /// Multiplies the results by the numbers of a column, or divides them. `numbers` has at least one for each row.
    mutating func take(_ numbers: [Int64], _ term: Prediction.Term) {
        let count = results.count
        guard numbers.count >= count else { return }
        switch (term.form == nil, term.factor > 0) {
        case (true, true): for i in 0..<count { results[i] *= Double(numbers[i]) }
        case (true, false): for i in 0..<count { results[i] /= Double(numbers[i]) }
        case (false, true): for i in 0..<count { results[i] *= NumberForm.double(ordered: numbers[i]) }
        case (false, false): for i in 0..<count { results[i] /= NumberForm.double(ordered: numbers[i]) }
        }
    }

    /// Calls `body` with the predicted number of each row. `form` is that of the predicted column.
    @inline(__always)
    func forEach(scale: Double, offset: Double, form: NumberForm?, _ body: (_ row: Int, _ number: Int64) -> Void) {
        for i in results.indices {
            let result = results[i] * scale + offset
            body(i, form.map { $0.nearest(result) } ?? NumberForm.rounded(result))
        }
    }
}
