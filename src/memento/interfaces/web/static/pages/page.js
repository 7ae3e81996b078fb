// Keys of every page: / goes to the search, Ctrl+Enter sends a note.
document.addEventListener("keydown", (event) => {
  const inField = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !inField && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const box = document.querySelector("main input[type=search]") ?? document.querySelector(".find input");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches(".note textarea")) {
    event.target.form.querySelector("button.main").click();
  }
});

// A note that was saved leaves its box, and its preview with it; the button of a receipt is there once.
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt;
  if (event.detail.successful && form.matches(".receipt form")) form.remove();
  if (event.detail.successful && form.matches("form.note") && event.detail.target.id === "receipts") {
    form.reset();
    form.querySelector("#preview").replaceChildren();
  }
});

// Whoever pressed a button that is gone goes on at its receipt.
document.addEventListener("htmx:afterSettle", () => {
  if (document.activeElement === document.body && document.querySelector("#receipts .receipt")) document.getElementById("receipts").focus({ preventScroll: true });
});
