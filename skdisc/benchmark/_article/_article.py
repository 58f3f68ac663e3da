"""The article: a text with a table or figure wherever it names one, as Markdown and LaTeX."""

import io
import re
from pathlib import Path

from skdisc._utils._io import write_bytes, write_text
from skdisc._utils._optional import require
from skdisc.benchmark._article import _contents
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


def write_article(out, result=None, *, folder=None, random_state=0):
    """Write the article into a folder: article.md, article.tex, figures, references.

    Parameters
    ----------
    out : str or Path
        Made if it is not there; nothing outside it is written.
    result : BenchmarkResult, default=None
        None: the outline, with a line where each table and figure of results will stand.
    folder : str or Path, default=None
        Where ``tuning.csv`` and ``replication.csv`` are looked for.
    random_state : int, default=0
        Of the drawing that shows the generator.

    Returns
    -------
    list of Path
        What was written.
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
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, bbox_inches="tight", metadata={"Software": None})
    require("matplotlib.pyplot", extra="plot", purpose="Figures").close(figure)
    return buffer.getvalue()


def _pending(kind, name):
    return f"({kind.capitalize()} {name!r}: made from the results of a run that has it.)"


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
    """Turn the text into LaTeX, paragraph by paragraph."""
    blocks = [_latex_block(block, parts) for block in text.strip().split("\n\n")]
    return _PREAMBLE + "\n\n".join(b for b in blocks if b) + "\n" + _END


def _latex_block(block, parts):
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
    said = _DIRECTIVE.sub(lambda m: parts[m[1], m[2]][0] or "", block)
    return _inline(said).strip()


def _latex_float(kind, name, caption, parts):
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
    """Escape text, but for citations, code, emphasis and mathematics."""
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
