"""The first page in French."""

DECIMAL, THOUSANDS = ",", "\u202f"
PERCENT = "{} %"
RANGE = "{low} à {high}"
RANGE_QUOTED = "{range}, confiance {level}"
RANGE_UNKNOWN = "intervalle inconnu"
RANGE_LESS = "{low} à {high} {less}"
RANGE_MORE = "{low} à {high} {more}"
RANGE_AROUND_ZERO = "entre {low} {less} et {high} {more}"
AND = " et "
MISSING = "{name} manque"
NOT_MISSING = "{name} ne manque pas"

STATES = {
    "unequal at equal columns": "Inégal même là où les autres colonnes sont égales",
    "unequal, open at equal columns": "Inégal ; on ignore si d'autres colonnes l'expliquent",
    "unequal, accounted for": "Inégal, et les autres colonnes l'expliquent",
    "nothing found": "Rien de trouvé",
    "nothing found as far as one can see": "Rien de trouvé, autant qu'on puisse voir",
    "cannot tell": "On ne peut pas dire",
}
STATES_OF_SMALLER = {
    "unequal at equal columns": (
        "Inégal dans un groupe plus petit, même là où les autres colonnes sont égales"
    ),
    "unequal, open at equal columns": (
        "Inégal dans un groupe plus petit ; on ignore si d'autres colonnes l'expliquent"
    ),
    "unequal, accounted for": (
        "Inégal dans un groupe plus petit, et les autres colonnes l'expliquent"
    ),
}
STATE_OF_ERRORS = "Inégal dans les erreurs"
STATE_ALSO_OF_ERRORS = "Inégal, aussi dans les erreurs"
STATE_ALONE = "Inégal"
FAVORABLE = "le résultat favorable ({labels})"
ONE_CLASS = "le résultat ({labels})"
SPELLINGS = "{labels}, aussi sous d'autres graphies"
EVERYONE_ELSE = "tous les autres"
ALL_OTHERS = "tous les autres"
OTHERS_THERE = "les autres avec {context}"
GEOMETRIC = "{mean} (moyenne géométrique)"
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
ALSO = "Différents des autres, eux aussi : {groups}."
ALSO_FROM = "Différents de {reference}, eux aussi : {groups}."
MORE_OFTEN = (
    "Plus souvent {favorable} pour {better} que pour {worse} : {other_rate} contre {rate}, "
    "{points} de plus ({range})."
)
NEARLY_EQUAL = (
    "Dans l'ensemble, les groupes diffèrent peu, ou les données ne peuvent pas le montrer."
)
RATES = "Dans l'ensemble, {rate} pour {worse} et {other_rate} pour {better} ont eu {favorable}."
MEANS = "Dans l'ensemble, {target} : en moyenne {mean} pour {worse} et {other_mean} pour {better}."
REMAINS = "À valeurs égales de {columns}, il reste {points} {less} ({range})."
REMAINS_MORE = "À valeurs égales de {columns}, il reste {points} {more} ({range})."
TURNED_MORE = "À valeurs égales de {columns}, c'est l'inverse : {points} {more} ({range})."
TURNED_LESS = "À valeurs égales de {columns}, c'est l'inverse : {points} {less} ({range})."
REMAINS_OPEN = "À valeurs égales de {columns}, il reste pour le groupe entier : {range}."
AGAINST_EVERYONE = "Là, {group} est comparé à tous les autres, et non à {other_group}."
ACCOUNTED = (
    "Dans aucun des groupes comparés ({n}) il n'y reste d'écart supérieur à {bound} ({level}) : "
    "ces colonnes expliquent l'écart. C'est à vous de décider si ces colonnes peuvent compter."
)
ACCOUNT_OPEN = "On ignore si l'écart s'explique par {columns} : à valeurs égales, il reste {range}."
ACCOUNT_UNKNOWN = "On ignore si l'écart s'explique par {columns}."
NO_COLUMNS = "Aucune autre colonne n'a été donnée qui pourrait l'expliquer."
NOT_ASKED = "Cet audit n'a pas demandé si d'autres colonnes l'expliquent."
WORST = (
    "L'écart est le plus grand pour {group} : {points} {less} que {others} ({range} ; {people} "
    "personnes)."
)
WORST_EQUAL = (
    "Là où les autres colonnes sont égales, l'écart est le plus grand pour {group} : {points} "
    "{less} que {others} ({range} ; {people} personnes)."
)
BEST = "{More} que {others} pour {group} : {points} {more} ({range} ; {people} personnes)."
BEST_EQUAL = (
    "Là où les autres colonnes sont égales, {greater} que {others} pour {group} : {points} {more} "
    "({range} ; {people} personnes)."
)
WHERE_GROUP = ", à colonnes égales"
GROUP_LESS_OFTEN = (
    "{group} a eu {favorable} moins souvent que {others}{where} : {points} de moins ({range} ; "
    "{people} personnes)."
)
GROUP_MORE_OFTEN = (
    "{group} a eu {favorable} plus souvent que {others}{where} : {points} de plus ({range} ; "
    "{people} personnes)."
)
GROUP_LESS_OF_NUMBER = (
    "{group} a eu {fewer} de {target} que {others}{where} : {points} {less} ({range} ; {people} "
    "personnes)."
)
GROUP_MORE_OF_NUMBER = (
    "{group} a eu {greater} de {target} que {others}{where} : {points} {more} ({range} ; {people} "
    "personnes)."
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
    "Rien de trouvé selon {attribute}, autant que {people} personnes puissent le montrer : "
    "aucun écart supérieur à {relevant} dans les comparaisons aussi bonnes que celle de "
    "{resolution} personnes à autant d'autres ; dans les comparaisons plus petites, jusqu'à "
    "{bound} sont possibles ({level} chacun)."
)
OPEN_BY_RATIO = (
    "Entre les groupes entiers, aucun écart n'est supérieur à {bound}, mais un rapport des "
    "taux{outcome} de {ratio} n'est pas exclu ({level} chacun)."
)
OF_UNFAVORABLE = " de résultats défavorables"
LIMITED_BY_RATIO = (
    "Rien de trouvé selon {attribute}, autant que {people} personnes puissent le montrer : aucun "
    "écart supérieur à {bound} dans les groupes comparés ({n}), mais un rapport des "
    "taux{outcome} de {ratio} n'est pas exclu ({level} chacun)."
)
CLEARED_SOME_UNBOUND = (
    "Rien de trouvé selon {attribute}, autant que {people} personnes puissent le montrer : "
    "aucun écart supérieur à {relevant} dans les comparaisons aussi bonnes que celle de "
    "{resolution} personnes à autant d'autres ({level}) ; des comparaisons plus petites, "
    "cette page ne peut rien dire."
)
EQUAL_TOO_FEW = (
    "À valeurs égales de {columns}, trop peu de personnes sont comparables pour dire la taille de "
    "tous les écarts."
)
EQUAL_BOUND = "À valeurs égales de {columns}, aucun n'est supérieur à {bound} ({level})."
WHOLE_TOO_FEW = (
    "Certains groupes entiers ont trop peu de personnes pour qu'on puisse dire la taille de leurs "
    "écarts."
)
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
NEEDED_FAR_MORE = (
    "Il faudrait bien plus de personnes pour montrer s'il existe un écart supérieur à {relevant}."
)
WHERE_EQUAL = " à colonnes égales"
FOUND_SEVERAL = (
    "Des écarts sont trouvés{where} dans {n} groupes, énumérés plus bas ; l'un d'eux est {group}, "
    "avec {points} {less}."
)
FOUND_SEVERAL_MORE = (
    "Des écarts sont trouvés{where} dans {n} groupes, énumérés plus bas ; l'un d'eux est {group}, "
    "avec {points} {more}."
)
OTHERS_ALL = (
    "Des comparaisons{where} sans écart trouvé ({n}), aucune n'a d'écart supérieur à {bound} "
    "({level})."
)
OTHERS_SOME = (
    "Des comparaisons{where} sans écart trouvé ({n}), aucune n'a d'écart supérieur à {relevant} "
    "dans les comparaisons aussi bonnes que celle de {resolution} personnes à autant d'autres, et "
    "aucune d'écart supérieur à {bound} ({level} chacun)."
)
OTHERS_SOME_TOO_FEW = (
    "Des comparaisons{where} sans écart trouvé ({n}), aucune n'a d'écart supérieur à {relevant} "
    "dans les comparaisons aussi bonnes que celle de {resolution} personnes à autant d'autres "
    "({level}) ; les plus petites ont trop peu de personnes pour qu'on puisse dire la taille de "
    "leurs écarts."
)
OTHERS_TOO_FEW = (
    "Les comparaisons{where} sans écart trouvé ({n}) ont trop peu de personnes pour qu'on puisse "
    "dire la taille de leurs écarts."
)
OTHERS_BOUND = (
    "Dans les comparaisons{where} sans écart trouvé ({n}), des écarts jusqu'à {bound} sont "
    "possibles ({level})."
)
OTHERS_CLEARED = (
    "Dans {cleared} des {n} comparaisons{where} sans écart trouvé, aucun écart n'est supérieur à "
    "{relevant} ({level}) ; des autres, cette page ne peut rien dire."
)
OTHERS_OPEN = (
    "De quelle taille sont les écarts des comparaisons sans écart trouvé ({n}), cette page ne "
    "peut le dire."
)
OTHERS_SHOWN = (
    "Des groupes montrés sans écart trouvé ({n}), aucun n'a d'écart supérieur à {relevant} "
    "({level})."
)
ALONE = (
    "Groupes qui n'ont presque personne à qui se comparer : {n} ; nul ne peut dire la taille de "
    "leurs écarts."
)

