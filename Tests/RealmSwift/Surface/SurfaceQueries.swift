import Foundation
import RealmSwift

extension Surface {
    mutating func addPredicates(_ pets: Results<SurfacePet>) {
        use("NSPredicate(format:)", "NSPredicate(format:argumentArray:)", "NSCompoundPredicate") {
            let young = NSPredicate(format: "age < %d AND name BEGINSWITH %@", 3, "R")
            let all = NSCompoundPredicate(andPredicateWithSubpredicates: [young, NSPredicate(format: "age > %@", argumentArray: [1])])
            _ = (pets.filter(young), pets.filter(all), pets.index(matching: young))
        }
    }

    mutating func addQueries(_ pets: Results<SurfacePet>) {
        use("Query.==(_:_:)", "Query.!=(_:_:)", "Query.&&(_:_:)", "Query.||(_:_:)", "Query.!(_:)") {
            _ = pets.where { $0.name == "Rex" && $0.age != 1 || !($0.name == "Bo") }
            _ = pets.where { $0.best == nil || $0.best != nil && $0.isTame == true }
        }
        use("Query.<(_:_:)", "Query.<=(_:_:)", "Query.>(_:_:)", "Query.>=(_:_:)") {
            _ = pets.where { $0.age > 1 && $0.age < 2 && $0.weight >= 1 && $0.born <= Date() && $0.price > 1 }
            _ = pets.where { $0.size > .small && $0.size <= .large && $0.nextSize < .large && $0.tag > SurfaceTag(persistedValue: "a") }
        }
        use("Query.+(_:_:)", "Query.-(_:_:)", "Query.*(_:_:)", "Query./(_:_:)") {
            _ = pets.where { ($0.age + 1) * 2 > 5 && $0.age - 1 > 0 && $0.age / 2 == 1 }
        }
        use("Query.contains(_:) of ranges", "Query.in(_:)") {
            _ = pets.where { $0.age.contains(1...5) && $0.age.contains(1..<5) && $0.name.in(["Rex", "Bo"]) && $0.mood.in([.calm]) }
        }
        use(
            "Query.contains(_:options:)", "Query.starts(with:options:)", "Query.ends(with:options:)", "Query.like(_:caseInsensitive:)",
            "Query.equals(_:options:)", "Query.notEquals(_:options:)"
        ) {
            _ = pets.where { $0.name.contains("e", options: [.caseInsensitive, .diacriticInsensitive]) && $0.name.starts(with: "R") }
            _ = pets.where { $0.name.ends(with: "x") || $0.name.like("R*", caseInsensitive: true) }
            _ = pets.where { $0.name.equals("rex", options: .caseInsensitive) || $0.name.notEquals("bo", options: .diacriticInsensitive) }
        }
        use("Query.fullTextSearch(_:)", "Query.geoWithin(_:)") {
            _ = pets.where { $0.about.fullTextSearch("ice snow") }
            guard let box = GeoBox(bottomLeft: (1, 2), topRight: (3, 4)), let circle = GeoCircle(center: (1, 2), radius: 0.1) else {
                return
            }
            _ = pets.where { $0.home.geoWithin(box) || $0.home.geoWithin(circle) }
        }
        use("Query.subscript(dynamicMember:)") {
            _ = pets.where { $0.best.best.name == "Rex" && $0.home.city == "Bern" && $0.best.home.city == "Bern" }
        }
        use("Query.rawValue", "Query.persistableValue") {
            _ = pets.where {
                $0.mood.rawValue.contains("al") && $0.size.rawValue > 0 && $0.nextSize.rawValue < 5 && $0.tag.persistableValue == "a"
            }
            _ = pets.where { $0.moods.rawValue.contains("calm") || $0.sizes.rawValue.contains(1) }
        }
        use("Query of AnyRealmValue") { _ = pets.where { $0.any == .string("a") || $0.any["key"] == 1 || $0.any[0] == 2 } }
    }

    mutating func addCollectionQueries(_ pets: Results<SurfacePet>) {
        use("Query.contains(_:) of collections", "Query.containsAny(in:)") {
            _ = pets.where { $0.numbers.contains(1) && $0.numbers.containsAny(in: [1, 2]) && $0.names.contains("a") }
            _ = pets.where { $0.scores.contains(1) || $0.numbers.contains(1...5) || $0.friends.contains(pets[0]) }
        }
        use("Query.count", "Query.min", "Query.max", "Query.sum", "Query.avg") {
            _ = pets.where { $0.friends.count > 1 && $0.numbers.min > 1 && $0.numbers.max < 5 && $0.numbers.sum == 3 && $0.numbers.avg > 1 }
            _ = pets.where { $0.friends.age.min > 1 && $0.friends.age.max > 1 && $0.friends.age.sum > 1 && $0.friends.age.avg > 1 }
            _ = pets.where { $0.names.count == 1 && $0.scores.count == 1 && $0.scores.min > 1 && $0.scores.sum > 1 }
        }
        use("Query.count of conditions") { _ = pets.where { ($0.friends.age > 1 && $0.friends.name == "Rex").count > 1 } }
        use("Query.keys", "Query.values", "Query.subscript(_:) of maps") {
            _ = pets.where { $0.scores.keys == "a" && $0.scores.values > 1 && $0.scores["a"] == 1 && $0.words["a"].contains("b") }
            _ = pets.where { $0.scores.keys.contains("a") || $0.byName.keys.starts(with: "a") || $0.words.keys.contains("a") }
            _ = pets.where { $0.scores.values.contains(5) || $0.words.values.contains("a") }
        }
        use("Query.subscript(_:) of lists") { _ = pets.where { $0.numbers[0] == 1 && $0.friends[0].name == "Rex" } }
        use("Query of inverse links") { _ = pets.where { $0.admirers.name == "Rex" && $0.admirers.count > 1 } }
    }
}
