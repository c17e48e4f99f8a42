/* The experience rows of the agent page: add, move (mouse, buttons, keyboard), delete and keep.
   Everything happens in the form; the save stores it. */
(function () {
  "use strict";

  // Characters that show nothing. Joiners and variation selectors are left to the server, which knows emoji.
  var HIDDEN = new RegExp(
    "[\\t\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}]",
    "gu"
  );

  function setUp(section) {
    var prefix = section.dataset.experienceRows;
    var list = section.querySelector(".fieldbook-rows");
    var total = section.querySelector("#id_" + prefix + "-TOTAL_FORMS");
    var template = section.querySelector("template[data-new-row]");

    function rows() {
      return Array.from(list.querySelectorAll("[data-row]"));
    }

    function number() {
      rows().forEach(function (row, index, all) {
        var order = row.querySelector("input[name$='-order']");
        if (order && order.value !== String(index)) {
          order.value = index;
        }
        row.querySelector("[data-place]").textContent = index + 1;
        row.querySelectorAll("[data-move]").forEach(function (button) {
          var edge = button.dataset.move === "-1" ? index === 0 : index === all.length - 1;
          button.setAttribute("aria-disabled", edge ? "true" : "false");
        });
      });
      section.querySelector("[data-empty]").hidden = rows().length > 0;
    }

    function say(text) {
      section.querySelector("[data-said]").textContent = text;
    }

    function changed(row) {
      // The page warns of unsaved changes when it hears this.
      row.querySelector("textarea, input").dispatchEvent(new Event("input", { bubbles: true }));
    }

    function move(row, step, button) {
      var other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
      if (!other) {
        return;
      }
      list.insertBefore(step < 0 ? row : other, step < 0 ? other : row);
      number();
      changed(row);
      button.focus();
      say(section.querySelector("[data-said]").dataset.movedText + " " + row.querySelector("[data-place]").textContent);
    }

    function add() {
      var holder = document.createElement("ol");
      holder.innerHTML = template.innerHTML.replaceAll("__prefix__", total.value);
      var row = holder.firstElementChild;
      list.appendChild(row);
      total.value = Number(total.value) + 1;
      number();
      row.dispatchEvent(new CustomEvent("formset:added", { bubbles: true }));
      row.querySelector("textarea").focus();
      changed(row);
    }

    function remove(row) {
      var mark = row.querySelector("input[name$='-DELETE']");
      if (!mark) {
        row.remove();
        number();
        return;
      }
      mark.checked = true;
      row.classList.add("is-deleted");
      changed(row);
      say(section.querySelector("[data-said]").dataset.deletedText);
      row.querySelector("[data-undo]")?.focus();
    }

    function keep(row) {
      row.querySelector("input[name$='-DELETE']").checked = false;
      row.classList.remove("is-deleted");
      changed(row);
      row.querySelector("[data-delete]").focus();
    }

    function mark(row) {
      var text = row.querySelector("textarea").value;
      var shown = row.querySelector("[data-marked]");
      shown.textContent = text.replace(HIDDEN, function (char) {
        return "[U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "]";
      });
      row.querySelector("[data-warning]").hidden = shown.textContent === text;
    }

    section.addEventListener("click", function (event) {
      var button = event.target.closest("button");
      var row = button && button.closest("[data-row]");
      if (!button) {
        return;
      }
      if ("add" in button.dataset) {
        add();
      } else if (row && "move" in button.dataset) {
        move(row, Number(button.dataset.move), button);
      } else if (row && "delete" in button.dataset) {
        remove(row);
      } else if (row && "undo" in button.dataset) {
        keep(row);
      }
    });
    section.addEventListener("input", function (event) {
      if (event.target.matches("textarea") && event.isTrusted) {
        mark(event.target.closest("[data-row]"));
      }
    });
    section.addEventListener("fieldbook-moved", function () {
      number();
      if (rows().length) {
        changed(rows()[0]);
      }
    });
    rows().forEach(function (row) {
      var deleted = row.querySelector("input[name$='-DELETE']");
      row.classList.toggle("is-deleted", Boolean(deleted && deleted.checked));
    });
    number();
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("[data-experience-rows]").forEach(setUp);
  });
})();
