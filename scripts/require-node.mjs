// The first step of every npm script. It is written for old Nodes (12 and up), so that they can say what is missing
// instead of failing on syntax they do not know.
const needed = 24;
const found = Number(process.versions.node.split(".")[0]);

if (found < needed) {
  process.stderr.write(
    "Runyard needs Node " +
      needed +
      " or newer and found " +
      process.versions.node +
      ": run `npm rebuild node --ignore-scripts=false`, or put a Node " +
      needed +
      " on your PATH.\n",
  );
  process.exit(1);
}
