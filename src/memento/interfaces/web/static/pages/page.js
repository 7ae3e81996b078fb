// Keys of every page: / goes to the search, Ctrl+Enter sends a note, Escape closes the menu.
const menu = document.querySelector("details.more");
document.addEventListener("keydown", (event) => {
  const inField = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !inField && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const box = document.querySelector("main input[type=search]") ?? document.querySelector(".find input");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches(".note textarea")) {
    event.target.form.querySelector("button.main").click();
  }
  if (event.key === "Escape" && menu?.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  if (menu && !menu.contains(event.target)) menu.open = false;
});

// What was typed into a search is in the address, and the page is loaded again from there.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.target.id === "page") event.detail.path = location.pathname + location.search;
});

// Whoever pressed a button that is gone goes on at its receipt.
document.addEventListener("htmx:afterSettle", () => {
  if (document.activeElement === document.body && document.querySelector("#receipts .receipt")) document.getElementById("receipts").focus({ preventScroll: true });
});

// A link to a part that is folded unfolds it.
const unfold = () => {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part?.matches("details")) {
    part.open = true;
    part.querySelector("textarea, input:not([type=hidden])")?.focus();
  }
};
addEventListener("hashchange", unfold);
unfold();
