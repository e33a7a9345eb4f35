import FirnExchange
import FirnTable
import Testing

@Suite struct DateTextTests {
    private func day(_ bytes: [UInt8]) -> [Int]? {
        bytes.withUnsafeBytes { DateText.day($0) }.map { [$0.year, $0.month, $0.day] }
    }

    /// A second, simple implementation.
    private func expectedDay(_ bytes: [UInt8]) -> [Int]? {
        let isDigit = bytes.map { $0 >= 48 && $0 <= 57 }
        guard isDigit == [true, true, true, true, false, true, true, false, true, true], bytes[4] == 45, bytes[7] == 45 else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "-").map { Int($0)! }
        let isLeap = parts[0] % 4 == 0 && parts[0] % 100 != 0 || parts[0] % 400 == 0
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(parts[1]) && (1...lengths[parts[1] - 1]).contains(parts[2]) ? parts : nil
    }

    @Test func `a day is read if and only if its ten bytes name one`() {
        for text in ["2024-02-29", "1900-01-31", "0000-12-10", "9999-11-30"] {
            for position in 0..<10 {
                for byte in UInt8.min...UInt8.max {
                    var bytes = Array(text.utf8)
                    bytes[position] = byte
                    let found = day(bytes), expected = expectedDay(bytes)
                    if found != expected { Issue.record("\(bytes): \(String(describing: found))") }
                }
            }
        }
        for (year, month) in [(1900, 2), (2000, 2), (2023, 2), (2024, 2), (2024, 4), (2024, 12), (2024, 13), (2024, 0)] {
            for number in 0...40 {
                let bytes = Array("\(year)-\(month < 10 ? "0" : "")\(month)-\(number < 10 ? "0" : "")\(number)".utf8)
                #expect(day(bytes) == expectedDay(bytes), "\(year) \(month) \(number)")
            }
        }
    }
}
