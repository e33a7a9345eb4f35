/// `SORT(…)`, `DISTINCT(…)` and `LIMIT(…)` after a predicate.
extension Parser {
    mutating func descriptor(_ word: String) throws(QueryError) -> DescriptorSyntax {
        advance()
        advance()
        let descriptor: DescriptorSyntax
        switch word {
        case "sort":
            var keys: [SortKeySyntax] = []
            repeat {
                let path = try path(quantifier: nil)
                let ascending: Bool
                switch lenientKeyword {
                case "asc", "ascending": ascending = true
                case "desc", "descending": ascending = false
                default: throw unexpected("ASC or DESC", among: ["ASC", "DESC", "ASCENDING", "DESCENDING"])
                }
                advance()
                keys.append(SortKeySyntax(path, ascending: ascending))
            } while take(",")
            descriptor = .sort(keys)
        case "distinct":
            var paths: [PathSyntax] = []
            repeat { paths.append(try path(quantifier: nil)) } while take(",")
            descriptor = .distinct(paths)
        default:
            guard case .number(let digits) = peek, let count = Int(digits) else { throw unexpected("a natural number") }
            advance()
            descriptor = .limit(count)
        }
        try expect(")", "\")\"")
        return descriptor
    }
}
