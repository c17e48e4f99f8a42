/* What a save would change is told for the form as it was sent: after the first change it says so. */
(function () {
  "use strict";
  document.addEventListener("DOMContentLoaded", function () {
    var panel = document.querySelector("[data-preview]");
    if (!panel) {
      return;
    }
    var form = panel.closest("form");
    ["input", "change", "fieldbook-moved"].forEach(function (kind) {
      form.addEventListener(kind, function () {
        panel.classList.add("is-outdated");
        panel.querySelector("[data-outdated]").hidden = false;
      });
    });
  });
})();
