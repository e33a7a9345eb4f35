// Model files for Realm's Swift SDK compile unchanged: this module exports Firn under the name that they import.
@_exported import Firn
