/* Live counters of code points under `.fieldbook-counted` boxes; a newline counts 1. No input is ever blocked. */
(function () {
  "use strict";
  function length(box) {
    var text = box.value.replace(/\r\n?/g, "\n");
    return Array.from("exact" in box.dataset ? text : text.trim()).length;
  }
  function update(box) {
    var counter = box.nextElementSibling;
    if (!counter || !counter.classList.contains("fieldbook-counter")) {
      counter = document.createElement("div");
      counter.className = "fieldbook-counter";
      counter.setAttribute("aria-live", "polite");
      box.insertAdjacentElement("afterend", counter);
    }
    var limit = Number(box.dataset.limit);
    var count = length(box);
    counter.textContent = count + "/" + limit;
    counter.classList.toggle("fieldbook-counter-over", count > limit);
  }
  function all() {
    document.querySelectorAll("textarea.fieldbook-counted").forEach(update);
  }
  document.addEventListener("input", function (event) {
    if (event.target.matches && event.target.matches("textarea.fieldbook-counted")) {
      update(event.target);
    }
  });
  document.addEventListener("formset:added", all);
  document.addEventListener("DOMContentLoaded", all);
})();
