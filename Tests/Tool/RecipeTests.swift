import Foundation
import Testing

/// The recipes of docs/guide/recipes.md. The commands after `$ ` are run in one folder, from top to bottom, and must print the lines that
/// follow them. Times and sizes of files are not compared.
@Suite struct RecipeTests {
    /// Removes the sizes and the time from the summary of `firn convert`.
    private func comparable(_ output: String) -> String {
        output.replacing(/(?m)^(\S+: [\d,]+ rows?), .*\d s$/) { "\($0.output.1)" }
    }

    @Test func `the recipes print what the page shows`() throws {
        let scratch = try Scratch(), steps = try Transcript(page: "recipes.md").steps
        for step in steps {
            #expect(comparable(try Transcript.run(step.command, in: scratch)) == comparable(step.output), "\(step.command)")
        }
    }

    @Test func `each recipe needs at most two commands, after its input is made`() throws {
        let text = try String(contentsOf: Folders.package.appending(path: "docs/guide/recipes.md"), encoding: .utf8)
        let recipes = text.components(separatedBy: "\n## ").dropFirst()
        #expect(recipes.count >= 7)
        for recipe in recipes {
            // A question about the result comes after the job.
            let commands = recipe.split(separator: "\n").filter { $0.hasPrefix("$ ") && $0.contains("firn ") }
            let job = commands.filter { !$0.contains("firn query") }
            #expect(!commands.isEmpty && job.count <= 2 && commands.count <= 4, "\(recipe.prefix(40))")
        }
    }
}
