"use strict";
// Every page works without this script; it saves clicks.
const LOOKING = "Looking …";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

for (const one of all("[data-with-script]")) one.hidden = false;
for (const one of all("[data-without-script]")) one.hidden = true;

// a file that is dropped is sent
for (const form of all("[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  const busy = form.querySelector("[data-busy]");
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; form.requestSubmit(); }
  });
  input.addEventListener("change", () => { if (input.files.length) form.requestSubmit(); });
  window.addEventListener("pageshow", () => form.reset()); // else the same file could not be chosen again
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const sent = form.querySelector("[data-sent]");
    const bar = sent.querySelector("progress");
    const request = new XMLHttpRequest(); // fetch does not tell how much was sent
    sent.hidden = false;
    busy.textContent = "Sending the file";
    request.upload.addEventListener("progress", (part) => {
      bar.max = part.total;
      bar.value = part.loaded;
      busy.textContent = `Sending the file: ${(100 * part.loaded / part.total).toFixed(1)} %`;
    });
    request.upload.addEventListener("load", () => { busy.textContent = "Reading the first rows"; });
    request.addEventListener("load", () => {
      if (request.status < 400) { location.assign(request.responseURL); return; }
      const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
      sent.hidden = true;
      busy.textContent = "";
      if (main) document.querySelector("main").replaceWith(main);
      else busy.textContent = "The app refused the file.";
    });
    request.addEventListener("error", () => {
      sent.hidden = true;
      busy.textContent = "The file could not be sent: it is too large, or the app was ended in the terminal.";
    });
    request.open("POST", form.action);
    request.send(new FormData(form));
  });
}

// after a choice, what an audit would notice is looked up again
for (const form of all("[data-live-form]")) {
  const busy = form.querySelector("[data-busy]");
  let asked = 0;
  const looking = (text) => {
    busy.textContent = text;
    for (const one of all("button[name=run]", form)) one.setAttribute("aria-disabled", String(text === LOOKING));
  };
  form.addEventListener("submit", (event) => {
    if (event.submitter?.getAttribute("aria-disabled") === "true") event.preventDefault(); // what would run is not yet seen
  });
  form.addEventListener("change", async (event) => {
    if (event.target.type === "range") return;
    const number = ++asked;
    const fields = new URLSearchParams(new FormData(form));
    fields.append("look", "1");
    looking(LOOKING);
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body: fields });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (number !== asked) return;
      for (const old of all("[data-live]")) {
        const fresh = page.getElementById(old.id);
        const focused = old.contains(document.activeElement) ? document.activeElement : null;
        if (!fresh || (focused && focused.matches("input:not([type=checkbox])"))) continue; // what is typed stays
        old.replaceChildren(...fresh.childNodes);
        if (focused) document.getElementById(focused.id)?.focus();
      }
      for (const old of all(".role")) {
        const fresh = page.getElementById(old.id);
        if (!fresh || fresh.isEqualNode(old)) continue;
        if (!old.contains(document.activeElement)) { old.replaceWith(fresh); continue; }
        for (const why of all(".why", old)) why.remove(); // the field that is in use stays
        old.append(...all(".why", fresh));
      }
      for (const old of all(".cut")) { // what is typed into it stays
        const fresh = page.getElementById(old.id);
        if (fresh) old.hidden = fresh.hidden;
      }
      looking(answer.ok ? "" : "This could not be looked up.");
    } catch {
      if (number === asked) looking("The app does not answer. Was it ended in the terminal?");
    }
  });
}

// a cut point is dragged to its place
for (const range of all("[data-cuts]")) {
  const field = document.getElementById(range.dataset.cuts);
  range.addEventListener("input", () => { field.value = String(Number(Number(range.value).toPrecision(3))); });
  range.addEventListener("change", () => field.dispatchEvent(new Event("change", { bubbles: true })));
}

// how far an audit is, or reading a file
for (const box of all("[data-watch]")) {
  const show = (selector, text) => { const one = box.querySelector(selector); if (one.textContent !== text) one.textContent = text; };
  const watch = async () => {
    try {
      const told = await (await fetch(box.dataset.watch)).json();
      if (told.state !== box.dataset.state) {
        const form = box.closest("[data-live-form]"); // what was typed in a form stays
        if (form) form.dispatchEvent(new Event("change"));
        else location.reload();
        return;
      }
      show("[data-step]", told.text);
      show("[data-seconds]", String(told.seconds));
      const bar = box.querySelector("[data-progress]");
      bar.max = told.of;
      bar.value = told.done;
      setTimeout(watch, 500);
    } catch {
      show("[data-step]", "The app does not answer. Was it ended in the terminal?");
    }
  };
  watch();
}
