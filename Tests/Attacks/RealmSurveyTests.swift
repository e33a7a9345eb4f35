import FirnKit
import Foundation
import Testing
@testable import Firn

/// The survey through the object layer: the same files with the same damage are read completely through `Realm` (live, frozen and by query)
/// and written to. The objects are correct, or the realm reports the damage (`damage`, `interruptedCommit` or an error). `FIRN_SURVEY` as
/// for `SurveyTests`. The counts go to the name in FIRN_SURVEY_REPORT with `.realm` appended.
@Suite struct RealmSurveyTests {
    private static let rounds = ProcessInfo.processInfo.environment["FIRN_SURVEY"].flatMap { Int($0) }

    /// The objects of each type, with each property as text.
    private typealias Reading = [String: [[String]]]

    private struct Counts {
        var cases = 0, right = 0, older = 0, refused = 0, told = 0, written = 0
        mutating func add(_ other: Counts) {
            cases += other.cases; right += other.right; older += other.older; refused += other.refused; told += other.told;
            written += other.written
        }
    }

    private static func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        try? Data((what() + "\n").utf8).write(to: FileManager.default.temporaryDirectory.appending(path: "firn-survey-failure.txt"))
        fatalError(what())
    }

    // MARK: Reading

    private static func words(_ value: Any?, in realm: Realm, depth: Int = 0) -> String {
        switch value {
        case nil: return "nil"
        case let object as DynamicObject:
            guard depth < 3, let schema = realm.schema.storedTypes.first(where: { $0.className == object.objectSchema.className }) else {
                return "object"
            }
            let scalars = schema.properties.filter { $0.objectClassName == nil || schema.isEmbedded }.prefix(schema.isEmbedded ? .max : 2)
            return "(" + scalars.map { words(object[$0.name], in: realm, depth: depth + 1) }.joined(separator: ",") + ")"
        case let collection as any _AnyCollection: return words(collection._untypedElements, in: realm, depth: depth)
        case let map as any _AnyMap: return words(map._untypedEntries, in: realm, depth: depth)
        case let list as [Any?]: return "[" + list.map { words($0, in: realm, depth: depth + 1) }.joined(separator: ",") + "]"
        case let map as [String: Any?]:
            return "{" + map.keys.sorted().map { "\($0):\(words(map[$0]!, in: realm, depth: depth + 1))" }.joined(separator: ",") + "}"
        case let data as Data: return data.base64EncodedString()
        case let any as AnyRealmValue:
            switch any {
            case .none: return "nil"
            case .list(let list): return "[" + list.map { words($0, in: realm, depth: depth + 1) }.joined(separator: ",") + "]"
            case .dictionary(let map):
                return "{"
                    + map.keys.sorted().map { "\($0):\(words(map[$0] ?? .none, in: realm, depth: depth + 1))" }.joined(separator: ",") + "}"
            case .object: return "object"
            default: return "\(any)"
            }
        case let value?: return "\(value)"
        }
    }

    /// Large types are sampled, because damage affects all values that share an extent.
    private static func reading(_ realm: Realm) -> Reading {
        var reading: Reading = [:]
        for type in realm.schema.storedTypes where !type.isEmbedded {
            let objects = realm.dynamicObjects(type.className), step = max(1, objects.count / 250)
            var rows: [[String]] = [["\(objects.count)"]]
            for index in stride(from: 0, to: objects.count, by: step) {
                let object = objects[index]
                rows.append(type.properties.map { words(object[$0.name], in: realm) })
            }
            for property in type.properties {
                if let filter = question(property) { rows.append(["\(objects.filter(filter).count)"]) }
            }
            reading[type.className] = rows
        }
        return reading
    }

    private static func question(_ property: Property) -> String? {
        let name = "`\(property.columnName)`"
        guard !property.isArray, !property.isSet, !property.isMap else { return "\(name).@count > 1" }
        return switch property.type {
        case .int: "\(name) BETWEEN {3, 9}"
        case .double, .float: "\(name) == 7.25 OR \(name) < -500"
        case .string: "\(name) == 'word7' OR \(name) BEGINSWITH 'word1'"
        case .date: "\(name) > 2030-01-01@00:00:00"
        default: nil
        }
    }

    /// The values that replace unreadable ones.
    private static let zeros: Set<String> = [
        "nil", "0", "0.0", "false", "", "[]", "{}", "()", "\(Date(timeIntervalSince1970: 0))", "\(ObjectId("000000000000000000000000"))",
        "object",
        "00000000-0000-0000-0000-000000000000", "\(Decimal128(0))",
    ]

    /// Returns nil if all differences are replacement values, or missing objects and their counts.
    private static func lacks(_ found: Reading, _ truth: Reading) -> String? {
        for (type, rows) in found {
            guard let all = truth[type], all.count >= 1 else { return "\(type) never existed" }
            guard rows.count == all.count, rows.first == all.first else { continue }
            for (row, known) in zip(rows, all) where row.count == known.count && row.count > 1 {
                for (value, right) in zip(row, known)
                where value != right && !zeros.contains(value) && !value.hasPrefix("(") && !value.hasPrefix("[") && !value.hasPrefix("{") {
                    return "\(type) has '\(value)', not '\(right)'"
                }
            }
        }
        return nil
    }

    // MARK: Cases

    private static func configuration(_ sample: SurveySample, _ path: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(filePath: path), objectTypes: nil)
        configuration.encryptionKey = sample.key.map { Data($0.bytes) }
        return configuration
    }

    /// Returns the content of each version.
    private static func truths(_ sample: SurveySample, _ path: String) -> [UInt64: Reading] {
        guard (try? Data(sample.bytes).write(to: URL(filePath: path))) != nil,
            let realm = try? Realm(configuration: configuration(sample, path)),
            let versions = try? realm.versions
        else { fatalError("\(sample.name): the intact file cannot be opened") }
        var truths: [UInt64: Reading] = [:]
        for version in versions { truths[version.number] = (try? realm.freeze(at: version.number)).map(reading) }
        return truths
    }

    /// Reads everything in an open realm, live and frozen, and writes to it once.
    private static func examine(_ realm: Realm, _ truths: [UInt64: Reading], _ label: String, length: Int, _ counts: inout Counts) {
        let newest = truths.keys.max()!, version = realm.core.version
        // A file that is cut after its first root, at 512 bytes, is a valid empty file.
        expect(
            version == newest || realm.interruptedCommit != nil || (version == 0 && length == 512),
            "\(label): version \(version) is read without a report")
        guard let truth = version == 0 ? [:] : truths[version] else { return expect(false, "\(label): version \(version) never existed") }
        let live = reading(realm)
        if realm.damage == nil {
            expect(live == truth, "\(label): other data is read without a report")
        } else if let lack = lacks(live, truth) {
            expect(false, "\(label): \(lack)")
        }
        let frozen = realm.freeze(), still = reading(frozen)
        if frozen.damage == nil { expect(still == truth, "\(label): other data is frozen without a report") }
        expect(
            (realm.damage == nil) == (frozen.damage == nil),
            "\(label): live reports \(realm.damage.map { "\($0)" } ?? "nothing"), frozen \(frozen.damage.map { "\($0)" } ?? "nothing")")
        if realm.damage != nil { counts.told += 1 } else if version == newest { counts.right += 1 } else { counts.older += 1 }
        write(realm, truth, label, &counts)
    }

    /// Makes one transaction that sets properties to their existing values.
    private static func write(_ realm: Realm, _ truth: Reading, _ label: String, _ counts: inout Counts) {
        let before = realm.damage
        do {
            try realm.write {
                for type in realm.schema.storedTypes where !type.isEmbedded {
                    let objects = realm.dynamicObjects(type.className)
                    guard let object = objects.first else { continue }
                    for property in type.properties
                    where !property.isPrimaryKey && property.objectClassName == nil && !property.isArray && !property.isSet
                        && !property.isMap
                    { object[property.name] = object[property.name] }
                }
            }
            expect(before == nil, "\(label): a realm with known damage accepts a write")
            counts.written += 1
        } catch { return expect(error is Realm.Error, "\(label): writing throws \(error)") }
        let after = reading(realm)
        if realm.damage == nil { expect(after == truth, "\(label): after a write other data is read without a report") }
    }

    private static func survey() {
        guard let samples = try? SurveySample.all() else { fatalError("the samples cannot be made") }
        let temporary = TemporaryFolder()
        var total = Counts(), said = "", number = 0
        for sample in samples {
            var random = Random(seed: 16), counts = Counts()
            let large = sample.bytes.count > 50_000
            func next() -> String {
                number += 1
                return temporary.file("\(number)")
            }
            func below(_ n: Int) -> Int { Int(random.next() % UInt64(n)) }
            func many(_ full: Int, _ short: Int) -> Int { rounds.map { $0 * full } ?? (large ? 1 : Tier.cases((short + 2) / 3, of: short)) }
            let first = next(), truths = truths(sample, first)
            unlink(first)
            func attempt(_ what: String, _ bytes: [UInt8], cut: Int? = nil) {
                alarm(60)
                counts.cases += 1
                let path = next(), label = "\(sample.name), \(what)"
                defer { unlink(path) }
                guard (try? Data(bytes).write(to: URL(filePath: path))) != nil else { fatalError("the scratch file cannot be written") }
                do {
                    let realm = try Realm(configuration: configuration(sample, path))
                    if let cut { truncate(path, off_t(cut)) }
                    examine(realm, truths, label, length: bytes.count, &counts)
                } catch {
                    expect(error is Realm.Error && cut == nil, "\(label): opening throws \(error)")
                    counts.refused += 1
                }
            }
            for _ in 0..<many(100, 6) {
                var bytes = sample.bytes
                let
                    at =
                        below(2) == 0
                        ? below(bytes.count) : min(bytes.count - 1, below(2) == 0 ? below(200) : below(bytes.count / 64) * 64 + below(16)),
                    bit = below(8)
                bytes[at] ^= 1 << UInt8(bit)
                attempt("bit \(bit) of byte \(at) flipped", bytes)
            }
            for _ in 0..<many(40, 2) {
                var bytes = sample.bytes
                let sector = below((bytes.count + 511) / 512) * 512
                for at in sector..<min(bytes.count, sector + 512) { bytes[at] = 0 }
                attempt("sector at \(sector) zeroed", bytes)
            }
            for _ in 0..<many(40, 2) {
                let length = below(sample.bytes.count)
                attempt("cut to \(length) bytes", Array(sample.bytes[..<length]))
            }
            for _ in 0..<many(40, 2) {
                let length = below(sample.bytes.count)
                attempt("cut to \(length) bytes while open", sample.bytes, cut: length)
            }
            alarm(0)
            said += "\(sample.name) (\(sample.bytes.count) bytes): \(counts)\n"
            total.add(counts)
        }
        said += "all: \(total)\n"
        if let report = ProcessInfo.processInfo.environment["FIRN_SURVEY_REPORT"] {
            try? Data(said.utf8).write(to: URL(filePath: report + ".realm"))
        }
    }

    @Test func `realms of damaged files return correct objects or report the damage`() async {
        await #expect(processExitsWith: .success) { RealmSurveyTests.survey() }
    }
}
