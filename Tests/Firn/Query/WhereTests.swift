@testable import Firn
import FirnKit
import FirnQuery
import Foundation
import Testing

/// Compares each operator with plain Swift on the same objects, and its tree with that of the text.
@Suite struct WhereTests {
    @Test(arguments: Seed.some(1, 2, 3)) func `where compares properties with values and null [R14]`(seed: Seed)
        throws
    {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("age == 3", { $0.age == 3 }) { $0.age == 3 }
        kennel.holds("age != 3", { $0.age != 3 }) { $0.age != 3 }
        kennel.holds("age > 3", { $0.age > 3 }) { $0.age > 3 }
        kennel.holds("age >= 3", { $0.age >= 3 }) { $0.age >= 3 }
        kennel.holds("age < 3", { $0.age < 3 }) { $0.age < 3 }
        kennel.holds("age <= -1", { $0.age <= -1 }) { $0.age <= -1 }
        kennel.holds("age > 2.5", { $0.age > 2.5 }) { Double($0.age) > 2.5 }
        kennel.holds("small < 0", { $0.small < 0 }) { $0.small < 0 }
        kennel.holds("optAge == 3", { $0.optAge == 3 }) { $0.optAge == 3 }
        kennel.holds("optAge != 3", { $0.optAge != 3 }) { $0.optAge != 3 }
        kennel.holds("optAge < 3", { $0.optAge < 3 }) { $0.optAge.map { $0 < 3 } ?? false }
        kennel.holds("optAge == NULL", { $0.optAge == nil }) { $0.optAge == nil }
        kennel.holds("optAge != NULL", { $0.optAge != nil }) { $0.optAge != nil }
        kennel.holds("weight > 1.25", { $0.weight > 1.25 }) { $0.weight > 1.25 }
        kennel.holds("weight <= -0.5", { $0.weight <= -0.5 }) { $0.weight <= -0.5 }
        kennel.holds("optWeight >= 0.0", { $0.optWeight >= 0 }) { $0.optWeight.map { $0 >= 0 } ?? false }
        kennel.holds("score > 1.5f", { $0.score > 1.5 }) { $0.score > 1.5 }
        kennel.holds("name == 'Rex'", { $0.name == "Rex" }) { $0.name == "Rex" }
        kennel.holds("name < 'Rex'", { $0.name < "Rex" }) { $0.name.utf8.lexicographicallyPrecedes("Rex".utf8) }
        kennel.holds("nick != 'Rex'", { $0.nick != "Rex" }) { $0.nick != "Rex" }
        kennel.holds("nick == NULL", { $0.nick == nil }) { $0.nick == nil }
        kennel.holds("data == bin(B64\"AQ==\")", { $0.data == Data([1]) }) { $0.data == Data([1]) }
        kennel.holds("born > T0:500000000", { $0.born > Date(timeIntervalSince1970: 0.5) }) { $0.born > Date(timeIntervalSince1970: 0.5) }
        kennel.holds("optBorn <= T-1:0", { $0.optBorn <= Date(timeIntervalSince1970: -1) }) {
            $0.optBorn.map { $0.timeIntervalSince1970 <= -1 } ?? false
        }
        kennel.holds("uuid == uuid(00000001-0000-0000-0000-000000000000)", { $0.uuid == Kennel.uuids[1] }) { $0.uuid == Kennel.uuids[1] }
        kennel.holds("uuid >= uuid(00000002-0000-0000-0000-000000000000)", { $0.uuid >= Kennel.uuids[2] }) {
            $0.uuid == Kennel.uuids[2] || $0.uuid == Kennel.uuids[3]
        }
        let some = kennel.hounds[5].oid
        kennel.holds("oid == oid(\(some.description))", { $0.oid == some }) { $0.oid == some }
        kennel.holds("`any` == 1", { $0.any == 1 }) { $0.any == 1 }
        kennel.holds("count == 1", { $0.count == 1 }) { $0.count == 1 }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `where supports logical operators and boolean properties [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("age > 3 && weight < 1.5", { $0.age > 3 && $0.weight < 1.5 }) { $0.age > 3 && $0.weight < 1.5 }
        kennel.holds("age > 3 && weight < 1.5 && name != 'Rex'", { $0.age > 3 && $0.weight < 1.5 && $0.name != "Rex" }) {
            $0.age > 3 && $0.weight < 1.5 && $0.name != "Rex"
        }
        kennel.holds("age > 3 || weight < 1.5 && name == ''", { $0.age > 3 || $0.weight < 1.5 && $0.name == "" }) {
            $0.age > 3 || $0.weight < 1.5 && $0.name == ""
        }
        kennel.holds("(age > 3 || weight < 1.5) && name != ''", { ($0.age > 3 || $0.weight < 1.5) && $0.name != "" }) {
            ($0.age > 3 || $0.weight < 1.5) && $0.name != ""
        }
        kennel.holds("!(optAge > 3)", { !($0.optAge > 3) }) { !($0.optAge.map { $0 > 3 } ?? false) }
        kennel.holds("good == true", { $0.good }) { $0.good }
        kennel.holds("!(good == true) && age > 0", { !$0.good && $0.age > 0 }) { !$0.good && $0.age > 0 }
        kennel.holds("good == false", { $0.good == false }) { !$0.good }
        kennel.holds("optGood == true", { $0.optGood == true }) { $0.optGood == true }
        kennel.holds("optGood != true", { $0.optGood != true }) { $0.optGood != true }
        kennel.holds("!(age > 3)", { ($0.age > 3) == false }) { !($0.age > 3) }
    }

    @Test(arguments: Seed.some(1, 2, 3))
    func `where compares properties with each other, and supports arithmetic [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("age == small", { $0.age == $0.small }) { $0.age == Int($0.small) }
        kennel.holds("age == optAge", { $0.age == $0.optAge }) { $0.age == $0.optAge }
        kennel.holds("age > weight", { $0.age > $0.weight }) { Double($0.age) > $0.weight }
        kennel.holds("weight >= optWeight", { $0.weight >= $0.optWeight }) { hound in hound.optWeight.map { hound.weight >= $0 } ?? false }
        kennel.holds("name == nick", { $0.name == $0.nick }) { $0.name == $0.nick }
        kennel.holds("age + 1 > 3", { $0.age + 1 > 3 }) { $0.age + 1 > 3 }
        kennel.holds("10 - age < 8", { 10 - $0.age < 8 }) { 10 - $0.age < 8 }
        kennel.holds("age * 2 == 4", { $0.age * 2 == 4 }) { $0.age * 2 == 4 }
        kennel.holds("age / 2 == 1", { $0.age / 2 == 1 }) { $0.age / 2 == 1 }
        kennel.holds("(age + 1) * 2 > count", { ($0.age + 1) * 2 > $0.count }) { ($0.age + 1) * 2 > $0.count }
        kennel.holds("age + count * 2 > 3", { $0.age + $0.count * 2 > 3 }) { $0.age + $0.count * 2 > 3 }
        kennel.holds("age - count - 1 == 0", { $0.age - $0.count - 1 == 0 }) { $0.age - $0.count - 1 == 0 }
        kennel.holds("age - (count - 1) == 0", { $0.age - ($0.count - 1) == 0 }) { $0.age - ($0.count - 1) == 0 }
        kennel.holds("weight * 2.0 > 1.5", { $0.weight * 2 > 1.5 }) { $0.weight * 2 > 1.5 }
        kennel.holds("age * weight > 1.5", { $0.age * $0.weight > 1.5 }) { Double($0.age) * $0.weight > 1.5 }
        kennel.holds("optAge + 1 == NULL", { $0.optAge + 1 == nil }) { $0.optAge == nil }
        kennel.holds("dec > optDec", { $0.dec > $0.optDec }) { hound in hound.optDec.map { hound.dec > $0 } ?? false }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `where searches text, optionally ignoring case and accents [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        func folded(_ text: String) -> String { text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }
        kennel.holds("name CONTAINS 'e'", { $0.name.contains("e") }) { $0.name.contains("e") }
        kennel.holds("name CONTAINS[c] 'R'", { $0.name.contains("R", options: .caseInsensitive) }) { $0.name.lowercased().contains("r") }
        kennel.holds("name CONTAINS[cd] 'AS'", { $0.name.contains("AS", options: [.caseInsensitive, .diacriticInsensitive]) }) {
            folded($0.name).contains("as")
        }
        kennel.holds("name BEGINSWITH 'Re'", { $0.name.starts(with: "Re") }) { $0.name.hasPrefix("Re") }
        kennel.holds("name BEGINSWITH[d] 'As'", { $0.name.starts(with: "As", options: .diacriticInsensitive) }) { $0.name == "Åsa" }
        kennel.holds("nick ENDSWITH 'x'", { $0.nick.ends(with: "x") }) { $0.nick?.hasSuffix("x") ?? false }
        kennel.holds("name ENDSWITH[c] 'X'", { $0.name.ends(with: "X", options: .caseInsensitive) }) { $0.name.lowercased().hasSuffix("x") }
        kennel.holds("name LIKE 'R*'", { $0.name.like("R*") }) { $0.name.hasPrefix("R") }
        kennel.holds("name LIKE[c] '?ex'", { $0.name.like("?ex", caseInsensitive: true) }) { $0.name.lowercased() == "rex" }
        kennel.holds("name LIKE[cd] '?SA'", { $0.name.like("?SA", options: [.caseInsensitive, .diacriticInsensitive]) }) {
            folded($0.name) == "asa"
        }
        kennel.holds("name ==[c] 'REX'", { $0.name.equals("REX", options: .caseInsensitive) }) { $0.name.lowercased() == "rex" }
        kennel.holds("nick !=[c] 'REX'", { $0.nick.notEquals("REX", options: .caseInsensitive) }) { $0.nick?.lowercased() != "rex" }
        kennel.holds("name CONTAINS name", { $0.name.contains($0.name) }) { _ in true }
        kennel.holds("data CONTAINS bin(B64\"AQ==\")", { $0.data.contains(Data([1])) }) { $0.data.contains(1) }
        kennel.holds("name.@count == 4", { $0.name.byteCount == 4 }) { $0.name.utf8.count == 4 }
        kennel.holds("name == 'o*o'", { $0.name == "o*o" }) { $0.name == "o*o" }
        kennel.holds("name != 'it\\'s \\\\ \\n'", { $0.name != "it's \\ \n" }) { _ in true }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `where supports lists of values and ranges [R14]`(seed: Seed) throws {
        let kennel = try Kennel(seed: seed.number)
        kennel.holds("age IN {1, 2, 5}", { $0.age.in([1, 2, 5]) }) { [1, 2, 5].contains($0.age) }
        kennel.holds("age IN {}", { $0.age.in([]) }) { _ in false }
        kennel.holds("optAge IN {1, NULL}", { $0.optAge.in([1, nil]) }) { $0.optAge == 1 || $0.optAge == nil }
        let some: [Int] = [1, 2]
        kennel.holds("optAge IN {1, 2}", { $0.optAge.in(some) }) { $0.optAge == 1 || $0.optAge == 2 }
        kennel.holds("name IN {'Rex', 'Bo'}", { $0.name.in(["Rex", "Bo"]) }) { ["Rex", "Bo"].contains($0.name) }
        kennel.holds("name IN[c] {'REX', 'bo'}", { $0.name.in(["REX", "bo"], options: .caseInsensitive) }) {
            ["rex", "bo"].contains($0.name.lowercased())
        }
        kennel.holds("name IN tags", { $0.name.in($0.tags) }) { $0.tags.contains($0.name) }
        kennel.holds("age BETWEEN {1, 5}", { $0.age.contains(1...5) }) { (1...5).contains($0.age) }
        kennel.holds("age >= 1 && age < 5", { $0.age.contains(1..<5) }) { (1..<5).contains($0.age) }
        kennel.holds("optAge BETWEEN {1, 5}", { $0.optAge.contains(1...5) }) { $0.optAge.map { (1...5).contains($0) } ?? false }
        kennel.holds("weight BETWEEN {-0.5, 1.25}", { $0.weight.contains(-0.5...1.25) }) { (-0.5...1.25).contains($0.weight) }
        kennel.holds("name BETWEEN {'B', 'S'}", { $0.name.contains("B"..."S") }) {
            !$0.name.utf8.lexicographicallyPrecedes("B".utf8) && !"S".utf8.lexicographicallyPrecedes($0.name.utf8)
        }
    }
}
