/// Aggregates and orders by Swift key paths, for maps of objects.
extension Map where Value: ObjectBase {
    /// Returns the minimum of a property of the values; nil if there is no value.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.min, KeyPathRecorder.path(keyPath))
    }
    /// Returns the minimum of an optional property of the values; nil if there is no value.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T?>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.min, KeyPathRecorder.path(keyPath))
    }
    /// Returns the maximum of a property of the values; nil if there is no value.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.max, KeyPathRecorder.path(keyPath))
    }
    /// Returns the maximum of an optional property of the values; nil if there is no value.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T?>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.max, KeyPathRecorder.path(keyPath))
    }
    /// Returns the sum of a property of the values; 0 if there is no value.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T>) -> T where T.PersistedType: AddableType {
        valueResults.total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }
    /// Returns the sum of an optional property of the values; 0 if there is no value.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T?>) -> T where T.PersistedType: AddableType {
        valueResults.total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }
    /// Returns the average of a property of the values; nil if there is no value.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T>) -> T? where T.PersistedType: AddableType {
        valueResults.total(.avg, KeyPathRecorder.path(keyPath))
    }
    /// Returns the average of an optional property of the values; nil if there is no value.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value, T?>) -> T? where T.PersistedType: AddableType {
        valueResults.total(.avg, KeyPathRecorder.path(keyPath))
    }
    /// Returns the values sorted by a property, which can be reached through links.
    public func sorted<T: _HasPersistedType>(by keyPath: KeyPath<Value, T>, ascending: Bool = true) -> Results<Value>
    where T.PersistedType: SortableType {
        valueResults.sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Returns the first value for each combination of values at the key paths.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == PartialKeyPath<Value> {
        valueResults.distinct(by: keyPaths.map { KeyPathRecorder.path($0) })
    }
}

/// Aggregates and orders by Swift key paths, for maps of objects that can be nil.
extension Map where Value: _QueryOptional, Value.Wrapped: ObjectBase {
    /// Returns the minimum of a property of the values; nil if there is no value.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.min, KeyPathRecorder.path(keyPath))
    }
    /// Returns the minimum of an optional property of the values; nil if there is no value.
    public func min<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.min, KeyPathRecorder.path(keyPath))
    }
    /// Returns the maximum of a property of the values; nil if there is no value.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.max, KeyPathRecorder.path(keyPath))
    }
    /// Returns the maximum of an optional property of the values; nil if there is no value.
    public func max<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T? where T.PersistedType: MinMaxType {
        valueResults.extreme(.max, KeyPathRecorder.path(keyPath))
    }
    /// Returns the sum of a property of the values; 0 if there is no value.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T>) -> T where T.PersistedType: AddableType {
        valueResults.total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }
    /// Returns the sum of an optional property of the values; 0 if there is no value.
    public func sum<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T where T.PersistedType: AddableType {
        valueResults.total(.sum, KeyPathRecorder.path(keyPath)) ?? T._zero()
    }
    /// Returns the average of a property of the values; nil if there is no value.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T>) -> T? where T.PersistedType: AddableType {
        valueResults.total(.avg, KeyPathRecorder.path(keyPath))
    }
    /// Returns the average of an optional property of the values; nil if there is no value.
    public func average<T: _HasPersistedType & _Element>(of keyPath: KeyPath<Value.Wrapped, T?>) -> T? where T.PersistedType: AddableType {
        valueResults.total(.avg, KeyPathRecorder.path(keyPath))
    }
    /// Returns the values sorted by a property, which can be reached through links.
    public func sorted<T: _HasPersistedType>(by keyPath: KeyPath<Value.Wrapped, T>, ascending: Bool = true) -> Results<Value>
    where T.PersistedType: SortableType {
        valueResults.sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Returns the first value for each combination of values at the key paths.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == PartialKeyPath<Value.Wrapped> {
        valueResults.distinct(by: keyPaths.map { KeyPathRecorder.path($0) })
    }
}
