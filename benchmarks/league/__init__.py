"""The league: skdisc and its peers on the same tables, each tool in an interpreter of its own.

An adapter in `adapters` is a function ``find(table, settings)`` of at most 40 lines that needs
nothing but its tool. `one_tool` runs in the interpreter of the tool: it reads tables (CSV) and
settings (JSON), and writes what the adapter returns as JSON::

    {
        "findings": [
            {
                "group": {"sex": ["F"], "town": ["u"]},
                "claimed": true,
                "effect": -0.12,
                "low": -0.2,
                "high": -0.04,
                "p": 0.003,
                "versus": "context",
            }
        ],
        "alarm": true,
        "also": false,
    }

Findings are in the order of the tool. ``claimed`` is what counts as found by the tool's default,
see `tools`. The effect is the rate of favorable outcomes in the group, less the rate of ``versus``:
"everyone", "context" (the others who satisfy the conditions on columns that are not protected),
"nobody" (the rate itself), another group, or "largest" (the largest difference between any two
groups of the protected columns). ``effect``, ``low``, ``high``, ``p`` and ``versus`` may be absent.
``alarm`` defaults to whether a claimed group is described by a protected column; ``also`` is the
alarm by a second rule.

`worlds` draws the tables and knows the truth, `measure` makes a row of numbers of what was
returned, and `page` writes ``doc/league.md``.
"""
