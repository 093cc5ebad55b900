// A program of CommonJS, which can only import() what is a module of the other kind.
void import("./smoke.mjs").then(async ({ smoke }) => console.log(JSON.stringify(await smoke(process.argv[2]))));
