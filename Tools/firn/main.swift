import FirnCommandLine

print(CommandLine.arguments.dropFirst().first == "reference" ? Program.firn.reference : Program.firn.help(nil, isLong: false), terminator: "")
