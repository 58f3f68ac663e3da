"""The first page in French."""

DECIMAL, THOUSANDS = ",", "\u202f"
PERCENT = "{} %"
RANGE = "{low} à {high}"
RANGE_AROUND_ZERO = "entre {low} {less} et {high} {more}"
AND = " et "

STATES = {
    "unequal at equal columns": "Inégal même là où les autres colonnes sont égales",
    "unequal, open at equal columns": "Inégal ; on ignore si d'autres colonnes l'expliquent",
    "unequal, accounted for": "Inégal, et les colonnes légitimes l'expliquent",
    "nothing found": "Rien de trouvé",
    "nothing found as far as one can see": "Rien de trouvé, autant qu'on puisse voir",
    "cannot tell": "On ne peut pas dire",
}
FAVORABLE = "le résultat favorable ({labels})"
EVERYONE_ELSE = "tous les autres"
POINTS = "{n} points"
MORE_COLUMNS = "{n} autres"
WORDS = {
    "less": "de moins",
    "more": "de plus",
    "Less": "Moins",
    "More": "Plus",
    "fewer": "moins",
    "greater": "plus",
}

# What is unequal.
LESS_OFTEN = (
    "Moins souvent {favorable} pour {worse} que pour {better} : {rate} contre {other_rate}, "
    "{points} de moins ({range})."
)
LOWER = (
    "Un {measure} plus bas pour {worse} que pour {better} : {rate} contre {other_rate}, {points} "
    "de moins ({range})."
)
LESS_OF_NUMBER = (
    "{Less} de {target} pour {worse} que pour {better} : en moyenne {mean} contre {other_mean}, "
    "{points} {less} ({range})."
)
MORE_OF_NUMBER = (
    "{More} de {target} pour {better} que pour {worse} : en moyenne {other_mean} contre {mean}, "
    "{points} {more} ({range})."
)
NEARLY_EQUAL_NUMBER = (
    "Dans l'ensemble, les groupes diffèrent peu, ou les données ne peuvent pas le montrer : en "
    "moyenne {mean} de {target} pour {worse}, {other_mean} pour {better}."
)
UNKNOWN_NUMBER = (
    "Si {attribute} fait une différence, {people} personnes ne permettent pas de le dire : en "
    "moyenne {mean} de {target} pour {worse}, {other_mean} pour {better} ; la vraie différence "
    "peut être {range}."
)
TARGETS = {"value": "ce qui est comparé", "probability": "probabilité du résultat favorable"}
MEDIANS = "Les médianes sont {median} et {other_median} (écart : {range})."
SMALL = "C'est moins que l'écart qui compte ici ({relevant})."
ALSO_MORE = "{group} ({points} {more})"
ALSO_LESS = "{group} ({points} {less})"
ALSO = "Différents aussi : {groups}."
MORE_OFTEN = (
    "Plus souvent {favorable} pour {better} que pour {worse} : {other_rate} contre {rate}, "
    "{points} de plus ({range})."
)
NEARLY_EQUAL = (
    "Dans l'ensemble, les groupes diffèrent peu, ou les données ne peuvent pas le montrer : {rate} "
    "pour {worse} et {other_rate} pour {better} ont eu {favorable}."
)
REMAINS = "À valeurs égales de {columns}, il reste {points} {less} ({range})."
REMAINS_OPEN = "À valeurs égales de {columns}, il reste pour le groupe entier : {range}."
ACCOUNTED = (
    "Dans aucun des groupes comparés ({n}) il n'y reste d'écart supérieur à {bound} ({level}) : "
    "ces colonnes expliquent l'écart. C'est à vous de décider si ces colonnes peuvent compter."
)
ACCOUNT_OPEN = "On ignore si l'écart s'explique par {columns} : à valeurs égales, il reste {range}."
ACCOUNT_UNKNOWN = "On ignore si l'écart s'explique par {columns}."
NO_COLUMNS = "Aucune autre colonne n'a été donnée qui pourrait l'expliquer."
WORST = (
    "L'écart est le plus grand pour {group} : {points} {less} que les autres dans ce cas "
    "({range} ; {people} personnes)."
)
WORST_EQUAL = (
    "Là où les autres colonnes sont égales, l'écart est le plus grand pour {group} : {points} "
    "{less} que les autres dans ce cas ({range} ; {people} personnes)."
)
BEST = (
    "{More} que les autres dans ce cas pour {group} : {points} {more} ({range} ; {people} "
    "personnes)."
)
BEST_EQUAL = (
    "Là où les autres colonnes sont égales, {greater} que les autres dans ce cas pour {group} : "
    "{points} {more} ({range} ; {people} personnes)."
)
SINGLE = (
    "Si seule la valeur de {attribute} avait été autre, la décision aurait été autre pour {people} "
    "personnes ({share})."
)
CALIBRATION = (
    "À scores égaux, les résultats de {group} sont meilleurs que ceux des autres, de {points} "
    "({range}) : leurs scores sont trop bas."
)

