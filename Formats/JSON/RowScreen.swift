import CSimdJSON
import FirnTable

/// Decides for each row whether it is accepted. If rows can be rejected, both readings decide the same. Only one thread at a time may use
/// it, for the tapes of one parser.
final class RowScreen {
    /// Nil if the columns are inferred.
    let fit: Fit?
    /// Whether rows that are not objects are rejected.
    var takesObjectsOnly: Bool
    /// Whether rejected rows are collected. Then everything that would end the reading must be found here.
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

    /// Whether the second reading needs no screen: no rows are rejected, and links need no check against the number of rows.
    var isDone: Bool { !setsAside && !hasLinks }

    /// Returns nil if all rows are accepted unchecked.
    static func needed(_ parser: JSONParser, _ given: GivenRows?, isBare: Bool, _ options: JSONOptions) -> RowScreen? {
        given == nil && options.rejects == nil ? nil : RowScreen(parser, given, isBare: isBare, options)
    }

    func misfit(_ tape: Tape, _ index: Int) -> Fit.Misfit? {
        let items = tape.items
        if takesObjectsOnly, items[index].tag != TapeTag.object {
            return .init(item: index, message: "expected an object, found \(Fit.found(items[index]))")
        }
        if let misfit = fit?.misfit(items, index) { return misfit }
        guard setsAside else { return nil }
        if let item = values.unfitNumber(items, index) { return .init(item: item, message: JSONReader.unfitNumber) }
        if tape.isDeep, let item = values.item(atLevel: Value.maximumDepth + 1, of: items, index) {
            return .init(item: item, message: JSONReader.tooDeep)
        }
        return nil
    }

    /// Returns a remark for each column in which the screens of several lanes found texts that are written differently.
    static func respellings(_ screens: [RowScreen]) -> [String] {
        let lists = screens.compactMap { $0.fit?.respelled }
        guard let first = lists.first else { return [] }
        return first.indices.compactMap { i in
            let count = lists.reduce(0) { $0 + $1[i].count }
            return count == 0
                ? nil : "column \"\(first[i].path)\": \(count) \(count == 1 ? "value is" : "values are") written back differently"
        }
    }
}
