import FirnBytes
import Testing

/// Bytes is compiled with optimisation in debug builds too, so these tests show what a release build prints.
@Suite struct TrapTests {
    @Test func `a trap prints its message, file and line in optimised code, and stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            trap("no \("such") thing", file: "Module/Caller.swift", line: 17)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Module/Caller.swift:17: Fatal error: no such thing"), "\(text.prefix(300))")
    }

    @Test func `a condition that does not hold traps, and one that holds does not make its message`() async {
        trap(
            unless: true,
            {
                Issue.record("the message was made"); return ""
            }())
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let count = CommandLine.arguments.count
            trap(unless: count < 0, "there are \(count < 0 ? "no" : "some") arguments")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("TrapTests.swift:") && text.contains("Fatal error: there are some arguments"), "\(text.prefix(300))")
    }

    @Test func `a condition in the middle of a kernel traps with its message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var writer = ByteWriter()
            writer.appendVarint(-CommandLine.arguments.count)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("a length or count is never negative"), "\(text.prefix(300))")
    }
}