# What is excluded.
NONE_ABOVE = "Aucun écart supérieur à {bound} dans les {n} groupes comparés selon {attribute}"
NONE_ABOVE_ONE = "Aucun écart supérieur à {bound} entre les groupes de {attribute}"
NONE_AT_EQUAL = " ; à valeurs égales de {columns}, aucun supérieur à {bound}"
HOLDS = " ({level})."
HOLDS_EACH = " ({level} chacun)."
CLEARED_SOME = (
    "Rien de trouvé selon {attribute}, autant que {people} personnes puissent le montrer : aucun "
    "écart supérieur à {relevant} dans les comparaisons aussi bonnes que {resolution} personnes "
    "avec autant d'autres ; dans les plus petites, jusqu'à {bound} sont possibles ({level} chacun)."
)
CLEARED_SOME_UNBOUND = (
    "Rien de trouvé selon {attribute}, autant que {people} personnes puissent le montrer : aucun "
    "écart supérieur à {relevant} dans les comparaisons aussi bonnes que {resolution} personnes "
    "avec autant d'autres ({level}) ; des groupes plus petits, cette page ne peut rien dire."
)
EQUAL_BOUND = "À valeurs égales de {columns}, aucun n'est supérieur à {bound} ({level})."
WHOLE = "Entre les groupes entiers, aucun écart n'est supérieur à {bound} ({level})."
UNKNOWN = (
    "De {people} personnes, on ne peut pas dire si {attribute} fait une différence : {rate} pour "
    "{worse} et {other_rate} pour {better} ont eu {favorable}, et la vraie différence peut être "
    "{range}."
)
UNKNOWN_BECAUSE = "Cet audit n'a pas établi si {attribute} fait une différence ({reason})."
UNKNOWN_ALL = "De {people} personnes, on ne peut pas dire si {attribute} fait une différence."
NEEDED = (
    "Environ {needed} personnes dans chaque groupe montreraient s'il existe un écart supérieur à "
    "{relevant}."
)
WHERE_EQUAL = " à colonnes égales"
OTHERS_ALL = (
    "Des autres groupes comparés{where} ({n}), aucun n'a d'écart supérieur à {bound} ({level})."
)
OTHERS_SOME = (
    "Des autres groupes comparés{where} ({n}), aucun n'a d'écart supérieur à {relevant} dans les "
    "comparaisons aussi bonnes que {resolution} personnes avec autant d'autres, et aucun d'écart "
    "supérieur à {bound} ({level} chacun)."
)
OTHERS_BOUND = (
    "Des autres groupes comparés{where} ({n}), aucun n'a d'écart supérieur à {bound} ({level}) ; "
    "ces groupes sont trop petits pour en dire plus."
)
OTHERS_CLEARED = (
    "Aucun écart supérieur à {relevant} dans {cleared} des autres groupes comparés{where} ({n} ; "
    "{level}) ; des autres, cette page ne peut rien dire."
)
OTHERS_OPEN = (
    "De quelle taille sont les écarts des autres groupes comparés ({n}), cette page ne peut le "
    "dire."
)
OTHERS_SHOWN = (
    "Des autres groupes montrés ({n}), aucun n'a d'écart supérieur à {relevant} ({level})."
)
ALONE = (
    "Groupes qui n'ont presque personne à qui se comparer : {n} ; nul ne peut dire la taille de "
    "leurs écarts."
)

