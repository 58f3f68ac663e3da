"""The first page in German."""

DECIMAL, THOUSANDS = ",", "."
PERCENT = "{} %"
RANGE = "{low} bis {high}"
RANGE_QUOTED = "{range}, Konfidenz {level}"
RANGE_UNKNOWN = "Spanne unbekannt"
RANGE_LESS = "{low} bis {high} {less}"
RANGE_MORE = "{low} bis {high} {more}"
RANGE_AROUND_ZERO = "zwischen {low} {less} und {high} {more}"
AND = " und "
MISSING = "{name} fehlt"
NOT_MISSING = "{name} fehlt nicht"

STATES = {
    "unequal at equal columns": "Ungleich, auch wo die anderen Spalten gleich sind",
    "unequal, open at equal columns": "Ungleich; ob andere Spalten es erklären, ist offen",
    "unequal, accounted for": "Ungleich, und die anderen Spalten erklären es",
    "nothing found": "Nichts gefunden",
    "nothing found as far as one can see": "Nichts gefunden, soweit man sehen kann",
    "cannot tell": "Nicht zu sagen",
}
STATES_OF_SMALLER = {
    "unequal at equal columns": (
        "Ungleich in einer kleineren Gruppe, auch wo die anderen Spalten gleich sind"
    ),
    "unequal, open at equal columns": (
        "Ungleich in einer kleineren Gruppe; ob andere Spalten es erklären, ist offen"
    ),
    "unequal, accounted for": (
        "Ungleich in einer kleineren Gruppe, und die anderen Spalten erklären es"
    ),
}
STATE_OF_ERRORS = "Ungleich bei den Fehlern"
STATE_ALSO_OF_ERRORS = "Ungleich, auch bei den Fehlern"
STATE_ALONE = "Ungleich"
FAVORABLE = "das günstige Ergebnis ({labels})"
ONE_CLASS = "das Ergebnis ({labels})"
SPELLINGS = "{labels}, auch in anderer Schreibweise"
EVERYONE_ELSE = "allen anderen"
ALL_OTHERS = "alle anderen"
OTHERS_THERE = "die anderen mit {context}"
GEOMETRIC = "{mean} (geometrisches Mittel)"
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
ALSO = "Ebenfalls von den anderen verschieden: {groups}."
ALSO_FROM = "Ebenfalls von {reference} verschieden: {groups}."
MORE_OFTEN = (
    "Häufiger {favorable} bei {better} als bei {worse}: {other_rate} gegen {rate}, {points} mehr "
    "({range})."
)
NEARLY_EQUAL = (
    "Im Ganzen unterscheiden sich die Gruppen wenig, oder die Daten können es nicht zeigen."
)
RATES = "Im Ganzen hatten {favorable} {rate} bei {worse} und {other_rate} bei {better}."
MEANS = "Im Ganzen ist das Mittel ({target}) {mean} bei {worse} und {other_mean} bei {better}."
REMAINS = "Bei gleichen Werten von {columns} bleiben {points} {less} ({range})."
REMAINS_MORE = "Bei gleichen Werten von {columns} bleiben {points} {more} ({range})."
TURNED_MORE = "Bei gleichen Werten von {columns} ist es umgekehrt: {points} {more} ({range})."
TURNED_LESS = "Bei gleichen Werten von {columns} ist es umgekehrt: {points} {less} ({range})."
REMAINS_OPEN = "Bei gleichen Werten von {columns} bleibt für die Gruppe im Ganzen: {range}."
AGAINST_EVERYONE = "Dort wird {group} mit allen anderen verglichen, nicht mit {other_group}."
ACCOUNTED = (
    "In keiner der verglichenen Gruppen ({n}) bleibt dort ein Abstand über {bound} ({level}): "
    "Diese Spalten erklären ihn. Ob diese Spalten zählen dürfen, entscheiden Sie."
)
ACCOUNT_OPEN = (
    "Ob der Abstand mit {columns} erklärt ist, ist offen: Sind diese gleich, bleibt {range}."
)
ACCOUNT_UNKNOWN = "Ob der Abstand mit {columns} erklärt ist, ist offen."
NO_COLUMNS = "Es gibt keine anderen Spalten, die ihn erklären könnten."
NOT_ASKED = "Ob andere Spalten ihn erklären, hat diese Prüfung nicht gefragt."
WORST = "Am größten ist er bei {group}: {points} {less} als {others} ({range}; {people} Personen)."
WORST_EQUAL = (
    "Wo die anderen Spalten gleich sind, ist er am größten bei {group}: {points} {less} als "
    "{others} ({range}; {people} Personen)."
)
BEST = "{group} hatte {more} als {others}: {points} {more} ({range}; {people} Personen)."
BEST_EQUAL = (
    "Wo die anderen Spalten gleich sind, hatte {group} {more} als {others}: {points} {more} "
    "({range}; {people} Personen)."
)
WHERE_GROUP = ", wo die anderen Spalten gleich sind"
GROUP_LESS_OFTEN = (
    "{group} hatte {favorable} seltener als {others}{where}: {points} weniger ({range}; {people} "
    "Personen)."
)
GROUP_MORE_OFTEN = (
    "{group} hatte {favorable} häufiger als {others}{where}: {points} mehr ({range}; {people} "
    "Personen)."
)
GROUP_LESS_OF_NUMBER = (
    "{group} hatte {less} {target} als {others}{where}: {points} {less} ({range}; {people} "
    "Personen)."
)
GROUP_MORE_OF_NUMBER = (
    "{group} hatte {more} {target} als {others}{where}: {points} {more} ({range}; {people} "
    "Personen)."
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
    "Nach {attribute} nichts gefunden, soweit {people} Personen es zeigen können: kein "
    "Abstand über {relevant} in Vergleichen, die so gut sind wie einer von {resolution} "
    "Personen mit ebenso vielen; in kleineren Vergleichen sind bis zu {bound} möglich (je "
    "{level})."
)
OPEN_BY_RATIO = (
    "Zwischen den Gruppen im Ganzen ist kein Abstand über {bound}, doch ein Verhältnis der "
    "Anteile{outcome} von {ratio} ist nicht ausgeschlossen (je {level})."
)
OF_UNFAVORABLE = " ungünstiger Ergebnisse"
LIMITED_BY_RATIO = (
    "Nach {attribute} nichts gefunden, soweit {people} Personen es zeigen können: kein Abstand "
    "über {bound} in einer der verglichenen Gruppen ({n}), doch ein Verhältnis der "
    "Anteile{outcome} von {ratio} ist nicht ausgeschlossen (je {level})."
)
CLEARED_SOME_UNBOUND = (
    "Nach {attribute} nichts gefunden, soweit {people} Personen es zeigen können: kein "
    "Abstand über {relevant} in Vergleichen, die so gut sind wie einer von {resolution} "
    "Personen mit ebenso vielen ({level}); über kleinere Vergleiche kann diese Seite nichts "
    "sagen."
)
EQUAL_TOO_FEW = (
    "Bei gleichen Werten von {columns} sind zu wenige Personen vergleichbar, um zu sagen, wie groß "
    "alle Abstände sind."
)
EQUAL_BOUND = "Bei gleichen Werten von {columns} ist keiner über {bound} ({level})."
WHOLE_TOO_FEW = (
    "Einige Gruppen haben auch im Ganzen zu wenige Personen, um zu sagen, wie groß ihre Abstände "
    "sind."
)
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
NEEDED_FAR_MORE = (
    "Erst weit mehr Personen als diese würden zeigen, ob es einen Abstand über {relevant} gibt."
)
WHERE_EQUAL = "bei gleichen Spalten "
FOUND_SEVERAL = (
    "Gefunden sind Abstände {where}in {n} Gruppen, die unten stehen; eine davon ist {group} mit "
    "{points} {less}."
)
FOUND_SEVERAL_MORE = (
    "Gefunden sind Abstände {where}in {n} Gruppen, die unten stehen; eine davon ist {group} mit "
    "{points} {more}."
)
OTHERS_ALL = (
    "Von den Vergleichen {where}ohne Fund ({n}) hat keiner einen Abstand über {bound} ({level})."
)
OTHERS_SOME = (
    "Von den Vergleichen {where}ohne Fund ({n}) hat keiner einen Abstand über {relevant} in "
    "Vergleichen, die so gut sind wie einer von {resolution} Personen mit ebenso vielen, und "
    "keiner überhaupt einen über {bound} (je {level})."
)
OTHERS_SOME_TOO_FEW = (
    "Von den Vergleichen {where}ohne Fund ({n}) hat keiner einen Abstand über {relevant} in "
    "Vergleichen, die so gut sind wie einer von {resolution} Personen mit ebenso vielen "
    "({level}); die kleineren haben zu wenige Personen, um zu sagen, wie groß die Abstände sind."
)
OTHERS_TOO_FEW = (
    "Die Vergleiche {where}ohne Fund ({n}) haben zu wenige Personen, um zu sagen, wie groß die "
    "Abstände sind."
)
OTHERS_BOUND = (
    "In den Vergleichen {where}ohne Fund ({n}) sind Abstände bis zu {bound} möglich ({level})."
)
OTHERS_CLEARED = (
    "In {cleared} der {n} Vergleiche {where}ohne Fund ist kein Abstand über {relevant} ({level}); "
    "über die übrigen kann diese Seite nichts sagen."
)
OTHERS_OPEN = (
    "Wie groß die Abstände in den Vergleichen ohne Fund ({n}) sind, kann diese Seite nicht sagen."
)
OTHERS_SHOWN = (
    "Von den gezeigten Gruppen ohne Fund ({n}) hat keine einen Abstand über {relevant} ({level})."
)
ALONE = (
    "Gruppen, für die es fast niemanden zum Vergleichen gibt: {n}; wie groß ihre Abstände sind, "
    "kann niemand sagen."
)

