import FirnCommandLine
import FirnDisk

Machine.exit(Session.run(Array(CommandLine.arguments.dropFirst())).rawValue)
