import CSimdJSON
import FirnModel

/// Says of each row whether it goes in, the same in both readings where rows are set aside. One thread at a time, for the tapes of one parser.
final class RowScreen {
    /// Nil: the columns are inferred.
    let fit: Fit?
    /// Rows that are no objects do not go in.
    var takesObjectsOnly: Bool
    /// Rows that do not go in are set aside, and so anything that would end the reading must be found here.
    let setsAside: Bool
    private let hasLinks: Bool
    private let values: TapeValues

    init(_ parser: JSONParser, _ given: GivenRows?, isBare: Bool, _ options: JSONOptions) {
        values = TapeValues(parser)
        fit = given.map { Fit(parser, $0, isBare: isBare, keepsSpelling: options.isLossless) }
        takesObjectsOnly = given != nil && !isBare
        setsAside = options.rejects != nil
        hasLinks = given?.hasLinksToRows ?? false
    }

    /// Whether the first reading has said all: nothing is set aside, and what links lead to was known.
    var isDone: Bool { !setsAside && !hasLinks }

    /// Nil where all rows are taken as they come.
    static func needed(_ parser: JSONParser, _ given: GivenRows?, isBare: Bool, _ options: JSONOptions) -> RowScreen? {
        given == nil && options.rejects == nil ? nil : RowScreen(parser, given, isBare: isBare, options)
    }

    func misfit(_ tape: Tape, _ index: Int) -> Fit.Misfit? {
        let items = tape.items
        if takesObjectsOnly, items[index].tag != Tag.object {
            return .init(item: index, message: "expected an object, found \(Fit.found(items[index]))")
        }
        if let misfit = fit?.misfit(items, index) { return misfit }
        guard setsAside else { return nil }
        if let item = values.unfitNumber(items, index) { return .init(item: item, message: JSONReader.unfitNumber) }
        if tape.isDeep, let item = values.item(atLevel: Value.deepest + 1, of: items, index) { return .init(item: item, message: JSONReader.tooDeep) }
        return nil
    }

    /// What the screens of several lanes saw come back in another spelling.
    static func respellings(_ screens: [RowScreen]) -> [String] {
        let lists = screens.compactMap { $0.fit?.respelled }
        guard let first = lists.first else { return [] }
        return first.indices.compactMap { i in
            let count = lists.reduce(0) { $0 + $1[i].count }
            return count == 0 ? nil : "column \"\(first[i].path)\": \(count) \(count == 1 ? "value comes" : "values come") back in another spelling"
        }
    }
}
