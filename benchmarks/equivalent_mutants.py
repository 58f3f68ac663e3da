"""Changes of the lowest layers that nobody can see, for `mutants.py`."""

_PRUNING = "only how much is pruned or compared at once; the neighbors stay"
_ROUNDING = "only where a rounding error is met exactly"
EQUIVALENT = {  # file: [(beginning of the line, change, why nobody can see it)]
    "_blackbox/_gradient.py": [
        ("_PIECE = 2048", "2048 -> 2049", "how many rows are passed at once"),
        ("for weights, shift in zip(last.coefs_", "True -> False", "the lengths are equal"),
        ("precision = np.result_type(", "0 -> 1", "all layers have one type"),
    ],
    "_blackbox/_redrawn.py": [
        ("weights = np.full(len(likelihood)", "1 -> 2", "divided by their sum in the first step"),
        (
            "weights = np.full(len(likelihood)",
            "1 / len(likelihood) -> 1 * len(likelihood)",
            "divided by their sum in the first step",
        ),
        ("for (donors, shares), n in zip(", "True -> False", "the lengths are equal"),
        ("return pd.factorize(np.where(rare", "1 -> 2", "any number that is no code"),
        (
            "return pd.qcut(values.rank(",
            "True -> False",
            "the unit of ranks has no part in quantiles",
        ),
    ],
    "_neighbors/_block_search.py": [
        (
            "if self._n_new >= 2 * self.width",
            "self._n_new >= 2 * self.width * len(self.limit) -> "
            "not self._n_new >= 2 * self.width * len(self.limit)",
            _PRUNING,
        ),
        ("BLOCK = 64", "64 -> 65", _PRUNING),
        ("some = points[rows[::", "0 -> 1", "the spread of one row is 0, too"),
        ("return np.concatenate(done)", "0 -> 1", "there is always a part"),
        (
            "step = max(1, _PAIRS",
            "_PAIRS // (self.size * len(points)) -> _PAIRS * (self.size * len(points))",
            _PRUNING,
        ),
        ("most = np.clip(np.floor(most)", "0 -> 1", _PRUNING),
        (
            "self._n_new += len(query)",
            "self._n_new += len(query) -> self._n_new -= len(query)",
            _PRUNING,
        ),
        ("self.limit = np.minimum(self._reach", "0 -> 1", _PRUNING),
        ("self._parts, self._n_new = [(query[kept]", "0 -> 1", _PRUNING),
    ],
    "_neighbors/_nearest.py": [
        (
            'self.algorithm == "blocks" and 4 * width',
            "self.algorithm == 'blocks' and 4 * width > len(self.pool) -> "
            "self.algorithm == 'blocks' or 4 * width > len(self.pool)",
            _PRUNING,
        ),
        (
            'self.algorithm == "blocks"',
            "self.algorithm == 'blocks' -> self.algorithm != 'blocks'",
            _PRUNING,
        ),
    ],
    "_neighbors/_neighbor_shares.py": [
        (
            "if width == n or np.all(last",
            "last > bound + slack(bound) -> last >= bound + slack(bound)",
            _ROUNDING,
        ),
    ],
    "_neighbors/_neighbor_sums.py": [
        (
            "tied |= (at < last)",
            "distance[rows, np.minimum(at + 1, last)] <= bound + gap -> "
            "distance[rows, np.minimum(at + 1, last)] < bound + gap",
            _ROUNDING,
        ),
        (
            "if len(rows) > size:",
            "len(rows) > size -> len(rows) >= size",
            "the order in which rows are asked about",
        ),
        ("share = np.clip((k - lower)", "1.0 -> 2.0", "a share of nothing"),
    ],
    "_neighbors/_smoother.py": [
        ("return np.where(some, (means", "1.0 -> 2.0", "the quotient is not used there"),
        ("is_done = (reached[:, -1:]", "-1 -> +1", _PRUNING),
        (
            "inside = distance < bound",
            "distance < bound - slack(bound) -> distance <= bound - slack(bound)",
            _ROUNDING,
        ),
    ],
    "_space/_codes.py": [("UNSEEN = -2", "2 -> 3", "any other negative number")],
    "_space/_column.py": [
        ("x = self.low + self.step * codes", "False -> True", "a copy"),
        ("if codes.max() >= 4 * len(codes)", "4 -> 5", "sorted or counted: the order is one"),
        ("return most if float(most)", "0 -> 1", "the next float is the same"),
        ("low: float = 0", "0 -> 1", "read of numeric columns, which set it"),
        ("high: float = 0", "0 -> 1", "read of numeric columns, which set it"),
    ],
    "_space/_feature_space.py": [
        ("values = values.repeat(v", "v > 1 -> v >= 1", "once is as it is"),
        ("return pd.DataFrame(values.T", "False -> True", "a copy"),
    ],
    "_space/_items.py": [
        ("n = len(items.predicates) + 1", "1 -> 2", "a count of a number that no item has"),
        ("least: float = 1", "1 -> 2", "read beside a guide, with which it is passed"),
        ("number = np.full(len(keep) + 1", "1 -> 2", "the last entry is NO_ITEM all the same"),
    ],
    "_stats/_designs.py": [
        ("n_clusters = int(cluster.max", "1 -> 2", "the number of clusters of no rows"),
    ],
    "_stats/_exact_tests.py": [
        ("weight, last = margins", "1 -> 2", "the bracket is wider by an impossible number"),
        ("_WORTH = ", "40 -> 41", "a table and its function hold the same numbers"),
    ],
    "_stats/_ranks.py": [
        (
            "return value[min(first",
            "len(value) - 1 -> len(value) + 1",
            "guards against rounding only",
        ),
    ],
    "_stats/_score_intervals.py": [
        ("_HALVINGS = 48", "48 -> 49", "a bracket of 1e-14 is halved once more"),
    ],
    "_utils/_frequency.py": [
        (
            "some = out if excess > 0",
            "excess > 0 -> excess >= 0",
            "without an excess nothing is moved",
        ),
        ("_EXACT = 2**53", "2 ** 53 -> 2 * 53", "both ways of counting are exact there"),
    ],
    "_utils/_hashing.py": [
        ("_LEAST = 2**11", "11 -> 12", "room at the start; tables grow"),
        ("self._allocate((2 * max", "1 -> 2", "room at the start; tables grow"),
        ("self._allocate((2 * max", "max -> min", "room at the start; tables grow"),
    ],
    "_utils/_types.py": [
        (
            "Labels = Hashable",
            "Hashable | Collection[Hashable] -> Hashable & Collection[Hashable]",
            "a name for annotations",
        ),
        (
            "RandomState = int",
            "int | np.random.RandomState | None -> (int | np.random.RandomState) & None",
            "a name for annotations",
        ),
    ],
}