# The lines below the paragraphs.
LINES = {
    "quote": "Nombre à citer",
    "whole": "Tous ensemble",
    "remains": "À colonnes égales",
    "equal": "Colonnes tenues égales",
    "smaller": "Groupe plus petit",
    "another": "Autre groupe",
    "people": "Personnes",
    "next": "Que faire ensuite",
    "sure": "Quelle certitude",
    "unseen": "Ce qu'on ne peut voir",
    "law": "Contraire à la loi ?",
}
QUOTE_GROUP = "{points} {less} pour {group} ({sure})"
QUOTE_GROUP_MORE = "{points} {more} pour {group} ({sure})"
WHERE_GROUP_AFTER = ", à colonnes égales"
QUOTE_SMALLER = "{points} {less} pour {group}{where} ({sure} ; {people} personnes)"
QUOTE_SMALLER_MORE = "{points} {more} pour {group}{where} ({sure} ; {people} personnes)"
QUOTE_BETWEEN = "inconnu, mais {range} pour {group}"
QUOTE_AGAINST = ", par rapport à tous les autres"
QUOTE_TOGETHER = "{smaller} ; tous ensemble : {whole}"
QUOTE_TOO_FEW = "inconnu : trop peu de personnes sont comparables pour dire la taille des écarts"
QUOTE_OPEN = "inconnu"
QUOTE_BOUND = "aucun écart supérieur à {bound} ({level})"
QUOTE_WHOLE = "aucun écart supérieur à {bound} entre les groupes entiers ({level})"
QUOTE_NONE = "aucun nombre : ces personnes sont trop peu nombreuses pour en montrer un"
QUOTE_HIDDEN = "aucun nombre : aucun ne peut être montré"
QUOTE_NOTHING = "aucun nombre : cet examen n'a pas trouvé de réponse"
PEOPLE = "{n}"
PEOPLE_SIDES = "{n} ({group} : {people} ; {other_group} : {others})"
SAMPLED = "Pour {questions}, {n} personnes sur {total} ont été tirées au hasard et examinées."
PEOPLE_SAMPLED = "{people} ; pour {questions}, {n} tirées au hasard"
QUESTIONS = {
    "all": "toutes les questions",
    "marginal": "les écarts entre groupes entiers",
    "contextual": "les écarts dans de plus petits groupes",
    "conditional": "les écarts à colonnes égales",
    "linear": "les écarts à colonnes égales",
    "individual": "les comparaisons de personnes isolées",
    "counterfactual": "les comparaisons de personnes isolées",
    "calibration": "les écarts à scores égaux",
    "everyone": "les écarts à la moyenne de tous",
}
HELD_NONE = "rien"
SURE = (
    "intervalles et bornes valent avec une confiance de {level}, ou celle qui est à côté ; 1 point "
    "est 0.01 dans les tableaux ci-dessous"
)
SURE_NUMBERS = (
    "intervalles et bornes valent avec une confiance de {level}, ou celle qui est à côté ; un "
    "écart est en pour cent de la moyenne de ceux auxquels on compare, une borne en pour cent de "
    "la moyenne de tous ({mean}) ; les tableaux ci-dessous sont dans l'unité des nombres"
)
SURE_RATIOS = (
    "intervalles et bornes valent avec une confiance de {level}, ou celle qui est à côté ; les "
    "pourcentages comparent des moyennes géométriques, et les tableaux ci-dessous ont des "
    "différences de logarithmes naturels"
)
UNSEEN_OTHER = "autres "  # beside a gap of such a group
UNSEEN = (
    "les {other}écarts dans les groupes de moins de {size} des personnes ; ce qu'aucune colonne du "
    "tableau ne dit"
)
UNSEEN_SINGLE = (
    " ; si une même personne aurait été traitée autrement, car il n'y a pas de modèle à interroger"
)
NEXT = {
    "unequal at equal columns": (
        "chercher comment se forment ces décisions, et si une colonne qui manque ici explique "
        "l'écart ; d'ici là, ne pas employer ces décisions sans changement"
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
NEXT_OF_UNASKED = (
    "chercher si d'autres colonnes expliquent l'écart, ce que cet audit n'a pas demandé"
)
NEXT_OF_REASON = "régler ce qui est dit des colonnes tenues égales, et recommencer"
NEXT_OF_ALIKE = (
    "ajouter les personnes dont le résultat diffère, s'il y en a, et recommencer ; ne pas y voir "
    "un signe que tout va bien"
)
NEXT_OF_NOTHING = (
    "régler ce qui a empêché de comparer, et recommencer ; ne pas y voir un signe que tout va bien"
)
LAW = (
    "n'est pas décidé ici : la statistique montre des différences ; un juriste ou un tribunal "
    "décide si l'une est illicite"
)

# Rapports sur les rémunérations.
PAY_TITLES = {
    "pay_transparency": (
        "Écart de rémunération entre les femmes et les hommes : les chiffres de l'article 9, "
        "paragraphe 1, de la directive (UE) 2023/970"
    ),
    "uk_gender_pay_gap": (
        "Écart de rémunération entre les femmes et les hommes : les six chiffres des règles du "
        "Royaume-Uni de 2017"
    ),
}
PAY_SOURCES = {
    "pay_transparency": (
        "Un écart est la différence des moyennes des hommes et des femmes en pour cent de celle "
        "des hommes (article 3 de la directive) ; {relevant} est le seuil que nomme l'article 10, "
        "paragraphe 1. Les quarts partagent dans la même proportion les personnes de même salaire "
        "à une limite. Cette page donne des chiffres et leur certitude ; elle ne dit pas si une "
        "obligation est remplie ni si une différence est justifiée."
    ),
    "uk_gender_pay_gap": (
        "Chiffres des Equality Act 2010 (Gender Pay Gap Information) Regulations 2017 : un écart "
        "est la différence des moyennes des hommes et des femmes en pour cent de celle des hommes "
        "; pour les primes, parmi les personnes qui en ont reçu ; les personnes de même salaire à "
        "la limite d'un quart sont partagées dans la même proportion (regulation 13(2)). Cette "
        "page donne des chiffres et leur certitude ; elle ne dit pas si une obligation est remplie."
    ),
}
PAY_TARGETS = {"total pay per hour": "salaire total par heure", "total pay": "salaire total"}
PAY_FIGURES = {
    "mean total": "Salaire moyen",
    "median total": "Salaire médian",
    "mean variable": "Salaire variable moyen",
    "median variable": "Salaire variable médian",
    "receive variable": "Personnes qui reçoivent un salaire variable",
}
PAY_AMONG = {"all": "", "recipients": ", parmi celles qui en reçoivent"}
PAY_QUARTERS = {
    "quarter 1": "le plus bas",
    "quarter 2": "deuxième en partant du bas",
    "quarter 3": "deuxième en partant du haut",
    "quarter 4": "le plus haut",
}
PAY_PARTS = {"base": "Salaire de base", "variable": "Salaire variable", "total": "Salaire total"}
PAY_PARTS_WITHIN = {
    "base": "salaire de base",
    "variable": "salaire variable",
    "total": "salaire total",
}
PAY_BASES = {"per hour": "par heure", "as recorded": "tel qu'enregistré"}
PAY_PER_HOUR = " par heure"
PAY_GROUPS = {"other categories": "autres catégories", "missing": "sans indication"}
PAY_EVERYBODY = "toutes les personnes"
PAY_SIDES = {"lower": "plus bas de {gap}", "higher": "plus élevé de {gap}"}
PAY_COMPARED = {
    "lower": "plus bas de {gap} que celui des hommes",
    "higher": "plus élevé de {gap} que celui des hommes",
    "equal": "aussi élevé que celui des hommes",
}
PAY_RANGE = "{text} ({low} à {high}{level})"
PAY_RANGE_AROUND_ZERO = "{text} (entre {low} de plus et {high} de moins{level})"
PAY_RANGE_UNKNOWN = "{text} (intervalle inconnu : {reason})"
PAY_NOT_COMPARED = "non comparé"
PAY_NOT_COMPARED_BECAUSE = "non comparé ({reason})"
PAY_WHOLE = "Le salaire moyen des femmes{basis} est {mean} ; leur salaire médian est {median}."
PAY_WHOLE_RECORDED = "Sans division par les heures, leur salaire moyen est {mean}."
PAY_HOURS = (
    "De l'écart des salaires non divisés par les heures, {share} va de pair avec les heures "
    "({low} à {high}) : l'écart par heure est plus petit d'autant."
)
PAY_HOURS_TURNED = (
    "Par heure, l'écart est inverse : le salaire moyen des femmes est {hourly}, sans division par "
    "les heures {recorded}."
)
PAY_HOURS_LARGER = (
    "Par heure, l'écart est plus grand : le salaire moyen des femmes est {hourly}, sans division "
    "par les heures {recorded}."
)
PAY_HOURS_OPEN = (
    "Par heure, le salaire moyen des femmes est {hourly}, sans division par les heures {recorded} "
    "; quelle part de l'écart va de pair avec les heures, ces personnes ne permettent pas de le "
    "dire."
)
PAY_BY_CATEGORY = (
    "{part} par catégorie : sûrement {relevant} ou plus dans {above}{named} ; sûrement moins dans "
    "{below}{open}{largest}."
)
PAY_COUNT = "{n} sur {total}"
PAY_COUNT_NONE = "aucune sur {total}"
PAY_ABOVE_NAMED = " : {groups}"
PAY_NAMED = "{group}, {compared}"
PAY_MORE_NAMED = "{n} autres"
PAY_OPEN = " ; de {n}, ces personnes ne permettent pas de le dire"
PAY_LARGEST = (
    ". Le plus grand écart est celui de {group} : le {part} des femmes y est {compared}{needed}"
)
PAY_WOULD_TELL = ", et {needed} le diraient"
PAY_NEEDED = "environ {n} personnes"
PAY_NEEDED_THERE = "environ {n} personnes dans cette catégorie"
PAY_NEEDED_TOO_MANY = "seulement plus de personnes qu'une telle entreprise n'en a"
PAY_NEEDED_TOO_MANY_THERE = "seulement plus de personnes là qu'une telle entreprise n'en a"
PAY_RECEIVE_HIDDEN = (
    "Qui reçoit un salaire variable n'est pas montré, pour protéger les rares personnes qui en "
    "reçoivent."
)
PAY_RECEIVE_NOBODY = "Personne ne reçoit de salaire variable."
PAY_RECEIVE = (
    "Un salaire variable est versé à {women} des femmes et à {men} des hommes{often}{among}."
)
PAY_RECEIVE_OFTEN = {
    "less": ", moins souvent aux femmes de {n} points ({low} à {high})",
    "more": ", plus souvent aux femmes de {n} points ({low} à {high})",
    "equal": ", aussi souvent aux femmes ({low} à {high})",
}
PAY_RECEIVE_AMONG = (
    " ; parmi celles qui en reçoivent, le salaire variable moyen des femmes{basis} est {compared}"
)
PAY_EQUAL = (
    "À valeurs égales de {columns}, le salaire total des femmes{basis} est {compared}, et sinon "
    "{gap}."
)
PAY_EQUAL_IN = (
    "Dans la catégorie {group}, à valeurs égales de {columns}, le salaire total des femmes{basis} "
    "est {compared}, et sinon {gap}."
)
PAY_LOGIB = (
    "Selon le modèle de Logib (Suisse), à valeurs égales de {columns}, le salaire total des "
    "femmes{basis} est {compared}."
)
PAY_LOGIB_DIFFERS = (
    "Logib compare des logarithmes de salaires, de sorte que les quelques salaires les plus élevés "
    "comptent moins, et suppose le même écart pour tout le monde ; le chiffre à valeurs égales de "
    "{columns} compare des salaires moyens sans cette hypothèse."
)
PAY_NOT_TURNED = "Aucun de ces états ne change si n'importe quelle personne est retirée."
PAY_TURNED = (
    "Si une certaine personne est retirée, la réponse à la question si l'écart est de {relevant} "
    "ou plus change pour : {groups}."
)
PAY_TURNED_GROUP = "{part} de {group}"
PAY_ALL_PEOPLE = "Toutes les personnes"
PAY_QUARTERS_TITLE = {
    "people": "Quarts de toutes les personnes selon le salaire total{basis}",
    "rows": "Quarts de toutes les lignes selon le salaire total{basis}",
}
PAY_CATEGORIES_TITLE = (
    "(g) Par catégorie de travailleurs ({column}), {basis} ; chaque intervalle {level}"
)
PAY_CATEGORY_COLUMN = "catégorie"
PAY_HEADS = {
    "quantile": "Quantile",
    "part": "Partie",
    "amount": "Montant",
    "figure": "Chiffre",
    "women": "Femmes",
    "men": "Hommes",
    "rows of women": "Lignes de femmes",
    "rows of men": "Lignes d'hommes",
    "weights of women": "Somme des poids des femmes",
    "weights of men": "Somme des poids des hommes",
    "weights of rows of women": "Somme des poids des lignes de femmes",
    "weights of rows of men": "Somme des poids des lignes d'hommes",
    "gap": "Plus bas pour les femmes de",
    "quarter": "Quart",
    "range": "Intervalle de la part des femmes",
    "category": "Catégorie",
}
PAY_HEAD_OF_BASIS = "Plus bas pour les femmes de, {basis}"
PAY_HEAD_OF_PART = "{part} : plus bas pour les femmes de"
PAY_QUANTILES_TITLE = "Écarts par quantile du salaire{basis} ; chaque intervalle {level}"
PAY_QUANTILES = {
    "0.1": "un dixième gagne moins",
    "0.25": "un quart gagne moins",
    "0.5": "la moitié gagne moins (médiane)",
    "0.75": "un quart gagne plus",
    "0.9": "un dixième gagne plus",
}
PAY_SHADED = "{title} ; teinté : moins de {relevant}"
PAY_CONSISTS_TITLE = (
    "De quoi se compose l'écart de salaire total{basis}, en pour cent de la moyenne des hommes"
)
PAY_CONSISTS = {
    "gap": "L'écart entier",
    "accounted": "Va de pair avec {columns}",
    "remains": "Reste à valeurs égales de {columns}",
}
PAY_CELL = "{gap} [{low} ; {high}]"
PAY_CELL_UNKNOWN = "{gap} (intervalle inconnu)"
PAY_SHARE_OF = "{share} de {n}"
PAY_OTHERS = {
    "one": "{quarter} (et {n} autre personne)",
    "several": "{quarter} (et {n} autres personnes)",
}
PAY_STATES = {
    "above": "{relevant} ou plus",
    "below": "moins de {relevant}",
    "cannot tell": "on ne peut pas dire",
    "needed": "on ne peut pas dire ({needed} le diraient)",
}
PAY_NOTES = {
    "clustered": (
        "Plusieurs lignes sont une personne : femmes et hommes sont comptés une fois, dans les "
        "quarts et dans les réponses plus bas leurs lignes."
    ),
    "joined": "Réunies, parce que trop peu de femmes ou d'hommes y travaillent : {groups}.",
    "one left out": (
        "1 chiffre est omis, pour protéger les rares personnes qui reçoivent un salaire variable."
    ),
    "left out": (
        "{n} chiffres sont omis, pour protéger les rares personnes qui reçoivent un salaire "
        "variable."
    ),
    "one not in Logib": (
        "Le modèle de Logib omet 1 ligne : une de ses colonnes manque, ou le salaire est 0."
    ),
    "not in Logib": (
        "Le modèle de Logib omet {n} lignes : une de leurs colonnes manque, ou le salaire est 0."
    ),
    "few others": (
        "Moins de {n} personnes ne sont ni femmes ni hommes, ou n'ont pas de valeur de sexe : pour "
        "les protéger, elles ne comptent dans aucun chiffre ici ni plus bas."
    ),
    "one other": (
        "1 personne n'est ni femme ni homme, ou n'a pas de valeur de sexe : elle compte dans les "
        "quarts, et n'est pas comparée plus bas."
    ),
    "others": (
        "{n} personnes ne sont ni femmes ni hommes, ou n'ont pas de valeur de sexe : elles "
        "comptent dans les quarts, et ne sont pas comparées plus bas."
    ),
    "one wrong": (
        "1 ligne dépasse dix fois le salaire médian de la catégorie, ou est sous un dixième : "
        "probablement une erreur ; elle compte telle quelle."
    ),
    "wrong": (
        "{n} lignes dépassent dix fois le salaire médian de la catégorie, ou sont sous un dixième "
        ": probablement des erreurs ; elles comptent telles quelles."
    ),
    "one to check": (
        "1 ligne dépasse quatre fois ce salaire médian, ou est sous un quart, a plus de 80 heures, "
        "ou des parties dont la somme n'est pas le total : à vérifier ; elle compte telle quelle."
    ),
    "to check": (
        "{n} lignes dépassent quatre fois ce salaire médian, ou sont sous un quart, ont plus de 80 "
        "heures, ou des parties dont la somme n'est pas le total : à vérifier ; elles comptent "
        "telles quelles."
    ),
}
PAY_REASONS = {
    "no average": "la moyenne des hommes est 0",
    "no median": "la médiane des hommes est 0",
    "two people": "moins de 2 personnes d'un sexe",
    "few": "trop peu de personnes",
    "few for a median": "trop peu de personnes pour un intervalle, ou la médiane peut être 0",
    "no sex": "un sexe manque",
    "tells sex": "les autres colonnes disent qui est une femme",
    "nobody": "personne ne reçoit de salaire variable",
    "several rows": "plusieurs lignes sont une personne",
    "hidden": "moins de {n} femmes ou hommes : omis, pour les protéger",
    "hidden recipients": "moins de {n} femmes ou hommes en reçoivent : omis, pour les protéger",
    "hidden in a category": (
        "moins de {n} femmes ou hommes reçoivent un salaire variable : omis, pour les protéger"
    ),
    "dominated": "une personne a presque tout ce salaire : omis, pour la protéger",
    "skewed": (
        "trop asymétrique pour comparer les moyennes de {n} personnes : il en faut environ "
        "{needed} ; demander les logarithmes"
    ),
    "skewness unknown": ("l'asymétrie des nombres de {n} personnes est inconnue ; changer l'unité"),
}

# What stands above the answers, and what a document tells in English.
TITLE = "Audit"
TITLE_OF = "Audit : {system}"
NOTICED = "Remarqué dans le tableau, avec l'option qui le change :"
MORE_READ = (
    "Les {n} premières de {total} remarques sur la lecture du fichier ; le document JSON les a "
    "toutes."
)
INTERRUPTED = (
    "L'audit a été interrompu après {done} étapes sur {planned}. Voici ce qui était trouvé "
    "jusque-là ; les questions sans réponse restent ouvertes."
)
NO_VERDICT = "aucun verdict"
OPENING = {
    "labels": "{n} résultats enregistrés ont été examinés selon {names} ; favorable est {labels}.",
    "decisions": (
        "{n} décisions enregistrées ont été examinées selon {names} ; favorable est {labels}."
    ),
    "model": (
        "Les décisions d'un modèle sur {n} personnes ont été examinées selon {names} ; "
        "favorable est {labels}."
    ),
    "fitted model": (
        "Les décisions d'un modèle entraîné dans cet audit, sur {n} personnes, ont été "
        "examinées selon {names} ; favorable est {labels}."
    ),
    "counts": (
        "Des effectifs publiés de {n} personnes ont été examinés selon {names} ; favorable est "
        "{labels}."
    ),
    "numbers": (
        "{what} : {n} personnes ont été examinées selon {names} ; on compare les {compared}, "
        "et {better} vaut mieux."
    ),
}
OPENING_WORDS = {
    "difference": "moyennes",
    "log": "moyennes des logarithmes",
    "high": "plus",
    "low": "moins",
    "probability": "Probabilités",
    "value": "Nombres",
}
PUBLIC = {
    "one": (
        "Ceci est un document public : {n} groupe n'a pas été examiné, pour protéger les personnes."
    ),
    "several": (
        "Ceci est un document public : {n} groupes n'ont pas été examinés, pour protéger les "
        "personnes."
    ),
}
SENTENCES = {
    "public pay": (
        "les rapports publics de rémunération donnent des chiffres et ne posent pas de "
        "question à leur sujet"
    ),
    "too skewed": (
        "{start} ; dans {n} comparaisons sur {total}, les nombres sont trop asymétriques pour "
        "comparer des moyennes : vérifier les plus grands, ou comparer des logarithmes "
        "(--outcome-scale log)"
    ),
    "equal within groups": (
        "{start} ; les nombres de chaque groupe de {attribute} sont tous égaux et ne montrent pas "
        "à quel point les nombres varient"
    ),
    "open": "s'il y a un écart au-dessus de {gap}, celui qui compte, reste ouvert",
    "open of few": "les groupes de moins de {n} personnes restent ouverts",
    "open several": (
        "d'aucun des {n} groupes comparés de {size} % de ces personnes ou plus on ne peut dire que "
        "son écart est au plus {gap}"
    ),
    "not run because": "son test n'a pas eu lieu : {start}",
    "time spent": "le temps de {seconds} s était épuisé",
    "not looked at": "aucun de ses groupes n'est examiné, pour protéger des personnes",
    "equal outcomes of the model": "tous les résultats du modèle sont égaux",
    "equal outcomes by": "selon {measure}, tous les résultats sont égaux",
    "equal outcomes": "tous les résultats sont égaux",
    "equal outcomes of": (
        "tous les résultats sont égaux ({value}), et aucun écart ne peut apparaître"
    ),
    "no outcomes": "il n'y a pas de résultats",
    "not run": "son test n'a pas eu lieu",
    "nobody": "il n'y a pas de groupe à comparer",
    "nobody of a size": "il n'y a pas de groupe à comparer de {size} % de ces personnes ou plus",
    "columns tell fine": (
        "les colonnes légitimes disent presque qui appartient à {groups}, et il ne reste "
        "personne à comparer ; omettre de telles colonnes{columns} (adjust_for, ou --ignore) : "
        "{fine} (moins de cinq personnes par valeur)"
    ),
    "columns tell": (
        "les colonnes légitimes disent presque qui appartient à {groups}, et il ne reste "
        "personne à comparer ; omettre de telles colonnes{columns} (adjust_for, ou --ignore)"
    ),
    "weights dominate": (
        "les poids de {groups}, ou de ceux à qui on les compare, équivalent à moins de cinq "
        "personnes, car certains sont bien plus grands que tous les autres"
    ),
    "columns predict": (
        "les colonnes légitimes prédisent encore ce qui reste du résultat et de la partie "
        "protégée, autant que ce qui décide sur {groups} ; donner à nuisance= un meilleur "
        "estimateur"
    ),
    "joined cells": (
        "on a ajusté selon des cellules de colonnes légitimes, peut-être inutilement, ce qui "
        "déplace les effets autant que ce qui décide sur {groups}"
    ),
    "few clusters": (
        "groups n'a que {n} grappes, dont les variances sont trop incertaines pour exclure un "
        "écart ; il en faut {least}"
    ),
    "after correction": "p = {p}, et {corrected} après correction pour {n} questions",
    "few far": (
        "moins de {n} résultats sont loin de tous les autres (trois écarts interquartiles "
        "au-delà des quartiles)"
    ),
    "far": (
        "{n} résultats sont loin de tous les autres (trois écarts interquartiles au-delà des "
        "quartiles)"
    ),
    "as they are": "comptent tels quels",
    "errors": "si ce sont des erreurs, les corriger",
    "errors or log": (
        "si ce sont des erreurs, les corriger ; --outcome-scale log leur donne moins de poids"
    ),
    "many numbers": "les résultats sont {n} nombres différents",
    "means": "on compare leurs moyennes",
    "name favorable": (
        "pour des décisions, nommer les valeurs favorables : --favorable, ou pos_label en Python"
    ),
    "same order": "son ordre est celui des résultats, dans presque toutes les lignes",
    "values give": "chacune de ses valeurs va avec un résultat, dans toutes les lignes ({n})",
    "values nearly give": (
        "chacune de ses valeurs va avec un résultat, dans presque toutes les lignes"
    ),
    "threshold gives": "un seuil de la colonne donne le résultat, dans toutes les lignes ({n})",
    "threshold nearly gives": (
        "un seuil de la colonne donne le résultat, dans presque toutes les lignes"
    ),
    "outcome again": (
        "si c'est le résultat en d'autres mots, aucun écart ne peut apparaître à valeurs égales"
    ),
    "leave out": "l'omettre : {option}",
    "target alone": "le salaire total est la cible seule, et cette colonne n'y est pas ajoutée",
    "part of target": (
        "elle compte comme une partie de la cible, et le reste de la cible comme salaire de base"
    ),
    "base named": "si la cible est le salaire de base : --base COL au lieu de --target COL",
    "rows of people": (
        "{distinct} valeurs dans {n} lignes, dont les résultats se ressemblent beaucoup"
    ),
    "rows of the same": (
        "{distinct} valeurs dans {n} lignes, et {same} est le même dans toutes celles d'une valeur"
    ),
    "rows of one person": (
        "si les lignes d'une valeur sont d'une personne, elles comptent comme autant de personnes"
    ),
    "say so": "l'indiquer : {option}",
    "code": "{value} dans {n} lignes, loin de tous les autres nombres",
    "code counts": "compte comme un nombre",
    "code missing": "si cela veut dire que rien n'est connu : {option}",
    "spellings": "valeurs qui ne diffèrent que par la casse ou les espaces : {values}",
    "label spellings": "libellés qui ne diffèrent que par la casse ou les espaces : {values}",
    "decision spellings": "décisions qui ne diffèrent que par la casse ou les espaces : {values}",
    "weighted": (
        "les taux, moyennes et écarts sont pondérés, et les personnes comptées comme lignes ; avec "
        "leurs poids, ces {n} lignes en disent autant que {equal} sans poids"
    ),
    "few weightless": "moins de {n} lignes de poids 0 sont omises",
    "weightless": "{n} lignes de poids 0 sont omises",
    "of few": "{n} de moins de {least} personnes",
    "all favorable": "comptent tous comme favorables",
    "exact text": "seulement le texte exact : --favorable-exact",
    "some unfavorable": "{values} comptent comme défavorables",
    "not exact": (
        "sans --favorable-exact, ils comptent comme favorables ; en Python, les nommer tous"
    ),
    "own groups": "sont des groupes à part",
    "make one": "les réunir : {option}",
    "copies in all": "{n} lignes sont des copies d'autres dans chaque colonne",
    "copies": (
        "Chaque ligne apparaît {n} fois ou un multiple, donc des lignes semblent être des copies"
    ),
    "too small": "si oui, les valeurs p et les intervalles sont trop petits",
    "no own people": (
        "si ce ne sont pas d'autres personnes, les valeurs p et les intervalles sont trop petits"
    ),
    "drop copies": "les omettre : --drop-copies",
    "neighbors": (
        "Les résultats de lignes voisines se ressemblent (corrélation {near} ; {far} plus loin)"
    ),
    "belong together": (
        "si des lignes qui se suivent vont ensemble, comme celles d'un ménage, les valeurs p "
        "et les intervalles sont trop petits"
    ),
    "say which": "dire lesquelles : --groups COLUMN",
    "counted rows": (
        "chaque ligne est une autre combinaison de toutes les autres colonnes et du résultat"
    ),
    "counts as a column": "compte comme une colonne, et chaque ligne comme une personne",
    "number of people": "si c'est le nombre de personnes de chaque ligne : {option}",
    "stand-in": "va fortement avec {attribute} (V de Cramér {v}, de 0 à 1)",
    "runs through": (
        "ce qui passe par elle ne compte pas comme un écart entre groupes de {attribute}"
    ),
    "without hours": "{n} lignes dont les heures manquent, sont 0 ou moins",
    "one without hours": "1 ligne dont les heures manquent, sont 0 ou moins",
    "without label": "{n} lignes n'ont pas de libellé",
    "one without label": "1 ligne n'a pas de libellé",
    "dropped copies": "{n} lignes sont des copies",
    "one dropped copy": "1 ligne est une copie",
    "folded": "les valeurs de {n} lignes ne diffèrent que par la casse ou les espaces",
    "made one": "réunies",
    "threshold": "scores de {value} ou plus",
    "threshold of percents": (
        "scores de {value} ou plus, alors qu'ils vont jusqu'à {most} (peut-être {hundredfold})"
    ),
    "threshold of risk": (
        "scores de {value} ou plus, alors que les scores sont plus bas là où le résultat est "
        "favorable (s'ils disent un risque, changer les signes des scores et du seuil)"
    ),
    "favorable decisions": "sont des décisions favorables",
    "counts": "nombres de personnes",
    "people in rows": "{people} personnes dans {n} lignes",
    "without counts": "sans --counts, chaque ligne est une personne",
    "left out": "omis",
    "read as numbers": "lu comme nombres",
    "read as text": "lu comme texte",
    "decimal mark": "nombres avec le signe décimal {mark}",
    "not UTF-8": "le fichier n'est pas en UTF-8",
    "read as encoding West": "lu en {value} (Europe de l'Ouest)",
    "read as percent": "lu comme pourcentage (5 % est 5)",
    "one missing text": "{start} ; un texte dans {n} lignes compte comme manquant",
    "missing text": "{start} ; {value} dans {n} lignes compte comme manquant",
    "one missing text once": "{start} ; un texte dans 1 ligne compte comme manquant",
    "read without unit": "lu comme nombres, sans {value}",
    "numbers": "nombres",
    "two marks": "nombres auxquels conviennent les signes décimaux {mark} et {value}",
    "with mark": "{start}, avec {mark} comme signe décimal",
    "other mark": "ses nombres ont le signe décimal {mark}",
    "some numbers": "{n} % des valeurs sont des nombres, les autres des textes",
    "counts as missing": "{option} compte un texte comme manquant",
    "other reading": "{option} les lit autrement",
    "other encoding": "--encoding en lit un autre",
    "dates": "dates (jour, mois, année)",
    "dates not compared": "qui ne sont pas comparées ; un âge se fait avec des dates de naissance",
    "derived age": "{option} ; {value} garde le texte",
    "dates of birth": "dates de naissance",
    "age": "{value} est l'âge en années entières le {mark}",
    "another day": "--derive prend un autre jour",
    "other sheets": "les autres feuilles sont vides",
    "sheet": "la feuille {value} a été lue",
    "some labels": "{n} de ses {total} valeurs ont des libellés",
    "keeps text": "{option} garde le texte",
    "by option": "par {option}",
    "read as": "lu comme {value}",
}
