import FirnBytes
import Testing
@testable import FirnCommandLine

@Suite struct PrintingTests {
    @Test func `wide characters take two cells and combining marks none`() {
        #expect(DisplayWidth.of("abc") == 3)
        #expect(DisplayWidth.of("日本") == 4)
        #expect(DisplayWidth.of("e\u{301}") == 1)
        #expect(DisplayWidth.of("👩‍👩‍👧") == 2)
        #expect(DisplayWidth.of("🇨🇭") >= 1)
    }

    @Test func `text that does not fit ends in an ellipsis and never exceeds its width`() {
        #expect(DisplayWidth.fit("abcdef", to: 4) == "abc…")
        for width in 1...8 { #expect(DisplayWidth.of(DisplayWidth.fit("日本語テキスト", to: width)) <= width) }
        #expect(DisplayWidth.fit("a\nb\u{1B}[31m", to: 20) == "a␊b␛[31m")
    }

    @Test func `control characters of terminals and of text direction are made visible, and other text is unchanged`() {
        #expect(DisplayWidth.visible("a\u{202E}b\u{2066}\u{200F}\u{2028}\u{9B}") == "a<U+202E>b<U+2066><U+200F><U+2028>\u{FFFD}")
        #expect(DisplayWidth.visible("é👩‍👩‍👧 שלום") == "é👩‍👩‍👧 שלום")
        #expect(DisplayWidth.visible("a\nb\u{1B}", keepingLines: true) == "a\nb␛" && DisplayWidth.visible("a\nb") == "a␊b")
        var line = JSONLine()
        line.add("a\u{202E}", "\u{7F}é\u{2066}")
        #expect(line.object == #"{"a\u202e":"\u007fé\u2066"}"#)
    }

    @Test func `the columns of a table are aligned and keep within the width`() {
        var table = TextTable([.init("name"), .init("age", isNumber: true)])
        table.append(["Ada", "36"])
        table.append(["日本", "7"])
        #expect(table.lines() == ["name  age\n", "────  ───\n", "Ada    36\n", "日本    7\n"])
        table.append([String(repeating: "x", count: 200), "1"])
        for width in [5, 20, 40] { for line in table.lines(width: width) { #expect(DisplayWidth.of(String(line.dropLast())) <= width) } }
        #expect(table.hiddenColumns(within: 5) == 1)
    }

    @Test func `quantities are printed with separators, units and rounding`() {
        #expect(Quantity.count(1_894_210) == "1,894,210")
        #expect(Quantity.count(-1000) == "-1,000")
        #expect(Quantity.count(1, "row") == "1 row")
        #expect(Quantity.bytes(999) == "999 B")
        #expect(Quantity.bytes(76_123_456) == "76.1 MB")
        #expect(Quantity.bytes(999_950) == "1.0 MB")
        #expect(Quantity.seconds(0.314) == "0.31 s")
        #expect(Quantity.seconds(125) == "2 min 05 s")
        #expect(Quantity.ratio(79, 10) == "7.9×")
        #expect(Quantity.decimal(-0.001, 2) == "0.00")
    }

    @Test func `colour depends on the flag, then on the environment, then on the terminal`() {
        let none: (String) -> String? = { _ in nil }
        #expect(Style(choice: "always", isTerminal: false, environment: none).isColoured)
        #expect(!Style(choice: "never", isTerminal: true, environment: none).isColoured)
        #expect(Style(choice: nil, isTerminal: true, environment: none).isColoured)
        #expect(!Style(choice: nil, isTerminal: true, environment: { $0 == "NO_COLOR" ? "1" : nil }).isColoured)
        #expect(Style(choice: nil, isTerminal: false, environment: { $0 == "CLICOLOR_FORCE" ? "1" : nil }).isColoured)
        #expect(Style(choice: "always", isTerminal: false, environment: none).red("x") == "\u{1B}[31mx\u{1B}[0m")
    }

    @Test func `progress is shown after half a second, with the remaining time`() {
        var progress = ProgressLine(now: 10)
        #expect(progress.line(now: 10.4, rows: 1, bytes: 1, total: 2) == nil)
        #expect(
            progress.line(now: 11, rows: 1000, bytes: 50_000_000, total: 100_000_000)
                == "50 % · 1,000 rows · 50.0 MB · 50.0 MB/s · 1.00 s left")
        #expect(progress.line(now: 11.05, rows: 1000, bytes: 50_000_000, total: nil) == nil)
        #expect(progress.line(now: 12, rows: 1, bytes: 1_000_000, total: nil) == "1 row · 1.0 MB · 500 kB/s")
    }

    @Test func `an error message has the position and the advice`() {
        let error = FirnError(
            .rejected, "expected a number, found \"n/a\"", at: .init(file: "people.csv", line: 1024, column: 7), advice: "try --null n/a")
        #expect(error.complaint() == "firn: people.csv:1024:7: expected a number, found \"n/a\"\n      try --null n/a\n")
        #expect(FirnError(.usage, "a\u{1B}[2Jb").complaint() == "firn: a␛[2Jb\n")
    }

    @Test func `exit codes depend on the kind of error`() {
        #expect(ExitCode(.usage) == .usage)
        #expect(ExitCode(.duplicateKey) == .rejected)
        #expect(ExitCode(.unsupported) == .damaged)
        #expect(ExitCode(.noSpace) == .inputOutput)
        #expect(ExitCode(.interrupted) == .interrupted)
    }

    @Test func `a JSON line keeps the order of its keys, and escapes text`() {
        var line = JSONLine()
        line.add("a", "x\"\u{1}\n")
        line.add("b", nil as Int?)
        line.add("c", ["1", "2"])
        #expect(line.object == #"{"a":"x\"\u0001\n","b":null,"c":["1","2"]}"#)
    }
}
