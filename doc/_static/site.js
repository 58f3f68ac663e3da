// Names that screen readers read: of the button of the search, and of what opens a part of the navigation.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button__button")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  }
  for (const opener of document.querySelectorAll("details > summary:has(.toctree-toggle)")) {
    const page = opener.parentElement.parentElement.querySelector("a");
    opener.setAttribute("aria-label", `Pages below ${page.textContent.trim()}`);
  }
});
