"""The first page in German."""

DECIMAL, THOUSANDS = ",", "."
PERCENT = "{} %"
RANGE = "{low} bis {high}"
RANGE_AROUND_ZERO = "zwischen {low} {less} und {high} {more}"
AND = " und "

STATES = {
    "unequal at equal columns": "Ungleich, auch wo die anderen Spalten gleich sind",
    "unequal, open at equal columns": "Ungleich; ob andere Spalten es erklären, ist offen",
    "unequal, accounted for": "Ungleich, und die legitimen Spalten erklären es",
    "nothing found": "Nichts gefunden",
    "nothing found as far as one can see": "Nichts gefunden, soweit man sehen kann",
    "cannot tell": "Nicht zu sagen",
}
FAVORABLE = "das günstige Ergebnis ({labels})"
EVERYONE_ELSE = "allen anderen"
POINTS = "{n} Punkte"
MORE_COLUMNS = "{n} weiteren"
WORDS = {
    "less": "weniger",
    "more": "mehr",
    "Less": "Weniger",
    "More": "Mehr",
    "fewer": "weniger",
    "greater": "mehr",
}

# What is unequal.
LESS_OFTEN = (
    "Seltener {favorable} bei {worse} als bei {better}: {rate} gegen {other_rate}, {points} "
    "weniger ({range})."
)
LOWER = (
    "Niedrigere Werte von {measure} bei {worse} als bei {better}: {rate} gegen {other_rate}, "
    "{points} weniger ({range})."
)
LESS_OF_NUMBER = (
    "{Less} {target} bei {worse} als bei {better}: im Mittel {mean} gegen {other_mean}, {points} "
    "{less} ({range})."
)
MORE_OF_NUMBER = (
    "{More} {target} bei {better} als bei {worse}: im Mittel {other_mean} gegen {mean}, {points} "
    "{more} ({range})."
)
NEARLY_EQUAL_NUMBER = (
    "Im Ganzen unterscheiden sich die Gruppen wenig, oder die Daten können es nicht zeigen: im "
    "Mittel {mean} {target} bei {worse}, {other_mean} bei {better}."
)
UNKNOWN_NUMBER = (
    "Ob {attribute} einen Unterschied macht, lässt sich aus {people} Personen nicht sagen: im "
    "Mittel {mean} {target} bei {worse}, {other_mean} bei {better}; der wahre Unterschied kann "
    "{range} sein."
)
TARGETS = {
    "value": "vom Verglichenen",
    "probability": "Wahrscheinlichkeit des günstigen Ergebnisses",
}
MEDIANS = "Die Mediane sind {median} und {other_median} (Abstand: {range})."
SMALL = "Das ist weniger als der Abstand, auf den es hier ankommt ({relevant})."
ALSO_MORE = "{group} ({points} {more})"
ALSO_LESS = "{group} ({points} {less})"
ALSO = "Auch verschieden: {groups}."
MORE_OFTEN = (
    "Häufiger {favorable} bei {better} als bei {worse}: {other_rate} gegen {rate}, {points} mehr "
    "({range})."
)
NEARLY_EQUAL = (
    "Im Ganzen unterscheiden sich die Gruppen wenig, oder die Daten können es nicht zeigen: "
    "{favorable} hatten {rate} bei {worse} und {other_rate} bei {better}."
)
REMAINS = "Bei gleichen Werten von {columns} bleiben {points} {less} ({range})."
REMAINS_OPEN = "Bei gleichen Werten von {columns} bleibt für die Gruppe im Ganzen: {range}."
ACCOUNTED = (
    "In keiner der verglichenen Gruppen ({n}) bleibt dort ein Abstand über {bound} ({level}): "
    "Diese Spalten erklären ihn. Ob diese Spalten zählen dürfen, entscheiden Sie."
)
ACCOUNT_OPEN = (
    "Ob der Abstand mit {columns} erklärt ist, ist offen: Sind diese gleich, bleibt {range}."
)
ACCOUNT_UNKNOWN = "Ob der Abstand mit {columns} erklärt ist, ist offen."
NO_COLUMNS = "Es gibt keine anderen Spalten, die ihn erklären könnten."
WORST = (
    "Am größten ist er bei {group}: {points} {less} als die anderen dort ({range}; {people} "
    "Personen)."
)
WORST_EQUAL = (
    "Wo die anderen Spalten gleich sind, ist er am größten bei {group}: {points} {less} als die "
    "anderen dort ({range}; {people} Personen)."
)
BEST = "{More} als andere dort hatte {group}: {points} {more} ({range}; {people} Personen)."
BEST_EQUAL = (
    "Wo die anderen Spalten gleich sind, hatte {more} als die anderen dort {group}: {points} "
    "{more} ({range}; {people} Personen)."
)
SINGLE = (
    "Über {people} Personen ({share}) wäre anders entschieden worden, wenn nur {attribute} anders "
    "gewesen wäre."
)
CALIBRATION = (
    "Bei gleicher Bewertung sind die Ergebnisse von {group} besser als die der anderen, um "
    "{points} ({range}): Ihre Bewertungen sind zu niedrig."
)