# The lines below the paragraphs.
LINES = {
    "quote": "Zahl zum Zitieren",
    "whole": "Alle zusammen",
    "remains": "Bei gleichen Spalten",
    "equal": "Gleich gehaltene Spalten",
    "smaller": "Kleinere Gruppe",
    "another": "Andere Gruppe",
    "people": "Personen",
    "next": "Was jetzt zu tun ist",
    "sure": "Wie sicher",
    "unseen": "Was nicht zu sehen ist",
    "law": "Gegen das Gesetz?",
}
QUOTE_GROUP = "{points} {less} bei {group} ({sure})"
QUOTE_GROUP_MORE = "{points} {more} bei {group} ({sure})"
WHERE_GROUP_AFTER = ", bei gleichen Spalten"
QUOTE_SMALLER = "{points} {less} bei {group}{where} ({sure}; {people} Personen)"
QUOTE_SMALLER_MORE = "{points} {more} bei {group}{where} ({sure}; {people} Personen)"
QUOTE_BETWEEN = "nicht bekannt, aber {range} bei {group}"
QUOTE_AGAINST = ", verglichen mit allen anderen"
QUOTE_TOGETHER = "{smaller}; alle zusammen: {whole}"
QUOTE_TOO_FEW = (
    "nicht bekannt: Es sind zu wenige Personen vergleichbar, um zu sagen, wie groß die Abstände "
    "sind"
)
QUOTE_OPEN = "nicht bekannt"
QUOTE_BOUND = "kein Abstand über {bound} ({level})"
QUOTE_WHOLE = "kein Abstand über {bound} zwischen den Gruppen im Ganzen ({level})"
QUOTE_NONE = "keine Zahl: Es sind zu wenige Personen, um eine zu zeigen"
QUOTE_HIDDEN = "keine Zahl: Es darf keine gezeigt werden"
QUOTE_NOTHING = "keine Zahl: diese Prüfung hat keine Antwort gefunden"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n} ({group}: {people}; {other_group}: {others})"
SAMPLED = "Für {questions} wurden {n} von {total} Personen zufällig gezogen und untersucht."
PEOPLE_SAMPLED = "{people}; für {questions} {n} zufällig gezogene"
QUESTIONS = {
    "all": "alle Fragen",
    "marginal": "Abstände zwischen ganzen Gruppen",
    "contextual": "Abstände in kleineren Gruppen",
    "conditional": "Abstände bei gleichen Spalten",
    "linear": "Abstände bei gleichen Spalten",
    "individual": "Vergleiche einzelner Personen",
    "counterfactual": "Vergleiche einzelner Personen",
    "calibration": "Abstände bei gleicher Bewertung",
    "everyone": "Abstände vom Mittel aller",
}
HELD_NONE = "nichts"
SURE = (
    "Bereiche und Schranken gelten mit einer Konfidenz von {level} oder der, die dabeisteht; 1 "
    "Punkt ist 0.01 in den Tabellen darunter"
)
SURE_NUMBERS = (
    "Bereiche und Schranken gelten mit einer Konfidenz von {level} oder der, die dabeisteht; ein "
    "Abstand steht in Prozent des Mittels derer, mit denen verglichen wird, eine Schranke in "
    "Prozent des Mittels aller ({mean}); die Tabellen darunter stehen in der Einheit der Zahlen"
)
SURE_RATIOS = (
    "Bereiche und Schranken gelten mit einer Konfidenz von {level} oder der, die dabeisteht; "
    "Prozente vergleichen geometrische Mittel, und die Tabellen darunter haben Differenzen "
    "natürlicher Logarithmen"
)
UNSEEN_OTHER = "andere "  # beside a gap of such a group
UNSEEN = "{other}Abstände in Gruppen unter {size} der Personen; was keine Spalte der Tabelle sagt"
UNSEEN_SINGLE = (
    "; ob ein und dieselbe Person anders behandelt worden wäre, denn es gibt kein Modell, das man "
    "fragen könnte"
)
NEXT = {
    "unequal at equal columns": (
        "herausfinden, wie diese Entscheidungen zustande kommen, und ob eine Spalte, die hier "
        "fehlt, den Abstand erklärt; die Entscheidungen bis dahin nicht unverändert verwenden"
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
NEXT_OF_UNASKED = (
    "herausfinden, ob andere Spalten den Abstand erklären, wonach diese Prüfung nicht gefragt hat"
)
NEXT_OF_REASON = "klären, was über die gleich gehaltenen Spalten gesagt ist, und noch einmal prüfen"
NEXT_OF_ALIKE = (
    "Menschen mit anderen Ergebnissen hinzunehmen, wenn es sie gibt, und noch einmal prüfen; dies "
    "nicht als Zeichen nehmen, dass alles gut ist"
)
NEXT_OF_NOTHING = (
    "klären, was das Vergleichen verhindert hat, und noch einmal prüfen; dies nicht als Zeichen "
    "nehmen, dass alles gut ist"
)
LAW = (
    "wird hier nicht entschieden: Statistik zeigt Unterschiede; ob einer rechtswidrig ist, "
    "entscheiden Juristen oder ein Gericht"
)

# Berichte über Entgelt.
PAY_TITLES = {
    "pay_transparency": (
        "Geschlechtsspezifisches Entgeltgefälle: die Zahlen nach Artikel 9 Absatz 1 der "
        "Richtlinie (EU) 2023/970"
    ),
    "uk_gender_pay_gap": (
        "Geschlechtsspezifisches Entgeltgefälle: die sechs Zahlen nach den Vorschriften des "
        "Vereinigten Königreichs von 2017"
    ),
}
PAY_SOURCES = {
    "pay_transparency": (
        "Ein Gefälle ist die Differenz der Durchschnitte von Männern und Frauen in Prozent des "
        "Durchschnitts der Männer (Artikel 3 der Richtlinie); {relevant} nennt Artikel 10 Absatz "
        "1. Viertel teilen Personen mit gleichem Entgelt an einer Grenze im gleichen Verhältnis. "
        "Diese Seite nennt Zahlen und wie sicher sie sind; ob eine Pflicht erfüllt oder ein "
        "Unterschied gerechtfertigt ist, sagt sie nicht."
    ),
    "uk_gender_pay_gap": (
        "Zahlen nach den Equality Act 2010 (Gender Pay Gap Information) Regulations 2017: Ein "
        "Gefälle ist die Differenz der Durchschnitte von Männern und Frauen in Prozent des "
        "Durchschnitts der Männer; bei Boni unter denen, die einen erhielten; Personen mit "
        "gleichem Entgelt an der Grenze eines Viertels werden im gleichen Verhältnis geteilt "
        "(regulation 13(2)). Diese Seite nennt Zahlen und wie sicher sie sind; ob eine Pflicht "
        "erfüllt ist, sagt sie nicht."
    ),
}
PAY_TARGETS = {"total pay per hour": "Gesamtentgelt je Stunde", "total pay": "Gesamtentgelt"}
PAY_FIGURES = {
    "mean total": "Mittleres Entgelt",
    "median total": "Median des Entgelts",
    "mean variable": "Mittleres variables Entgelt",
    "median variable": "Median des variablen Entgelts",
    "receive variable": "Personen mit variablem Entgelt",
}
PAY_AMONG = {"all": "", "recipients": ", unter denen, die es erhalten"}
PAY_QUARTERS = {
    "quarter 1": "unterstes",
    "quarter 2": "zweites von unten",
    "quarter 3": "zweites von oben",
    "quarter 4": "oberstes",
}
PAY_PARTS = {"base": "Grundentgelt", "variable": "Variables Entgelt", "total": "Gesamtentgelt"}
PAY_PARTS_WITHIN = {
    "base": "Grundentgelt",
    "variable": "variables Entgelt",
    "total": "Gesamtentgelt",
}
PAY_BASES = {"per hour": "je Stunde", "as recorded": "wie erfasst"}
PAY_PER_HOUR = " je Stunde"
PAY_GROUPS = {"other categories": "andere Gruppen", "missing": "ohne Angabe"}
PAY_EVERYBODY = "allen"
PAY_SIDES = {"lower": "um {gap} niedriger", "higher": "um {gap} höher"}
PAY_COMPARED = {
    "lower": "um {gap} niedriger als bei Männern",
    "higher": "um {gap} höher als bei Männern",
    "equal": "ebenso hoch wie bei Männern",
}
PAY_RANGE = "{text} ({low} bis {high}{level})"
PAY_RANGE_AROUND_ZERO = "{text} (zwischen {low} höher und {high} niedriger{level})"
PAY_RANGE_UNKNOWN = "{text} (Spanne unbekannt: {reason})"
PAY_NOT_COMPARED = "nicht verglichen"
PAY_NOT_COMPARED_BECAUSE = "nicht verglichen ({reason})"
PAY_WHOLE = "Das mittlere Entgelt von Frauen{basis} ist {mean}; ihr Median ist {median}."
PAY_WHOLE_RECORDED = "Nicht durch Stunden geteilt ist ihr mittleres Entgelt {mean}."
PAY_HOURS = (
    "Vom Gefälle des nicht durch Stunden geteilten Entgelts gehen {share} mit den Stunden einher "
    "({low} bis {high}): Um so viel kleiner ist das Gefälle je Stunde."
)
PAY_HOURS_TURNED = (
    "Je Stunde ist das Gefälle umgekehrt: Das mittlere Entgelt von Frauen ist {hourly}, nicht "
    "durch Stunden geteilt {recorded}."
)
PAY_HOURS_LARGER = (
    "Je Stunde ist das Gefälle größer: Das mittlere Entgelt von Frauen ist {hourly}, nicht durch "
    "Stunden geteilt {recorded}."
)
PAY_HOURS_OPEN = (
    "Je Stunde ist das mittlere Entgelt von Frauen {hourly}, nicht durch Stunden geteilt "
    "{recorded}; welcher Anteil des Gefälles mit den Stunden einhergeht, lässt sich aus diesen "
    "Personen nicht sagen."
)
PAY_BY_CATEGORY = (
    "{part} nach Gruppen von Arbeitnehmern: sicher {relevant} oder mehr in {above}{named}; sicher "
    "darunter in {below}{open}{largest}."
)
PAY_COUNT = "{n} von {total}"
PAY_COUNT_NONE = "keiner von {total}"
PAY_ABOVE_NAMED = ": {groups}"
PAY_NAMED = "{group}, {compared}"
PAY_MORE_NAMED = "{n} weitere"
PAY_OPEN = "; von {n} lässt es sich aus diesen Personen nicht sagen"
PAY_LARGEST = (
    ". Am größten ist das Gefälle von {group}: Dort ist {part} von Frauen {compared}{needed}"
)
PAY_WOULD_TELL = ", und {needed} würden es zeigen"
PAY_NEEDED = "etwa {n} Personen"
PAY_NEEDED_THERE = "etwa {n} Personen dort"
PAY_NEEDED_TOO_MANY = "nur mehr Personen, als ein solcher Betrieb hat,"
PAY_NEEDED_TOO_MANY_THERE = "nur mehr Personen dort, als ein solcher Betrieb hat,"
PAY_RECEIVE_HIDDEN = (
    "Wer variables Entgelt erhält, steht hier nicht, um die wenigen zu schützen, die es erhalten."
)
PAY_RECEIVE_NOBODY = "Niemand erhält variables Entgelt."
PAY_RECEIVE = "Variables Entgelt erhalten {women} der Frauen und {men} der Männer{often}{among}."
PAY_RECEIVE_OFTEN = {
    "less": ", Frauen um {n} Punkte seltener ({low} bis {high})",
    "more": ", Frauen um {n} Punkte häufiger ({low} bis {high})",
    "equal": ", Frauen ebenso oft ({low} bis {high})",
}
PAY_RECEIVE_AMONG = "; unter denen, die es erhalten, ist das mittlere von Frauen{basis} {compared}"
PAY_EQUAL = (
    "Bei gleichen Werten von {columns} ist das Gesamtentgelt von Frauen{basis} {compared}, statt "
    "{gap}."
)
PAY_EQUAL_IN = (
    "In Gruppe {group} ist bei gleichen Werten von {columns} das Gesamtentgelt von Frauen{basis} "
    "{compared}, statt {gap}."
)
PAY_LOGIB = (
    "Nach dem Modell von Logib (Schweiz) ist bei gleichen Werten von {columns} das Gesamtentgelt "
    "von Frauen{basis} {compared}."
)
PAY_LOGIB_DIFFERS = (
    "Logib vergleicht Logarithmen des Entgelts, sodass die wenigen höchsten Gehälter weniger "
    "zählen, und nimmt für alle dasselbe Gefälle an; die Zahl bei gleichen Werten von {columns} "
    "vergleicht das mittlere Entgelt ohne diese Annahme."
)
PAY_NOT_TURNED = "Keine dieser Aussagen ändert sich, wenn irgendeine einzelne Person wegfällt."
PAY_TURNED = (
    "Wenn eine bestimmte einzelne Person wegfällt, ändert sich, ob das Gefälle {relevant} oder "
    "mehr ist, bei: {groups}."
)
PAY_TURNED_GROUP = "{part} von {group}"
PAY_ALL_PEOPLE = "Alle Personen"
PAY_QUARTERS_TITLE = {
    "people": "Viertel aller Personen nach Gesamtentgelt{basis}",
    "rows": "Viertel aller Zeilen nach Gesamtentgelt{basis}",
}
PAY_CATEGORIES_TITLE = "(g) Nach Gruppen von Arbeitnehmern ({column}), {basis}; jede Spanne {level}"
PAY_CATEGORY_COLUMN = "Gruppe"
PAY_HEADS = {
    "quantile": "Quantil",
    "part": "Teil",
    "amount": "Betrag",
    "figure": "Zahl",
    "women": "Frauen",
    "men": "Männer",
    "rows of women": "Zeilen von Frauen",
    "rows of men": "Zeilen von Männern",
    "weights of women": "Summe der Gewichte von Frauen",
    "weights of men": "Summe der Gewichte von Männern",
    "weights of rows of women": "Summe der Gewichte der Zeilen von Frauen",
    "weights of rows of men": "Summe der Gewichte der Zeilen von Männern",
    "gap": "Bei Frauen niedriger um",
    "quarter": "Viertel",
    "range": "Spanne des Frauenanteils",
    "category": "Gruppe",
}
PAY_HEAD_OF_BASIS = "Bei Frauen niedriger um, {basis}"
PAY_HEAD_OF_PART = "{part}: bei Frauen niedriger um"
PAY_QUANTILES_TITLE = "Gefälle nach Quantilen des Entgelts{basis}; jede Spanne {level}"
PAY_QUANTILES = {
    "0.1": "ein Zehntel verdient weniger",
    "0.25": "ein Viertel verdient weniger",
    "0.5": "die Hälfte verdient weniger (Median)",
    "0.75": "ein Viertel verdient mehr",
    "0.9": "ein Zehntel verdient mehr",
}
PAY_SHADED = "{title}; getönt: unter {relevant}"
PAY_CONSISTS_TITLE = (
    "Woraus das Gefälle des Gesamtentgelts{basis} besteht, in Prozent des Mittels der Männer"
)
PAY_CONSISTS = {
    "gap": "Das ganze Gefälle",
    "accounted": "Geht mit {columns} einher",
    "remains": "Bleibt bei gleichen Werten von {columns}",
}
PAY_CELL = "{gap} [{low}; {high}]"
PAY_CELL_UNKNOWN = "{gap} (Spanne unbekannt)"
PAY_SHARE_OF = "{share} von {n}"
PAY_OTHERS = {"one": "{quarter} (und {n} andere Person)", "several": "{quarter} (und {n} andere)"}
PAY_STATES = {
    "above": "{relevant} oder mehr",
    "below": "unter {relevant}",
    "cannot tell": "nicht zu sagen",
    "needed": "nicht zu sagen ({needed} würden es zeigen)",
}
PAY_NOTES = {
    "clustered": (
        "Mehrere Zeilen sind eine Person: Frauen und Männer sind einmal gezählt, in Vierteln und "
        "in den Antworten weiter unten ihre Zeilen."
    ),
    "joined": "Zusammengelegt, weil zu wenige Frauen oder Männer darin arbeiten: {groups}.",
    "one left out": (
        "1 Zahl ist weggelassen, um die wenigen zu schützen, die variables Entgelt erhalten."
    ),
    "left out": (
        "{n} Zahlen sind weggelassen, um die wenigen zu schützen, die variables Entgelt erhalten."
    ),
    "one not in Logib": (
        "Das Modell von Logib lässt 1 Zeile weg: Eine seiner Spalten fehlt, oder das Entgelt ist 0."
    ),
    "not in Logib": (
        "Das Modell von Logib lässt {n} Zeilen weg: Eine seiner Spalten fehlt, oder das Entgelt "
        "ist 0."
    ),
    "few others": (
        "Weniger als {n} Personen sind weder Frauen noch Männer oder ohne Angabe des Geschlechts: "
        "Zu ihrem Schutz zählen sie hier und weiter unten nirgends mit."
    ),
    "one other": (
        "1 Person ist weder Frau noch Mann oder ohne Angabe des Geschlechts; sie zählt in den "
        "Vierteln mit und wird weiter unten nicht verglichen."
    ),
    "others": (
        "{n} Personen sind weder Frauen noch Männer oder ohne Angabe des Geschlechts; sie zählen "
        "in den Vierteln mit und werden weiter unten nicht verglichen."
    ),
    "one wrong": (
        "1 Zeile liegt über dem Zehnfachen oder unter einem Zehntel des Medians der Gruppe: "
        "wahrscheinlich ein Fehler; sie zählt, wie sie ist."
    ),
    "wrong": (
        "{n} Zeilen liegen über dem Zehnfachen oder unter einem Zehntel des Medians der Gruppe: "
        "wahrscheinlich Fehler; sie zählen, wie sie sind."
    ),
    "one to check": (
        "1 Zeile liegt über dem Vierfachen oder unter einem Viertel dieses Medians, hat mehr als "
        "80 Stunden oder Teile, die sich nicht zum Ganzen addieren: zu prüfen; sie zählt, wie sie "
        "ist."
    ),
    "to check": (
        "{n} Zeilen liegen über dem Vierfachen oder unter einem Viertel dieses Medians, haben mehr "
        "als 80 Stunden oder Teile, die sich nicht zum Ganzen addieren: zu prüfen; sie zählen, wie "
        "sie sind."
    ),
}
PAY_REASONS = {
    "no average": "der Durchschnitt der Männer ist 0",
    "no median": "der Median der Männer ist 0",
    "two people": "weniger als 2 Personen eines Geschlechts",
    "few": "zu wenige Personen",
    "few for a median": "zu wenige Personen für eine Spanne, oder der Median kann 0 sein",
    "no sex": "ein Geschlecht fehlt",
    "tells sex": "die anderen Spalten sagen, wer eine Frau ist",
    "nobody": "niemand erhält variables Entgelt",
    "several rows": "mehrere Zeilen sind eine Person",
    "hidden": "weniger als {n} Frauen oder Männer: zu ihrem Schutz weggelassen",
    "hidden recipients": (
        "weniger als {n} Frauen oder Männer erhalten es: zu ihrem Schutz weggelassen"
    ),
    "hidden in a category": (
        "weniger als {n} Frauen oder Männer erhalten variables Entgelt: zu ihrem Schutz weggelassen"
    ),
    "dominated": "eine Person hat fast dieses ganze Entgelt: zu ihrem Schutz weggelassen",
    "skewed": (
        "zu schief, um Mittel von {n} Personen zu vergleichen: etwa {needed} sind nötig; nach "
        "Logarithmen fragen"
    ),
    "skewness unknown": (
        "wie schief die Zahlen von {n} Personen sind, ist unbekannt; die Einheit ändern"
    ),
}

# What stands above the answers, and what a document tells in English.
TITLE = "Prüfung"
TITLE_OF = "Prüfung: {system}"
NOTICED = "In der Tabelle aufgefallen, mit der Option, die es ändert:"
MORE_READ = (
    "Die ersten {n} von {total} Hinweisen dazu, wie die Datei gelesen wurde; das JSON-Dokument "
    "hat alle."
)
INTERRUPTED = (
    "Die Prüfung wurde nach {done} von {planned} Schritten unterbrochen. Es folgt, was bis "
    "dahin gefunden war; Fragen ohne Antwort sind offen."
)
NO_VERDICT = "kein Urteil"
OPENING = {
    "labels": "{n} festgehaltene Ergebnisse wurden nach {names} geprüft; günstig ist {labels}.",
    "decisions": (
        "{n} festgehaltene Entscheidungen wurden nach {names} geprüft; günstig ist {labels}."
    ),
    "model": (
        "Die Entscheidungen eines Modells über {n} Personen wurden nach {names} geprüft; "
        "günstig ist {labels}."
    ),
    "fitted model": (
        "Die Entscheidungen eines Modells, das in dieser Prüfung trainiert wurde, über {n} "
        "Personen wurden nach {names} geprüft; günstig ist {labels}."
    ),
    "counts": (
        "Veröffentlichte Anzahlen von {n} Personen wurden nach {names} geprüft; günstig ist "
        "{labels}."
    ),
    "numbers": (
        "{what}: {n} Personen wurden nach {names} geprüft; verglichen werden {compared}, und "
        "{better} ist besser."
    ),
}
OPENING_WORDS = {
    "difference": "Mittel",
    "log": "Mittel der Logarithmen",
    "high": "mehr",
    "low": "weniger",
    "probability": "Wahrscheinlichkeiten",
    "value": "Zahlen",
}
PUBLIC = {
    "one": (
        "Dies ist ein öffentliches Dokument: {n} Gruppe wurde nicht betrachtet, um Personen zu "
        "schützen."
    ),
    "several": (
        "Dies ist ein öffentliches Dokument: {n} Gruppen wurden nicht betrachtet, um Personen "
        "zu schützen."
    ),
}
SENTENCES = {
    "public pay": "öffentliche Berichte über Entgelt nennen Zahlen und stellen keine Frage dazu",
    "too skewed": (
        "{start}; in {n} von {total} Vergleichen sind die Zahlen zu schief, um Mittel zu "
        "vergleichen: die größten prüfen, oder Logarithmen vergleichen (--outcome-scale log)"
    ),
    "equal within groups": (
        "{start}; die Zahlen jeder Gruppe von {attribute} sind alle gleich und zeigen nicht, "
        "wie sehr Zahlen schwanken"
    ),
    "open": "ob es einen Abstand über {gap} gibt, auf den es ankommt, ist offen",
    "open of few": "Gruppen von weniger als {n} Personen bleiben offen",
    "open several": (
        "von keiner der {n} verglichenen Gruppen mit {size} % dieser Personen oder mehr lässt sich "
        "sagen, dass ihr Abstand höchstens {gap} ist"
    ),
    "not run because": "der Test dazu lief nicht: {start}",
    "time spent": "die Zeit von {seconds} s war verbraucht",
    "not looked at": "keine seiner Gruppen wird betrachtet, um Personen zu schützen",
    "equal outcomes of the model": "alle Ergebnisse des Modells sind gleich",
    "equal outcomes by": "nach {measure} sind alle Ergebnisse gleich",
    "equal outcomes": "alle Ergebnisse sind gleich",
    "equal outcomes of": (
        "alle Ergebnisse sind gleich ({value}), sodass sich kein Unterschied zeigen kann"
    ),
    "no outcomes": "es gibt keine Ergebnisse",
    "not run": "der Test dazu lief nicht",
    "nobody": "es gibt keine Gruppe zu vergleichen",
    "nobody of a size": (
        "es gibt keine Gruppe mit {size} % dieser Personen oder mehr zu vergleichen"
    ),
    "columns tell fine": (
        "die legitimen Spalten bestimmen fast, wer zu {groups} gehört, sodass zum Vergleich "
        "niemand bleibt; solche Spalten{columns} weglassen (adjust_for oder --ignore): {fine} "
        "(weniger als fünf Personen je Wert)"
    ),
    "columns tell": (
        "die legitimen Spalten bestimmen fast, wer zu {groups} gehört, sodass zum Vergleich "
        "niemand bleibt; solche Spalten{columns} weglassen (adjust_for oder --ignore)"
    ),
    "weights dominate": (
        "die Gewichte von {groups}, oder der damit Verglichenen, entsprechen weniger als fünf "
        "Personen, denn einige sind weit größer als alle anderen"
    ),
    "columns predict": (
        "die legitimen Spalten sagen noch vorher, was vom Ergebnis und vom geschützten Teil "
        "bleibt, so sehr, dass es über {groups} entscheidet; nuisance= auf einen besseren "
        "Schätzer setzen"
    ),
    "joined cells": (
        "nach Zellen legitimer Spalten wurde, vielleicht unnötig, bereinigt, was Effekte so "
        "sehr verschiebt, dass es über {groups} entscheidet"
    ),
    "few clusters": (
        "groups hat nur {n} Cluster, aus denen Varianzen zu ungewiss sind, um einen Abstand "
        "auszuschließen; dazu braucht es {least}"
    ),
    "after correction": "p = {p}, und {corrected} nach Korrektur für {n} Fragen",
    "few far": (
        "weniger als {n} Ergebnisse liegen weit von allen anderen (drei Quartilsabstände "
        "jenseits der Quartile)"
    ),
    "far": (
        "{n} Ergebnisse liegen weit von allen anderen (drei Quartilsabstände jenseits der Quartile)"
    ),
    "as they are": "zählen, wie sie sind",
    "errors": "wenn es Fehler sind, berichtigen",
    "errors or log": "wenn es Fehler sind, berichtigen; --outcome-scale log gewichtet sie weniger",
    "many numbers": "die Ergebnisse sind {n} verschiedene Zahlen",
    "means": "verglichen werden ihre Mittel",
    "name favorable": (
        "für Entscheidungen die günstigen Werte nennen: --favorable, oder pos_label in Python"
    ),
    "same order": "die Reihenfolge ist in fast allen Zeilen die der Ergebnisse",
    "values give": "jeder Wert geht mit einem Ergebnis einher, in allen Zeilen ({n})",
    "values nearly give": "jeder Wert geht mit einem Ergebnis einher, in fast allen Zeilen",
    "threshold gives": "eine Schwelle der Spalte ergibt das Ergebnis, in allen Zeilen ({n})",
    "threshold nearly gives": "eine Schwelle der Spalte ergibt das Ergebnis, in fast allen Zeilen",
    "outcome again": (
        "wenn es das Ergebnis in anderen Worten ist, kann sich bei gleichen Werten kein "
        "Abstand zeigen"
    ),
    "leave out": "weglassen: {option}",
    "target alone": (
        "das Gesamtentgelt ist die Zielspalte allein, und diese Spalte kommt nicht hinzu"
    ),
    "part of target": "sie zählt als Teil der Zielspalte, und deren Rest als Grundentgelt",
    "base named": "wenn die Zielspalte das Grundentgelt ist: --base COL statt --target COL",
    "rows of people": "{distinct} Werte in {n} Zeilen, deren Ergebnisse sich sehr gleichen",
    "rows of the same": (
        "{distinct} Werte in {n} Zeilen, und {same} ist in allen Zeilen eines Werts gleich"
    ),
    "rows of one person": (
        "wenn Zeilen eines Werts von einer Person sind, zählen sie als so viele Personen"
    ),
    "say so": "angeben: {option}",
    "code": "{value} in {n} Zeilen, weit von allen anderen Zahlen",
    "code counts": "zählt als Zahl",
    "code missing": "wenn es heißt, dass nichts bekannt ist: {option}",
    "spellings": (
        "Werte, die sich nur in Groß- und Kleinschreibung oder Leerzeichen unterscheiden: {values}"
    ),
    "label spellings": (
        "Labels, die sich nur in Groß- und Kleinschreibung oder Leerzeichen unterscheiden: {values}"
    ),
    "decision spellings": (
        "Entscheidungen, die sich nur in Groß- und Kleinschreibung oder Leerzeichen "
        "unterscheiden: {values}"
    ),
    "weighted": (
        "Anteile, Mittel und Abstände sind gewichtet, Personen als Zeilen gezählt; mit ihren "
        "Gewichten sagen diese {n} Zeilen so viel wie {equal} ohne"
    ),
    "few weightless": "weniger als {n} Zeilen mit Gewicht 0 sind weggelassen",
    "weightless": "{n} Zeilen mit Gewicht 0 sind weggelassen",
    "of few": "{n} von weniger als {least} Personen",
    "all favorable": "zählen alle als günstig",
    "exact text": "nur der genaue Text: --favorable-exact",
    "some unfavorable": "{values} zählen als ungünstig",
    "not exact": ("ohne --favorable-exact zählen sie als günstig; in Python alle nennen"),
    "own groups": "sind eigene Gruppen",
    "make one": "zusammenlegen: {option}",
    "copies in all": "{n} Zeilen sind in jeder Spalte Kopien von anderen",
    "copies": (
        "Jede Zeile kommt {n}-mal oder ein Vielfaches davon vor, also scheinen Zeilen Kopien "
        "zu sein"
    ),
    "too small": "wenn ja, sind p-Werte und Intervalle zu klein",
    "no own people": "wenn es keine eigenen Personen sind, sind p-Werte und Intervalle zu klein",
    "drop copies": "weglassen: --drop-copies",
    "neighbors": (
        "Ergebnisse benachbarter Zeilen gleichen sich (Korrelation {near}; weiter entfernt {far})"
    ),
    "belong together": (
        "wenn aufeinanderfolgende Zeilen zusammengehören, wie die eines Haushalts, sind "
        "p-Werte und Intervalle zu klein"
    ),
    "say which": "angeben, welche: --groups COLUMN",
    "counted rows": (
        "jede Zeile ist eine andere Kombination aller anderen Spalten und des Ergebnisses"
    ),
    "counts as a column": "zählt als Spalte, und jede Zeile als eine Person",
    "number of people": "wenn es die Zahl der Personen jeder Zeile ist: {option}",
    "stand-in": "hängt stark mit {attribute} zusammen (Cramérs V {v}, 0 bis 1)",
    "runs through": (
        "was über diese Spalte läuft, zählt nicht als Abstand zwischen Gruppen von {attribute}"
    ),
    "without hours": "{n} Zeilen, deren Stunden fehlen, 0 oder weniger sind",
    "one without hours": "1 Zeile, deren Stunden fehlen, 0 oder weniger sind",
    "without label": "{n} Zeilen haben kein Label",
    "one without label": "1 Zeile hat kein Label",
    "dropped copies": "{n} Zeilen sind Kopien",
    "one dropped copy": "1 Zeile ist eine Kopie",
    "folded": (
        "Werte in {n} Zeilen unterscheiden sich nur in Groß- und Kleinschreibung oder Leerzeichen"
    ),
    "made one": "zusammengelegt",
    "threshold": "Werte der Bewertung von {value} oder mehr",
    "threshold of percents": (
        "Werte der Bewertung von {value} oder mehr, "
        "obwohl sie bis {most} reichen (vielleicht ist {hundredfold} gemeint)"
    ),
    "threshold of risk": (
        "Werte der Bewertung von {value} oder mehr, obwohl sie bei günstigem Ergebnis niedriger "
        "sind (wenn sie ein Risiko nennen, das Vorzeichen der Werte und der Schwelle umkehren)"
    ),
    "favorable decisions": "sind günstige Entscheidungen",
    "counts": "Anzahlen von Personen",
    "people in rows": "{people} Personen in {n} Zeilen",
    "without counts": "ohne --counts ist jede Zeile eine Person",
    "left out": "weggelassen",
    "read as numbers": "als Zahlen gelesen",
    "read as text": "als Text gelesen",
    "decimal mark": "Zahlen mit dem Dezimalzeichen {mark}",
    "not UTF-8": "die Datei ist nicht in UTF-8",
    "read as encoding West": "gelesen als {value} (westeuropäisch)",
    "read as percent": "als Prozent gelesen (5 % ist 5)",
    "one missing text": "{start}; ein Text in {n} Zeilen zählt als fehlend",
    "missing text": "{start}; {value} in {n} Zeilen zählt als fehlend",
    "one missing text once": "{start}; ein Text in 1 Zeile zählt als fehlend",
    "read without unit": "als Zahlen gelesen, ohne {value}",
    "numbers": "Zahlen",
    "two marks": "Zahlen, zu denen die Dezimalzeichen {mark} und {value} passen",
    "with mark": "{start}, mit {mark} als Dezimalzeichen",
    "other mark": "die Zahlen haben das Dezimalzeichen {mark}",
    "some numbers": "{n} % der Werte sind Zahlen, die anderen Texte",
    "counts as missing": "{option} zählt einen Text als fehlend",
    "other reading": "{option} liest sie anders",
    "other encoding": "--encoding liest eine andere",
    "dates": "Datumsangaben",
    "dates not compared": "die nicht verglichen werden; aus Geburtsdaten wird ein Alter",
    "derived age": "{option}; {value} behält den Text",
    "dates of birth": "Geburtsdaten",
    "age": "{value} ist das Alter in ganzen Jahren am {mark}",
    "another day": "--derive nimmt einen anderen Tag",
    "other sheets": "die anderen Blätter sind leer",
    "sheet": "gelesen wurde Blatt {value}",
    "some labels": "{n} der {total} Werte haben Beschriftungen",
    "keeps text": "{option} behält den Text",
    "by option": "durch {option}",
    "read as": "gelesen als {value}",
}
