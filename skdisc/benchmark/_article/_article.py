"""write_article: fills the tables, figures and sentences of the article into its text."""

import io
import re
from pathlib import Path

from skdisc._utils._files import write_bytes, write_text
from skdisc._utils._optional import require
from skdisc._utils._types import FilePath
from skdisc.benchmark._article import _contents
from skdisc.benchmark._benchmark_result import BenchmarkResult
from skdisc.benchmark._tables import escape, latex, markdown

_HERE = Path(__file__).parent
_DIRECTIVE = re.compile(r"\{\{(table|figure|say): (\w+)(?: \| (.+?))?\}\}")
_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,booktabs,graphicx,longtable}
\usepackage[margin=2.5cm]{geometry}
\usepackage[hidelinks]{hyperref}
\begin{document}
"""
_END = r"""
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""


def write_article(
    out: FilePath,
    result: BenchmarkResult | None = None,
    *,
    folder: FilePath | None = None,
    random_state: int = 0,
) -> list[Path]:
    """Write the article to a folder: article.md, article.tex, figures, references.

    Parameters
    ----------
    out : str or Path
        The folder, which is created if necessary. No file outside it is written.
    result : BenchmarkResult, default=None
        None stands for the outline, with a placeholder for each table and figure of results.
    folder : str or Path, default=None
        Folder with ``tuning.csv`` and ``replication.csv``, if they exist.
    random_state : int, default=0
        Seed of the draw that illustrates the generator.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ImportError
        If the extra ``plot`` (matplotlib) is not installed.
    """
    out = Path(out)
    (out / "figures").mkdir(parents=True, exist_ok=True)
    text = (_HERE / "article.md").read_text(encoding="utf-8")
    makers = _contents.contents(result, folder, random_state)
    written = []
    parts = {}
    for kind, name, caption in _DIRECTIVE.findall(text):
        made = makers.get((kind, name), lambda: None)()
        if kind == "figure" and made is not None:
            path = out / "figures" / f"{name}.png"
            write_bytes(path, _png(made))
            written.append(path)
            made = f"figures/{name}.png"
        parts[kind, name] = (made, caption)
    bibliography = (_HERE / "references.bib").read_text(encoding="utf-8")
    for path, content in (
        (out / "article.md", _markdown(text, parts)),
        (out / "article.tex", _latex(text, parts)),
        (out / "references.bib", bibliography),
    ):
        write_text(path, content)
        written.append(path)
    return written


def _png(figure):
    """Return a figure as the bytes of a PNG file, and close it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, bbox_inches="tight", metadata={"Software": None})
    require("matplotlib.pyplot", extra="plot", purpose="Figures").close(figure)
    return buffer.getvalue()


def _pending(kind, name):
    """Return the placeholder of a table or figure."""
    return f"({kind.capitalize()} {name!r}: made from the results of a run.)"


def _markdown(text, parts):

    def put(match):
        kind, name, caption = match.groups()
        made, _ = parts[kind, name]
        if made is None:
            return "" if kind == "say" else f"*{_pending(kind, name)}* {caption}"
        if kind == "say":
            return made
        if kind == "figure":
            return f"![{caption}]({made})\n\n*{caption}*"
        return f"{markdown(made)}\n\n*{caption}*"

    return _DIRECTIVE.sub(put, text)


def _latex(text, parts):
    """Return the text as LaTeX, converted paragraph by paragraph."""
    blocks = [_latex_block(block, parts) for block in text.strip().split("\n\n")]
    return _PREAMBLE + "\n\n".join(b for b in blocks if b) + "\n" + _END


def _latex_block(block, parts):
    """Return one paragraph as LaTeX."""
    heading = re.match(r"(#+) (.*)", block)
    if heading:
        level, title = len(heading[1]), _inline(heading[2])
        if level == 1:
            return rf"\title{{{title}}}" + "\n\\author{}\n\\maketitle"
        return rf"\{'sub' * (level - 2)}section{{{title}}}"
    if block.startswith("$$"):
        return "\\[" + block.strip("$") + "\\]"
    whole = _DIRECTIVE.fullmatch(block)
    if whole and whole[1] != "say":
        return _latex_float(*whole.groups(), parts)
    if block.startswith("- "):
        items = "\n".join(r"\item " + _inline(line[2:]) for line in block.splitlines())
        return "\\begin{itemize}\n" + items + "\n\\end{itemize}"
    filled = _DIRECTIVE.sub(lambda m: parts[m[1], m[2]][0] or "", block)
    return _inline(filled).strip()


def _latex_float(kind, name, caption, parts):
    """Return a table or figure as LaTeX."""
    made, _ = parts[kind, name]
    label = rf"\caption{{{_inline(caption)}}}"
    if made is None:
        return rf"\emph{{{escape(_pending(kind, name))}}} {_inline(caption)}"
    if kind == "figure":
        body = rf"\includegraphics[width=0.9\linewidth]{{{made}}}"
        return "\n".join([r"\begin{figure}[htb]\centering", body, label, r"\end{figure}"])
    fitted = r"\resizebox{\linewidth}{!}{%" + "\n" + latex(made).strip() + "}"
    if made.shape[1] <= 4:
        fitted = r"\footnotesize" + "\n" + latex(made).strip()
    return "\n".join([r"\begin{table}[htb]\centering", label, fitted, r"\end{table}"])


def _inline(text):
    """Escape text for LaTeX, and convert citations, code and emphasis."""
    pieces = re.split(r"(\[@[^\]]+\]|`[^`]+`|\*[^*]+\*)", text)
    done = []
    for piece in pieces:
        if piece.startswith("[@"):
            keys = ",".join(k.strip().lstrip("@") for k in piece[1:-1].split(";"))
            done.append(rf"\cite{{{keys}}}")
        elif piece.startswith("`"):
            done.append(rf"\texttt{{{escape(piece[1:-1])}}}")
        elif piece.startswith("*") and len(piece) > 2:
            done.append(rf"\emph{{{escape(piece[1:-1])}}}")
        else:
            done.append(escape(piece))
    return "".join(done)
