import FirnBytes
import FirnDisk

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "text": TextCodecs.run(Array(arguments.dropFirst()))
    case "touch": try TouchFigures.run(Array(arguments.dropFirst()))
    case "codecs": try benchCodecs(Array(arguments.dropFirst()))
    case "commits": try CommitFigures.run(Array(arguments.dropFirst()))
    case "objects": try ObjectFigures(Array(arguments.dropFirst())).run()
    case "lists": try ListFigures(Array(arguments.dropFirst())).run()
    case "query": try QueryFigures.run(Array(arguments.dropFirst()))
    case "csv": try benchCSV(Array(arguments.dropFirst()))
    case "rows": try RowFigures.run(arguments.dropFirst().first)
    case "lookups":
        try LookupFigures.run(
            arguments.count > 1 ? arguments[1] : nil, rows: arguments.count > 2 ? Int(arguments[2]) ?? 1_000_000 : 1_000_000)
    case "open", "commit":
        if arguments[0] == "open", arguments.count > 1 {
            try StoreFigures.open(arguments[1])
        } else {
            try StoreFigures.commit(arguments.dropFirst().first)
        }
    default:
        print("usage: firn-bench csv FILE.csv…")
        print("usage: firn-bench text FILE… [--profile fast|standard|small]")
        print(
            "       firn-bench open FILE | commit [FOLDER] | rows [FOLDER] | objects [--cpu] [FOLDER [ROWS [FIGURES…]]] | lookups [FOLDER [ROWS]]"
        )
        print("       firn-bench lists [FOLDER [ELEMENTS]]")
        print("       firn-bench query FILE [--threads N] [--runs N] [--repeat N] [NAME|FILTER|GROUP|AGGREGATES|SORT|LIMIT …]")
        print("       firn-bench touch FILE all|sums checked|unchecked cached|cold")
        print("       firn-bench commits FOLDER full|grouped|none THREADS COUNT")
        print("       firn-bench codecs [--profile fast|standard|small] FILE.i64|FILE.f64…")
    }
} catch {
    // For example a missing folder is an error, not a trap.
    print("firn-bench: \(error)")
    Machine.exit(1)
}
