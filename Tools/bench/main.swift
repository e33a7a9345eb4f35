import FirnBytes

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "text": TextCodecs.run(Array(arguments.dropFirst()))
default: print("usage: firn-bench text FILE… [--profile fast|standard|small]")
}
