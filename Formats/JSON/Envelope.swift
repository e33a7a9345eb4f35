import FirnBytes

/// The JSON around the rows in their document, which the `envelope` of a type stores as JSON text.
struct Envelope {
    enum Form: String {
        /// An array of objects.
        case rows
        /// An array of values (column `value`), or one value per line.
        case values
        /// An array that is a member of the document's object.
        case member
        /// An object whose members are the rows.
        case keyed
        /// One object.
        case one
        /// One value.
        case oneValue
    }

    var form: Form
    var isPretty = false
    /// For `member`: its name, and the whole document with null in its place.
    var member = ""
    var document: JSONDocument?

    init(_ form: Form, isPretty: Bool = false) {
        self.form = form
        self.isPretty = isPretty
    }

    var text: String {
        var members: [(String, JSONDocument)] = [("json", .string(form.rawValue)), ("pretty", .bool(isPretty))]
        if form == .member { members += [("member", .string(member)), ("document", document ?? .null)] }
        return JSONDocument.object(members).compact
    }

    /// Returns nil for text that is not a JSON envelope, for example one of another format.
    init?(_ text: String) {
        guard let parsed = try? JSONDocument(text), case .string(let name)? = parsed["json"], let form = Form(rawValue: name) else {
            return nil
        }
        self.form = form
        if case .bool(true)? = parsed["pretty"] { isPretty = true }
        if form == .member {
            guard case .string(let member)? = parsed["member"], let document = parsed["document"], case .object = document else {
                return nil
            }
            self.member = member
            self.document = document
        }
    }
}
