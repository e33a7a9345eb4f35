/// The operations that statements of the command can use. Everything not listed is refused, including what later releases of SQLite add.
enum SQLPermissions {
    /// SQLite's action codes (https://www.sqlite.org/c3ref/c_alter_table.html).
    enum Action: Int32 {
        case createIndex = 1, createTable, createTemporaryIndex, createTemporaryTable, createTemporaryTrigger, createTemporaryView,
            createTrigger, createView
        case delete, dropIndex, dropTable, dropTemporaryIndex, dropTemporaryTable, dropTemporaryTrigger, dropTemporaryView, dropTrigger,
            dropView
        case insert, pragma, read, select, transaction, update, attach, detach, alterTable, reindex, analyze, createVirtualTable,
            dropVirtualTable
        case function, savepoint, recursive
    }

    /// Functions that only compute. Excluded are functions that take memory addresses (`fts3_tokenizer`), load libraries
    /// (`load_extension`), access files, or take internal data of a full-text or spatial index from the statement.
    static let functions: Set<String> = names(
        """
        -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce concat concat_ws cos cosh count cume_dist
        current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif
        instr json json_array json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object json_insert
        json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_array_insert
        jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag
        last_insert_rowid last_value lead length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif
        octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random randomblob rank replace round
        row_number rtrim sign sin sinh soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_source_id sqlite_version sqrt strftime
        string_agg substr substring subtype sum tan tanh time timediff total total_changes trim trunc typeof unhex unicode unistr unistr_quote
        unixepoch unlikely upper zeroblob
        """
    ).union(internalFunctions).union(SQLFunctions.names)

    /// ALTER TABLE of a temporary table calls these functions; SQLite does not accept them in statements.
    private static let internalFunctions = names(
        "sqlite_add_constraint sqlite_drop_column sqlite_drop_constraint sqlite_rename_column sqlite_rename_quotefix sqlite_rename_table sqlite_rename_test"
    )

    /// Pragmas that only list something, and `case_sensitive_like`.
    static let pragmas: Set<String> = names(
        """
        case_sensitive_like collation_list compile_options database_list foreign_key_list function_list index_info index_list index_xinfo module_list
        pragma_list table_info table_list table_xinfo
        """)

    /// Table-valued functions, except `pragma_…`, which SQLite reports as pragmas.
    static let tableFunctions = names("json_each json_tree jsonb_each jsonb_tree")

    private static func names(_ text: String) -> Set<String> { Set(text.split(whereSeparator: \.isWhitespace).map(String.init)) }
}

/// The facts about a statement, other than the action, that decide what it may do.
struct SQLStatementContext {
    /// The first words of the statement, in capitals.
    var words: [String]
    /// Whether a name, in lower case, is that of a file's table.
    var isOwnTable: (String) -> Bool
    /// The names of SQLite's modules, in lower case.
    var modules: Set<String>

    var createsTable: Bool { words.starts(with: ["CREATE", "TABLE"]) }

    /// The name of the statement: SQLite reports what it does to execute it, such as ATTACH for VACUUM.
    func name(_ usual: String) -> String {
        guard let first = words.first else { return usual }
        if ["CREATE", "DROP", "ALTER"].contains(first), words.count > 1 { return "\(first) \(words[1])" }
        return first
    }
}

/// An operation of a statement that was refused.
enum SQLRefusal: Equatable {
    /// A change outside of temporary tables.
    case change(String)
    case function(String), pragma(String), table(String), statement(String)
}

extension SQLPermissions {
    /// The first words of statements that are refused whatever they do. SQLite does not ask about those that have nothing to do, such as
    /// REINDEX without indexes.
    private static let useless: Set<String> = ["BEGIN", "COMMIT", "END", "REINDEX", "RELEASE", "ROLLBACK", "SAVEPOINT"]

    /// Returns why a statement is not available, by its first words in capitals; nil if its actions decide.
    static func refusal(ofStatement words: [String]) -> SQLRefusal? {
        words.first.flatMap { useless.contains($0) ? .statement($0) : nil }
    }

    /// Returns whether an action reads the groups of a rewritten statement.
    static func readsGroups(_ action: Int32, _ subject: String, database: String) -> Bool {
        action == Action.read.rawValue && subject == SQLGroupTable.name && database == "main"
    }

    /// Returns nil if the action is permitted.
    static func refusal(_ action: Int32, _ subject: String, _ detail: String, database: String, in context: SQLStatementContext)
        -> SQLRefusal?
    {
        let isTemporary = database == "temp"
        switch Action(rawValue: action) {
        case .select, .recursive: return nil
        case .transaction: return .statement(context.name("BEGIN"))
        case .savepoint: return .statement(context.name("SAVEPOINT"))
        case .createTemporaryIndex, .createTemporaryTable, .createTemporaryTrigger, .createTemporaryView: return nil
        case .dropTemporaryIndex, .dropTemporaryTable, .dropTemporaryTrigger, .dropTemporaryView: return nil
        case .read:
            // A module can be used as a table under its own name.
            let name = NameTable.folded(subject)
            guard !isTemporary, context.modules.contains(name), !tableFunctions.contains(name), !name.hasPrefix("pragma_"),
                !context.isOwnTable(name)
            else {
                return nil
            }
            return .table(subject)
        case .function: return functions.contains(NameTable.folded(detail)) ? nil : .function(detail)
        case .pragma: return pragmas.contains(NameTable.folded(subject)) ? nil : .pragma(subject)
        // SQLite asks about the schema table first, and then about the operation itself.
        case .delete where subject == "sqlite_master", .insert where subject == "sqlite_master", .update where subject == "sqlite_master":
            return nil
        // Table-valued functions are declared by such a statement.
        case .createTable where subject == "x" && !context.createsTable: return nil
        case .delete: return isTemporary ? nil : .change("DELETE FROM \(subject)")
        case .insert: return isTemporary ? nil : .change("\(context.words.first == "REPLACE" ? "REPLACE" : "INSERT") INTO \(subject)")
        case .update: return isTemporary ? nil : .change("UPDATE \(subject)")
        case .createIndex: return isTemporary ? nil : .change("CREATE INDEX \(subject)")
        case .createTable where subject.hasPrefix("sqlite_"): return isTemporary ? nil : .change(context.name("CREATE TABLE \(subject)"))
        case .createTable: return isTemporary ? nil : .change("CREATE TABLE \(subject)")
        case .createView: return isTemporary ? nil : .change("CREATE VIEW \(subject)")
        case .createTrigger: return isTemporary ? nil : .change("CREATE TRIGGER \(subject)")
        case .dropTable, .dropVirtualTable:
            return isTemporary && action == Action.dropTable.rawValue ? nil : .change("DROP TABLE \(subject)")
        // For this action the first argument is the database.
        case .alterTable: return subject == "temp" ? nil : .change("ALTER TABLE \(detail)")
        case .dropIndex, .dropTrigger, .dropView, .reindex, .analyze: return isTemporary ? nil : .change(context.name("this statement"))
        case .createVirtualTable: return .statement("CREATE VIRTUAL TABLE")
        case .attach: return .statement(context.name("ATTACH"))
        case .detach: return .statement(context.name("DETACH"))
        case nil: return .statement(context.name("this statement"))
        }
    }
}
