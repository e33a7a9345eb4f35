extension Zoo {
    /// Each line has a rule: the matching rows of the zoo, in order, then the query.
    static let expectations: [(query: String, rows: String)] = rules.split(separator: "\n").filter { !$0.hasPrefix("//") }.map { line in
        let bar = line.firstIndex(of: "|")!
        return (String(line[line.index(bar, offsetBy: 2)...]), line[..<bar].filter { $0 != " " })
    }

    private static let rules = #"""
        // Nulls.
        c     | name == nil
        abde  | name != nil
        b     | optAge == NULL
        bcde  | optAge != 5
        bce   | name !=[c] 'rEX'
        ace   | optAge < 100
        b     | optAge >= nil
              | optAge > nil
        ace   | name < 'S'
        bd    | name > 'S'
        b     | optAge + 1 == nil
        be    | best.price == nil
        be    | best == nil
        acd   | best != nil
        c     | best != NULL AND best.name == NULL
        abc   | NOT (optAge > 5)
        c     | name <= nil
        abcde | name >= nil
        // Text.
        abcde | name CONTAINS NULL
        abcde | name BEGINSWITH nil
              | NULL CONTAINS name
        c     | name LIKE NULL
        c     | NULL LIKE name
        abde  | name CONTAINS ''
        abde  | name LIKE '*'
        e     | name LIKE ''
        b     | name ==[c] 'åSA'
        ad    | name ENDSWITH 'ex'
        ad    | name BEGINSWITH[c] 'R'
        b     | name LIKE '?sa'
        ad    | name LIKE[c] 'R*X'
        b     | name.@count == 4
        ace   | 'Rex and more' BEGINSWITH name
        ad    | name IN[c] {'REX'}
        ac    | name IN {'Rex', nil}
        a     | name == 'Re\u0078'
        d     | name contains[c] 'E' and name != 'Rex'
        // Numbers.
        ad    | age == '5'
        a     | dec == '1.50'
        a     | dec == 1.5
        c     | dec == nan
              | weight == nan
        abcde | weight != nan
        acd   | weight < inf
        acde  | weight <= inf
              | age == nan
        ad    | age == 5.0
              | age == 5.5
        abd   | age > 4.5
        ad    | age / 2.0 == 2.5
        ad    | age BETWEEN {3.5, 5.5}
        acd   | age BETWEEN {3, 5}
              | age BETWEEN {5, 3}
        ad    | age / 2 == 2
        abcd  | age / 0 == 9223372036854775807
        abcd  | age * 2 - 1 > age + 1
        b     | 5 < age
        ace   | good > false
        ace   | good == true
        a     | f == 1.1
        a     | age == optAge
        e     | age < weight
        d     | dec < 0
        bc    | age IN {3, 7, 'x', null}
        ade   | age != {3, 7}
        bc    | age == {3, 7}
        abd   | age > ALL {3, 4}
        abd   | age > ANY {3, 100}
        bce   | age == NONE {5}
        a     | born == T0:500
        d     | born < 1970-01-01@00:00:00
        ce    | born >= 1970-01-02
        ad    | born BETWEEN {T-1:0, T1:0}
        e     | data == bin('\u0001')
        ac    | data > bin(B64"AQ==")
        e     | born > '2020-01-01'
        abcde | age < 99999999999999999999
        abcd  | 1 + 1 < age
        ad    | (age + 1) * 2 == 12
        // Lists.
        a     | ints == 1
        ce    | ANY ints > 4
        abe   | ALL ints > 0
        abcd  | NONE ints == 9
        a     | ints == {1,2,3}
        bcde  | ints != {1,2,3}
        a     | set == {1,2}
              | set == {2,1}
        c     | ints == nil
        acde  | ints[7] == nil
        a     | ints[0] == 1
        e     | ints[FIRST] == 9
        c     | ints[LAST] == nil
        a     | ints[SIZE] == 3
        b     | ints.@count == 0
        a     | ints.@sum == 6
        b     | ints.@sum == 0
        b     | ints.@min == nil
        ce    | ints.@max > 4
        a     | ints.@avg == 2
              | strs IN {'x', nil}
        ace   | ANY strs IN {'x', nil}
        ae    | 'x' IN strs
              | age IN ints
        c     | 5 IN ints
        cde   | strs.length == 0
        ae    | strs.@count == 2
        a     | strs CONTAINS 'y'
        abe   | ALL ints BETWEEN {1, 9}
        d     | ints == ALL {-1}
        abcde | ints == NONE {}
        a     | ints + 1 == 3
        ce    | age < ints
        abde  | ALL ints != 5
        a     | ints[*] == 2
        // Maps.
        a     | dict['k'] == 1
        bde   | dict.k == nil
        acd   | dict.@keys == 'k'
        e     | dict.@values == 3
        e     | dict['a b'] == 3
        b     | dict.@count == 0
        c     | dict[$0] == 2
        e     | ANY dict.@keys BEGINSWITH 'a'
        c     | dict == 2
        abcde | dict.k == dict.k
        // Embedded objects.
        a     | best.name == 'ball'
        ad    | best.price > 1.5
        a     | toys.name == 'bone'
        abe   | ALL toys.price > 0
        abce  | NONE toys.name == 'stick'
        a     | toys.@count == 2
        a     | toys.@sum.price == 6
        d     | toys.@min.price < 0
        a     | toys.price.@max == 4
        ad    | toys.tags == 'red'
        d     | toys[0].name == 'stick'
        a     | toys[1].tags == 'old'
        ad    | toys[0].tags.@count == 1
        a     | toys.tags.@count == 2
        b     | SELF.age == 7
        // Mixed.
        ae    | mixed == 5
        b     | mixed == '5'
        bcd   | mixed != 5
        c     | mixed == nil
        b     | mixed.@type == 'string'
        ae    | mixed.@type IN {'int', 'double'}
        abde  | mixed.@type != 'null'
        ae    | mixed.@type == 'numeric'
        d     | mixed[0].b == 7
        d     | mixed.@count == 2
        ae    | mixed > 4
        ae    | mixed + 1 == 6
        ace   | mixed IN {5, null}
        // Logic, names.
        abcde | TRUEPREDICATE
              | FALSEPREDICATE
        cd    | age == 5 and name == 'rex' or age == 3
        bce   | !(age == 5)
        e     | sort > 4
        a     | `any` == 1
        // Descriptors.
        ceadb | TRUEPREDICATE SORT(name ASC)
        bdaec | TRUEPREDICATE SORT(name DESC)
        bcaed | TRUEPREDICATE SORT(optAge ASC)
        ecadb | TRUEPREDICATE SORT(age ASC, weight DESC)
        ecadb | TRUEPREDICATE SORT(age ASC) SORT(good DESC)
              | TRUEPREDICATE LIMIT(0)
        abcd  | TRUEPREDICATE LIMIT(4)
        ce    | TRUEPREDICATE SORT(name ASC) LIMIT(2)
        a     | TRUEPREDICATE LIMIT(1) SORT(name ASC)
        abce  | TRUEPREDICATE DISTINCT(age)
        b     | TRUEPREDICATE SORT(age DESC) DISTINCT(good) LIMIT(1)
        abcde | TRUEPREDICATE DISTINCT(optAge)
        cadbe | TRUEPREDICATE SORT(best.price ASC)
        bedac | TRUEPREDICATE SORT(best.price DESC)
        acd   | TRUEPREDICATE DISTINCT(best.price)
        acdbe | TRUEPREDICATE SORT(toys.@count DESC)
        bcdae | TRUEPREDICATE SORT(weight ASC)
        caebd | TRUEPREDICATE SORT(mixed ASC)
        bdace | TRUEPREDICATE SORT(ints[0] ASC)
        ecadb | TRUEPREDICATE SORT(born DESC)
        bcdae | TRUEPREDICATE SORT(dec ASC)
        """#
}