# What is excluded.
NONE_ABOVE = "Kein Abstand über {bound} in einer der {n} nach {attribute} verglichenen Gruppen"
NONE_ABOVE_ONE = "Kein Abstand über {bound} zwischen den Gruppen von {attribute}"
NONE_AT_EQUAL = "; bei gleichen Werten von {columns} keiner über {bound}"
HOLDS = " ({level})."
HOLDS_EACH = " (je {level})."
CLEARED_SOME = (
    "Nach {attribute} nichts gefunden, soweit {people} Personen es zeigen können: kein Abstand "
    "über {relevant} in Vergleichen, die so gut sind wie {resolution} Personen mit ebenso vielen; "
    "in kleineren sind bis zu {bound} möglich (je {level})."
)
CLEARED_SOME_UNBOUND = (
    "Nach {attribute} nichts gefunden, soweit {people} Personen es zeigen können: kein Abstand "
    "über {relevant} in Vergleichen, die so gut sind wie {resolution} Personen mit ebenso vielen "
    "({level}); über kleinere Gruppen kann diese Seite nichts sagen."
)
EQUAL_BOUND = "Bei gleichen Werten von {columns} ist keiner über {bound} ({level})."
WHOLE = "Zwischen den Gruppen im Ganzen ist kein Abstand über {bound} ({level})."
UNKNOWN = (
    "Ob {attribute} einen Unterschied macht, lässt sich aus {people} Personen nicht sagen: "
    "{favorable} hatten {rate} bei {worse} und {other_rate} bei {better}; der wahre Unterschied "
    "kann {range} sein."
)
UNKNOWN_BECAUSE = (
    "Ob {attribute} einen Unterschied macht, hat diese Prüfung nicht ergeben ({reason})."
)
UNKNOWN_ALL = (
    "Ob {attribute} einen Unterschied macht, lässt sich aus {people} Personen nicht sagen."
)
NEEDED = (
    "Etwa {needed} Personen in jeder Gruppe würden zeigen, ob es einen Abstand über {relevant} "
    "gibt."
)
WHERE_EQUAL = "bei gleichen Spalten "
OTHERS_ALL = (
    "Von den anderen {where}verglichenen Gruppen ({n}) hat keine einen Abstand über {bound} "
    "({level})."
)
OTHERS_SOME = (
    "Von den anderen {where}verglichenen Gruppen ({n}) hat keine einen Abstand über {relevant} in "
    "Vergleichen, die so gut sind wie {resolution} Personen mit ebenso vielen, und keine überhaupt "
    "einen über {bound} (je {level})."
)
OTHERS_BOUND = (
    "Von den anderen {where}verglichenen Gruppen ({n}) hat keine einen Abstand über {bound} "
    "({level}); diese Gruppen sind zu klein, um mehr zu sagen."
)
OTHERS_CLEARED = (
    "Kein Abstand über {relevant} in {cleared} der anderen {where}verglichenen Gruppen ({n}; "
    "{level}); über die übrigen kann diese Seite nichts sagen."
)
OTHERS_OPEN = (
    "Wie groß die Abstände der anderen verglichenen Gruppen ({n}) sind, kann diese Seite nicht "
    "sagen."
)
OTHERS_SHOWN = (
    "Von den anderen gezeigten Gruppen ({n}) hat keine einen Abstand über {relevant} ({level})."
)
ALONE = (
    "Gruppen, für die es fast niemanden zum Vergleichen gibt: {n}; wie groß ihre Abstände sind, "
    "kann niemand sagen."
)

