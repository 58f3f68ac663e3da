"""The pages of the app: file, columns, question, run, the page of the audit, and the search."""

import asyncio
import re
import secrets
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from skdisc._utils._safe_text import clean
from skdisc.app._folder import PrivateFolder
from skdisc.app._guesses import (
    guess,
    guess_again,
    has_table,
    leave_table,
    not_in_pay,
    offered,
    table_lacks,
    take_table,
)
from skdisc.app._jobs import Job, SearchJob, Spare, notes_on_reading, slowing
from skdisc.app._looking import begin, count, first_rows, look, share_done, with_counts
from skdisc.app._search import (
    CLAIMS,
    FITS,
    outcome_refused,
    reach,
    search_options,
    search_refused,
    text_of,
    unequal,
)
from skdisc.app._study import (
    EQUAL,
    IGNORE,
    LOGIB_WORDS,
    PAY_ROLES,
    PROTECTED,
    QUESTION,
    READING,
    Study,
)
from skdisc.app._upload import OneFile, RefusedError, check_free, plain_name, size_told
from skdisc.auditing._beside._plan_file import plan_sha256, read_plan
from skdisc.auditing._numbers import MANY
from skdisc.auditing._pay._templates import EU, UK
from skdisc.cli import main as command
from skdisc.cli._arguments import texts_in
from skdisc.report._first_page import LANGUAGES

_FORM = 2_000_000  # bytes of a form that is no file
_MOST_FILES, _MOST_RUNNING = 20, 2
_IDLE = 3_600  # seconds after which a file that nobody looks at is deleted
_LOOK = 300  # seconds that reading a file may take
_COUNT = 3_600  # seconds that counting its rows may take
_WAIT, _WAITED = 5, 0.1  # seconds until half of the share of the bar for waiting is shown
_SOON = 0.5  # seconds after which the first rows are shown while the file is read
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_STATIC = {  # by name, the package and the folder, and the type
    "app.css": ("skdisc.app", "static", "text/css"),
    "app.js": ("skdisc.app", "static", "text/javascript"),
    "icon.svg": ("skdisc.app", "static", "image/svg+xml"),
    "audit.css": ("skdisc.report", "templates", "text/css"),
    "audit.js": ("skdisc.report", "templates", "text/javascript"),
}
_TEMPLATES = {
    "general": "none: the page for all questions",
    "four_fifths": "four-fifths rule (US, selection)",
    "ll144": "Local Law 144 (New York City)",
}
_TEMPLATES_OF_PAY = {
    "general": _TEMPLATES["general"],
    EU: "pay transparency (EU 2023/970, Article 9)",
    UK: "gender pay gap (UK)",
}


