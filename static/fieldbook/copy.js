/* Buttons with data-copy="<id of a box>" copy that box; without a clipboard the text is at least selected. */
(function () {
  "use strict";
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy]");
    if (!button) {
      return;
    }
    var box = document.getElementById(button.dataset.copy);
    var done = function () {
      button.textContent = button.dataset.done;
    };
    box.focus();
    box.select();
    if (navigator.clipboard) {
      navigator.clipboard.writeText(box.value).then(done, function () {});
    } else if (document.execCommand("copy")) {
      done();
    }
  });
})();
