"""Plot of a causal graph, with causes to the left of their effects."""

from skdisc._utils._optional import require


def draw_graph(parents, latent, ax):
    """Draw the nodes in columns by their longest path from a root; latent nodes are dashed.

    `parents`: maps each node to its parents, in topological order.
    """
    if ax is None:
        plt = require("matplotlib.pyplot", extra="plot", purpose="scm.plot()")
        _, ax = plt.subplots()
    depth, place = {}, {}
    for node, above in parents.items():
        depth[node] = 1 + max((depth[p] for p in above), default=-1)
    for d in sorted(set(depth.values())):
        column = [n for n in parents if depth[n] == d]
        for i, node in enumerate(column):
            bend = 0.12 * (d % 2)  # edges that skip a column do not cross a node
            place[node] = (d, bend + (len(column) - 1) / 2 - i)
    boxes = {}
    for node, (x, y) in place.items():
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": "black"}
        box["linestyle"] = "--" if node in latent else "-"
        text = ax.text(x, y, str(node), ha="center", va="center", bbox=box)
        boxes[node] = text.get_bbox_patch()
    for child, above in parents.items():
        for parent in above:
            arrow = {"arrowstyle": "-|>", "color": "0.3", "shrinkA": 0, "shrinkB": 1}
            arrow |= {"patchA": boxes[parent], "patchB": boxes[child]}
            ax.annotate("", place[child], place[parent], arrowprops=arrow)
    xs, ys = zip(*place.values(), strict=True)
    ax.set(xlim=(min(xs) - 0.5, max(xs) + 0.5), ylim=(min(ys) - 0.5, max(ys) + 0.5))
    ax.set_axis_off()
    return ax