# The lines below the paragraphs.
LINES = {
    "quote": "Zum Zitieren",
    "beside": "Daneben",
    "people": "Personen",
    "equal": "Gleich gehalten",
    "sure": "Wie sicher",
    "unseen": "Nicht gesehen",
    "next": "Nächster Schritt",
    "law": "Das Recht",
}
QUOTE_RAW = "{points} {less} bei {worse} ({range}, Konfidenz {level})"
QUOTE_EQUAL = "bei gleichen Spalten {points} {less} ({range}, {level})"
QUOTE_GROUP = "{points} {less} bei {group} ({range}, {level})"
QUOTE_GROUP_MORE = "{points} {more} bei {group} ({range}, {level})"
QUOTE_BOUND = "kein Abstand über {bound} ({level})"
QUOTE_WHOLE = "kein Abstand über {bound} zwischen den Gruppen im Ganzen ({level})"
QUOTE_BOUND_EQUAL = "bei gleichen Spalten keiner über {bound} ({level})"
QUOTE_NONE = "keine Zahl: Es sind zu wenige Personen, um eine zu zeigen"
QUOTE_HIDDEN = "keine Zahl: Es darf keine gezeigt werden"
QUOTE_NOTHING = "keine Zahl: Es wurde nichts verglichen"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n}: {people} mit {worse}, {others} mit {better}"
HELD_NONE = "nichts"
SURE = (
    "jeder Bereich gilt mit einer Konfidenz von {level} oder der, die dabeisteht; 1 Punkt ist 0.01 "
    "in den Tabellen darunter"
)
SURE_NUMBERS = (
    "jeder Bereich gilt mit einer Konfidenz von {level} oder der, die dabeisteht; ein Abstand "
    "steht in Prozent des Mittels derer, mit denen verglichen wird, eine Schranke in Prozent des "
    "Mittels aller ({mean}); dahinter die Zahl selbst"
)
SURE_RATIOS = (
    "jeder Bereich gilt mit einer Konfidenz von {level} oder der, die dabeisteht; Prozente "
    "vergleichen geometrische Mittel, und die Tabellen darunter haben Differenzen natürlicher "
    "Logarithmen"
)
UNSEEN = "Gruppen unter {size} der Personen; was keine Spalte der Tabelle sagt"
UNSEEN_SINGLE = "; einzelne Personen, denn es gibt kein Modell, das man fragen könnte"
NEXT = {
    "unequal at equal columns": (
        "herausfinden, wie über diese Personen entschieden wird, und ob eine Spalte, die hier "
        "fehlt, es erklärt; die Entscheidungen bis dahin nicht unverändert verwenden"
    ),
    "unequal, open at equal columns": (
        "mehr Personen oder die Spalten sammeln, die den Abstand erklären sollen, und noch einmal "
        "prüfen"
    ),
    "unequal, accounted for": (
        "entscheiden, ob diese Spalten zählen dürfen: ob die Aufgabe sie braucht, und ob sie "
        "selbst die Folge ungleicher Behandlung sind"
    ),
    "nothing found": "noch einmal prüfen, wenn sich Daten oder Modell ändern",
    "nothing found as far as one can see": (
        "mehr Personen sammeln, wenn kleinere Gruppen oder Abstände wichtig sind"
    ),
    "cannot tell": "mehr Personen sammeln; dies nicht als Zeichen nehmen, dass alles gut ist",
}
NEXT_OF_MODEL = (
    "herausfinden, warum die Entscheidungen von {attribute} abhängen; sie bis dahin nicht "
    "unverändert verwenden"
)
NEXT_OF_NUMBERS = (
    "herausfinden, wie die Zahlen dieser Personen zustande kommen, und ob eine Spalte, die hier "
    "fehlt, den Abstand erklärt"
)
NEXT_OF_REASON = "klären, was über die gleich gehaltenen Spalten gesagt ist, und noch einmal prüfen"
NEXT_OF_NOTHING = (
    "klären, was das Vergleichen verhindert hat, und noch einmal prüfen; dies nicht als Zeichen "
    "nehmen, dass alles gut ist"
)
LAW = (
    "wird hier nicht entschieden: Statistik zeigt Unterschiede; ob einer rechtswidrig ist, "
    "entscheiden Juristen oder ein Gericht"
)
