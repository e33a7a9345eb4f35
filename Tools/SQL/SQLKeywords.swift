/// SQLite's keywords and the functions that statements with groups in the engine may call.
enum SQLKeywords {
    static let all = words(
        """
        abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case cast check collate column
        commit conflict constraint create cross current current_date current_time current_timestamp database default deferrable deferred delete desc
        detach distinct do drop each else end escape except exclude exclusive exists explain fail filter first following for foreign from full generated
        glob group groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key last left like
        limit match materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding
        primary query raise range recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint
        select set table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual when where
        window with within without
        """)

    /// Keywords that SQLite accepts as names without quotes, and that have no meaning in an expression.
    static let names = words("action column database key no plan query row rows temp view")

    /// Functions of one row. `min` and `max` are among them if they have several arguments.
    static let functions = SQLFunctions.rowNames.union(functionsOfSQLite)

    private static let functionsOfSQLite = words(
        """
        abs ceil ceiling char coalesce concat concat_ws date datetime exp floor format hex ifnull iif instr julianday length ln log lower ltrim mod
        nullif pow power printf quote replace round rtrim sign sqrt strftime substr substring time trim typeof unicode unixepoch upper
        """)

    private static func words(_ text: String) -> Set<String> { Set(text.split(whereSeparator: \.isWhitespace).map(String.init)) }
}
