// Runs before the first paint, so that a chosen theme never flashes the other one.
(function () {
  var choice = null;
  try {
    choice = localStorage.getItem('agentscope.theme');
  } catch (error) {
    void error;
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
})();
