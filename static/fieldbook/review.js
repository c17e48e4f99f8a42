/* Keys of the review queue and of the drafts desk. Every key presses a link or a button that is there anyway; without this file the page
   works with those. A key typed into a field is text. Keys that decide wait a moment after a page has opened, so
   that a key pressed for the last proposal never decides about the next one unseen. */
(function () {
  "use strict";
  var SETTLE = 250;
  var SAME = { ArrowRight: "j", ArrowLeft: "k" };
  var CHOSEN = "fieldbook-chosen";

  document.addEventListener("DOMContentLoaded", function () {
    var page = document.querySelector("[data-review]");
    if (!page) {
      return;
    }
    var form = document.getElementById("decide");
    var keys = document.querySelector("[data-keys]");
    var reason = page.querySelector("[data-reason]");
    var name = page.querySelector("[data-confirmation]");

    function ticked(kind) {
      return page.querySelector("input[data-item]" + (kind ? "[data-" + kind + "]" : "") + ":checked");
    }

    function press(verb) {
      var button = page.querySelector('[data-verb="' + verb + '"]');
      if (!button || button.disabled || page.dataset.ready !== "yes") {
        return;
      }
      page.dataset.ready = "no";
      button.click();
    }

    function approve() {
      var empty = [
        [ticked("why"), reason],
        [ticked("name"), name],
      ].find(function (pair) {
        return pair[0] && pair[1] && !pair[1].value.trim();
      });
      page.dataset.intent = "approve";
      if (empty) {
        empty[1].focus();
      } else {
        press("approve");
      }
    }

    function edit() {
      var chosen = ticked();
      var item = chosen && chosen.closest(".review-item");
      var link = (item || page).querySelector("[data-edit]");
      if (link) {
        link.click();
      }
    }

    function tick(number) {
      var box = page.querySelector('input[data-item="' + number + '"]');
      if (box) {
        box.checked = !box.checked;
        box.closest(".review-item").scrollIntoView({ block: "nearest" });
      }
    }

    var deeds = {
      a: approve,
      r: function () {
        if (reason) {
          page.dataset.intent = "reject";
          reason.focus();
        }
      },
      s: function () {
        press("skip");
      },
      e: edit,
      "?": function () {
        if (keys) {
          keys.showModal();
        }
      },
    };

    function inField(event, field) {
      if (event.key === "Escape") {
        delete page.dataset.intent;
        field.blur();
      } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field.closest(".review-edit")) {
        field.form.requestSubmit(field.form.querySelector("[data-submit]"));
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && field.form === form) {
        event.preventDefault();
        if (field === name || page.dataset.intent === "approve") {
          approve();
        } else if (page.dataset.intent === "reject") {
          press("reject");
        }
      }
    }

    document.addEventListener("keydown", function (event) {
      var field = event.target.closest && event.target.closest("textarea, select, input:not([type=checkbox])");
      if (field) {
        inField(event, field);
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || (keys && keys.open)) {
        return;
      }
      var key = SAME[event.key] || event.key;
      var target = page.querySelector('[data-key="' + CSS.escape(key) + '"]');
      var button = page.querySelector('[data-press="' + CSS.escape(key) + '"]');
      if (button) {
        press(button.dataset.verb);
      } else if (deeds[key]) {
        deeds[key]();
      } else if (/^[1-9]$/.test(key)) {
        tick(key);
      } else if (target) {
        target.click();
      } else {
        return;
      }
      event.preventDefault();
    });

    /* What is ticked in the list stays ticked while one moves through it. */
    var list = page.querySelector(".review-list");
    function chosen() {
      return JSON.parse(sessionStorage.getItem(CHOSEN) || "[]");
    }
    if (list) {
      list.querySelectorAll("input[name=chosen]").forEach(function (box) {
        box.checked = chosen().includes(box.value);
      });
      list.addEventListener("change", function (event) {
        var others = chosen().filter(function (value) {
          return value !== event.target.value;
        });
        sessionStorage.setItem(
          CHOSEN,
          JSON.stringify(event.target.checked ? others.concat(event.target.value) : others)
        );
      });
      list.addEventListener("submit", function () {
        chosen().forEach(function (value) {
          if (!list.querySelector('input[name=chosen][value="' + CSS.escape(value) + '"]')) {
            var more = document.createElement("input");
            more.type = "hidden";
            more.name = "chosen";
            more.value = value;
            list.appendChild(more);
          }
        });
        sessionStorage.removeItem(CHOSEN);
      });
    }

    var help = page.querySelector("[data-help]");
    if (help && keys) {
      help.hidden = false;
      help.addEventListener("click", deeds["?"]);
    }
    function settle() {
      setTimeout(function () {
        page.dataset.ready = "yes";
      }, SETTLE);
    }
    /* Only now can the page be seen: before, nothing has a size or takes the focus. */
    window.addEventListener("load", function () {
      var rows = list && list.querySelector("ol");
      var current = list && list.querySelector(".is-current");
      if (current) {
        rows.scrollTop = current.offsetTop - rows.offsetTop - rows.clientHeight / 3;
      }
      var box = page.querySelector(".review-edit textarea, [data-focus]");
      if (box) {
        box.focus();
      }
      settle();
    });
    window.addEventListener("pageshow", function (event) {
      if (event.persisted) {
        settle();
      }
    });
  });
})();
