/* The switch of languages keeps what the address says of the view: query and place on the page. */
(function () {
  "use strict";
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[data-sg-language]");
    if (link) link.href = link.href.split(/[?#]/)[0] + location.search + location.hash;
  });
})();
