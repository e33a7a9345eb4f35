import FirnCommandLine
import FirnDisk

Interruption.endWithCode()
Machine.exit(Session.run(Array(CommandLine.arguments.dropFirst())).rawValue)
