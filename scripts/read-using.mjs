// Loaded before dependency-cruiser: the visitor it reads files with does not know `using` declarations yet.
import { createRequire } from "node:module";

const { Visitor } = createRequire(import.meta.url)("@swc/core/Visitor.js");
const { visitStatement, visitVariableDeclarator } = Visitor.prototype;

Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== "UsingDeclaration") {
    return visitStatement.call(this, statement);
  }
  for (const declarator of statement.decls) {
    visitVariableDeclarator.call(this, declarator);
  }
  return statement;
};
