/// `--name number`, in any order.
struct Options {
    private var numbers: [String: Int] = [:]

    init(_ words: ArraySlice<String>) {
        var words = words
        while let name = words.popFirst() {
            guard name.hasPrefix("--"), let number = words.popFirst().flatMap({ Int($0) }) else { preconditionFailure("say --name number, not '\(name)'") }
            numbers[String(name.dropFirst(2))] = number
        }
    }

    subscript(name: String, standard: Int) -> Int { numbers[name] ?? standard }
}