class Pages:
    """The state of the app and its pages.

    Parameters
    ----------
    folder : PrivateFolder
    most_bytes : int
        Largest upload.
    data : str or Path, optional
        A file to begin with; it is read where it is.
    """

    def __init__(self, folder: PrivateFolder, most_bytes: int, data=None) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self.studies, self.jobs, self._pool = {}, {}, None
        self._looks, self._counts, self.soon, self.spare = {}, {}, _SOON, Spare()
        environment = Environment(
            loader=PackageLoader("skdisc.app"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        environment.filters["clean"] = clean
        environment.globals |= {
            "size_told": size_told,
            "templates": _TEMPLATES,
            "templates_of_pay": _TEMPLATES_OF_PAY,
            "languages": LANGUAGES,
            "equal": EQUAL,
            "protected": PROTECTED,
            "ignore": IGNORE,
            "logib_words": LOGIB_WORDS,
            "lacks": _LACKS,
            "no_search": _NO_SEARCH,
            "last_page": self._last_page,
        }
        self._templates = environment
        self.first = None
        if data is not None:
            path = Path(data).resolve()
            self.first = self._add(path.name, path, None)

    # what is there

    def _add(self, name, path, folder):
        """Add a file; return its study."""
        study = Study(secrets.token_urlsafe(8), name, path, folder)
        self.studies[study.key] = study
        return study

    def study(self, request: Request) -> Study:
        """Return the study of an address."""
        return self._named(self.studies, request, "file")

    def job(self, request: Request) -> Job:
        """Return the audit or the search of an address."""
        job = self._named(self.jobs, request, "page")
        if request.url.path.split("/")[1] != job.place:
            raise HTTPException(404)
        return job

    def _named(self, kept, request, what):
        """Return what an address names, which is in use from now on."""
        item = kept.get(request.path_params["key"])
        if item is None:
            raise HTTPException(404, f"This {what} is no longer here. Begin again with a file.")
        item.used = time.monotonic()
        return item

    def _last_page(self, study):
        """Return the address of the page of the last audit of a file; None if there is none."""
        pages = [
            job.address
            for job in self.jobs.values()
            if job.study.key == study.key
            and job.what == "audit"
            and job.state in ("done", "interrupted")
        ]
        return pages[-1] if pages else None

    async def look(self, study: Study) -> dict:
        """Return what is seen in a file; `error` says why nothing is."""
        return self._counted(study, await asyncio.shield(self._looking(study)))

    async def look_soon(self, study: Study) -> dict | None:
        """Return what is seen in a file, or None if that takes longer than a moment."""
        task = self._looking(study)
        done, _ = await asyncio.wait({task}, timeout=self.soon)
        return self._counted(study, task.result()) if done else None

    def _looking(self, study):
        """Return the task that looks at a file, which begins if it is to be looked at anew."""
        kept = self._looks.get(study.key)
        if kept is None or kept.argv != study.looked_at():
            progress = self.folder.path / f"look-{study.key}"
            progress.unlink(missing_ok=True)
            kept = self._looks[study.key] = _Work(study.looked_at(), None, progress)
            kept.task = asyncio.create_task(self._looked(study, kept))
        return kept.task

    async def _looked(self, study, work):
        """Look at a file, make the choices that its names and values suggest, and look again."""
        while True:
            seen = await self._look(work.argv, work.progress)
            if "error" in seen or work.argv != study.looked_at() or not guess(study, seen):
                return seen
            work.argv = study.looked_at()

    async def _look(self, argv, progress):
        try:
            arguments = argv, str(progress), str(self.folder.path)
            return await _answered(self._executor(), _LOOK, _look, *arguments)
        except (BrokenProcessPool, TimeoutError):
            self._pool = _ended(self._pool)
            message = "The file could not be read: reading it needed too much memory or time."
            return {"error": f"{message} The app goes on."}

    def _executor(self):
        """Return the process that looks at files."""
        if self._pool is None:
            self._pool = _process()
        return self._pool

    def _counted(self, study, seen):
        """Return what is seen in a file with what is counted in all rows of a large one.

        ``counting`` says whether they are being counted. That begins once the file can be read.
        """
        if "error" in seen:
            self._looks.pop(study.key, None)  # the next request tries it again
            seen = seen | {"error": study.in_words(seen["error"])}
        if "error" in seen or not seen["is_head"]:
            return seen | {"counting": False}
        argv, kept = study.read_as(), self._counts.get(study.key)
        if kept is None or kept.argv != argv:
            if kept is not None:
                kept.task.cancel()
            progress = self.folder.path / f"count-{study.key}"
            progress.unlink(missing_ok=True)
            kept = _Work(argv, asyncio.create_task(_count(argv, progress)), progress)
            self._counts[study.key] = kept
        if not kept.task.done():
            return seen | {"counting": True}
        counted = kept.task.result()
        if "error" in counted:
            counted = {"error": study.in_words(counted["error"])}
        return with_counts(seen, counted) | {"counting": False}

    def forget(self, key: str) -> None:
        """Delete a file."""
        study = self.studies.pop(key, None)
        for works in (self._looks, self._counts):
            work = works.pop(key, None)
            if work is not None:
                work.task.cancel()
        if study is not None and study.folder is not None:
            shutil.rmtree(study.folder, ignore_errors=True)

    def tidy(self, now: float) -> None:
        """Delete what nobody has looked at for an hour; what runs stays."""
        for key, study in list(self.studies.items()):
            if now - study.used > _IDLE:
                self.forget(key)
        for key, job in list(self.jobs.items()):
            if now - job.used > _IDLE and job.state != "running":
                del self.jobs[key]
                job.close()
                shutil.rmtree(job.folder, ignore_errors=True)

    def close(self) -> None:
        """End all processes."""
        for work in self._counts.values():
            work.task.cancel()
        self._pool = _ended(self._pool)
        self.spare.close()
        for job in self.jobs.values():
            job.close()

    def shown(self, name: str, status: int = 200, **values) -> HTMLResponse:
        """Return a page."""
        return HTMLResponse(self._templates.get_template(name).render(**values), status)

    # 1. file

    async def start(self, request: Request) -> Response:
        """Show where a file is dropped, and the files and audits that are here."""
        first, self.first = self.first, None
        if first is not None:
            return _to(f"/files/{first.key}/columns")
        return self.shown(
            "start.html",
            studies=list(self.studies.values()),
            jobs=list(self.jobs.values()),
            most=size_told(self.most_bytes),
        )

    async def upload(self, request: Request) -> Response:
        """Take a file."""
        if len(self.studies) >= _MOST_FILES:
            raise RefusedError(
                f"{_MOST_FILES} files are here already. Delete one on the first page.", 409
            )
        check_free(self.folder.path)
        folder = self.folder.new("file")
        try:
            file = OneFile(request.headers.get("content-type", ""), folder, self.most_bytes)
            try:
                async for chunk in request.stream():
                    file.write(chunk)
                file.finish()
            finally:
                file.close()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return _to(f"/files/{self._add(file.name, file.path, folder).key}/columns")

    async def file(self, request: Request) -> Response:
        """Show how a file was understood, and its first rows."""
        study = self.study(request)
        seen, reading = await self._seen_soon(study)
        if reading is not None:
            return reading
        return self.shown("file.html", study=study, seen=seen, told=self._told(study))

    async def _seen_soon(self, study):
        """Return what is seen in a file, or the page that is shown while it is read."""
        seen = await self.look_soon(study)
        if seen is None:
            first = await asyncio.to_thread(first_rows, study.looked_at(), str(self.folder.path))
            progress = self._told(study)
            if progress["state"] == "reading":
                return None, self.shown("reading.html", study=study, first=first, told=progress)
            seen = await self.look(study)  # which has ended meanwhile
        return seen, None

    async def reading(self, request: Request) -> Response:
        """Tell how far reading a file is."""
        return JSONResponse(self._told(self.study(request)))

    def _told(self, study):
        """Return how far reading and counting are."""
        for state, works, words in (
            ("reading", self._looks, "Reading the file"),
            ("counting", self._counts, "Counting all rows"),
        ):
            work = works.get(study.key)
            if work is not None and not work.task.done():
                return {"state": state} | work.told(words)
        return {"state": "done"}

    async def read(self, request: Request) -> Response:
        """Change how a file is read."""
        study, form = self.study(request), await _form(request)
        study.reading = _filled(form, READING)
        for name in ("missing", "derive"):
            lines = text_of(form, name).splitlines()
            setattr(study, name, [line.strip() for line in lines if line.strip()])
        study.text = texts_in(text_of(form, "text"))
        _set_flag(study, "drop-unlabeled", "drop-unlabeled" in form)
        return _to(f"/files/{study.key}")

    async def delete(self, request: Request) -> Response:
        """Delete a file."""
        self.forget(self.study(request).key)
        return _to("/")

    # 2. columns

    async def columns(self, request: Request) -> Response:
        """Show the columns, and what an audit would notice at each."""
        study = self.study(request)
        seen, reading = await self._seen_soon(study)
        if reading is not None:
            return reading
        if "error" in seen:
            return self.shown("file.html", study=study, seen=seen, told=None)
        self.spare.begin()  # an audit is asked for soon
        by_column = {}
        for note in seen["notices"]:
            by_column.setdefault(note["column"], []).append(note)
        wrong = request.query_params.get("lacks")
        table = {"lacks": table_lacks(study, seen)} if has_table(study, seen) else None
        return self.shown(
            "columns.html",
            study=study,
            seen=seen,
            by_column=by_column,
            request_lacks=wrong,
            told=self._told(study),
            offered=offered(study, seen),
            table=table,
            not_in_pay=not_in_pay(study),
        )

    async def choose(self, request: Request) -> Response:
        """Take the roles of columns, and what a notice advises."""
        study, form = self.study(request), await _form(request)
        seen = await self.look(study)
        if "error" in seen:
            return _to(f"/files/{study.key}")
        names = [column["name"] for column in seen["columns"]]
        target, had_number = form.get("target", [""])[0], study.is_number
        is_same = target == study.target
        if not is_same:
            study.target, study.favorable = (target if target in names else ""), ""
            study.includes = ""
            kind = next((c for c in seen["columns"] if c["name"] == study.target), {})
            study.is_number = kind.get("kind") == "number" and kind["distinct"] > MANY
            guess_again(study)
        elif study.favorable != (favorable := ",".join(form.get("favorable", [])).strip()):
            study.favorable = favorable
            study.why.pop("favorable", None)
        for i, name in enumerate(names):
            current_role = study.roles.get(name, EQUAL)
            role = form.get(f"role-{i}", [current_role])[0]
            if str(i) in form.get("asked-shown", []):
                is_asked = str(i) in form.get("asked", [])
                was_asked = current_role == PROTECTED
                if is_asked != was_asked:  # else the other field may have been changed
                    role = PROTECTED if is_asked else EQUAL
            # Roles of pay are not in the form of another outcome; they wait for the next number.
            waits = role == EQUAL and current_role in PAY_ROLES and not had_number
            if role != current_role and not waits:
                study.set_role(name, role)
                study.because.pop(name, None)
                study.chosen.add(name)
            edges = text_of(form, f"bins-{i}")
            study.bins = {n: e for n, e in study.bins.items() if n != name}
            study.bins |= {name: edges} if edges else {}
        if is_same and "table-shown" in form:
            _set_table(study, seen, "table" in form)
        for name in ("drop-copies", "favorable-exact"):
            _set_flag(study, name, name in form)
        kept = {"fold": study.fold, "missing": study.missing, "text": study.text}
        for name, several in kept.items():
            if f"{name}-shown" in form:
                setattr(study, name, [v for v in several if v in form.get(name, [])])
        place = ""
        for advice in form.get("apply", []):
            number, option, *value = advice.split("|", 2)
            study.apply(option, *value[:1])
            place = f"#c{int(number)}" if number.lstrip("-").isdigit() else ""
        await self.look(study)  # the script puts the answer into the page, which has to be whole
        if "run" in form:
            return self._run(study)
        if "next" in form:
            return _to(f"/files/{study.key}/question")  # which leads back if something lacks
        return _to(f"/files/{study.key}/columns{place}")

    # 3. question

    async def question(self, request: Request) -> Response:
        """Show what is asked, and what so many people could show."""
        study = self.study(request)
        if _lacking(study):
            return _to(f"/files/{study.key}/columns?lacks={_lacking(study)}#wrong")
        seen = await self.look(study)
        is_planned = study.plan is not None and study.planned == study.options()
        sha256 = plan_sha256(read_plan(study.plan, "options")) if is_planned else None
        return self.shown("question.html", study=study, seen=seen, sha256=sha256)

    async def ask(self, request: Request) -> Response:
        """Take the question; write the plan, or run the audit."""
        study, form = self.study(request), await _form(request)
        was_of_pay = study.is_of_pay
        study.question = _filled(form, QUESTION)
        for name in ("general", "en"):  # what is so without an option
            study.question = {n: v for n, v in study.question.items() if v != name}
        if was_of_pay and not study.is_of_pay:
            leave_table(study)
        _set_flag(study, "public", "public" in form)
        includes = text_of(form, "includes", study.includes)
        if includes != study.includes:
            study.includes = includes if includes in ("yes", "no") else ""
            study.why.pop("includes", None)
        study.logib = {
            key: name
            for key in LOGIB_WORDS
            if study.may_be_in_logib(name := form.get(f"logib-{key}", [""])[0]) and name
        }
        if study.lacks_law and ("run" in form or "plan" in form):
            return _to(f"/files/{study.key}/question#wrong")
        if "run" in form:
            return self._run(study)
        if "plan" in form:
            await asyncio.to_thread(self._write_plan, study)
        return _to(f"/files/{study.key}/question#plan")

    def _write_plan(self, study):
        """Write the plan of the options, as `skdisc plan` does."""
        path = self.folder.new("plan") / "plan.json"
        options = [o for o in study.options() if not o.startswith(_NOT_IN_PLANS)]
        if command(["plan", *options, f"--out={path}"]) != 0:
            raise RefusedError(
                "The plan could not be written: an option is not allowed. Check the page."
            )
        study.plan, study.planned = path, study.options()

    async def plan(self, request: Request) -> Response:
        """Send the plan."""
        study = self.study(request)
        if study.plan is None:
            raise HTTPException(404, "No plan was written.")
        return _file(study.plan.read_bytes(), "plan.json", ".json")

    # 4. run

    def _run(self, study):
        """Start an audit."""
        if wrong := _lacking(study):
            return _to(f"/files/{study.key}/columns?lacks={wrong}#wrong")
        if study.lacks_law:
            return _to(f"/files/{study.key}/question#wrong")
        return self._started(Job, study, study.argv()[1:])

    def _started(self, kind, study, options):
        """Start a job, and lead to its page."""
        running = sum(job.state == "running" for job in self.jobs.values())
        if running >= _MOST_RUNNING:
            raise RefusedError(
                f"{running} audits or searches are running already. Wait until one has ended, or "
                "cancel it.",
                409,
            )
        check_free(self.folder.path)
        folder = self.folder.new(kind.verb)
        job = kind(secrets.token_urlsafe(8), study, options, folder, self.spare)
        self.jobs[job.key] = job
        return _to(job.address)

    async def state(self, request: Request) -> Response:
        """Tell how far an audit or a search is."""
        job = self.job(request)
        return JSONResponse(job.told)

    async def cancel(self, request: Request) -> Response:
        """End an audit with what it has found, or a search."""
        job = self.job(request)
        job.cancel()
        return _to(job.address)

    async def again(self, request: Request) -> Response:
        """Run an audit again with a column left out."""
        job, form = self.job(request), await _form(request)
        study, name = self.studies.get(job.study.key), form.get("column", [""])[0]
        if study is None:
            raise HTTPException(404, "The file is no longer here. Begin again with the file.")
        if study.roles.get(name, EQUAL) != EQUAL or name in ("", study.target):
            raise RefusedError("Choose one of the columns that were held equal.")
        study.set_role(name, IGNORE)
        return self._run(study)

    # 5. page

    async def audit(self, request: Request) -> Response:
        """Show an audit or a search: its progress, its page, or why there is none."""
        job = self.job(request)
        study = self.studies.get(job.study.key)
        if job.state in ("running", "failed"):
            status = 200 if job.state == "running" else 422
            return self.shown("running.html", status, job=job, study=study)
        values = {"job": job, "study": study, "ends": _ends(job)}
        report = await asyncio.to_thread(job.report)
        page = _body(await asyncio.to_thread(job.page, report))
        if isinstance(job, SearchJob):
            return self.shown("search.html", **values, page=page)
        # What can be done with the page stands after the answers, and before the details.
        answers, end, values["details"] = page.partition("</header>")
        values["answers"] = answers + end
        document, about = report.document, report.document["about"]
        values["held"] = [c for c in about["columns"] if c not in about["protected"]]
        values["read_so"] = notes_on_reading(document)
        values["refused"], _ = await self._search_refused(job, document)
        values["not_in_pay"] = not_in_pay(job.study)
        return self.shown("page.html", **values)

    async def download(self, request: Request) -> Response:
        """Send the report of an audit or a search."""
        job, end = self.job(request), request.path_params["end"]
        if f".{end}" not in _ends(job) or not job.document.is_file():
            raise HTTPException(404, "There is no such report.")
        path = job.folder / f"report.{end}"
        if not path.is_file():
            await asyncio.to_thread(job.save, path)
        stem = plain_name(Path(job.name).stem)
        return _file(path.read_bytes(), f"{stem}-{job.stem}.{end}", f".{end}")

    # 6. a less discriminatory model

    async def _search_refused(self, job, document):
        """Return why no search follows an audit, '' if one does, and what is seen in its file."""
        if not job.study.path.is_file():
            return "its file is no longer here.", None
        if reason := search_refused(job.study, document):
            return reason, None
        seen = await self.look(job.study)
        return outcome_refused(job.study, seen), seen

    async def _searched(self, request):
        """Return an audit that a search may follow, its document, and what is seen in its file."""
        job = self.job(request)
        if job.state not in ("done", "interrupted"):
            raise HTTPException(404)
        document = (await asyncio.to_thread(job.report)).document
        refused, seen = await self._search_refused(job, document)
        if refused:
            raise RefusedError(f"{_NO_SEARCH} {refused}")
        return job, document, seen

    async def alternative(self, request: Request) -> Response:
        """Show what a search for a less discriminatory model can show, and its choices."""
        job, document, seen = await self._searched(request)
        several = [search for search in self.jobs.values() if isinstance(search, SearchJob)]
        return self.shown(
            "alternative.html",
            job=job,
            study=self.studies.get(job.study.key),
            reach=reach(seen["n_rows"]),
            columns=unequal(document),
            fits=FITS,
            claims=CLAIMS,
            is_searched=any(search.study.key == job.study.key for search in several),
        )

    async def search(self, request: Request) -> Response:
        """Start a search."""
        job, _, seen = await self._searched(request)
        options = search_options(job.study, seen, await _form(request))
        # Searches on the same people count together, whichever process they run in.
        log = self.folder.path / "searches.json"
        return self._started(SearchJob, job.study, [*options, f"--log={log}"])

    async def static(self, request: Request) -> Response:
        """Send a style, a script or the icon."""
        name = request.path_params.get("name", "icon.svg")
        if name not in _STATIC:
            raise HTTPException(404, "There is no such file.")
        package, folder, kind = _STATIC[name]
        return Response(files(package).joinpath(folder, name).read_bytes(), media_type=kind)

    # what goes wrong

    async def refused(self, request: Request, error: Exception) -> Response:
        """Tell what is wrong, never where in the program."""
        if isinstance(error, HTTPException):
            message = _MESSAGES.get(error.status_code, error.detail)
            return self.shown("message.html", error.status_code, text=clean(str(message)))
        status = getattr(error, "status", 400)
        return self.shown("message.html", status, text=clean(str(error)))

    async def failed(self, request: Request, error: Exception) -> Response:
        """Tell that something unforeseen happened; the terminal has the details."""
        kind = type(error).__name__
        text = f"Something unforeseen happened ({kind}). The terminal of the app has the details."
        return self.shown("message.html", 500, text=text)

    def routes(self) -> list[Route]:
        """Return all routes, each with the largest body that it takes."""

        def get(path, page):
            return Route(path, page, methods=["GET"], max_body_size=0)

        def post(path, page, most=_FORM):
            return Route(path, page, methods=["POST"], max_body_size=most)

        return [
            get("/", self.start),
            post("/files", self.upload, self.most_bytes + _FORM),
            get("/files/{key}", self.file),
            post("/files/{key}", self.read),
            post("/files/{key}/delete", self.delete),
            get("/files/{key}/state", self.reading),
            get("/files/{key}/columns", self.columns),
            post("/files/{key}/columns", self.choose),
            get("/files/{key}/question", self.question),
            post("/files/{key}/question", self.ask),
            get("/files/{key}/plan.json", self.plan),
            *(
                route
                for place, stem in (("audits", "audit"), ("searches", "alternatives"))
                for route in (
                    get(f"/{place}/{{key}}", self.audit),
                    get(f"/{place}/{{key}}/state", self.state),
                    post(f"/{place}/{{key}}/cancel", self.cancel),
                    get(f"/{place}/{{key}}/{stem}.{{end}}", self.download),
                )
            ),
            post("/audits/{key}/again", self.again),
            get("/audits/{key}/alternative", self.alternative),
            post("/audits/{key}/alternative", self.search),
            get("/static/{name}", self.static),
            get("/favicon.ico", self.static),
        ]


_NOT_IN_PLANS = ("--by-parts", *(f"--{name}=" for name in READING))
_MESSAGES = {
    404: "There is nothing here, or no longer. Begin with the first page.",
    405: "This address does not take such a request. Begin with the first page.",
    413: "What was sent is too large. Start the app with --max-upload or --data FILE.",
}
_NO_SEARCH = "No less discriminatory model is looked for:"
_LACKS = {
    "outcome": "Choose the column with what was decided.",
    "favorable": "Choose which of its values people want.",
    "protected": "Make at least one column protected: the people who may have been treated worse.",
}


def make_app(folder: PrivateFolder, most_bytes: int, data=None) -> tuple[Starlette, Pages]:
    """Return the ASGI application, without its gate, and its pages.

    Parameters
    ----------
    folder : PrivateFolder
    most_bytes : int
        Largest upload.
    data : str or Path, optional
        A file to begin with.
    """
    pages = Pages(folder, most_bytes, data)

    @asynccontextmanager
    async def lifespan(app):
        task = asyncio.create_task(_tidied(pages))
        # Starting processes takes seconds, and nobody waits yet.
        pages._executor().submit(int)
        pages.spare.begin()
        try:
            yield
        finally:
            task.cancel()
            pages.close()

    handlers = dict.fromkeys((HTTPException, ValueError, ClientDisconnect), pages.refused)
    handlers[Exception] = pages.failed
    app = Starlette(routes=pages.routes(), exception_handlers=handlers, lifespan=lifespan)
    return app, pages


async def _tidied(pages):
    """Delete what is not used, every minute."""
    while True:
        await asyncio.sleep(60)
        pages.tidy(time.monotonic())


class _Work:
    """What is done about a file in another process.

    Parameters
    ----------
    argv : list of str
        The file and options.
    task : asyncio.Task
        Its result is a dict; ``error`` says why there is nothing.
    progress : Path
        A file with the share that is done.
    """

    def __init__(self, argv, task, progress) -> None:
        self.argv, self.task, self.progress = argv, task, progress
        self._began, self._waited = time.monotonic(), 0.0

    def told(self, words: str) -> dict:
        """Return how far it is: ``seconds``, ``text``, ``done`` and ``of``.

        Until the process has begun, the bar moves with the time.
        """
        share = share_done(self.progress)
        text = f"{words}: {100 * share:.1f} %" if share else words
        seconds = time.monotonic() - self._began
        self._waited = seconds if not share else self._waited
        waited = _WAITED * slowing(self._waited / _WAIT)
        done = round(waited + (1 - waited) * share, 4)
        return {"seconds": int(seconds), "text": text, "done": done, "of": 1}


def _process():
    """Return a process for files, which can be killed without harm to the app."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin)


def _ended(pool):
    """End a process for files."""
    if pool is not None:
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)


def _look(argv, progress, folder):
    """Look at a file, in the process for that; a temporary file of it goes to the folder."""
    import os

    os.environ["SKDISC_APP_FOLDER"] = folder
    return look(argv, progress)


async def _answered(pool, seconds, function, *arguments):
    """Return what a function finds in another process; `error` says what is wrong with a file."""
    future = asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
    try:
        return await asyncio.wait_for(future, seconds)
    except (ValueError, TypeError, ImportError) as error:
        return {"error": clean(str(error))}


async def _count(argv, progress):
    """Count the rows of a file, in a process that ends with this."""
    pool = _process()
    try:
        return await _answered(pool, _COUNT, count, argv, str(progress))
    except (BrokenProcessPool, TimeoutError):
        return {"error": "Counting all rows needed too much memory or time."}
    finally:
        _ended(pool)


async def _form(request):
    """Return the fields of a form, a dict from name to the list of its values."""
    async with request.form(max_files=0, max_fields=20_000) as form:
        fields = {}
        for name, value in form.multi_items():
            fields.setdefault(name, []).append(str(value))
        return fields


def _filled(form, names):
    """Return the fields of a form that are not empty, a dict from name to text."""
    texts = {name: text_of(form, name) for name in names}
    return {name: text for name, text in texts.items() if text}


def _ends(job):
    """Return the ends of the files that a report can be kept as."""
    return [end for end in job.ends if end != ".docx" or find_spec("docx")]


def _lacking(study):
    """Return what has to be chosen before an audit can run, a key of _LACKS, or ''."""
    if not study.target:
        return "outcome"
    if not study.favorable and not study.is_number:
        return "favorable"
    return "" if study.columns(PROTECTED) else "protected"


def _set_flag(study, name, is_set):
    """Set an option without a value."""
    study.flags = [flag for flag in study.flags if flag != name] + [name] * is_set


def _set_table(study, seen, is_asked):
    """Ask for the table of pay or leave it, as was ticked or as other choices need."""
    is_guess = "template" in study.why
    if is_guess and (not study.columns("variable") or table_lacks(study, seen)):
        is_asked = False  # a column that it needs was given another role
    if study.is_of_pay and not is_asked:
        leave_table(study)
    elif is_asked and not study.is_of_pay:
        take_table(study, seen)


def _to(address):
    """Return an answer that leads to another page, so that a reload sends nothing again."""
    return RedirectResponse(address, 303)


def _file(content, name, end):
    """Return a file that is kept, and not shown."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=_TYPES[end], headers=disposition)


_BODY = re.compile(r"<body>(.*)<script>.*</script>\s*</body>", re.DOTALL)


def _body(page):
    """Return what stands in the body of the page of an audit; its style and script are files."""
    match = _BODY.search(page)
    if match is None:
        raise RuntimeError("the page of the audit has no body")
    return match[1]
