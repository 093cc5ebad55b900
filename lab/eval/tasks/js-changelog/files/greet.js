/** Greets somebody; without a name, everybody. */
export const greet = (name, language = "en") => {
  const who = name?.trim() || (language === "de" ? "alle" : "everybody");
  return language === "de" ? `Hallo, ${who}!` : `Hello, ${who}!`;
};
