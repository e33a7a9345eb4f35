import FirnKit
import FirnTable
import Testing

@Suite struct CivilDateTests {
    @Test func `every day has the number after that of the day before`() {
        var expected = CivilDate.days(year: -401, month: 1, day: 1)!
        for year in -401...2401 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let number = CivilDate.days(year: year, month: month, day: day) else {
                        #expect(day > CivilDate.length(ofMonth: month, year), "\(year)-\(month)-\(day) does not exist")
                        continue
                    }
                    if number != expected { Issue.record("\(year)-\(month)-\(day) is day \(number), not \(expected)"); return }
                    let date = CivilDate.date(ofDay: Int64(number))
                    if date != (Int64(year), Int64(month), Int64(day)) { Issue.record("day \(number) is \(date)"); return }
                    expected += 1
                }
            }
        }
        #expect(CivilDate.days(year: 1970, month: 1, day: 1) == 0)
    }

    @Test(arguments: [
        ("2024-02-29", 1_709_164_800, 0), ("2024-02-29T10:00:00Z", 1_709_200_800, 0),
        ("2024-02-29 10:00:00.25+02", 1_709_193_600, 250_000_000),
        ("2024-02-29T10:00:00.000000001-0030", 1_709_202_600, 1), ("0000-01-01", -62_167_219_200, 0), ("9999-12-31", 253_402_214_400, 0),
    ])
    func `texts of dates as in ISO 8601 are points in time`(text: String, seconds: Int64, nanoseconds: Int32) {
        #expect(Timestamp(text: text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2024", "2023-02-29", "2024-13-01", "2024-00-10", "2024-2-29", "2024-02-29T", "2024-02-29T24:00:00", "2024-02-29T10:60:00",
        "2024-02-29T10:00:00.", "2024-02-29T10:00:00.1234567890", "2024-02-29T10:00:00+1", "2024-02-29x10:00:00", "2024-02-29 10:00:00 PM",
    ])
    func `other texts are no points in time`(text: String) { #expect(Timestamp(text: text) == nil) }
}
