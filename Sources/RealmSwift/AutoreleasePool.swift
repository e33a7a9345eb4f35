#if !canImport(ObjectiveC)
    /// Runs `body`. Code for Realm uses autorelease pools on background threads. Without Objective-C there is nothing to release: a realm
    /// is released with its last reference.
    public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif
