import FirnModel
import FirnQuery

// Text functions, by bytes unless the options say otherwise.

extension Query where T: _QueryText {
    /// The text occurs in it. Null is in everything.
    public func contains(_ text: T, options: StringOptions = []) -> Query<Bool> { compared(.contains, context.constant(text), options: options) }
    public func contains(_ text: Query, options: StringOptions = []) -> Query<Bool> { compared(.contains, text.expression, options: options) }

    public func starts(with text: T, options: StringOptions = []) -> Query<Bool> { compared(.beginsWith, context.constant(text), options: options) }
    public func starts(with text: Query, options: StringOptions = []) -> Query<Bool> { compared(.beginsWith, text.expression, options: options) }

    public func ends(with text: T, options: StringOptions = []) -> Query<Bool> { compared(.endsWith, context.constant(text), options: options) }
    public func ends(with text: Query, options: StringOptions = []) -> Query<Bool> { compared(.endsWith, text.expression, options: options) }

    /// The whole of it fits a pattern: `*` is any run of characters, `?` one character.
    public func like(_ pattern: T, options: StringOptions) -> Query<Bool> { compared(.like, context.constant(pattern), options: options) }
    public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> { like(pattern, options: caseInsensitive ? .caseInsensitive : []) }
    public func like(_ pattern: Query, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, pattern.expression, options: caseInsensitive ? .caseInsensitive : [])
    }

    /// `==` without regard to case or marks.
    public func equals(_ text: T, options: StringOptions = []) -> Query<Bool> { compared(.equal, context.constant(text), options: options) }
    public func equals(_ text: Query, options: StringOptions = []) -> Query<Bool> { compared(.equal, text.expression, options: options) }
    public func notEquals(_ text: T, options: StringOptions = []) -> Query<Bool> { compared(.notEqual, context.constant(text), options: options) }
    public func notEquals(_ text: Query, options: StringOptions = []) -> Query<Bool> { compared(.notEqual, text.expression, options: options) }

    /// One of some texts, without regard to case or marks.
    public func `in`(_ texts: some Sequence<T>, options: StringOptions) -> Query<Bool> { compared(.isIn, context.list(texts), options: options) }

    /// How many bytes of UTF-8 it has; null where there is none.
    public var byteCount: Query<Int?> { Query<Int?>(node.following([.count]), context) }
}
