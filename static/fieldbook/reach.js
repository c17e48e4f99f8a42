/* Unfold's signs for the menu listen to the mouse alone; here they are buttons for the keyboard and for readers. */
(function () {
  "use strict";
  document.addEventListener("DOMContentLoaded", function () {
    var label = document.querySelector("[data-menu-label]").dataset.menuLabel;
    document.querySelectorAll("span").forEach(function (sign) {
      if (!(sign.getAttribute("x-on:click") || "").startsWith("sidebar")) {
        return;
      }
      sign.setAttribute("role", "button");
      sign.setAttribute("tabindex", "0");
      sign.setAttribute("aria-label", label);
      sign.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          sign.click();
        }
      });
    });
  });
})();