# The lines below the paragraphs.
LINES = {
    "quote": "À citer",
    "beside": "À côté",
    "people": "Personnes",
    "equal": "Tenu égal",
    "sure": "Quelle certitude",
    "unseen": "Non vu",
    "next": "Ensuite",
    "law": "Le droit",
}
QUOTE_RAW = "{points} {less} pour {worse} ({range}, confiance {level})"
QUOTE_EQUAL = "à colonnes égales {points} {less} ({range}, {level})"
QUOTE_GROUP = "{points} {less} pour {group} ({range}, {level})"
QUOTE_GROUP_MORE = "{points} {more} pour {group} ({range}, {level})"
QUOTE_BOUND = "aucun écart supérieur à {bound} ({level})"
QUOTE_WHOLE = "aucun écart supérieur à {bound} entre les groupes entiers ({level})"
QUOTE_BOUND_EQUAL = "à colonnes égales, aucun supérieur à {bound} ({level})"
QUOTE_NONE = "aucun nombre : ces personnes sont trop peu pour en montrer un"
QUOTE_HIDDEN = "aucun nombre : aucun ne peut être montré"
QUOTE_NOTHING = "aucun nombre : rien n'a été comparé"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n} : {people} avec {worse}, {others} avec {better}"
HELD_NONE = "rien"
SURE = (
    "chaque intervalle vaut avec une confiance de {level}, ou celle qui est à côté ; 1 point est "
    "0.01 dans les tableaux ci-dessous"
)
SURE_NUMBERS = (
    "chaque intervalle vaut avec une confiance de {level}, ou celle qui est à côté ; un écart est "
    "en pour cent de la moyenne de ceux auxquels on compare, une borne en pour cent de la moyenne "
    "de tous ({mean}) ; derrière, le nombre lui-même"
)
SURE_RATIOS = (
    "chaque intervalle vaut avec une confiance de {level}, ou celle qui est à côté ; les "
    "pourcentages comparent des moyennes géométriques, et les tableaux ci-dessous ont des "
    "différences de logarithmes naturels"
)
UNSEEN = "les groupes de moins de {size} des personnes ; ce qu'aucune colonne du tableau ne dit"
UNSEEN_SINGLE = " ; les personnes une à une, car il n'y a pas de modèle à interroger"
NEXT = {
    "unequal at equal columns": (
        "chercher comment on décide de ces personnes, et si une colonne qui manque ici l'explique "
        "; d'ici là, ne pas employer ces décisions sans changement"
    ),
    "unequal, open at equal columns": (
        "réunir plus de personnes, ou les colonnes qui devraient expliquer l'écart, et recommencer"
    ),
    "unequal, accounted for": (
        "décider si ces colonnes peuvent compter : si la tâche les exige, et si elles sont "
        "elles-mêmes l'effet d'un traitement inégal"
    ),
    "nothing found": "recommencer quand les données ou le modèle changent",
    "nothing found as far as one can see": (
        "réunir plus de personnes si des groupes ou des écarts plus petits importent"
    ),
    "cannot tell": "réunir plus de personnes ; ne pas y voir un signe que tout va bien",
}
NEXT_OF_MODEL = (
    "chercher pourquoi les décisions dépendent de {attribute} ; d'ici là, ne pas les employer sans "
    "changement"
)
NEXT_OF_NUMBERS = (
    "chercher comment se forment les nombres de ces personnes, et si une colonne qui manque ici "
    "explique l'écart"
)
NEXT_OF_REASON = "régler ce qui est dit des colonnes tenues égales, et recommencer"
NEXT_OF_NOTHING = (
    "régler ce qui a empêché de comparer, et recommencer ; ne pas y voir un signe que tout va bien"
)
LAW = (
    "n'est pas décidé ici : la statistique montre des différences ; un juriste ou un tribunal "
    "décide si l'une est illicite"
)
