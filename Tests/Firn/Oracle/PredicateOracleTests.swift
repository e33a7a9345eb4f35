import FirnDatabase
import FirnKit
import FirnOracle
import FirnQuery
import FirnTable
import Foundation
import Testing

@testable import Firn

/// A predicate of Foundation's macro, and the tree that it should be translated to.
private struct MacroPiece {
    let macro: Predicate<Oak>
    let tree: PredicateSyntax

    /// Takes the query as text, with constants in place of `%`.
    init(_ text: String, _ constants: [any _Element] = [], _ macro: Predicate<Oak>) {
        self.macro = macro
        var parts = text.components(separatedBy: "%"), said = parts.removeFirst()
        for (constant, part) in zip(constants, parts) { said += "\(ConstantSyntax(literal: constant._stored(in: nil).value))" + part }
        do { tree = try Parser.query(said).predicate } catch { fatalError("\(said): \(error)") }
    }
}

/// Foundation's `#Predicate`: random values in predicates of every form. Two of them are combined only by filtering the results of the
/// other.
@Suite struct PredicateOracleTests {
    private typealias Form = @Sendable (inout Random) -> MacroPiece
    private static let forms: [Form] = numbers + texts + others + collections + joined

    private static let numbers: [Form] = [
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("int == %", [x], #Predicate { $0.int == x })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("int != %", [x], #Predicate { $0.int != x })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("int < %", [x], #Predicate { $0.int < x })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("int >= %", [x], #Predicate { $0.int >= x })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.int, Int.self)(&r);
            return MacroPiece("int + % > %", [x, y], #Predicate { $0.int + x > y })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.int, Int.self)(&r);
            return MacroPiece("int * % <= %", [x, y], #Predicate { $0.int * x <= y })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.int, Int.self)(&r);
            return MacroPiece("int / % == %", [x, y], #Predicate { $0.int / x == y })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("0 - int < %", [x], #Predicate { -$0.int < x })
        },
        { r in
            let x = r.below(5) - 1, y = x + r.below(6);
            return MacroPiece("int BETWEEN {%, %}", [x, y], #Predicate { (x...y).contains($0.int) })
        },
        { r in
            let x = r.below(5) - 1, y = x + r.below(6);
            return MacroPiece("int >= % && int < %", [x, y], #Predicate { (x..<y).contains($0.int) })
        },
        { r in
            let x = maybe(.int, Int.self)(&r); return MacroPiece("optInt == %", [x], #Predicate { $0.optInt == x })
        },
        { r in
            let x = maybe(.int, Int.self)(&r); return MacroPiece("optInt != %", [x], #Predicate { $0.optInt != x })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece("optInt != NULL && optInt > %", [x], #Predicate { $0.optInt != nil && $0.optInt! > x })
        },
        { r in
            let x = r.below(4), y = r.below(4);
            return MacroPiece(
                x > y ? "optInt == NULL || optInt > %" : "optInt != NULL && optInt > %", [y], #Predicate { ($0.optInt ?? x) > y })
        },
        { r in
            let x = r.below(4), y = r.below(4);
            return MacroPiece(
                y < x ? "optInt == NULL || optInt > %" : "optInt != NULL && optInt > %", [y], #Predicate { y < ($0.optInt ?? x) })
        },
        { r in
            let x = r.below(4), y = r.below(4);
            return MacroPiece(
                x != y ? "optInt == NULL || optInt != %" : "optInt != NULL && optInt != %", [y], #Predicate { ($0.optInt ?? x) != y })
        },
        { r in
            let x = (0..<r.below(4)).map { _ in some(.int, Int.self)(&r) }
            return MacroPiece("int IN {" + x.map { _ in "%" }.joined(separator: ", ") + "}", x, #Predicate { x.contains($0.int) })
        },
        { r in
            let x = some(.double, Double.self)(&r); return MacroPiece("double > %", [x], #Predicate { $0.double > x })
        },
        { r in
            let x = some(.double, Double.self)(&r); return MacroPiece("double == %", [x], #Predicate { $0.double == x })
        },
        { r in
            let x = some(.double, Double.self)(&r); return MacroPiece("double / % <= 1.5", [x], #Predicate { $0.double / x <= 1.5 })
        },
        { r in
            let x = some(.double, Double.self)(&r);
            return MacroPiece("double * 2.0 - % < 1.5", [x], #Predicate { $0.double * 2.0 - x < 1.5 })
        },
        { r in
            let x = maybe(.double, Double.self)(&r); return MacroPiece("optDouble != %", [x], #Predicate { $0.optDouble != x })
        },
        { r in
            let x = some(.float, Float.self)(&r); return MacroPiece("float < %", [x], #Predicate { $0.float < x })
        },
        { r in MacroPiece("int == ints.@count", [], #Predicate { $0.int == $0.ints.count }) },
        { r in MacroPiece("double > double * double", [], #Predicate { $0.double > $0.double * $0.double }) },
    ]

    private static let texts: [Form] = [
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("string == %", [x], #Predicate { $0.string == x })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("string != %", [x], #Predicate { $0.string != x })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("string < %", [x], #Predicate { $0.string < x })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("string CONTAINS %", [x], #Predicate { $0.string.contains(x) })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("string BEGINSWITH %", [x], #Predicate { $0.string.starts(with: x) })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("% CONTAINS string", [x], #Predicate { x.contains($0.string) })
        },
        { r in MacroPiece("string == ''", [], #Predicate { $0.string.isEmpty }) },
        { r in
            let x = maybe(.string, String.self)(&r); return MacroPiece("optString == %", [x], #Predicate { $0.optString == x })
        },
        { r in
            let x = some(.string, String.self)(&r);
            return MacroPiece("optString != NULL && optString CONTAINS %", [x], #Predicate { $0.optString?.contains(x) == true })
        },
        { r in
            let x = some(.string, String.self)(&r);
            return MacroPiece("optString == NULL || optString BEGINSWITH %", [x], #Predicate { $0.optString?.starts(with: x) ?? true })
        },
        { r in
            let x = some(.string, String.self)(&r);
            return MacroPiece("!(optString != NULL && !(optString CONTAINS %))", [x], #Predicate { $0.optString?.contains(x) != false })
        },
        { r in
            let x = (0..<r.below(4)).map { _ in some(.string, String.self)(&r) }
            return MacroPiece("string IN {" + x.map { _ in "%" }.joined(separator: ", ") + "}", x, #Predicate { x.contains($0.string) })
        },
    ]

    private static let others: [Form] = [
        { r in MacroPiece("bool == true", [], #Predicate { $0.bool }) },
        { r in MacroPiece("!(bool == true) || int > 1", [], #Predicate { !$0.bool || $0.int > 1 }) },
        { r in
            let x = maybe(.bool, Bool.self)(&r); return MacroPiece("optBool == %", [x], #Predicate { $0.optBool == x })
        },
        { r in
            let x = r.bool(); return MacroPiece("bool == %", [x], #Predicate { $0.bool == x })
        },
        { r in
            let x = some(.date, Date.self)(&r); return MacroPiece("date > %", [x], #Predicate { $0.date > x })
        },
        { r in
            let x = maybe(.date, Date.self)(&r); return MacroPiece("optDate != %", [x], #Predicate { $0.optDate != x })
        },
        { r in
            let x = some(.uuid, UUID.self)(&r); return MacroPiece("uuid == %", [x], #Predicate { $0.uuid == x })
        },
        { r in
            let x = some(.data, Data.self)(&r); return MacroPiece("data == %", [x], #Predicate { $0.data == x })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "bool == true && int > % || !(bool == true) && double < 1.0", [x], #Predicate { $0.bool ? $0.int > x : $0.double < 1.0 })
        },
        { r in MacroPiece("next == NULL", [], #Predicate { $0.next == nil }) },
        { r in
            let x = maybe(.string, String.self)(&r); return MacroPiece("twig.name == %", [x], #Predicate { $0.twig?.name == x })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("next.int != %", [x], #Predicate { $0.next?.int != x })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("next.twig.length == %", [x], #Predicate { $0.next?.twig?.length == x })
        },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("knot.note == %", [x], #Predicate { $0.knot?.note == x })
        },
        { r in
            let x = r.bool(); return MacroPiece(x ? "TRUEPREDICATE" : "FALSEPREDICATE", [], #Predicate { _ in x })
        },
    ]

    private static let collections: [Form] = [
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("% IN ints", [x], #Predicate { $0.ints.contains(x) })
        },
        { r in MacroPiece("int IN ints", [], #Predicate { $0.ints.contains($0.int) }) },
        { r in
            let x = some(.string, String.self)(&r); return MacroPiece("% IN words", [x], #Predicate { $0.words.contains(x) })
        },
        { r in
            let x = r.below(4); return MacroPiece("ints.@count > %", [x], #Predicate { $0.ints.count > x })
        },
        { r in MacroPiece("twigs.@count == 0", [], #Predicate { $0.twigs.isEmpty }) },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("ANY ints > %", [x], #Predicate { $0.ints.contains { $0 > x } })
        },
        { r in
            let x = some(.int, Int.self)(&r); return MacroPiece("ALL ints > %", [x], #Predicate { $0.ints.allSatisfy { $0 > x } })
        },
        { r in
            let x = maybe(.string, String.self)(&r);
            return MacroPiece("ANY twigs.name == %", [x], #Predicate { $0.twigs.contains { $0.name == x } })
        },
        { r in
            let x = maybe(.string, String.self)(&r);
            return MacroPiece("SUBQUERY(twigs, $x, !($x.name == %)).@count > 0", [x], #Predicate { $0.twigs.contains { !($0.name == x) } })
        },
        { r in
            let x = maybe(.double, Double.self)(&r);
            return MacroPiece("ALL twigs.size != %", [x], #Predicate { $0.twigs.allSatisfy { $0.size != x } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(twigs, $x, $x.length > % && $x.name != NULL).@count > 0", [x],
                #Predicate { $0.twigs.contains { $0.length > x && $0.name != nil } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(twigs, $x, !($x.length > % || $x.size == NULL)).@count == 0", [x],
                #Predicate { $0.twigs.allSatisfy { $0.length > x || $0.size == nil } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece("SUBQUERY(grove, $x, $x.int > %).@count > 1", [x], #Predicate { $0.grove.filter { $0.int > x }.count > 1 })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece("SUBQUERY(grove, $x, $x.int > %).@count == 0", [x], #Predicate { $0.grove.filter { $0.int > x }.isEmpty })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = maybe(.string, String.self)(&r)
            return MacroPiece(
                "SUBQUERY(grove, $x, SUBQUERY($x.twigs, $x1, $x1.length > % && $x1.name != %).@count > 0).@count > 0", [x, y],
                #Predicate { $0.grove.contains { $0.twigs.contains { $0.length > x && $0.name != y } } })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = maybe(.string, String.self)(&r)
            return MacroPiece(
                "SUBQUERY(grove, $x, SUBQUERY($x.twigs, $x1, !($x1.length > % || $x1.name == %)).@count == 0 && $x.bool == true).@count > 0",
                [x, y],
                #Predicate { $0.grove.contains { $0.twigs.allSatisfy { $0.length > x || $0.name == y } && $0.bool } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(grove, $x, ALL $x.twigs.length > %).@count > 0", [x],
                #Predicate { $0.grove.contains { $0.twigs.allSatisfy { $0.length > x } } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(grove, $x, ANY $x.twigs.length > %).@count == grove.@count", [x],
                #Predicate { $0.grove.allSatisfy { $0.twigs.contains { $0.length > x } } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(grove, $x, !($x.optInt > % || $x.optInt == NULL)).@count == 0", [x],
                #Predicate { $0.grove.allSatisfy { $0.optInt == nil || $0.optInt! > x } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece(
                "SUBQUERY(grove, $x, % IN $x.ints).@count == grove.@count", [x], #Predicate { $0.grove.allSatisfy { $0.ints.contains(x) } })
        },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece("SUBQUERY(grove, $x, % IN $x.ints).@count > 0", [x], #Predicate { $0.grove.contains { $0.ints.contains(x) } })
        },
        { r in
            MacroPiece(
                "SUBQUERY(grove, $x, $x.int == $x.ints.@count).@count > 0", [], #Predicate { $0.grove.contains { $0.int == $0.ints.count } }
            )
        },
        { r in MacroPiece("ANY before.bool == true", [], #Predicate { $0.before.contains { $0.bool } }) },
        { r in
            let x = some(.int, Int.self)(&r);
            return MacroPiece("SUBQUERY(before, $x, !($x.int < %)).@count > 0", [x], #Predicate { $0.before.contains { !($0.int < x) } })
        },
        { r in
            let x = some(.string, String.self)(&r);
            return MacroPiece("ANY knots.note == %", [x], #Predicate { $0.knots.contains { $0.note == x } })
        },
        { r in
            let x = some(.double, Double.self)(&r);
            return MacroPiece(
                "SUBQUERY(knots, $x, $x.note != '' && ANY $x.sizes > %).@count > 0", [x],
                #Predicate { $0.knots.contains { $0.note != "" && $0.sizes.contains { $0 > x } } })
        },
    ]

    private static let joined: [Form] = [
        { r in
            let x = some(.int, Int.self)(&r), y = some(.string, String.self)(&r);
            return MacroPiece("int > % && string != %", [x, y], #Predicate { $0.int > x && $0.string != y })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.string, String.self)(&r);
            return MacroPiece("!(int > % && string != %)", [x, y], #Predicate { !($0.int > x && $0.string != y) })
        },
        { r in
            let x = maybe(.int, Int.self)(&r), y = some(.double, Double.self)(&r);
            return MacroPiece("optInt == % || double < %", [x, y], #Predicate { $0.optInt == x || $0.double < y })
        },
        { r in
            let x = maybe(.int, Int.self)(&r), y = some(.double, Double.self)(&r);
            return MacroPiece("!(optInt != % || !(double < %))", [x, y], #Predicate { !($0.optInt != x || !($0.double < y)) })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = maybe(.string, String.self)(&r)
            return MacroPiece(
                "(int < % || ANY twigs.name == %) && !(bool == true)", [x, y],
                #Predicate { ($0.int < x || $0.twigs.contains { $0.name == y }) && !$0.bool })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.string, String.self)(&r)
            return MacroPiece(
                "!(% IN ints) && (string CONTAINS % || next == NULL)", [x, y],
                #Predicate { !$0.ints.contains(x) && ($0.string.contains(y) || $0.next == nil) })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = some(.int, Int.self)(&r)
            return MacroPiece("!(ALL ints > %) || int == %", [x, y], #Predicate { !$0.ints.allSatisfy { $0 > x } || $0.int == y })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = r.below(3)
            return MacroPiece(
                "!(SUBQUERY(grove, $x, % IN $x.ints).@count == grove.@count) && grove.@count > %", [x, y],
                #Predicate { !$0.grove.allSatisfy { $0.ints.contains(x) } && $0.grove.count > y })
        },
        { r in
            let x = some(.int, Int.self)(&r), y = maybe(.string, String.self)(&r)
            return MacroPiece(
                "(bool == true && int != %) || (!(bool == true) && optString == %)", [x, y],
                #Predicate { ($0.bool && $0.int != x) || (!$0.bool && $0.optString == y) })
        },
        { r in
            let x = maybe(.bool, Bool.self)(&r), y = some(.date, Date.self)(&r), z = some(.int, Int.self)(&r)
            return MacroPiece(
                "!(optBool == %) && date <= % || twig.length > % && twig != NULL", [x, y, z],
                #Predicate { !($0.optBool == x) && $0.date <= y || ($0.twig?.length ?? -9) > z && $0.twig != nil })
        },
    ]

    private static func piece(_ random: inout Random) -> MacroPiece { forms[random.below(forms.count)](&random) }

    @Test(arguments: 0..<2) func `#Predicate on live and frozen results agrees with the oracle [R13]`(part: Int) throws {
        try FilterOracleTests.each(part, of: 2) { grove, tally in
            var random = Random(seed: grove.seed &* 86_028_121)
            let oracle = grove.oracle, oaks = oracle.rows["Oak"]!.indices.filter { oracle.rows["Oak"]![$0] != nil }
            let live = grove.realm.objects(Oak.self), frozen = grove.realm.isInWriteTransaction ? nil : live.freeze()
            func rows(_ results: Results<Oak>) -> [Int] { results.map { Int($0._rowID) } }
            for number in 0..<100 {
                let piece = PredicateOracleTests.piece(&random), tree = QuerySyntax(piece.tree)
                let expected = Result { try oracle.rows(tree, of: "Oak") }
                grove.judge(&tally, "\(number) live: \(tree)", expected: expected.get) { rows(try live.filtered(piece.macro)) }
                if number % 3 == 0, let frozen {
                    grove.judge(&tally, "\(number) frozen: \(tree)", expected: expected.get) { rows(try frozen.filtered(piece.macro)) }
                }
                if number % 4 == 1 {
                    let next = PredicateOracleTests.piece(&random), both = QuerySyntax(.and([piece.tree, next.tree]))
                    grove.judge(&tally, "\(number) twice: \(both)", expected: { try oracle.rows(both, of: "Oak") }) {
                        rows(try live.filtered(piece.macro).filtered(next.macro))
                    }
                }
                if number % 4 == 0 {
                    grove.judge(
                        &tally, "\(number) first: \(tree)", expected: { try expected.get().first.map { [oaks.firstIndex(of: $0)!] } ?? [] }
                    ) { live.index(matching: piece.macro).map { [$0] } ?? [] }
                }
                if number % 4 == 2, let id = oaks.randomElement(using: &random) {
                    var members: [Int] = []
                    oracle.rows["Oak"]![id]![oracle.schema["Oak"]!.index(of: "grove")!].forEachLink { members.append(Int($0)) }
                    grove.judge(&tally, "\(number) grove of \(id): \(tree)", expected: { try oracle.rows(tree, of: "Oak", among: members) })
                    { rows(try grove.oak(id).grove.filtered(piece.macro)) }
                }
            }
        }
    }
}
