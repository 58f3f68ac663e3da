"""Check a built site: every link inside it resolves, and nothing is loaded from a network."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links of a page, what it loads, and the names of its parts."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.names = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs[k] for k in ("id", "name") if attrs.get(k)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag in ("script", "img", "iframe") and attrs.get("src"):
            self.loaded.append(attrs["src"])
        if tag == "link" and "stylesheet" in (attrs.get("rel") or ""):
            self.loaded.append(attrs["href"])


def faults(site):
    """Return what is wrong with a site, a list of str, and the number of its pages."""
    pages = {p: _Page(p) for p in sorted(site.rglob("*.html")) if "_static" not in p.parts}
    found = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") and link in page.loaded:
                found.append(f"{path.relative_to(site)} loads {link}")
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                found.append(f"{path.relative_to(site)} leads to {link}, which is not there")
            elif parts.fragment and there in pages and link in page.links:
                fragment = unquote(parts.fragment)
                if fragment not in pages[there].names and not re.match(r"L\d+", fragment):
                    found.append(f"{path.relative_to(site)} leads to {link}, no such part")
    return found, len(pages)


if __name__ == "__main__":
    wrong, n_pages = faults(Path(sys.argv[1]).resolve())
    print("\n".join(wrong[:50]))
    print(f"{n_pages} pages, {len(wrong)} faults")
    sys.exit(bool(wrong))
