import FirnDatabase
import FirnQuery
import FirnTable

// Text functions. They compare bytes unless the options specify otherwise.

extension Query where T: _QueryText {
    /// Matches where the value contains the text. Every text contains null; null contains no text.
    public func contains(_ text: T, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, context.constant(text), options: options)
    }
    /// Matches where the value contains the text of another property.
    public func contains(_ text: Query, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, text.expression, options: options)
    }

    /// Matches where the value begins with the text.
    public func starts(with text: T, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, context.constant(text), options: options)
    }
    /// Matches where the value begins with the text of another property.
    public func starts(with text: Query, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, text.expression, options: options)
    }

    /// Matches where the value ends with the text.
    public func ends(with text: T, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, context.constant(text), options: options)
    }
    /// Matches where the value ends with the text of another property.
    public func ends(with text: Query, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, text.expression, options: options)
    }

    /// Matches where the whole value matches a pattern: `*` is any number of characters, `?` one character.
    public func like(_ pattern: T, options: StringOptions) -> Query<Bool> { compared(.like, context.constant(pattern), options: options) }
    /// Matches where the whole value matches a pattern: `*` is any number of characters, `?` one character.
    public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
        like(pattern, options: caseInsensitive ? .caseInsensitive : [])
    }
    /// Matches where the whole value matches a pattern in another property.
    public func like(_ pattern: Query, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, pattern.expression, options: caseInsensitive ? .caseInsensitive : [])
    }

    /// Matches where both are equal under the options.
    public func equals(_ text: T, options: StringOptions = []) -> Query<Bool> { compared(.equal, context.constant(text), options: options) }
    /// Matches where both properties are equal under the options.
    public func equals(_ text: Query, options: StringOptions = []) -> Query<Bool> { compared(.equal, text.expression, options: options) }
    /// Matches where both differ under the options.
    public func notEquals(_ text: T, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, context.constant(text), options: options)
    }
    /// Matches where both properties differ under the options.
    public func notEquals(_ text: Query, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, text.expression, options: options)
    }

    /// Matches where the value is equal to one of the texts under the options.
    public func `in`(_ texts: some Sequence<T>, options: StringOptions) -> Query<Bool> {
        compared(.isIn, context.list(texts), options: options)
    }

    /// The number of bytes of the text in UTF-8; null where there is no text.
    public var byteCount: Query<Int?> { Query<Int?>(node.following([.count]), context) }
}
