import FirnBytes
import FirnCSV
import FirnExchange

/// Inputs that are compared without making rows of all their records.
extension FormatShelf {
    /// The rows that only one of two inputs has, and the number of rows that both have.
    struct Pair {
        let old: any BatchReader
        let new: any BatchReader
        let equalRows: Int
    }

    /// An input at its beginning, and the name of its type.
    typealias Part = (input: Input, typeName: String)

    /// Compares the records of two CSV inputs (`CSVPair`). Returns nil for other formats, and if something needs a closer look; then the inputs
    /// must be opened again.
    static func pair(
        _ old: Part, _ new: Part, key: [String], _ options: ReadingOptions, limit: Int, progress: Progress
    ) throws(FirnError) -> Pair? {
        let sources = try [old, new].map { (part) throws(FirnError) -> CSVPair.Source? in
            let first = try part.input.peek(8192), format = options.format ?? FormatName.detect(path: part.input.path, firstBytes: first)
            guard format == .csv || format == .tsv else { return nil }
            return CSVPair.Source(part.input, try csvOptions(options, format, part.typeName, nil, progress))
        }
        guard let oldSource = sources[0], let newSource = sources[1],
            let pair = try CSVPair(old: oldSource, new: newSource, key: key, limit: limit)
        else { return nil }
        return Pair(old: pair.old, new: pair.new, equalRows: pair.equalRows)
    }
}
