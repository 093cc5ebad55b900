// Runs before the first paint, so that a chosen theme does not flash in the other colors.
try {
  const theme = localStorage.getItem("runyard.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme applies.
}
