// Nulls are ignored. Every element counts once, even if several have equal values: the elements of a set are distinct, the values of their
// properties need not be. All functions trap if the property is not a number (for `min` and `max`: or a date).

extension RealmCollection {
    /// Returns the minimum of a property, which can be reached through links; nil if there is no value. Use "self" for primitive elements.
    public func min<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        extreme(.min, property)
    }

    /// Returns the maximum of a property; nil if there is no value.
    public func max<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        extreme(.max, property)
    }

    /// Returns the sum of a property; 0 if there is no value. Traps if the sum does not fit `T`: use `Double` where that can happen.
    public func sum<T: _HasPersistedType & _Element>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        total(.sum, property) ?? T._zero()
    }

    /// Returns the average of a property; nil if there is no value. An integer average is rounded towards zero.
    public func average<T: _HasPersistedType & _Element>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        total(.avg, property)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the minimum of a property. See `min(ofProperty:)`.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        extreme(.min, KeyPathRecorder.path(keyPath))
    }
    /// Returns the minimum of an optional property. See `min(ofProperty:)`.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        extreme(.min, KeyPathRecorder.path(keyPath))
    }

    /// Returns the maximum of a property. See `max(ofProperty:)`.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: MinMaxType {
        extreme(.max, KeyPathRecorder.path(keyPath))
    }
    /// Returns the maximum of an optional property. See `max(ofProperty:)`.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: MinMaxType {
        extreme(.max, KeyPathRecorder.path(keyPath))
    }

    /// Returns the sum of a property. See `sum(ofProperty:)`.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T where T.PersistedType: AddableType {
        total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }
    /// Returns the sum of an optional property. See `sum(ofProperty:)`.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T where T.PersistedType: AddableType {
        total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }

    /// Returns the average of a property. See `average(ofProperty:)`.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T>) -> T? where T.PersistedType: AddableType {
        total(.avg, KeyPathRecorder.path(keyPath))
    }
    /// Returns the average of an optional property. See `average(ofProperty:)`.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Element, T?>) -> T? where T.PersistedType: AddableType {
        total(.avg, KeyPathRecorder.path(keyPath))
    }
}

extension RealmCollection where Element: MinMaxType {
    /// Returns the minimum of primitive elements; nil if there is none.
    public func min() -> Element? { extreme(.min, "self") }
    /// Returns the maximum of primitive elements; nil if there is none.
    public func max() -> Element? { extreme(.max, "self") }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// Returns the enum or custom type with the minimum stored value; nil if there is none.
    @_disfavoredOverload
    public func min() -> Element? { extreme(.min, "self") }
    /// Returns the enum or custom type with the maximum stored value; nil if there is none.
    @_disfavoredOverload
    public func max() -> Element? { extreme(.max, "self") }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// Returns the sum of primitive elements; 0 if there are none.
    public func sum() -> Element { total(.sum, "self") ?? Element._zero() }
    /// Returns the average of primitive elements; nil if there are none.
    public func average<T: _HasPersistedType & _Element>() -> T? where T.PersistedType: AddableType { total(.avg, "self") }
}
