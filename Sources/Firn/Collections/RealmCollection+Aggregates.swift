// Nothing counts that is not there: absent values are left out. Every element counts once, elements with equal values too: the members of a set are
// distinct, what a property of them holds need not be. Traps if the property is no number (for `min` and `max`: nor date).

extension RealmCollection {
    /// The least value of a property, or of one that links lead to; nil if there is none. Of primitive elements: "self".
    public func min<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType { extreme(.min, property) }

    /// The greatest value of a property; nil if there is none.
    public func max<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType { extreme(.max, property) }

    /// The sum of a property; 0 if there is no value. Traps if it does not fit into `T`: ask for a `Double` where that may happen.
    public func sum<T: _HasPersistedType & _Element>(ofProperty property: String) -> T where T.PersistedType: AddableType { total(.sum, property) ?? T._zero() }

    /// The average of a property; nil if there is no value. As an integer it is rounded towards zero.
    public func average<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: AddableType { total(.avg, property) }
}

extension RealmCollection where Element: ObjectBase {
    /// As `min(ofProperty:)`.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType { extreme(.min, KeyPathRecorder.path(keyPath)) }
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType { extreme(.min, KeyPathRecorder.path(keyPath)) }

    /// As `max(ofProperty:)`.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType { extreme(.max, KeyPathRecorder.path(keyPath)) }
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType { extreme(.max, KeyPathRecorder.path(keyPath)) }

    /// As `sum(ofProperty:)`.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T where T.PersistedType: AddableType { total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero() }
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T where T.PersistedType: AddableType { total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero() }

    /// As `average(ofProperty:)`.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: AddableType { total(.avg, KeyPathRecorder.path(keyPath)) }
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: AddableType { total(.avg, KeyPathRecorder.path(keyPath)) }
}

extension RealmCollection where Element: MinMaxType {
    /// The least of primitive elements; nil if there is none.
    public func min() -> Element? { extreme(.min, "self") }
    /// The greatest of primitive elements; nil if there is none.
    public func max() -> Element? { extreme(.max, "self") }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum of primitive elements; 0 if there are none.
    public func sum() -> Element { total(.sum, "self") ?? Element._zero() }
    /// The average of primitive elements; nil if there are none.
    public func average<T: _HasPersistedType & _Element>() -> T? where T.PersistedType: AddableType { total(.avg, "self") }
}
