import FirnBytes

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "text": TextCodecs.run(Array(arguments.dropFirst()))
case "codecs": try benchCodecs(Array(arguments.dropFirst()))
case "csv": try benchCSV(Array(arguments.dropFirst()))
default:
    print("usage: firn-bench csv FILE.csv…")
    print("usage: firn-bench text FILE… [--profile fast|standard|small]")
    print("       firn-bench codecs [--profile fast|standard|small] FILE.i64|FILE.f64…")
}
