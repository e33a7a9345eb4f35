extension Command {
    static let convert = Command(
        "convert", operands: "IN... OUT", count: 2...Int.max, "converts files from one format to another",
        detail: """
            Formats are firn, csv, tsv, json and ndjson; inputs may be compressed with zstd or gzip, OUT is not. The extension of OUT decides what is written, or --to.
            Several inputs with one schema make one type.

            Types are inferred from the whole input, and only where the same text comes back: leading zeros, long numbers and odd notations are kept
            as they are. What is changed or left out is told, column by column. OUT is written beside its place and renamed when complete: if anything
            fails, or on an interrupt, the target is untouched.
            """,
        examples: [
            .init("firn convert people.csv people.firn", "CSV to .firn"),
            .init("firn convert people.firn people.ndjson", "and back, as NDJSON"),
            .init("firn convert jan.csv feb.csv year.firn", "several files, one type"),
            .init("firn convert --key id --null NA in.csv out.firn", "with a primary key"),
            .init("zcat log.csv.gz | firn convert - log.firn", "from a pipe"),
            .init("firn convert --schema s.json --rejects bad.ndjson in.ndjson out.firn", "what fits a schema"),
        ],
        flags: Flag.readingText + [
            .type, .columns, .condition, .limit,
            Flag("to", nil, in: .writing, "format of OUT", detail: "Otherwise the extension tells.", choices: Flag.formats),
            Flag("key", "k", "NAMES", in: .writing, "the columns whose values tell rows apart (the primary key)",
                 detail: "Whole columns, no members of objects. Two rows with the same key are an error that names them.", repetition: .many),
            .profile, .newKeyFile, .plain,
            Flag("lossless", nil, in: .writing, "fail unless the same can be written back from OUT",
                 detail: "CSV is held to its bytes, JSON to its values: the spelling of numbers and white space of JSON are not kept."),
            .force, .json,
        ],
        exit: "0 done")

    static let query = Command(
        "query", operands: "FILE... [QUERY]", count: 1...Int.max, "prints the rows that match a predicate, sorted and aggregated if asked to",
        detail: """
            QUERY is a predicate, which may end with SORT(name ASC), DISTINCT(name) and LIMIT(10); the flags say the same and are joined to it with AND.
            FILE is a .firn file, or a CSV or JSON file, whose rows are read once and not kept (but for a SORT without LIMIT). FILE:Type names a type within it, \
            FILE@5 the file as it was at version 5. Several files are asked as one, if they have the same columns.

            Predicates: == != < <= > >= · BEGINSWITH ENDSWITH CONTAINS LIKE (with * and ?), [c] behind them ignores case · IN {1, 2} · BETWEEN {1, 10} · \
            AND OR NOT · == nil · + - * / · `any name` in back-quotes · object.field · ANY ALL NONE list · list.@count .@min .@max .@sum .@avg · list[0] · map['key']. \
            Text is in quotes, either kind; dates are 2016-09-29@10:30:00. All of it: docs/guide/query.md.
            """,
        examples: [
            .init("firn query people.firn 'age > 30'", "rows that match"),
            .init("firn query people.firn -g city -a 'count, avg(age)'", "groups"),
            .init("firn query people.csv -s name,age -S '-age' -n 5", "the five oldest"),
            .init("firn query people.firn --format csv > people.csv", "all rows as CSV"),
        ],
        flags: [
            .type, .condition,
            Flag("select", "s", "PATHS", in: .choosing, "only these columns; a.b reaches into objects", repetition: .many),
            Flag("sort", "S", "PATHS", in: .choosing, "sort by these columns; -age sorts downwards", repetition: .many),
            Flag("distinct", nil, "PATHS", in: .choosing, "the first row for each combination of these columns", repetition: .many),
            .limit,
            Flag("offset", nil, "N", in: .choosing, "leave out the first N rows"),
            Flag("group-by", "g", "PATHS", in: .choosing, "one row for each combination of these columns", repetition: .many),
            Flag("agg", "a", "LIST", in: .choosing, "what to compute: count, sum, avg, min, max, first, median, quantile(x, 0.9), count(distinct x)",
                 detail: "Of a column or of what is computed of columns: sum(price * (1 - discount)). Each may be given a name: sum(price) as total.", repetition: .many),
            Flag("format", nil, in: .writing, "how rows are printed",
                 preset: "table", choices: ["table", "csv", "tsv", "json", "ndjson"]),
            .json,
            Flag("explain", nil, in: .writing, "print the plan, and what could be skipped, instead of the rows"),
        ] + Flag.readingText,
        exit: "0 rows matched, 1 none did")

    static let sql = Command(
        "sql", operands: "FILE... STATEMENTS", count: 2...Int.max, "runs SQL over the types of one or several files: joins, windows, common table expressions",
        detail: """
            Every type of a file is a table of its name; where several files have a type of that name, FILE_Type. A CSV or JSON file is a table called after the file. \
            FILE:Type takes one type, FILE@5 the file as it was at version 5. STATEMENTS is SQLite's SQL, one statement or several with ; between \
            them; - reads it from standard input. Comparisons, IN, LIKE, NULL, ORDER BY and LIMIT are carried out by the engine where it gives the same rows.

            Dates are texts such as '2016-09-29 10:30:00' in UTC; a link is the key of the row it leads to, so that Dog.owner = Person.id joins; lists, sets, maps and objects are JSON text, \
            for json_each and ->>. Nothing is written but temporary tables. All of it, and how to load firn into the sqlite3 shell: docs/guide/sql.md.
            """,
        examples: [
            .init("firn sql people.firn 'SELECT city, count(*) FROM Person GROUP BY city'", "groups"),
            .init("firn sql a.firn 'SELECT * FROM Dog JOIN Person ON Dog.owner = Person.id'", "a join along a link"),
            .init("firn sql old.csv new.csv 'SELECT id FROM new EXCEPT SELECT id FROM old'", "several files"),
            .init("firn sql p.csv 'SELECT * FROM p WHERE age > :age' -p age=30 --format csv", "with a parameter"),
        ],
        flags: [
            Flag("param", "p", "NAME=VALUE", in: .choosing, "a value for :name in the statements; ?1 is called 1", detail: "Whole and decimal numbers are numbers, everything else is text.", repetition: .many),
            Flag("format", nil, in: .writing, "how rows are printed", preset: "table", choices: ["table", "csv", "tsv", "json", "ndjson"]),
            .json,
            Flag("explain", nil, in: .writing, "print the plan, what the engine took over and what it could skip, instead of the rows"),
        ] + Flag.readingText,
        exit: "0 rows were printed, 1 there were none")

    static let diff = Command(
        "diff", operands: "OLD NEW", count: 2...2, "compares two files of any format, or two versions of one, row by row by key",
        detail: """
            Rows are the same row if their keys are equal, wherever they stand; values are compared by what they mean: 1 and 1.0 are equal, sets and
            maps have no order, and a link is the key of the row it leads to. Differences of the schema are told apart. Duplicate keys are an error that names them.

            All types of two .firn files are compared, unless one is chosen. Types without key are then compared as a whole.
            """,
        examples: [
            .init("firn diff old.csv new.csv --key id", "what changed"),
            .init("firn diff a.firn b.firn --format summary", "only how much"),
            .init("firn diff db.firn@3 db.firn --format ndjson", "since version 3"),
            .init("firn diff old.firn new.firn --changes c.firn", "for firn patch"),
        ],
        flags: [
            Flag("key", "k", "NAMES", in: .comparing, "the columns that tell rows apart",
                 detail: "Members of objects are named by their path: --key name.official.", preset: "the type's own key", repetition: .many),
            Flag("ignore", nil, "NAMES", in: .comparing, "columns not to compare", repetition: .many),
            Flag("duplicates", nil, in: .comparing, "what to do with a key that stands in several rows of one side",
                 detail: "first takes the first row and tells how many were left out.", preset: "error", choices: ["error", "first"]),
            Flag("tolerance", nil, "X", in: .comparing, "numbers that differ by at most X are equal", preset: "0"),
            Flag("only", nil, in: .comparing, "print only these",
                 detail: "Everything is compared all the same, and the totals count all; the exit code is 1 if rows of these kinds, or columns, differ.",
                 choices: ["added", "removed", "changed"], repetition: .many),
            .type, .columns, .condition, .limit,
            Flag("format", nil, in: .writing, "how differences are printed",
                 detail: "Of nested cells the parts that changed are printed, by their paths. With --json, summary is one JSON object.", preset: "table", choices: ["table", "summary", "ndjson"]),
            Flag("changes", nil, "FILE", in: .writing, "write the differences to FILE, for 'firn patch'",
                 detail: "A .firn file of the rows, cells and parts of nested cells that differ, as they were and as they are, of all types that are compared. Encrypted if an input is."),
            .force, .json,
        ] + Flag.readingText,
        exit: "0 the same, 1 they differ")

    static let patch = Command(
        "patch", operands: "FILE CHANGES", count: 2...2, "applies changes that 'firn diff --changes' wrote, forwards or backwards",
        detail: """
            In one commit, all or nothing. Every row that is changed or removed must be as it was, in what the changes tell of it, none that is added may be there, and every row that a new \
            link leads to must; otherwise the rows that are in the way are listed, and nothing is done. Other rows may differ from those that the changes were made from, but for types without key, whose rows are \
            told apart by where they stand.

            Changes that change nothing make no new version. Where FILE holds exactly what the changes were made from, it holds afterwards exactly what they lead to: their content hashes (see 'firn hash') are compared \
            before the commit.
            """,
        examples: [
            .init("firn diff old.csv new.csv --key id --changes c.firn", "what differs"),
            .init("firn patch db.firn c.firn", "from old to new"),
            .init("firn patch --reverse db.firn c.firn", "and back"),
            .init("firn patch --check db.firn c.firn", "would it apply?"),
        ],
        flags: [
            .type,
            Flag("reverse", "R", in: .working, "from new to old"),
            Flag("check", nil, in: .working, "change nothing, tell whether the changes apply"),
            .json,
        ],
        exit: "0 applied, 1 they do not apply")

    static let compact = Command(
        "compact", operands: "FILE [OUT]", count: 1...2, "drops dead space and old versions, and encodes every column anew",
        detail: """
            In place, or to OUT. Prints the bytes of each column before and after. FILE is replaced only when all has been written.

            Tagged versions are kept, with their tags, unless --keep says which are: then it prints which are dropped. The versions get new numbers, from 1 on; what a version \
            shares with the one before it is stored once.

            --in-place needs no second copy: deleted rows go, and what lies at the end of the file moves into free space further down, by small commits, beside readers and \
            writers. Whenever it ends, the file is whole. Old versions go but for the two newest and tagged ones; what readers and tags hold waits for a later run, and is told.
            """,
        examples: [
            .init("firn compact people.firn", "a new file takes the name"),
            .init("firn compact --in-place people.firn", "while others read it, and with hardly any free space"),
            .init("firn compact --profile small a.firn b.firn", "as small as possible"),
            .init("firn compact --dry-run people.firn", "what it would gain"),
        ],
        flags: [
            .profile, .newKeyFile, .plain,
            Flag("keep", nil, "N|TAGS", in: .writing, "keep the N newest versions, or these tags and the newest version",
                 detail: "May be given several times: --keep 3 --keep v1,v2. --keep 1 keeps the newest version alone. Where others go, the file is replaced even if it gets no smaller.", preset: "all tags", repetition: .many),
            Flag("dry-run", nil, in: .writing, "change nothing, print what would be gained"),
            Flag("in-place", nil, in: .writing, "make the file shorter where it lies, beside its readers"),
            .force, .json,
        ],
        exit: "0 done")

    static let info = Command(
        "info", operands: "FILE", count: 1...1, "prints what a file holds: types, rows, bytes and encodings of each column, versions, dead space",
        detail: "FILE@5 looks at version 5, FILE@TAG at the version with that tag.",
        examples: [
            .init("firn info people.firn", "for people"),
            .init("firn info --json people.firn", "for programs"),
        ],
        flags: [.type, .json],
        exit: "0 done")

    static let schema = Command(
        "schema", operands: "FILE", count: 1...1, "prints the types of a file with their columns",
        detail: "Of a CSV or JSON file: the types that would be inferred.",
        examples: [
            .init("firn schema people.firn", "as a table"),
            .init("firn schema --json people.csv > people.schema.json", "to edit, for --schema"),
        ],
        flags: [.type, .json] + Flag.readingText,
        exit: "0 done")

    static let index = Command(
        "index", operands: "FILE [TYPE.COLUMN...]", count: 1...Int.max, "makes, drops and lists the indexes of a file",
        detail: """
            An index of a column finds rows by value: queries with == < <= > >= IN BETWEEN BEGINSWITH use it where few rows match, and every commit keeps it up. \
            'firn query --explain' tells whether one was used. With --full-text it is an index of the words of a text, for TEXT.

            A primary key of one column has an index as soon as it needs one: where its values do not ascend in the order of the rows and there are more than 65,536. \
            Without columns, the indexes that there are.
            """,
        examples: [
            .init("firn index people.firn people.name people.age", "of two columns"),
            .init("firn index people.firn", "the indexes there are"),
            .init("firn index --drop people.firn people.age", "without it again"),
        ],
        flags: [
            .type,
            Flag("full-text", nil, in: .working, "index the words of a text"),
            Flag("drop", nil, in: .working, "drop the indexes of these columns"),
            Flag("list", nil, in: .working, "list the indexes"),
            .json,
        ],
        exit: "0 done, 1 there was no such index to drop")

    static let log = Command(
        "log", operands: "FILE", count: 1...1, "lists the versions of a file: when, rows, what changed, tags, and which are being read",
        detail: """
            Newest first: the recent versions, and older ones that have a tag. Rows are counted as added, removed and changed since the version listed below; that costs by what \
            changed, not by the size of the file. Any of them can be named as FILE@VERSION or FILE@TAG.

            With --keep or --keep-for nothing is listed: the file says from then on which versions its writers keep.
            """,
        examples: [
            .init("firn log db.firn", "all versions"),
            .init("firn log -n 1 --json db.firn", "the newest, for programs"),
            .init("firn log --keep 100 --keep-for 7d db.firn", "keep 100 versions, and all of a week"),
        ],
        flags: [
            .type,
            Flag("limit", "n", "N", in: .choosing, "at most N versions"),
            Flag("keep", nil, "N", in: .working, "writers keep the N newest versions from now on", detail: "At least 2; 0 for what is customary, which is 8."),
            Flag("keep-for", nil, "TIME", in: .working, "and all that were the newest within TIME: 90m, 12h, 7d", detail: "0 for no time."),
            .json,
        ],
        exit: "0 done")

    static let tag = Command(
        "tag", operands: "FILE [NAME[@VERSION]...]", count: 1...Int.max, "gives versions names, takes names away, and lists them",
        detail: """
            A version with a tag stays, whatever is committed later; it costs the bytes that have changed since. FILE@NAME reads it, in every command that reads. Without VERSION \
            the newest is tagged; VERSION may be another tag.

            A name has no spaces and none of @ : / \\ , " ' and is no number. A file with tags is written only by versions of this program that know of them.
            """,
        examples: [
            .init("firn tag db.firn before-migration", "the newest version"),
            .init("firn tag db.firn v1@5", "version 5"),
            .init("firn tag db.firn", "the tags there are"),
            .init("firn tag --delete db.firn v1", "take the name away"),
        ],
        flags: [
            Flag("delete", nil, in: .working, "take these names away"),
            Flag("force", "f", in: .working, "move a tag that is there to another version"),
            .json,
        ],
        exit: "0 done, 1 there was no such tag to delete")

    static let revert = Command(
        "revert", operands: "FILE VERSION|TAG", count: 2...2, "goes back to an older version, in a new one",
        detail: """
            The rows of all types become those of then, under the same row ids; the versions between stay as they are. Types and columns that came since stay, without rows and \
            values. Segments that have not changed since are not written again.
            """,
        examples: [
            .init("firn revert db.firn before-migration", "to a tag"),
            .init("firn revert db.firn 5", "to version 5"),
        ],
        flags: [.json],
        exit: "0 done")

    static let hash = Command(
        "hash", operands: "FILE...", count: 1...Int.max, "prints a hash of what files hold, which tells whether two of them hold the same",
        detail: """
            128 bits of the rows, their columns and types. How they are stored is no part of it: encodings, versions, indexes, row ids, the order of columns, and whether a file \
            is .firn, CSV or JSON. So two people can tell that they have the same data without sending it. The rows of a type with a key have no order; without one they have.

            The hash of a file with one type is that of the type, whatever it is called. Values are hashed by what they mean, as 'firn diff' compares them; 1 in a column of int \
            and 1 in one of double differ. It is no signature: who may choose the data can find two with one hash.
            """,
        examples: [
            .init("firn hash people.firn", "of all rows"),
            .init("firn hash db.firn@v1 db.firn", "of two versions"),
            .init("firn hash --key id people.csv people.firn", "of rows in any order"),
            .init("firn hash --each-column people.firn", "which column differs"),
        ],
        flags: [
            .type,
            Flag("key", "k", "NAMES", in: .working, "the columns that tell rows apart", detail: "The rows then have no order.", preset: "the type's own key", repetition: .many),
            Flag("each-column", nil, in: .working, "a hash of each column too"),
            .json,
        ] + Flag.readingText,
        exit: "0 done")

    static let verify = Command(
        "verify", operands: "FILE...", count: 1...Int.max, "checks that files are intact",
        detail: """
            Quickly by default: headers, structure and hashes. With --full every value is decoded, and indexes, order and links are checked. \
            Every version that can be read is looked at; FILE@5 and FILE@TAG look at that one alone.

            Each defect is told with its type, column, part (segment, delta, index, directory), rows by row id, and byte; what belongs to no type is told as structure, by name.
            """,
        examples: [
            .init("firn verify people.firn", "structure and hashes"),
            .init("firn verify --full *.firn", "everything"),
        ],
        flags: [
            Flag("full", nil, in: .working, "decode every value, and check indexes, order and links"),
            .json,
        ],
        exit: "0 intact, 1 damage found")

    static let recover = Command(
        "recover", operands: "FILE OUT", count: 2...2, "saves what is intact of a damaged file into a new one, and tells what is lost",
        detail: """
            Reads the newest version that can be read, through whatever still leads to it: damaged or missing roots, records and directories are passed by where what they lead \
            to has a hash that holds. Bytes whose hash does not hold are never written: what is lost is reported by type, column, rows and byte. Where an older version in the file still has the rows or values, those are taken, \
            and told with that version; other lost values become null in rows that are otherwise whole. Row ids stay. FILE@5 and FILE@TAG get out that version.

            Rows that no hash proves (a file of one extent whose root is gone, a damaged catalogue or header) are written with --unproven alone, and each range of them is reported: \
            "unproven: Type, rows 0 to 99", in --json a member of "losses" with "unproven": true.

            FILE is only read, and OUT must be another file. OUT is written beside its place and renamed when complete; if nothing can be recovered it is not made, and the exit \
            code is 4. Of an encrypted file one root has to be left, and OUT is encrypted with its key unless --plain or --new-key-file say otherwise.
            """,
        examples: [
            .init("firn recover people.firn saved.firn", "all that is left"),
            .init("firn recover --json people.firn saved.firn", "with a report for programs"),
            .init("firn recover --key-file key people.firn saved.firn", "of an encrypted file"),
        ],
        flags: [
            Flag("unproven", nil, in: .working, "write rows that no hash proves, too, and report each range of them"),
            .profile, .newKeyFile, .plain, .force, .json,
        ],
        exit: "0 nothing is lost, 1 something is lost or unproven, 4 nothing can be recovered")

    static let help = Command(
        "help", operands: "[COMMAND]", count: 0...1, "explains a command", detail: "", examples: [.init("firn help convert", "all of convert")], flags: [])

    static let man = Command(
        "man", operands: "[COMMAND]", count: 0...1, "prints the manual page of the program or of a command",
        detail: """
            The page is written for man(7): read it with 'firn man convert | man -l -'. With --dir all pages are written to a folder, as firn.1, firn-convert.1 and so on: \
            a folder called man1 in a folder of $MANPATH makes them known to man.
            """,
        examples: [.init("firn man query > firn-query.1", "the page of firn query"), .init("firn man --dir ~/.local/share/man/man1", "write all pages")],
        flags: [Flag("dir", nil, "DIR", in: .writing, "write the pages of all commands to this folder"), .force], exit: "0 done")

    static let completions = Command(
        "completions", operands: "bash|zsh|fish", count: 1...1, "prints the completions of a shell",
        detail: "bash: source <(firn completions bash). zsh: save as _firn in a folder of $fpath. fish: save as ~/.config/fish/completions/firn.fish.",
        examples: [.init("firn completions bash > /etc/bash_completion.d/firn", "for all users")], flags: [], exit: "0 done")

    /// Writes docs/cli.md.
    static let reference = Command(
        "reference", operands: "", count: 0...0, "prints this reference", detail: "", examples: [], flags: [], isHidden: true)
}
